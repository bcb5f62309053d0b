/* Cross-validation over all labels: when it is used, that no node is predicted by a network that
 * saw its label, that it chooses among ConSM's last candidates if few nodes validate; and the
 * metric for two uneven classes. */
#include "check.h"
#include "narrow.h"

#include "app/objects.h"
#include "backends/open.h"
#include "train/folds.h"
#include <math.h>

struct scene {
    struct consm_dataset *data;
    struct roles roles;
    struct training_request request;
};

/* per_class labels of each class train; at most `validating` nodes validate, the others test. */
static void scene_open(struct scene *s, const char *name, const char *model, int64_t per_class,
                       int64_t validating)
{
    OK(consm_dataset_open(&s->data, name, NULL));
    const struct dataset *d = s->data->data;
    OK(roles_make(&s->roles, d, "random", 0, &(struct split_options){.per_class = per_class}));
    for (int64_t i = 0; i < d->nodes; i++)
        if (s->roles.role[i] == SPLIT_VAL && validating-- <= 0)
            s->roles.role[i] = SPLIT_TEST;
    split_count(s->roles.count, s->roles.role, d->nodes);
    s->request = (struct training_request){.roles = &s->roles, .threads = 1};
    OK(dataset_prepared(&s->request.prepared, s->data));
    struct train_options *o = &s->request.options;
    OK(model_find(&o->model, model));
    model_defaults(o->model, &o->config);
    if (strcmp(model, "consm") == 0)
        narrow(o);
    o->seed = 7;
}

static void scene_close(struct scene *s)
{
    roles_free(&s->roles);
    consm_dataset_free(s->data);
}

/* 30 nodes of class 1 and `few` of class 0 validate, as many again of class 0 train. */
static bool rare_with(int few, int32_t classes, int32_t positive, bool turned)
{
    enum { NODES = 100 };
    int32_t label[NODES];
    uint8_t role[NODES];
    struct problem p = {.nodes = 30 + 2 * few, .classes = classes, .label = label, .role = role};
    for (int i = 0; i < p.nodes; i++) {
        label[i] = (i < 30) != turned;
        role[i] = i < 30 + few ? SPLIT_VAL : SPLIT_TRAIN;
    }
    label[29] = -1;
    return folds_rare(&p, positive);
}

/* Below ten validation nodes the smaller of two classes is rare, or the class that was named. */
static void rare_by_hand(void **state)
{
    (void)state;
    for (int turned = 0; turned < 2; turned++) {
        assert_true(rare_with(9, 2, -1, turned));
        assert_false(rare_with(10, 2, -1, turned));
        assert_true(rare_with(9, 2, turned, turned)); /* class 0, or 1 where they are turned */
        assert_false(rare_with(10, 2, turned, turned));
        assert_false(rare_with(9, 2, !turned, turned));
        assert_false(rare_with(9, 3, -1, turned));
        assert_true(rare_with(9, 3, turned, turned));
    }
}

static void who_is_divided(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "csbm:nodes=400,classes=2,features=8", "gcn", 10, 60);
    struct problem p = prepare_problem(s.request.prepared, s.roles.role);
    assert_int_equal(s.roles.count[SPLIT_VAL], 60);
    assert_false(folds_apply(&p, -1, false));
    assert_true(folds_apply(&p, -1, true));
    int64_t left = 9; /* of the first class validate */
    for (int64_t i = 0; i < p.nodes; i++)
        if (p.role[i] == SPLIT_VAL && p.label[i] == 0 && left-- <= 0)
            s.roles.role[i] = SPLIT_TEST;
    assert_true(folds_apply(&p, -1, false));
    for (int64_t i = 0; i < p.nodes; i++)
        if (p.role[i] == SPLIT_VAL)
            s.roles.role[i] = SPLIT_TEST;
    assert_false(folds_apply(&p, -1, true)); /* no validation nodes: nothing is chosen */
    scene_close(&s);
}

/* With many labels folds cost more than few validation nodes justify; on request they are used. */
static void many_labels_are_not_divided(void **state)
{
    (void)state;
    for (int64_t per_class = 230; per_class <= 250; per_class += 20) {
        struct scene s;
        scene_open(&s, "csbm:nodes=700,classes=2,features=8", "gcn", per_class, 40);
        struct problem p = prepare_problem(s.request.prepared, s.roles.role);
        int64_t labels = s.roles.count[SPLIT_TRAIN] + s.roles.count[SPLIT_VAL];
        assert_int_equal(labels, 2 * per_class + 40);
        assert_int_equal(folds_apply(&p, -1, false), labels <= 500);
        assert_true(folds_apply(&p, -1, true));
        scene_close(&s);
    }
}

