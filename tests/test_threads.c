/* The team of threads: all run, barriers hold, shares cover the work. THREADED */
#include "check.h"

#include "base/threads.h"

enum { SLOTS = 1000 };

struct phases {
    int first[16], second[16], rounds;
};

/* Each worker writes its slot, and after the barrier reads all of them. */
static void two_phases(void *arg, struct worker who)
{
    struct phases *p = arg;
    for (int round = 1; round <= 50; round++) {
        p->first[who.id] = round;
        team_barrier(who);
        int sum = 0;
        for (int i = 0; i < who.size; i++)
            sum += p->first[i];
        p->second[who.id] = sum;
        team_barrier(who);
    }
}

static void barriers_hold(void **state)
{
    (void)state;
    for (int size = 1; size <= 7; size++) {
        struct team *team;
        struct phases p = {{0}, {0}, 0};
        OK(team_new(&team, size));
        for (int run = 0; run < 20; run++) {
            team_run(team, two_phases, &p);
            for (int i = 0; i < size; i++)
                assert_int_equal(p.second[i], 50 * size);
        }
        team_free(team);
    }
}

/* Any number of a team may run, in any order; the others do not. */
static void some_of_a_team_run(void **state)
{
    (void)state;
    struct team *team;
    OK(team_new(&team, 5));
    for (int run = 0; run < 200; run++) {
        struct phases p = {{0}, {0}, 0};
        int workers = 1 + run * 7 % 5;
        team_run_on(team, workers, two_phases, &p);
        for (int i = 0; i < 5; i++)
            assert_int_equal(p.second[i], i < workers ? 50 * workers : 0);
    }
    team_free(team);
}

static void cover(void *arg, struct worker who)
{
    int *hits = arg;
    int64_t from, to;
    team_range(who, SLOTS, 16, &from, &to);
    for (int64_t i = from; i < to; i++)
        hits[i]++;
}

static void shares_cover_once(void **state)
{
    (void)state;
    struct team *team;
    int hits[SLOTS] = {0};
    OK(team_new(&team, 3));
    team_run(team, cover, hits);
    team_free(team);
    for (int i = 0; i < SLOTS; i++)
        assert_int_equal(hits[i], 1);
}

static volatile float small = 1e-38f, smaller = 1e-3f;

static void multiply_small(void *arg, struct worker who)
{
    float *product = arg;
    product[who.id] = small * smaller;
}

/* Subnormal numbers are zero for every worker, and for the caller only during the run. */
static void subnormals_are_zero_inside(void **state)
{
    (void)state;
#if defined(__aarch64__) || defined(__x86_64__)
    for (int size = 1; size <= 3; size++) {
        struct team *team;
        float product[3] = {1, 1, 1};
        OK(team_new(&team, size));
        team_run(team, multiply_small, product);
        for (int i = 0; i < size; i++)
            assert_true(product[i] == 0);
        multiply_small(product, (struct worker){.size = 1});
        assert_true(product[0] > 0);
        team_free(team);
    }
#else
    skip();
#endif
}

static void bad_sizes(void **state)
{
    (void)state;
    struct team *team;
    FAILS(team_new(&team, -1), CONSM_EINVAL, "-1 threads");
    assert_null(team);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers_hold),     cmocka_unit_test(some_of_a_team_run),
        cmocka_unit_test(shares_cover_once), cmocka_unit_test(subnormals_are_zero_inside),
        cmocka_unit_test(bad_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
