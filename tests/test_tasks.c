/* The figures of a study's tasks, counted again by brute force from a session that was trained in
 * the same way: edge scores by role, calibration, ROC-AUC, prediction sets, facts. */
#include "check.h"

#include <math.h>

#include "app/roles.h"
#include "backends/open.h"
#include "data/open.h"
#include "stats/conformal.h"
#include "study/task.h"
#include "train/edge_trust.h"
#include "train/metrics.h"
#include "train/session.h"

/* Two classes, so that there is a ROC-AUC. */
#define SET "csbm:nodes=90,classes=2,features=6,homophily=0.7,degree=6"

static struct study_run small(enum study_task task, const char *name)
{
    const struct model_def *model = NULL;
    if (name)
        OK(model_find(&model, name));
    struct study_run run = plan_run(task, SET, model, "random");
    run.split_options.per_class = 8;
    run.config.epochs = 8;
    run.config.hidden = 8;
    return run;
}

struct scene {
    struct dataset *data;
    struct prepared prepared;
    struct task_input in;
    uint8_t *role;
    struct problem problem;
    struct backend *backend;
    struct session *s;
    struct train_result trained;
    json_t *result;
};

/* Runs the task, and the same training. */
static void scene_open(struct scene *x, const struct study_run *run)
{
    *x = (struct scene){0};
    OK(data_open(&x->data, run->dataset, NULL));
    OK(prepare(&x->prepared, x->data));
    x->in = (struct task_input){.run = run, .prepared = &x->prepared, .threads = 1};
    OK(task_run(&x->result, &x->in));
    OK(task_roles(&x->role, &x->in));
    x->problem = prepare_problem(&x->prepared, x->role);
}

static void train(struct scene *x)
{
    struct train_options options = task_options(&x->in);
    OK(backend_open(&x->backend, NULL, 1));
    OK(session_new(&x->s, &x->problem, &options, x->backend));
    OK(session_train(x->s, &x->trained));
}

static void scene_free(struct scene *x)
{
    session_free(x->s);
    backend_close(x->backend);
    mem_free(x->role);
    prepare_free(&x->prepared);
    dataset_free(x->data);
    json_decref(x->result);
}

/* ---- brute force --------------------------------------------------------- */

/* The share of pairs in which the positive one scores higher; ties are half. */
static double auc_of(const float *score, const uint8_t *positive, int64_t count)
{
    double wins = 0, pairs = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < count; j++)
            if (positive[i] && !positive[j]) {
                wins += score[i] > score[j] ? 1 : score[i] == score[j] ? 0.5 : 0;
                pairs++;
            }
    return wins / pairs;
}

static double ece_of(const float *score, const uint8_t *same, int64_t count)
{
    enum { BINS = 10 };
    double said[BINS] = {0}, are[BINS] = {0}, ece = 0;
    for (int64_t i = 0; i < count; i++) {
        int b = (int)(10 * (double)score[i]);
        b = b < BINS ? b : BINS - 1;
        said[b] += (double)score[i];
        are[b] += same[i];
    }
    for (int b = 0; b < BINS; b++)
        ece += fabs(said[b] - are[b]) / (double)count;
    return ece;
}

/* ---- edges --------------------------------------------------------------- */

/* which 0: all edges, 1: with a test node, 2: without. */
static int64_t pick(float *score, uint8_t *same, const struct scene *x, const struct edge_trust *t,
                    int which)
{
    int64_t count = 0;
    for (int64_t e = 0; e < t->edges->count; e++) {
        int32_t a = t->edges->left[e], b = t->edges->right[e];
        bool test = x->role[a] == SPLIT_TEST || x->role[b] == SPLIT_TEST;
        if ((which == 1 && !test) || (which == 2 && test))
            continue;
        score[count] = t->score[e];
        same[count++] = x->problem.label[a] == x->problem.label[b];
    }
    return count;
}

