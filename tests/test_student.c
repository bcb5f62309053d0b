/* The student of ConSM's candidates: who votes, which votes count, and that no label is read that a
 * run may not know. */
#include "check.h"
#include "train/consm/consm.h"
#include "training.h"

enum { NODES = 34, TRAINED = 4, JUDGING = 20 };

/* Two classes; the first nodes train, the next validate, the rest has no role here. The committee
 * says class 1 of all of them, surer of the earlier ones. */
struct council {
    int32_t label[NODES];
    uint8_t role[NODES];
    struct problem problem;
    struct committee committee;
};

static void council_open(struct council *c)
{
    *c = (struct council){.problem = {.nodes = NODES, .classes = 2}};
    c->problem.label = c->label;
    c->problem.role = c->role;
    c->committee.members = 2;
    c->committee.chance = mem_zalloc(2 * NODES, sizeof *c->committee.chance);
    for (int i = 0; i < NODES; i++) {
        bool judges = i >= TRAINED && i < TRAINED + JUDGING;
        int rank = judges ? i - TRAINED : i < TRAINED ? 0 : (i - TRAINED - JUDGING) * 2;
        double sure = 0.99 - 0.02 * rank; /* of one member, the mean of both */
        c->role[i] = i < TRAINED ? SPLIT_TRAIN : judges ? SPLIT_VAL : SPLIT_TEST;
        c->label[i] = i >= TRAINED;
        c->committee.chance[2 * i] = 2 * (1 - sure);
        c->committee.chance[2 * i + 1] = 2 * sure;
    }
}

static void council_close(struct council *c)
{
    committee_free(&c->committee);
}

/* Of the validation nodes the 4th and the 13th are voted on wrongly, and all from the 16th on. Up
 * to the 12th 11 of 12 are right; up to the 13th 11 of 13, up to the 15th 13 of 15, below nine in
 * ten: so votes count that are as sure as the 12th. */
static void only_sure_votes_count(void **state)
{
    (void)state;
    struct council c;
    struct problem made;
    council_open(&c);
    for (int k = 0; k < JUDGING; k++)
        c.label[TRAINED + k] = !(k == 3 || k == 12 || k >= 15);
    OK(committee_problem(&made, &c.committee, &c.problem));
    for (int i = 0; i < TRAINED + JUDGING; i++) { /* given labels stay, whatever the vote */
        assert_int_equal(made.label[i], c.label[i]);
        assert_int_equal(made.role[i], c.role[i]);
    }
    for (int k = 0; k < NODES - TRAINED - JUDGING; k++) { /* as sure as the 1st, 3rd, 5th … */
        bool counts = 2 * k <= 11;
        assert_int_equal(made.role[TRAINED + JUDGING + k], counts ? SPLIT_TRAIN : SPLIT_NONE);
        assert_int_equal(made.label[TRAINED + JUDGING + k], counts ? 1 : -1);
    }
    assert_int_equal(c.committee.votes, 6);
    council_close(&c);
}

/* Fewer than ten validation nodes, or a committee that is often wrong, have no say. */
static void a_bad_committee_has_no_vote(void **state)
{
    (void)state;
    for (int few = 0; few < 2; few++) {
        struct council c;
        struct problem made;
        council_open(&c);
        for (int k = 0; k < JUDGING; k++) {
            if (few && k >= 9)
                c.role[TRAINED + k] = SPLIT_NONE;
            c.label[TRAINED + k] = few ? 1 : k % 4 != 0;
        }
        OK(committee_problem(&made, &c.committee, &c.problem));
        assert_int_equal(c.committee.votes, 0);
        council_close(&c);
    }
}

static struct train_options student_options(enum config_student student)
{
    struct train_options options = {.seed = 1};
    OK(model_find(&options.model, "consm"));
    model_defaults(options.model, &options.config);
    options.config.student = student;
    options.config.warmup = 60;
    options.config.rounds = 1;
    options.config.gnn_steps = 1;
    options.config.match_steps = 2;
    options.config.prune_by = PRUNE_BY_NONE;
    options.config.lambda = 1;
    options.config.drop_share = 0;
    return options;
}

/* A student is trained, told of, and taken where it validates at least as well as the winner; the
 * bits are those of any number of threads; test labels change nothing. */
static void a_student_is_trained_and_judged(void **state)
{
    (void)state;
    struct scene scene;
    struct train_result one, two, none, blind;
    struct train_options with = student_options(STUDENT_YES), without = student_options(STUDENT_NO);
    scene_small(&scene);
    OK(train_once(&one, &scene.problem, &with, 1));
    OK(train_once(&two, &scene.problem, &with, 2));
    OK(train_once(&none, &scene.problem, &without, 1));
    assert_true(one.student.updates > 0 && one.student.updates <= 60);
    assert_int_equal(one.student.taken, one.student.val >= one.candidate[0].val);
    assert_true(one.val_acc >= one.student.val && one.val_acc >= one.candidate[0].val);
    assert_true(one.loss == two.loss && one.val_acc == two.val_acc && one.test_acc == two.test_acc);
    assert_int_equal(none.student.updates, 0);
    assert_true(none.candidate[0].val == one.candidate[0].val);
    int32_t *label = mem_alloc((size_t)scene.problem.nodes, sizeof *label);
    for (int64_t i = 0; i < scene.problem.nodes; i++)
        label[i] = scene.role[i] == SPLIT_TEST ? 0 : scene.problem.label[i];
    struct problem other = scene.problem;
    other.label = label;
    OK(train_once(&blind, &other, &with, 1));
    assert_true(blind.loss == one.loss && blind.val_acc == one.val_acc);
    assert_true(blind.student.val == one.student.val);
    mem_free(label);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_sure_votes_count),
        cmocka_unit_test(a_bad_committee_has_no_vote),
        cmocka_unit_test(a_student_is_trained_and_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
