/* How many threads a program settles on, with a simulated clock: the fastest number, also when that
 * changes. */
#include "check.h"

#include "cpu/pace.h"

/* The seconds of a run: work that threads divide, the cost of each thread, a processor busy with
 * other work, and sleeping threads. */
struct machine {
    double work, barrier;
    int free;    /* processors; a thread beyond them makes all others wait */
    double wake; /* extra time of a run on more threads than the last */
};

static double takes(const struct machine *m, int threads)
{
    double seconds = m->work / threads + m->barrier * (threads - 1);
    return threads > m->free ? 3 * seconds : seconds;
}

static double run(struct pace *p, const struct machine *m, int runs)
{
    double seconds = 0;
    for (int i = 0, awake = p->most; i < runs; i++) {
        int threads = pace_threads(p);
        double taken = takes(m, threads) + (threads > awake ? m->wake : 0);
        assert_in_range(threads, 1, p->most);
        pace_took(p, taken);
        seconds += taken;
        awake = threads;
    }
    return seconds;
}

static void the_fastest_is_found(void **state)
{
    (void)state;
    static const struct {
        struct machine m;
        int most, best;
        double elements;
    } cases[] = {
        {{1, 2, 16, 0}, 16, 1, 1e6},    /* nothing but barriers, and a wrong first guess */
        {{1000, 1, 16, 0}, 16, 16, 10}, /* plenty, and a wrong first guess */
        {{16, 1, 16, 0}, 16, 4, 1e4},   /* 7 on four; 10 on two and 9 on eight */
        {{1000, 1, 12, 0}, 12, 12, 10}, /* no power of two */
        {{100, 1, 1, 0}, 2, 1, 1e6},    /* one of two processors is busy with other work */
        {{5, 1, 1, 0}, 1, 1, 1e6},
        {{100, 1, 16, 150}, 16, 8, 10}, /* threads that sleep are worth waking */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pace p;
        pace_begin(&p, cases[i].most, cases[i].elements);
        run(&p, &cases[i].m, 400);
        assert_int_equal(p.threads, cases[i].best);
        double whole = run(&p, &cases[i].m, 4000), least = 4000 * takes(&cases[i].m, p.threads);
        assert_true(whole < 1.05 * least); /* trials become rare */
    }
}

/* A processor becomes busy, and free again. */
static void it_follows_the_machine(void **state)
{
    (void)state;
    const struct machine alone = {100, 1, 2, 0}, shared = {100, 1, 1, 0};
    struct pace p;
    pace_begin(&p, 2, 1e6);
    run(&p, &alone, 3000);
    assert_int_equal(p.threads, 2);
    double seconds = run(&p, &shared, 300);
    assert_int_equal(p.threads, 1);
    assert_true(seconds < 1.1 * 300 * takes(&shared, 1));
    run(&p, &alone, 3000);
    assert_int_equal(p.threads, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_fastest_is_found),
                                       cmocka_unit_test(it_follows_the_machine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
