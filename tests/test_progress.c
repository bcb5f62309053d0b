/* The estimate of the remaining time. With a simulated clock the test plays runs of ConSM whose
 * parts have measured speeds. No line of the log, one a minute, may estimate a total of more than
 * three times that of an earlier line. */
#include "check.h"
#include "progress.h"
#include "train/consm/consm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static double now;

static double our_clock(void)
{
    return now;
}

/* Seconds of an update and of a validation of each candidate on csbm:nodes=30000,degree=20 (300,000
 * edges) on one thread of a Neoverse-V1: GCN twice, APPNP, H2GCN, GCNII, GAT, DropEdge. Two million
 * edges take seven times as long. */
static const struct {
    double update, look;
} measured[] = {{0.0005, 0.009}, {0.0056, 0.009}, {0.0313, 0.016}, {0.0007, 0.005},
                {0.0083, 0.033}, {0.0128, 0.042}, {0.0540, 0.016}};
enum { COUNT = sizeof measured / sizeof *measured, RUNGS = 5 };
static const double larger = 7;

struct play {
    int64_t first;                    /* the candidate that wins; the next two stay longest */
    int64_t rounds;                   /* that the run turns out to have */
    double exam, match, round_update; /* seconds of these, without the factor */
};

/* The reported progress, and what it would be if all updates took equally long: at the same
 * minutes. */
struct told {
    double share, by_updates;
    int64_t updates;
};

static const struct outlook_rung rungs[RUNGS] = {
    {5, 5, COUNT}, {90, 5, 3}, {180, 5, 2}, {270, 5, 1}, {300, 1, 1}};

static void tell(struct told *t, double left, bool plain, double begun)
{
    t->updates++;
    t->share = outlook_fraction(now - begun, left);
    t->by_updates = (double)t->updates / 2100; /* 1,380 of candidates, then rounds */
    progress_fraction(1, plain ? t->by_updates : t->share, NULL);
}

/* One update of a candidate. */
static void step(struct outlook_candidate *c, int64_t number, bool first, int64_t every)
{
    double update = larger * measured[number].update * (first ? 5 : 1);
    now += update;
    pace_update(&c->pace, update, first);
    if (++c->done % every == 0) {
        now += larger * measured[number].look;
        pace_look(&c->pace, larger * measured[number].look);
    }
}

/* The order of the candidates from the second rung on: the winner, then its neighbours. */
static void climb(struct outlook *o, struct told *t, const struct config *c, const struct play *p,
                  bool plain)
{
    struct outlook_candidate course[COUNT] = {0};
    int64_t count = COUNT, number[COUNT];
    for (int64_t i = 0; i < COUNT; i++)
        number[i] = i;
    for (int r = 0; r < RUNGS; r++) {
        for (int64_t i = 0; i < count; i++)
            for (bool first = true; course[i].done < rungs[r].until; first = false) {
                step(&course[i], number[i], first, rungs[r].every);
                outlook_choose(o, course, count);
                tell(t, outlook_choice(course, count, rungs, RUNGS) + consm_after_choice(o, c),
                     plain, 0);
            }
        for (int64_t i = 0; r == 1 && i < COUNT; i++)
            number[i] = (p->first + i) % COUNT;
        struct outlook_candidate sorted[COUNT];
        for (int64_t i = 0; r == 1 && i < COUNT; i++)
            sorted[i] = course[number[i]];
        if (r == 1)
            memcpy(course, sorted, sizeof course);
        count = count < rungs[r].stay ? count : rungs[r].stay;
    }
}

/* Rounds until the play ends them; each but the last improved. */
static void play_rounds(struct outlook *o, struct told *t, const struct config *c,
                        const struct play *p, bool plain)
{
    now += larger * p->exam;
    o->examined = true;
    for (int64_t round = 1; round <= p->rounds; round++) {
        now += larger * p->match;
        o->match = larger * p->match;
        int64_t updates = consm_round_updates(c, round), expected = consm_later_updates(c);
        int64_t more = c->rounds - round;
        for (int64_t i = 1; i <= updates; i++) {
            now += larger * p->round_update;
            pace_update(&o->round, larger * p->round_update, i == 1);
            tell(t, outlook_rounds(o, updates - i + more * expected, more), plain, 0);
        }
    }
}