static void trust_counted_again(void **state)
{
    (void)state;
    static const char *const ending[] = {"", "_test", "_known"};
    float score[2000];
    uint8_t same[2000];
    struct edge_trust t = {0};
    struct scene x;
    struct study_run run = small(TASK_TRAIN, "gcn");
    scene_open(&x, &run);
    train(&x);
    OK(session_trust(&t, x.s));
    assert_true(t.edges->count < 2000);
    const json_t *of = json_object_get(x.result, "trust");
    for (int which = 0; which < 3; which++) {
        char name[32];
        double inside = 0;
        int64_t count = pick(score, same, &x, &t, which);
        assert_true(count > 5);
        for (int64_t i = 0; i < count; i++)
            inside += same[i];
        snprintf(name, sizeof name, "auc%s", ending[which]);
        assert_near(task_value(of, name), auc_of(score, same, count), 1e-9);
        snprintf(name, sizeof name, "chance%s", ending[which]);
        assert_near(task_value(of, name), inside / (double)count, 1e-12);
        if (which == 1)
            assert_near(task_value(of, "ece"), ece_of(score, same, count), 1e-6);
    }
    assert_near(task_value(x.result, "zeta"), t.zeta, 0);
    assert_null(json_object_get(x.result, "coefficients")); /* a GCN has none */
    assert_null(json_object_get(x.result, "witnesses"));
    /* Agreement ranks as trust does, which for a GCN is the same number. */
    assert_near(task_value(json_object_get(x.result, "agreement"), "auc_test"),
                task_value(of, "auc_test"), 1e-9);
    edge_trust_free(&t);
    scene_free(&x);
}

static void accuracy_counted_again(void **state)
{
    (void)state;
    float score[90];
    uint8_t positive[90];
    const float *logits;
    int64_t count = 0, of_role[4] = {0};
    struct scene x;
    struct study_run run = small(TASK_TRAIN, "gcn");
    scene_open(&x, &run);
    train(&x);
    OK(session_answers(&logits, x.s));
    for (int64_t i = 0; i < 90; i++) {
        of_role[x.role[i]]++;
        if (x.role[i] == SPLIT_TEST) {
            score[count] = logits[2 * i + 1] - logits[2 * i];
            positive[count++] = x.problem.label[i] == 1;
        }
    }
    assert_near(task_value(x.result, "test_auc"), auc_of(score, positive, count), 1e-12);
    assert_near(task_value(x.result, "test_acc"), x.trained.test_acc, 0);
    assert_near(task_value(x.result, "val_acc"), x.trained.val_acc, 0);
    assert_near(task_value(x.result, "val_score"), x.trained.val_score, 0);
    assert_near(task_value(x.result, "epochs"), 8, 0);
    assert_near(task_value(x.result, "best_epoch"), (double)x.trained.best_epoch, 0);
    assert_near(task_value(x.result, "params"), 6 * 8 + 8 + 8 * 2 + 2, 0);
    assert_near(task_value(x.result, "labels_train"), 16, 0);
    assert_near(task_value(x.result, "labels_val"), (double)of_role[SPLIT_VAL], 0);
    assert_string_equal(json_string_value(json_object_get(x.result, "device")), "cpu");
    assert_null(json_object_get(x.result, "chosen")); /* only ConSM chooses */
    scene_free(&x);
}

/* ---- prediction sets ----------------------------------------------------- */

