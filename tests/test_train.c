/* Results of training: selection by validation only, what a run reads, and how it ends early.
 * test_train_threads.c tests what threads must not change. */
#include "narrow.h"
#include "stats/columns.h"
#include "training.h"

#include <math.h>

/* Only validation selects, and ties go to the earlier epoch. */
static void validation_selects(void **state)
{
    (void)state;
    struct scene scene;
    const struct model_def *gcn;
    struct seen seen = {0};
    struct outcome whole, cut;
    int64_t first = 0, ties = 0;
    OK(model_find(&gcn, "gcn"));
    scene_small(&scene);
    struct train_options options = options_for(gcn, 60);
    options.progress = watch;
    options.progress_ctx = &seen;
    train_on(&whole, &scene.problem, &options, 1);
    for (int64_t e = 1; e < seen.epochs; e++)
        if (seen.val[e] > seen.val[first])
            first = e;
    for (int64_t e = first + 1; e < seen.epochs; e++)
        ties += seen.val[e] == seen.val[first];
    assert_true(ties > 0); /* else this test would prove nothing */
    assert_int_equal(whole.result.best_epoch, first + 1);
    assert_true(whole.result.val_acc == seen.val[first]);
    assert_true(whole.result.test_acc > 0.5);
    assert_true(accuracy(whole.logit, &scene.problem, SPLIT_VAL) == whole.result.val_acc);
    assert_true(accuracy(whole.logit, &scene.problem, SPLIT_TEST) == whole.result.test_acc);

    /* The best parameters are those of that epoch: stopping right there gives the same. */
    options = options_for(gcn, first + 1);
    train_on(&cut, &scene.problem, &options, 1);
    assert_memory_equal(whole.param, cut.param, (size_t)whole.params * sizeof(float));
    outcome_free(&whole);
    outcome_free(&cut);
    scene_close(&scene);
}

/* On request, the validation loss breaks ties between epochs. */
static void ties_can_go_by_loss(void **state)
{
    (void)state;
    struct scene scene;
    const struct model_def *gcn;
    struct outcome first, loss;
    OK(model_find(&gcn, "gcn"));
    scene_small(&scene);
    struct train_options options = options_for(gcn, 60);
    train_on(&first, &scene.problem, &options, 1);
    options.config.ties = TIES_LOSS;
    train_on(&loss, &scene.problem, &options, 1);
    assert_true(loss.result.val_acc == first.result.val_acc);
    assert_true(loss.result.best_epoch > first.result.best_epoch);
    outcome_free(&first);
    outcome_free(&loss);
    scene_close(&scene);
}

static void patience_ends_a_run(void **state)
{
    (void)state;
    struct scene scene;
    const struct model_def *gcn;
    struct outcome outcome;
    OK(model_find(&gcn, "gcn"));
    scene_small(&scene);
    struct train_options options = options_for(gcn, 500);
    options.config.patience = 5;
    train_on(&outcome, &scene.problem, &options, 1);
    assert_true(outcome.result.epochs < 500);
    assert_int_equal(outcome.result.epochs, outcome.result.best_epoch + 5);
    outcome_free(&outcome);
    scene_close(&scene);
}

/* A time budget that is over at once: every model has taken a step, was validated and can be used.
 */
static void a_time_budget_ends_a_run(void **state)
{
    (void)state;
    struct scene scene;
    scene_small(&scene);
    for (const struct model_def *const *m = model_list(); *m; m++) {
        struct train_options options = options_for(*m, 500);
        struct outcome outcome;
        options.config.time_budget = 1e-9;
        train_on(&outcome, &scene.problem, &options, 1);
        assert_true(outcome.result.epochs >= 1 && outcome.result.epochs <= 2);
        assert_true(outcome.result.best_epoch >= 1);
        assert_true(outcome.result.val_acc > 0);
        assert_true(accuracy(outcome.logit, &scene.problem, SPLIT_VAL) == outcome.result.val_acc);
        outcome_free(&outcome);
    }
    scene_close(&scene);
}

static void progress_cancels(void **state)
{
    (void)state;
    struct scene scene;
    struct train_result result;
    struct seen seen = {.stop_at = 3};
    scene_small(&scene);
    struct train_options options = options_for(model_list()[0], 50);
    options.progress = watch;
    options.progress_ctx = &seen;
    FAILS(train_once(&result, &scene.problem, &options, 2), CONSM_ECANCEL, "epoch 3");
    assert_int_equal(seen.epochs, 3);
    scene_close(&scene);
}