/* Below ten validation nodes of the positive class, folds compare ConSM's candidates with any
 * number of labels. */
static void few_positives_are_divided(void **state)
{
    (void)state;
    struct scene s;
    struct consm_model *m;
    scene_open(&s, "csbm:nodes=720,classes=3,features=6,homophily=0.7", "consm", 150, 80);
    struct dataset *d = s.data->data;
    struct problem p = prepare_problem(s.request.prepared, s.roles.role);
    int64_t left = 9;
    for (int64_t i = 0; i < d->nodes; i++)
        if (s.roles.role[i] == SPLIT_VAL && d->label[i] == 2 && left-- <= 0)
            s.roles.role[i] = SPLIT_TEST;
    split_count(s.roles.count, s.roles.role, d->nodes);
    assert_true(s.roles.count[SPLIT_VAL] >= 50);
    assert_true(s.roles.count[SPLIT_TRAIN] + s.roles.count[SPLIT_VAL] > 500);
    assert_true(folds_apply(&p, 2, false));
    assert_false(folds_apply(&p, 1, false));
    assert_false(folds_apply(&p, -1, false)); /* of three classes none is looked for */
    struct train_options *o = &s.request.options;
    o->config.warmup = 4;
    o->config.rounds = 1;
    o->config.gnn_steps = 1;
    o->config.match_steps = 2;
    o->config.drop_share = 0;
    o->config.candidates = CANDIDATES_FEW;
    o->config.metric = METRIC_AVERAGE_PRECISION;
    o->positive = 3;
    OK(model_train(&m, NULL, &s.request));
    assert_int_equal(m->result.folds.labels, s.roles.count[SPLIT_TRAIN] + s.roles.count[SPLIT_VAL]);
    consm_model_free(m);
    scene_close(&s);
}

/* Every label is in one fold of each repeat, and classes are divided evenly. */
static void labels_are_dealt_out(void **state)
{
    (void)state;
    struct scene s;
    struct judge judge;
    struct folds f;
    scene_open(&s, "csbm:nodes=200,classes=3,features=8", "gcn", 10, 20);
    struct problem p = prepare_problem(s.request.prepared, s.roles.role);
    OK(judge_open(&judge, &p, METRIC_ACCURACY, -1));
    OK(folds_open(&f, &p, &judge, 3, false));
    assert_int_equal(f.repeats, 2);
    assert_int_equal(f.judge.rows, s.roles.count[SPLIT_TRAIN] + s.roles.count[SPLIT_VAL]);
    int64_t differ = 0;
    for (int r = 0; r < f.repeats; r++)
        for (int32_t c = 0; c < 3; c++) {
            int64_t count[FOLDS] = {0}, least = INT64_MAX, most = 0;
            for (int64_t k = 0; k < f.judge.rows; k++) {
                assert_true(f.fold[r * f.judge.rows + k] < FOLDS);
                count[f.fold[r * f.judge.rows + k]] += f.judge.label[k] == c;
                differ += f.fold[k] != f.fold[r * f.judge.rows + k];
            }
            for (int k = 0; k < FOLDS; k++) {
                least = count[k] < least ? count[k] : least;
                most = count[k] > most ? count[k] : most;
            }
            assert_true(most - least <= 1);
        }
    assert_true(differ > 0); /* repeats are others */
    folds_close(&f);
    OK(folds_open(&f, &p, &judge, 3, true));
    assert_int_equal(f.repeats, 1);
    folds_close(&f);
    judge_close(&judge);
    scene_close(&s);
}

/* A node's cross-validated prediction equals that of a network trained without its fold, by hand.
 */
