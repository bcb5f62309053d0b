/* The learning curve of a run: its best epoch. */
#include "app/curve.h"
#include "check.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_epoch_is_of_the_run),
        cmocka_unit_test(a_candidates_update_may_be_the_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