static void a_loss_that_is_not_finite_is_named(void **state)
{
    (void)state;
    struct scene scene;
    struct train_result result;
    const struct model_def *mlp;
    OK(model_find(&mlp, "mlp"));
    scene_small(&scene);
    for (int64_t k = 0; k < scene.data->nodes * scene.data->features; k++)
        scene.data->dense[k] = 3e38f;
    struct train_options options = options_for(mlp, 5);
    options.config.lr = 0.25;
    FAILS(train_once(&result, &scene.problem, &options, 1), CONSM_ENUMERIC,
          "at epoch 1 with learning rate 0.25");
    scene_close(&scene);
}

/* Test labels may be anything: only the test accuracy changes. */
static void the_test_set_is_not_read_before_the_end(void **state)
{
    (void)state;
    struct scene scene;
    scene_small(&scene);
    for (const struct model_def *const *m = model_list(); *m; m++) {
        struct train_options options = options_for(*m, EPOCHS);
        struct outcome right, wrong;
        options.config.match_steps = 10;
        train_on(&right, &scene.problem, &options, 1);
        for (int64_t i = 0; i < scene.data->nodes; i++)
            if (scene.role[i] == SPLIT_TEST)
                scene.data->label[i] = (scene.data->label[i] + 1) % 3;
        train_on(&wrong, &scene.problem, &options, 1);
        assert_same(&right, &wrong, (*m)->name);
        assert_true(right.result.test_acc != wrong.result.test_acc);
        for (int64_t i = 0; i < scene.data->nodes; i++)
            if (scene.role[i] == SPLIT_TEST)
                scene.data->label[i] = (scene.data->label[i] + 2) % 3;
        outcome_free(&right);
        outcome_free(&wrong);
    }
    scene_close(&scene);
}

/* Without validation nodes the last epoch's parameters are kept. */
static void without_validation_the_last_epoch_stays(void **state)
{
    (void)state;
    struct scene scene;
    struct outcome with, without;
    struct train_options options = options_for(model_list()[0], 9);
    scene_small(&scene);
    for (int64_t i = 0; i < scene.data->nodes; i++)
        if (scene.role[i] == SPLIT_VAL)
            scene.role[i] = SPLIT_NONE;
    train_on(&without, &scene.problem, &options, 1);
    assert_int_equal(without.result.best_epoch, 9);
    options.config.epochs = 8;
    train_on(&with, &scene.problem, &options, 1);
    assert_memory_not_equal(with.param, without.param, (size_t)with.params * sizeof(float));
    outcome_free(&with);
    outcome_free(&without);
    scene_close(&scene);
}

/* Balanced weights change the loss of uneven classes, and nothing if classes are even. */
static void class_weights_balance(void **state)
{
    (void)state;
    struct scene scene;
    struct outcome plain, balanced;
    scene_small(&scene);
    for (int round = 0; round < 2; round++) {
        struct train_options options = options_for(model_list()[0], 4);
        train_on(&plain, &scene.problem, &options, 1);
        options.config.class_weights = CLASS_WEIGHTS_BALANCED;
        train_on(&balanced, &scene.problem, &options, 1);
        if (round == 0)
            assert_near(plain.result.loss, balanced.result.loss, 1e-6);
        else
            assert_true(fabs(plain.result.loss - balanced.result.loss) > 1e-4);
        outcome_free(&plain);
        outcome_free(&balanced);
        for (int64_t i = 0, left = 2; i < scene.data->nodes; i++)
            if (scene.role[i] == SPLIT_TRAIN && scene.data->label[i] == 1 && left-- <= 0)
                scene.role[i] = SPLIT_NONE;
    }
    scene_close(&scene);
}