static void nobody_is_predicted_by_his_own_label(void **state)
{
    (void)state;
    struct scene s;
    struct judge judge;
    struct folds f;
    struct backend *backend;
    struct session *hand;
    const float *logits;
    double score, loss;
    scene_open(&s, "csbm:nodes=150,classes=3,features=8", "gcn", 10, 20);
    struct problem p = prepare_problem(s.request.prepared, s.roles.role);
    OK(backend_open(&backend, NULL, 1));
    OK(judge_open(&judge, &p, METRIC_ACCURACY, -1));
    OK(folds_open(&f, &p, &judge, 3, true));
    OK(folds_run(&score, &f, &s.request.options, 6, backend, NULL, NULL, NULL));
    for (int fold = 0; fold < FOLDS; fold++) {
        for (int64_t i = 0; i < p.nodes; i++)
            s.roles.role[i] = SPLIT_NONE;
        for (int64_t k = 0; k < f.judge.rows; k++)
            if (f.fold[k] != fold)
                s.roles.role[f.judge.node[k]] = SPLIT_TRAIN;
        OK(session_new(&hand, &p, &s.request.options, backend));
        for (int i = 0; i < 6; i++)
            OK(session_step(hand, &loss));
        OK(session_logits(&logits, hand));
        for (int64_t k = 0; k < f.judge.rows; k++)
            if (f.fold[k] == fold)
                assert_memory_equal(f.logits + k * 3, logits + (int64_t)f.judge.node[k] * 3,
                                    3 * sizeof(float));
        session_free(hand);
    }
    int64_t right = 0;
    for (int64_t k = 0; k < f.judge.rows; k++) {
        const float *row = f.logits + k * 3;
        int32_t best = row[1] > row[0] ? 1 : 0;
        right += (row[2] > row[best] ? 2 : best) == f.judge.label[k];
    }
    assert_near(score, (double)right / (double)f.judge.rows, 1e-12);
    folds_close(&f);
    judge_close(&judge);
    backend_close(backend);
    scene_close(&s);
}

/* What a run tells during cross-validation: the candidate, and that nothing was validated. */
static bool hear_folds(void *ctx, const struct progress *p)
{
    int64_t *heard = ctx;
    if (p->candidate == 0 || p->update > 0)
        return false;
    assert_true(p->best_val == -1 && p->val_acc == 0 && p->epoch == 0);
    assert_true(p->fraction >= 0 && p->fraction <= 1);
    assert_non_null(p->backbone);
    ++*heard;
    return false;
}

/* With few validation nodes the finalist with the best folds is chosen, and its score is reported
 * beside validation's. With --folds no, validation decides. */
static void folds_choose_among_finalists(void **state)
{
    (void)state;
    struct scene s;
    struct consm_model *m;
    scene_open(&s, "csbm:nodes=120,classes=3,features=6,homophily=0.5", "consm", 6, 15);
    struct config *c = &s.request.options.config;
    c->warmup = 12;
    c->rounds = 1;
    c->gnn_steps = 4;
    c->drop_share = 0;
    int64_t heard = 0;
    s.request.options.progress = hear_folds;
    s.request.options.progress_ctx = &heard;
    OK(model_train(&m, NULL, &s.request));
    assert_true(heard > 0);
    const struct train_result *r = &m->result;
    assert_int_equal(r->folds.labels, s.roles.count[SPLIT_TRAIN] + 15);
    assert_int_equal(r->folds.validating, 15);
    int compared = 0;
    for (int i = 0; i < r->candidates; i++) {
        compared += r->candidate[i].fold >= 0;
        assert_true(r->candidate[i].fold <= r->candidate[0].fold);
    }
    assert_true(compared >= 1 && compared <= 4);
    assert_true(r->folds.score == r->candidate[0].fold);
    assert_true(r->folds.error > 0 && r->folds.error < 0.2);
    consm_model_free(m);
    c->folds = FOLDS_NO;
    OK(model_train(&m, NULL, &s.request));
    assert_int_equal(m->result.folds.labels, 0);
    for (int i = 1; i < m->result.candidates; i++)
        assert_true(m->result.candidate[i].val <= m->result.candidate[0].val ||
                    m->result.candidate[i].updates < m->result.candidate[0].updates);
    consm_model_free(m);
    scene_close(&s);
}

static double test_auc(struct scene *s, const char *model, struct consm_model **out)
{
    struct train_options *o = &s->request.options;
    OK(model_find(&o->model, model));
    model_defaults(o->model, &o->config);
    narrow(o);
    o->config.epochs = strcmp(model, "consm") == 0 ? 1000 : 60;
    o->config.warmup = 60;
    o->config.rounds = 1;
    o->config.gnn_steps = 20;
    o->config.drop_share = 0;
    o->config.candidates = CANDIDATES_FEW;
    OK(model_train(out, NULL, &s->request));
    return (*out)->metrics[SPLIT_TEST].all.roc_auc;
}

/* Two classes of 20:80, where always predicting the larger one is right in four of five cases:
 * selection is by ranking, and ConSM never predicts only the majority while a plain network ranks
 * better. */