/* Half of the validation nodes calibrate; the rest selects and sets the temperature. */
static void sets_counted_again(void **state)
{
    (void)state;
    static const int level[] = {80, 90, 95};
    uint8_t calibrates[90], set[180];
    float probability[180];
    const float *logits;
    struct scene x;
    struct study_run run = small(TASK_COVER, "gcn");
    scene_open(&x, &run);
    int64_t halved = roles_halve(x.role, calibrates, 90, run.seed);
    train(&x);
    OK(session_answers(&logits, x.s));
    struct predicted selecting = {logits, x.problem.label, x.role, SPLIT_VAL, 90, 2, NULL};
    metrics_softmax(probability, logits, metrics_temperature(&selecting), 90, 2);
    struct conformal_data data = {.probability = probability,
                                  .nodes = 90,
                                  .classes = 2,
                                  .start = x.problem.graph->start,
                                  .col = x.problem.graph->col,
                                  .seed = run.seed};
    for (int way = 0; way < 2; way++)
        for (int k = 0; k < 3; k++) {
            const json_t *of = json_object_get(x.result, way ? "smooth" : "plain");
            struct conformal c;
            char name[32];
            double tested = 0, covered = 0, size = 0;
            OK(conformal_fit(&c, &data, x.problem.label, calibrates, level[k] / 100.0,
                             way ? 0.5 : 0));
            OK(conformal_apply(set, &c, &data));
            for (int i = 0; i < 90; i++)
                if (x.role[i] == SPLIT_TEST) {
                    tested++;
                    covered += set[2 * i + x.problem.label[i]];
                    size += set[2 * i] + set[2 * i + 1];
                }
            snprintf(name, sizeof name, "covered_%d", level[k]);
            assert_near(task_value(of, name), covered / tested, 1e-12);
            snprintf(name, sizeof name, "size_%d", level[k]);
            assert_near(task_value(of, name), size / tested, 1e-12);
            snprintf(name, sizeof name, "share_%d", level[k]);
            assert_near(task_value(of, name), way ? 0.5 : 0, 0);
            assert_near(task_value(of, "calibrated"), (double)halved, 0);
        }
    const json_t *chosen = json_object_get(x.result, "chosen");
    for (int k = 0; k < 3; k++) {
        char name[32];
        snprintf(name, sizeof name, "share_%d", level[k]);
        double share = task_value(chosen, name);
        assert_true(share >= 0 && share <= 1);
    }
    scene_free(&x);
}

/* ---- facts --------------------------------------------------------------- */

static void facts_counted_again(void **state)
{
    (void)state;
    int64_t of_role[4] = {0}, inside = 0, all = 0;
    struct scene x;
    struct study_run run = small(TASK_FACTS, NULL);
    scene_open(&x, &run);
    const struct csr *g = x.prepared.graph;
    for (int64_t i = 0; i < 90; i++) {
        of_role[x.role[i]]++;
        for (int64_t k = g->start[i]; k < g->start[i + 1]; k++) {
            all++;
            inside += x.problem.label[i] == x.problem.label[g->col[k]];
        }
    }
    assert_near(task_value(x.result, "nodes"), 90, 0);
    assert_near(task_value(x.result, "edges"), (double)all / 2, 0);
    assert_near(task_value(x.result, "directed_edges"), (double)x.data->edges, 0);
    assert_near(task_value(x.result, "features"), 6, 0);
    assert_near(task_value(x.result, "classes"), 2, 0);
    assert_near(task_value(x.result, "train"), (double)of_role[SPLIT_TRAIN], 0);
    assert_near(task_value(x.result, "val"), (double)of_role[SPLIT_VAL], 0);
    assert_near(task_value(x.result, "test"), (double)of_role[SPLIT_TEST], 0);
    assert_near(task_value(x.result, "homophily"), (double)inside / (double)all, 1e-12);
    assert_near(task_value(x.result, "copies"), 0, 0);
    assert_near(task_value(x.result, "leaked"), 0, 0);
    scene_free(&x);
}

static void who_has_coefficients(void **state)
{
    (void)state;
    static const char *const yes[] = {"consm", "gam", "gat", "fagcn", "ptdnet"};
    static const char *const no[] = {"mlp", "gcn", "appnp", "gin"};
    const struct model_def *model;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        OK(model_find(&model, yes[i]));
        assert_true(task_has_coefficients(model));
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        OK(model_find(&model, no[i]));
        assert_false(task_has_coefficients(model));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trust_counted_again),  cmocka_unit_test(accuracy_counted_again),
        cmocka_unit_test(sets_counted_again),   cmocka_unit_test(facts_counted_again),
        cmocka_unit_test(who_has_coefficients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
