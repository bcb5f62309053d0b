/* The learning curve of a run: its points, its best epoch, the chosen candidate, and what a file
 * keeps of it. */
#include "app/curve.h"
#include "check.h"

#include <math.h>

static void hear(struct train_curve *c, int64_t candidate, int64_t number, double score)
{
    struct progress p = {.candidate = candidate, .best_val = score, .val_acc = score, .loss = 1};
    if (candidate > 0) {
        p.update = number;
        p.backbone = "gcn";
    } else {
        p.epoch = number;
    }
    assert_true(curve_hear(c, &p));
}

/* Candidate 2 was chosen; candidate 1, which validated better, was not. */
static void the_best_epoch_is_of_the_run(void **state)
{
    (void)state;
    struct train_curve c = {0};
    assert_int_equal(curve_best(&c), 0);
    hear(&c, 1, 5, 0.9);
    hear(&c, 2, 5, 0.5);
    hear(&c, 2, 10, 0.6);
    hear(&c, 0, 11, 0.7);
    hear(&c, 0, 12, 0.8);
    hear(&c, 0, 13, 0.8);
    hear(&c, 0, 14, 0.75);
    OK(curve_settle(&c, 2, "gcn", 0));
    assert_int_equal(curve_best(&c), 12);
    curve_free(&c);
}

/* The chosen candidate's own updates count: the rounds may find nothing better. */
static void a_candidates_update_may_be_the_best(void **state)
{
    (void)state;
    struct train_curve c = {0};
    hear(&c, 2, 5, 0.5);
    hear(&c, 2, 10, 0.6);
    hear(&c, 0, 11, 0.55);
    OK(curve_settle(&c, 2, "gcn", 0));
    assert_int_equal(curve_best(&c), 10);
    curve_free(&c);
}

static void put(struct train_curve *c, double member, double candidate, double number, double score)
{
    OK(GROW(c->point, c->count, c->room, 1));
    c->point[c->count++] = (struct curve_point){
        .member = member, .candidate = candidate, .number = number, .loss = 1, .score = score};
}

/* What is not a point of the curve: a refit, trials over other edges, an epoch 0. */
static void what_is_heard(void **state)
{
    (void)state;
    struct train_curve c = {0};
    assert_true(curve_hear(&c, &(struct progress){.epoch = 1, .refit = true, .best_val = 1}));
    assert_true(curve_hear(&c, &(struct progress){.candidate = 1, .update = 0}));
    assert_true(curve_hear(&c, &(struct progress){.candidate = 256, .update = 3}));
    assert_true(curve_hear(&c, &(struct progress){.candidate = 0, .update = 3}));
    assert_int_equal(c.count, 0);
    assert_true(curve_hear(&c, &(struct progress){.candidate = 255,
                                                  .update = 3,
                                                  .loss = INFINITY,
                                                  .backbone = "gcn",
                                                  .best_val = -1,
                                                  .val_acc = 0.5}));
    assert_true(curve_hear(&c, &(struct progress){.candidate = 255,
                                                  .epoch = 7,
                                                  .update = 3,
                                                  .member = 2,
                                                  .loss = 0.25,
                                                  .backbone = "gcn",
                                                  .best_val = 0,
                                                  .val_acc = 0.5}));
    assert_int_equal(c.count, 2);
    assert_true(c.point[0].candidate == 255 && c.point[0].number == 3 && c.point[0].loss == 0);
    assert_true(c.point[0].score == -2 && c.point[0].backbone == BACKBONE_GCN);
    assert_true(c.point[1].candidate == 0 && c.point[1].number == 7 && c.point[1].member == 2);
    assert_true(c.point[1].score == 0.5 && c.point[1].loss == 0.25 && c.point[1].backbone == 0);
    curve_free(&c);
}

static void impossible_points(void **state)
{
    (void)state;
    int backbones = 0;
    while (config_names_backbone[backbones])
        backbones++;
    const struct curve_point good[] = {
        {.member = 1000, .candidate = 255, .number = 1e9, .score = 1, .chosen = 1, .backbone = 1},
        {.member = 0, .candidate = 0, .number = 1, .score = -2, .backbone = backbones - 1}};
    assert_true(curve_sound(good, 2));
    for (int k = 0; k < 10; k++) {
        struct curve_point p[] = {good[0], good[1]};
        switch (k) {
        case 0: p[0].member = 1001; break;
        case 1: p[1].member = -1; break;
        case 2: p[0].candidate = 256; break;
        case 3: p[0].number = 1e9 + 1; break;
        case 4: p[1].number = 0; break;
        case 5: p[0].score = 1.5; break;
        case 6: p[1].score = -3; break;
        case 7: p[1].chosen = 1; break; /* of no candidate */
        case 8: p[1].backbone = backbones; break;
        default: p[1].loss = NAN;
        }
        assert_false(curve_sound(p, 2));
    }
}