/* What `consm train` says about edge weights is true. */
static void weights_count_where_it_is_said(void **state)
{
    (void)state;
    struct scene plain, weighted;
    scene_small(&plain);
    OK(generate_named(&weighted.data, plain.data->name));
    weighted.data->weight = mem_alloc((size_t)weighted.data->edges, sizeof(float));
    for (int64_t e = 0; e < weighted.data->edges; e++)
        weighted.data->weight[e] = 0.25f + (float)(e % 7);
    OK(prepare(&weighted.prepared, weighted.data));
    struct problem problem = prepare_problem(&weighted.prepared, plain.role);
    for (const struct model_def *const *m = model_list(); *m; m++) {
        struct train_options options = options_for(*m, 3);
        struct outcome a, b;
        options.config.backbone = BACKBONE_GCN; /* GAT and GIN use none */
        narrow(&options);
        train_on(&a, &plain.problem, &options, 1);
        train_on(&b, &problem, &options, 1);
        bool differ = memcmp(a.logit, b.logit, (size_t)a.logits * sizeof(float)) != 0;
        if (differ == (*m)->unweighted)
            fail_msg("%s %s weights", (*m)->name, differ ? "uses" : "does not use");
        outcome_free(&a);
        outcome_free(&b);
    }
    prepare_free(&weighted.prepared);
    dataset_free(weighted.data);
    scene_close(&plain);
}

/* A backbone's own loss terms (GRAND, several predictions at once) work together with the rounds.
 */
static void consm_trains_every_backbone(void **state)
{
    (void)state;
    struct scene scene;
    const struct model_def *consm;
    OK(model_find(&consm, "consm"));
    scene_small(&scene);
    for (int i = 0; config_names_backbone[i]; i++) {
        struct outcome outcome;
        struct train_options options = options_for(consm, 200);
        options.config.backbone = i;
        options.config.lr = 0.02;
        narrow(&options);
        if (i == BACKBONE_AUTO)
            continue;
        train_on(&outcome, &scene.problem, &options, 1);
        if (!(outcome.result.val_acc > 0.7))
            fail_msg("%s: validation %g", config_names_backbone[i], outcome.result.val_acc);
        outcome_free(&outcome);
    }
    scene_close(&scene);
}

/* Sparse columns are measured as exactly as dense ones: a constant column has no deviation, and one
 * that is nearly constant has a small one. */
static void sparse_columns_are_measured(void **state)
{
    (void)state;
    enum { NODES = 260, FEATURES = 19 };
    static float dense[NODES * FEATURES], shift[FEATURES], scale[FEATURES];
    struct scene s;
    struct session *session;
    struct backend *backend;
    const struct model_def *gcn;
    struct csr *sparse;
    OK(model_find(&gcn, "gcn"));
    struct train_options o = options_for(gcn, 1);
    o.config.normalize_features = FEATURES_SCALE;
    for (int i = 0; i < NODES; i++) {
        dense[i * FEATURES] = 1.1f;
        dense[i * FEATURES + 1] = 1000 + (i % 2 ? 1e-4f : 0);
        dense[i * FEATURES + 2] = i % 5 == 0 ? 1.7f : 0;
        dense[i * FEATURES + 3] = i % 7 == 0 ? (float)i : 0;
    }
    OK(columns_measure(shift, scale, dense, NODES, FEATURES));
    OK(csr_from_dense(&sparse, dense, NODES, FEATURES));
    OK(csr_transpose(sparse));
    scene_small(&s);
    struct problem problem = s.problem;
    problem.dense = NULL;
    problem.sparse = sparse;
    OK(backend_open(&backend, NULL, 1));
    OK(session_new(&session, &problem, &o, backend));
    for (int c = 0; c < FEATURES; c++)
        assert_near(session->scale[c], scale[c], 1e-5 * (double)scale[c]);
    session_free(session);
    backend_close(backend);
    csr_free(sparse);
    scene_close(&s);
}

static void nothing_to_train_on(void **state)
{
    (void)state;
    struct scene scene;
    struct train_result result;
    scene_small(&scene);
    memset(scene.role, SPLIT_TEST, (size_t)scene.data->nodes);
    struct train_options options = options_for(model_list()[0], 5);
    FAILS(train_once(&result, &scene.problem, &options, 1), CONSM_EINVAL, "no labelled node");
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(validation_selects),
        cmocka_unit_test(ties_can_go_by_loss),
        cmocka_unit_test(patience_ends_a_run),
        cmocka_unit_test(a_time_budget_ends_a_run),
        cmocka_unit_test(progress_cancels),
        cmocka_unit_test(a_loss_that_is_not_finite_is_named),
        cmocka_unit_test(the_test_set_is_not_read_before_the_end),
        cmocka_unit_test(without_validation_the_last_epoch_stays),
        cmocka_unit_test(class_weights_balance),
        cmocka_unit_test(weights_count_where_it_is_said),
        cmocka_unit_test(consm_trains_every_backbone),
        cmocka_unit_test(sparse_columns_are_measured),
        cmocka_unit_test(nothing_to_train_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