static void the_majority_does_not_win(void **state)
{
    (void)state;
    static const char *const rivals[] = {"mlp", "gcn", "h2gcn"};
    struct scene s;
    struct consm_model *m, *rival;
    scene_open(&s, "csbm:nodes=300,classes=5,features=10,homophily=0.3", "consm", 12, 60);
    struct dataset *d = s.data->data;
    int64_t larger = 0, tested = 0;
    for (int64_t i = 0; i < d->nodes; i++) {
        d->label[i] = d->label[i] == 0;
        larger += s.roles.role[i] == SPLIT_TEST && d->label[i] == 0;
        tested += s.roles.role[i] == SPLIT_TEST;
    }
    d->classes = 2;
    double auc = test_auc(&s, "consm", &m), majority = (double)larger / (double)tested;
    assert_int_equal(m->config.metric, METRIC_ROC_AUC);
    assert_true(majority > 0.75 && auc > 0.7);
    for (int i = 0; i < 3; i++) {
        double other = test_auc(&s, rivals[i], &rival);
        assert_int_equal(rival->config.metric, METRIC_ROC_AUC);
        if (m->result.test_acc <= majority && other > auc)
            fail_msg("accuracy %g, the majority's %g; ROC-AUC %g, %s %g", m->result.test_acc,
                     majority, auc, rivals[i], other);
        consm_model_free(rival);
    }
    consm_model_free(m);
    scene_close(&s);
}

/* Below ten validation nodes of the class, its threshold comes from cross-validated nodes: there
 * are more of them, and it differs from the one of two validation nodes. */
static void few_positives_get_a_threshold_from_folds(void **state)
{
    (void)state;
    static const char *const models[] = {"gcn", "consm", "gcn"};
    for (int i = 0; i < 3; i++) { /* the last is an ensemble */
        struct scene s;
        struct consm_model *m, *plain;
        scene_open(&s, "csbm:nodes=300,classes=5,features=10,homophily=0.3", models[i], 12, 40);
        struct dataset *d = s.data->data;
        int64_t positives = 0, validating = 0;
        for (int64_t k = 0; k < d->nodes; k++) {
            d->label[k] = d->label[k] == 0;
            if (d->label[k] && s.roles.role[k] == SPLIT_VAL && validating++ >= 4)
                s.roles.role[k] = SPLIT_NONE;
            positives +=
                d->label[k] && (s.roles.role[k] == SPLIT_VAL || s.roles.role[k] == SPLIT_TRAIN);
        }
        split_count(s.roles.count, s.roles.role, d->nodes);
        d->classes = 2;
        struct config *c = &s.request.options.config;
        c->epochs = i == 1 ? 1000 : 40;
        s.request.ensemble = i == 2 ? 2 : 0;
        c->warmup = 30;
        c->rounds = 1;
        c->gnn_steps = 4;
        c->drop_share = 0;
        c->backbone = BACKBONE_GCN;
        s.request.options.positive = s.request.threshold_for = 2;
        OK(model_train(&m, NULL, &s.request));
        c->folds = FOLDS_NO;
        OK(model_train(&plain, NULL, &s.request));
        assert_true((m->members > 1) == (i == 2));
        assert_int_equal(m->decision.folds, FOLDS);
        assert_int_equal(m->decision.positives, positives);
        assert_int_equal(plain->decision.folds, 0);
        struct consm_model_info info = {.size = sizeof info};
        OK(consm_model_info(&info, m));
        assert_int_equal(info.threshold_folds, FOLDS);
        assert_int_equal(info.threshold_labels, positives);
        assert_true(isnan(info.least_covered)); /* no sets */
        assert_true(m->decision.made && m->decision.threshold != plain->decision.threshold);
        assert_true(m->decision.threshold > 0 && m->decision.threshold < 1);
        consm_model_free(m);
        consm_model_free(plain);
        scene_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rare_by_hand),
        cmocka_unit_test(who_is_divided),
        cmocka_unit_test(many_labels_are_not_divided),
        cmocka_unit_test(few_positives_are_divided),
        cmocka_unit_test(labels_are_dealt_out),
        cmocka_unit_test(nobody_is_predicted_by_his_own_label),
        cmocka_unit_test(folds_choose_among_finalists),
        cmocka_unit_test(the_majority_does_not_win),
        cmocka_unit_test(few_positives_get_a_threshold_from_folds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
