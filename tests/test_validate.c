/* Validation after an epoch: a program for few validation nodes says what the whole network says.
 */
#include "program/internal.h"
#include "training.h"

/* All nodes without a role for training validate, or the first few of them. */
static void let_validate(struct scene *s, int64_t most)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->data->nodes; i++)
        if (s->role[i] != SPLIT_TRAIN)
            s->role[i] = count++ < most ? SPLIT_VAL : SPLIT_TEST;
}

/* Trains some epochs; after each one the score must be that of all logits. Returns whether a
 * program of its own validated. */
static bool validate(const struct scene *s, const char *name, enum config_ties ties)
{
    const struct model_def *model;
    struct backend *backend;
    struct session *session;
    OK(model_find(&model, name));
    struct train_options o = options_for(model, EPOCHS);
    o.config.ties = ties;
    OK(backend_open(&backend, NULL, 2));
    OK(session_new(&session, &s->problem, &o, backend));
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        const float *logits;
        double loss, found;
        const uint64_t runs = session->learner.eval->runs;
        OK(session_step(session, &loss));
        OK(session_validate(&found, session));
        if (session->judge.rows == 0)
            assert_true(session->learner.eval->runs == runs && found == 0);
        OK(session_logits(&logits, session));
        assert_true(found == judge_score(&session->judge, logits, false));
        if (session->learner.best_step == session->learner.steps && ties == TIES_LOSS)
            assert_true(session->learner.best_loss ==
                        judge_surprise(&session->judge, logits, false));
    }
    assert_true(session->judge.rows > 0 || session->learner.best_step == EPOCHS);
    bool own = session->validator.program != NULL;
    session_free(session);
    backend_close(backend);
    return own;
}

static void few_nodes_have_their_own_program(void **state)
{
    (void)state;
    static const char *const names[] = {"gcn", "gat", "mlp"};
    struct scene s;
    scene_small(&s);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        let_validate(&s, 9);
        assert_true(validate(&s, names[i], TIES_FIRST));
        assert_true(validate(&s, names[i], TIES_LOSS));
        let_validate(&s, 100);
        assert_false(validate(&s, names[i], TIES_LOSS));
        let_validate(&s, 0);
        assert_false(validate(&s, names[i], TIES_FIRST));
    }
    scene_close(&s);
}

/* No program is made where it would not be much smaller: over neighbours of neighbours, and over a
 * matrix whose entries change. */
static void wide_networks_validate_whole(void **state)
{
    (void)state;
    struct scene s;
    scene_small(&s);
    let_validate(&s, 9);
    assert_false(validate(&s, "h2gcn", TIES_LOSS));
    struct csr *view = (struct csr *)(uintptr_t)views_get(s.problem.views, VIEW_GCN);
    assert_non_null(view);
    view->changes = true;
    OK(csr_transpose(view));
    assert_false(validate(&s, "gcn", TIES_FIRST));
    scene_close(&s);
}

/* On a large graph the neighbours of the validation nodes must be few, too. */
static void large_graphs_are_not_copied(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "csbm:nodes=12000,classes=2,degree=180,features=4", 20);
    assert_true(s.problem.graph->nnz > VIEW_LARGE);
    let_validate(&s, 10);
    assert_true(validate(&s, "gcn", TIES_FIRST));
    let_validate(&s, 60);
    assert_false(validate(&s, "gcn", TIES_FIRST));
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_nodes_have_their_own_program),
        cmocka_unit_test(wide_networks_validate_whole),
        cmocka_unit_test(large_graphs_are_not_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