/* Members are put in order; the chosen number is that of the first, the other's is found: the best
 * validation of those that trained up to the run's first epoch, of equal ones the last. */
static void winners_are_found(void **state)
{
    (void)state;
    struct train_curve c = {0};
    put(&c, 2, 1, 10, 0.9); /* dropped early */
    put(&c, 2, 2, 19, 0.5);
    put(&c, 2, 3, 20, 0.75);
    put(&c, 1, 1, 20, 0.5);
    put(&c, 1, 2, 20, 0.75);
    put(&c, 2, 4, 20, 0.75);
    put(&c, 2, 5, 21, 1);
    put(&c, 2, 0, 20, 0.75);
    OK(curve_settle(&c, 1, NULL, 0));
    assert_int_equal(curve_winner(&c), 1);
    assert_true(c.point[0].member == 1 && c.point[0].candidate == 1 && c.point[0].chosen == 1);
    assert_true(c.point[1].member == 1 && c.point[1].chosen == 0);
    for (int64_t i = 2; i < c.count; i++)
        assert_true(c.point[i].chosen == (c.point[i].candidate == 4));
    assert_int_equal(curve_best(&c), 20); /* of the first member */
    c.count = 0;
    assert_int_equal(curve_winner(&c), 0);
    curve_free(&c);
}

/* Winner 2, its student with the same number from update 1 on, then the winner continues. */
static void a_student_takes_its_place(void **state)
{
    (void)state;
    static const double number[] = {5, 10, 1, 2, 11}, score[] = {0.5, 0.6, 0.4, 0.6, 0.9};
    for (int student = -1; student < 2; student++) {
        struct train_curve c = {0};
        for (int i = 0; i < 5; i++)
            put(&c, 0, 2, number[i], score[i]);
        OK(curve_settle(&c, 2, NULL, student));
        bool taken = student != 0; /* not known: it is as good as the winner was */
        for (int i = 0; i < 5; i++)
            assert_true(c.point[i].chosen == ((i == 2 || i == 3) == taken));
        curve_free(&c);
    }
}

/* The chosen one first, then by length, ties to the first; level stretches keep their ends. */
static void long_curves_are_thinned(void **state)
{
    (void)state;
    int64_t longest[CURVE_CANDIDATES];
    struct train_curve c = {0}, thin;
    for (int k = 1; k <= 10; k++)
        put(&c, 0, k, k < 4 ? 30 : 10 + k, 0.25);
    for (int i = 1; i <= 4; i++) { /* of candidate 2 four more with the same score, then another */
        put(&c, 0, 2, 30 + i, 0.25);
        put(&c, 0, 9, 30 + i, 0.25); /* chosen: all stay */
    }
    put(&c, 0, 2, 35, 0.5);
    put(&c, 0, 0, 36, 0.5);
    OK(curve_settle(&c, 9, NULL, 0));
    assert_int_equal(curve_longest(longest, &c), CURVE_CANDIDATES);
    static const int64_t expected[] = {9, 2, 1, 3, 10, 8, 7, 6};
    for (int i = 0; i < CURVE_CANDIDATES; i++)
        assert_int_equal(longest[i], expected[i]);
    OK(curve_thin(&thin, &c));
    double of_two[8], count_two = 0, of_nine = 0, others = 0;
    for (int64_t i = 0; i < thin.count; i++) {
        const struct curve_point *p = &thin.point[i];
        assert_true(p->candidate != 4 && p->candidate != 5);
        if (p->candidate == 2 && count_two < 8)
            of_two[(int)count_two++] = p->number;
        of_nine += p->candidate == 9;
        others += p->candidate == 0;
    }
    assert_true(count_two == 3 && of_two[0] == 30 && of_two[1] == 34 && of_two[2] == 35);
    assert_true(of_nine == 5 && others == 1);
    curve_free(&thin);
    curve_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_epoch_is_of_the_run),
        cmocka_unit_test(a_candidates_update_may_be_the_best),
        cmocka_unit_test(what_is_heard),
        cmocka_unit_test(impossible_points),
        cmocka_unit_test(winners_are_found),
        cmocka_unit_test(a_student_takes_its_place),
        cmocka_unit_test(long_curves_are_thinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