/* The largest ratio of a line's total (passed + left) to that of an earlier line. */
static double worst_ratio(FILE *file, int *lines)
{
    char line[300], unit[8];
    double least = INFINITY, worst = 1, after, left;
    *lines = 0;
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "consm: %*f %% after %lf s, %lf %7s left", &after, &left, unit) != 3)
            continue;
        double whole = after + left * (strcmp(unit, "min") == 0 ? 60 : 1);
        worst = whole / least > worst ? whole / least : worst;
        least = whole < least ? whole : least;
        ++*lines;
    }
    return worst;
}

/* Plays it, with standard error in a file as in a log. */
static double play(const struct play *p, bool plain, int *lines)
{
    struct config c;
    const struct model_def *model;
    struct outlook outlook = {0};
    struct told told = {0};
    FILE *file = tmpfile();
    int err = dup(STDERR_FILENO);
    assert_non_null(file);
    assert_int_equal(model_find(&model, "consm"), CONSM_OK);
    model_defaults(model, &c);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    now = 0;
    progress_begin("consm", "epochs", 0);
    climb(&outlook, &told, &c, p, plain);
    play_rounds(&outlook, &told, &c, p, plain);
    progress_end();
    fflush(stderr);
    dup2(err, STDERR_FILENO);
    close(err);
    double worst = worst_ratio(file, lines);
    fclose(file);
    return worst;
}

static void the_estimate_does_not_triple(void **state)
{
    (void)state;
    int lines;
    for (int64_t first = 0; first < COUNT; first++)
        for (int64_t rounds = 1; rounds <= 6; rounds++)
            for (int dear = 0; dear < 3; dear++) { /* matching half, as, and twice as dear */
                double by = dear == 0 ? 0.5 : dear, look = measured[first].look;
                struct play p = {first, rounds, 3.2 * by, 1.06 * by, 5 * look};
                double worst = play(&p, false, &lines);
                assert_true(lines >= 2);
                if (worst >= 3)
                    print_error("winner %d, %d rounds, matching x %.1f: %.2f\n", (int)first,
                                (int)rounds, by, worst);
                assert_true(worst < 3);
            }
}

/* Estimates by the number of updates do triple, so the plays are hard enough. */
static void counting_updates_would(void **state)
{
    (void)state;
    int lines;
    struct play p = {4, 4, 3.2, 1.06, 0.165};
    assert_true(play(&p, true, &lines) > 3);
}

static void nothing_is_claimed_that_is_not_known(void **state)
{
    (void)state;
    char line[300] = "";
    FILE *file = tmpfile();
    int err = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    now = 0;
    progress_begin("consm", "epochs", 0);
    now = 61;
    progress_fraction(1, 0, "choosing");
    now = 100;
    progress_fraction(1, 0.5, "no minute later");
    progress_end();
    fflush(stderr);
    dup2(err, STDERR_FILENO);
    close(err);
    rewind(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "consm: 0 % after 61 s, time left unknown  choosing\n");
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
}

/* A candidate without a validation says nothing about a pass, wherever it stands. */
static void the_cheapest_validation_is_a_measured_one(void **state)
{
    (void)state;
    struct outlook_candidate course[4] = {{{0}, 0}};
    struct outlook o = {0};
    outlook_choose(&o, course, 4);
    assert_near(outlook_rounds(&o, 3, 2), 0, 0); /* nothing is known */
    pace_look(&course[1].pace, 0.5);
    pace_look(&course[2].pace, 0.25);
    outlook_choose(&o, course, 4);
    assert_near(o.pass, 0.25, 0);
    /* the exam's 600 passes and 200 for the matching of each round */
    assert_near(outlook_rounds(&o, 0, 2), 600 * 0.25 + 2 * 200 * 0.25, 1e-12);
}

int main(void)
{
    progress_use_clock(our_clock);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_estimate_does_not_triple),
        cmocka_unit_test(counting_updates_would),
        cmocka_unit_test(nothing_is_claimed_that_is_not_known),
        cmocka_unit_test(the_cheapest_validation_is_a_measured_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
