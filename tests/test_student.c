/* The student of ConSM's candidates: who votes, which votes count, and that no hidden label is
 * read. */
#include "check.h"
#include "narrow.h"
#include "train/consm/candidates.h"
#include "train/consm/clean.h"
#include "training.h"

enum { NODES = 34, TRAINED = 4, JUDGING = 20 };

/* Two classes; the first nodes train, the next validate, the rest has no role here. The committee
 * votes class 1 for all of them, with more confidence for the earlier ones. */
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
    struct voted voted = {0};
    int32_t *vote;
    int64_t votes;
    council_open(&c);
    for (int k = 0; k < JUDGING; k++)
        c.label[TRAINED + k] = !(k == 3 || k == 12 || k >= 15);
    OK(committee_vote(&vote, &votes, &c.committee, &c.problem));
    OK(voted_problem(&made, &voted, vote, &c.problem));
    for (int i = 0; i < TRAINED + JUDGING; i++) { /* given labels stay, whatever the vote */
        assert_int_equal(made.label[i], c.label[i]);
        assert_int_equal(made.role[i], c.role[i]);
    }
    for (int k = 0; k < NODES - TRAINED - JUDGING; k++) { /* as sure as the 1st, 3rd, 5th … */
        bool counts = 2 * k <= 11;
        assert_int_equal(made.role[TRAINED + JUDGING + k], counts ? SPLIT_TRAIN : SPLIT_NONE);
        assert_int_equal(made.label[TRAINED + JUDGING + k], counts ? 1 : -1);
    }
    assert_int_equal(votes, 6);
    mem_free(vote);
    voted_free(&voted);
    council_close(&c);
}

/* With fewer than ten validation nodes, or a committee that is often wrong, no vote counts. */
static void a_bad_committee_has_no_vote(void **state)
{
    (void)state;
    for (int few = 0; few < 2; few++) {
        struct council c;
        int32_t *vote;
        int64_t votes;
        council_open(&c);
        for (int k = 0; k < JUDGING; k++) {
            if (few && k >= 9)
                c.role[TRAINED + k] = SPLIT_NONE;
            c.label[TRAINED + k] = few ? 1 : k % 4 != 0;
        }
        OK(committee_vote(&vote, &votes, &c.committee, &c.problem));
        assert_int_equal(votes, 0);
        mem_free(vote);
        council_close(&c);
    }
}

/* Votes from a checkpoint may be any numbers: those of no class do not count. */
static void impossible_votes_count_for_nothing(void **state)
{
    (void)state;
    struct council c;
    struct problem made;
    struct voted voted = {0};
    int32_t vote[NODES];
    council_open(&c);
    for (int i = 0; i < NODES; i++)
        vote[i] = i % 3 == 0 ? 2 : i % 3 == 1 ? -7 : 1;
    OK(voted_problem(&made, &voted, vote, &c.problem));
    for (int i = TRAINED + JUDGING; i < NODES; i++) {
        assert_int_equal(made.label[i], i % 3 == 2 ? 1 : -1);
        assert_int_equal(made.role[i], i % 3 == 2 ? SPLIT_TRAIN : SPLIT_NONE);
    }
    voted_free(&voted);
    council_close(&c);
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
    narrow(&options);
    options.config.match_steps = 2;
    options.config.prune_by = PRUNE_BY_NONE;
    options.config.lambda = 1;
    options.config.drop_share = 0;
    options.config.companions = COMPANIONS_NO;
    return options;
}

/* It may validate worse by one standard error: of 100 validation nodes 80 right, √(0.8·0.2/100) = 4
 * points (0.794 by Laplace's rule: 4.04). */
static void a_student_may_be_a_standard_error_behind(void **state)
{
    (void)state;
    struct judge judge = {.rows = 100, .metric = METRIC_ACCURACY};
    assert_true(student_replaces(0.85, 0.8, &judge));
    assert_true(student_replaces(0.77, 0.8, &judge));
    assert_false(student_replaces(0.75, 0.8, &judge));
    judge.rows = 10000;
    assert_false(student_replaces(0.79, 0.8, &judge));
}

/* A student is trained, reported, and taken by that rule; the bits do not depend on the number of
 * threads; test labels change nothing. */
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
    assert_true(one.student.taken);
    assert_true(one.val_acc >= one.student.val);
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

/* With a student that was taken, networks over other edges also learn from its votes, and so does a
 * refit: the same votes given to a repeated run change it, and impossible ones count as none. */
static void votes_teach_what_begins_anew(void **state)
{
    (void)state;
    struct scene scene;
    struct session *s, *again;
    struct train_result first, with, without;
    struct backend *backend;
    struct train_options options = student_options(STUDENT_YES);
    scene_small(&scene);
    OK(backend_open(&backend, NULL, 1));
    OK(session_new(&s, &scene.problem, &options, backend));
    assert_true(s->choice->taught);
    const int32_t *vote = session_votes(s);
    assert_non_null(vote);
    int64_t votes = 0;
    for (int64_t i = 0; i < scene.problem.nodes; i++) {
        votes += vote[i] >= 0;
        if (consm_known(&scene.problem, (int32_t)i))
            assert_int_equal(vote[i], -1);
    }
    assert_true(votes > 0);
    OK(session_train(s, &first));

    uint8_t *dropped = mem_zalloc((size_t)((struct consm *)s->own)->edges->count + 1, 1);
    struct consm_attempt attempt = {.dropped = dropped};
    OK(consm_attempt_open(&attempt, s, &s->options.config));
    assert_int_equal(attempt.session->labelled->count, s->labelled->count + votes);
    assert_ptr_equal(attempt.kept->problem.label, scene.problem.label);
    consm_attempt_free(&attempt);

    for (int taught = 0; taught < 2; taught++) {
        struct train_options repeat = options;
        repeat.config = s->options.config;
        repeat.vote = taught ? vote : NULL;
        train_repeat(&repeat, &first.lengths);
        OK(session_new(&again, &scene.problem, &repeat, backend));
        OK(session_train(again, taught ? &with : &without));
        session_free(again);
    }
    assert_true(with.loss != without.loss);
    session_free(s);
    backend_close(backend);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_sure_votes_count),
        cmocka_unit_test(a_bad_committee_has_no_vote),
        cmocka_unit_test(impossible_votes_count_for_nothing),
        cmocka_unit_test(a_student_may_be_a_standard_error_behind),
        cmocka_unit_test(a_student_is_trained_and_judged),
        cmocka_unit_test(votes_teach_what_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
