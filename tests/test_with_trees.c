/* Boosted trees beside ConSM's candidates: if they validate better they make the predictions,
 * alone bit-identical to `-m trees`, and ConSM scores the edges. Either may lead a mean of both,
 * in which trees have votes; without votes they change nothing. Such a
 * model loads from its file; a resumed run does not train its trees again. THREADED */
#include "companions.h"

#include "backends/plugin.h"
#include "base/rng.h"
#include "reseal.h"
#include "train/consm/candidates.h"

/* Whether XGBoost is here; otherwise one line says what is skipped. */
static bool boosts(const char *what)
{
    const struct boost_library *library;
    const struct plugin_services *services;
    if (plugin_boost(&library, &services) == CONSM_OK)
        return true;
    printf("SKIPPED: %s: %s\n", what, consm_errmsg());
    return false;
}

/* ---- a table with edges that say nothing --------------------------------------- */

/* The class is whether one column is in the middle of its range. Columns have very different
 * scales: a tree uses the order of values, a network their size. */
enum { NODES = 240, FEATURES = 4, EDGES = 480, CLASSES = 2 };

/* signal: of the other columns, which networks can use, too; then some labels are not what the
 * first column says. 0: none. */
static struct consm_dataset *table_with(bool test_nodes, double signal)
{
    static float feature[NODES * FEATURES];
    static int32_t label[NODES], from[EDGES], to[EDGES];
    static uint8_t role[NODES];
    struct consm_dataset *d;
    struct rng rng;
    rng_init(&rng, 5, 0);
    for (int i = 0; i < NODES; i++) {
        for (int k = 0; k < FEATURES; k++)
            feature[i * FEATURES + k] = (float)exp(12 * rng_uniform(&rng));
        double first = log((double)feature[i * FEATURES]) / 12;
        label[i] = first > 0.3 && first < 0.7;
        if (signal > 0 && rng_uniform(&rng) < 0.15)
            label[i] = 1 - label[i];
        for (int j = 1; j < FEATURES && signal > 0; j++)
            feature[i * FEATURES + j] = (float)(signal * (label[i] ? 1 : -1) + rng_normal(&rng));
        role[i] = (uint8_t)(i % 4 < 2 ? CONSM_TRAIN : i % 4 == 2 ? CONSM_VALIDATION : CONSM_TEST);
        if (role[i] == CONSM_TEST && !test_nodes)
            role[i] = 0;
    }
    for (int e = 0; e < EDGES; e++) {
        from[e] = e % NODES;
        to[e] = (from[e] + 1 + (int32_t)rng_below(&rng, NODES - 1)) % NODES;
    }
    OK(consm_dataset_from_arrays(&d, &(struct consm_arrays){.size = sizeof(struct consm_arrays),
                                                            .nodes = NODES,
                                                            .edges = EDGES,
                                                            .features = FEATURES,
                                                            .classes = CLASSES,
                                                            .from = from,
                                                            .to = to,
                                                            .feature = feature,
                                                            .label = label,
                                                            .role = role}));
    return d;
}

static struct consm_dataset *table(bool test_nodes)
{
    return table_with(test_nodes, 0);
}

static struct consm_options *options(const char *model, int threads)
{
    static const char *const few[][2] = {{"warmup", "8"},        {"rounds", "1"},
                                         {"gnn_steps", "4"},     {"drop_share", "0"},
                                         {"add_share", "0"},     {"guesses", "no"},
                                         {"entropy", "0"},       {"attract", "zeta"},
                                         {"metric", "accuracy"}, NARROW};
    struct consm_options *o;
    OK(consm_options_new(&o, model));
    o->threads = threads;
    for (size_t i = 0; i < sizeof few / sizeof *few; i++)
        OK(consm_options_set(o, few[i][0], few[i][1]));
    return o;
}

static void set(struct consm_options *o, const char *name, const char *value)
{
    OK(consm_options_set(o, name, value));
}

/* A trained model, its file and its data. */
static struct consm_model *asked(struct consm_dataset **d, char path[])
{
    struct consm_model *m;
    close(mkstemp(path));
    *d = table(true);
    struct consm_options *o = options("consm", 1);
    OK(consm_train(&m, *d, o));
    assert_non_null(m->trees);
    OK(consm_model_save(m, path));
    consm_options_free(o);
    return m;
}

/* ---- comparing ------------------------------------------------------------------ */

static const char *with_trees(const struct consm_model *m)
{
    static char buffer[32];
    return consm_model_parameter(m, "with_trees", buffer);
}

/* ---- they win ------------------------------------------------------------------- */

static void trees_predict_where_they_are_better(void **state)
{
    (void)state;
    struct consm_model *m, *other, *alone;
    struct consm_candidate last;
    if (!boosts("trees that predict for ConSM"))
        return;
    struct consm_dataset *d = table(true);
    struct consm_options *one = options("consm", 1), *two = options("consm", 2);
    struct consm_options *trees = options("trees", 1);
    OK(consm_train(&m, d, one));
    OK(consm_train(&other, d, two));
    OK(consm_train(&alone, d, trees));
    assert_true(m->trees && m->result.trees.taken);
    assert_true(m->result.trees.val > m->result.trees.network_val);
    assert_true(m->result.val_score == m->result.trees.val);
    assert_true(m->result.test_acc == alone->result.test_acc);
    assert_true(m->result.test_acc > 0.9);
    assert_string_equal(with_trees(m), "yes");
    last.size = sizeof last;
    OK(consm_model_candidate(&last, m, m->result.candidates - 1));
    assert_string_equal(last.backbone, "trees");
    assert_true(last.val_score == m->result.trees.val && last.updates == alone->result.best_epoch);
    same_predictions(m, alone, d);
    same_predictions(m, other, d);
    same_edges(m, other, d);
    consm_model_free(m);
    consm_model_free(other);
    consm_model_free(alone);
    consm_options_free(one);
    consm_options_free(two);
    consm_options_free(trees);
    consm_dataset_free(d);
}

/* ---- they predict together with networks ------------------------------------------ */

static const struct consm_model *trees_among(const struct consm_model *m)
{
    for (int64_t k = 0; k < m->companions; k++)
        if (strcmp(m->companion[k]->def->name, "trees") == 0)
            return m->companion[k];
    return NULL;
}

/* The file predicts like the model, for all nodes and for some; so does a resumed run. */
static void holds_together(const struct consm_model *m, const struct consm_dataset *d,
                           struct consm_options *o)
{
    char path[] = "/tmp/consm-with-trees-XXXXXX";
    struct consm_model *loaded, *again;
    struct consm_prediction *all, *some;
    const int64_t nodes[] = {3, 77};
    close(mkstemp(path));
    OK(consm_model_save(m, path));
    OK(consm_model_load(&loaded, path));
    assert_int_equal(loaded->companions, m->companions);
    assert_string_equal(with_trees(loaded), "yes");
    same_predictions(m, loaded, d);
    same_edges(m, loaded, d);
    OK(consm_predict(&all, loaded, d, 1));
    OK(consm_predict_nodes(&some, loaded, d, nodes, 2, 1));
    for (int i = 0; i < 2; i++)
        assert_memory_equal(some->probability + i * CLASSES, all->probability + nodes[i] * CLASSES,
                            CLASSES * sizeof(float));
    set(o, "refit", "yes");
    OK(consm_train(&again, d, o));
    assert_int_equal(again->companions, m->companions);
    assert_int_equal(again->refit.labels, m->count[SPLIT_TRAIN] + m->count[SPLIT_VAL]);
    consm_prediction_free(all);
    consm_prediction_free(some);
    consm_model_free(again);
    consm_model_free(loaded);
    unlink(path);
}

static void trees_lead_a_mean(void **state)
{
    (void)state;
    struct consm_model *m, *alone;
    if (!boosts("trees and networks that predict together"))
        return;
    struct consm_dataset *d = table_with(true, 0.1);
    struct consm_options *o = options("consm", 1), *trees = options("consm", 1);
    set(o, "warmup", "40");
    set(trees, "warmup", "40");
    set(trees, "companions", "no");
    OK(consm_train(&m, d, o));
    OK(consm_train(&alone, d, trees));
    assert_true(m->trees && m->result.trees.taken && alone->trees);
    assert_true(m->companions > 0 && alone->companions == 0);
    assert_null(trees_among(m));
    assert_true(m->own_votes >= 10);
    assert_true(m->result.companions.alone == m->result.trees.val);
    same_network_other_answers(m, alone);
    holds_together(m, d, o);
    consm_model_free(m);
    consm_model_free(alone);
    consm_options_free(o);
    consm_options_free(trees);
    consm_dataset_free(d);
}

static void trees_join_a_mean(void **state)
{
    (void)state;
    struct consm_model *m;
    if (!boosts("trees that predict together with ConSM"))
        return;
    struct consm_dataset *d;
    OK(consm_dataset_open(
        &d, "csbm:nodes=240,classes=2,degree=4,homophily=0.4,features=8,signal=1.0,seed=3", NULL));
    struct consm_options *o = options("consm", 1);
    set(o, "per_class", "40");
    set(o, "with_trees", "yes");
    OK(consm_train(&m, d, o));
    const struct consm_model *trees = trees_among(m);
    assert_true(!m->trees && !m->result.trees.taken && trees);
    const struct train_companions *told = &m->result.companions;
    assert_int_equal(told->of[told->count - 1].number,
                     m->result.candidate[m->result.candidates - 1].number);
    assert_int_equal(told->of[told->count - 1].votes, trees->picks);
    assert_int_equal(trees->result.lengths.updates[0], m->result.trees.rounds);
    holds_together(m, d, o);
    consm_model_free(m);
    consm_options_free(o);
    consm_dataset_free(d);
}

/* A file with a valid seal and invalid trees. */
static void refuse_impossible_trees(const char *path)
{
    struct consm_model *m;
    size_t size = 0, bytes = 0;
    uint8_t *data = file_bytes(path, &size);
    uint8_t *trees = tensor_in(data, size, "trees.forest", &bytes);
    assert_non_null(trees);
    const float wrong = 1e9F;
    memcpy(trees, &wrong, sizeof wrong); /* the first question's column */
    reseal(data, size);
    file_put(path, data, size);
    FAILS(consm_model_load(&m, path), CONSM_EFORMAT, "trees: node ");
    /* Another model in their place. */
    free(data);
    data = file_bytes(path, &size);
    const char needle[] = "{\\\"model\\\": \\\"trees\\\"";
    uint8_t *said = memmem(data, size, needle, sizeof needle - 1);
    assert_non_null(said);
    memcpy(said + sizeof needle - 8, "gcnii", 5);
    reseal(data, size);
    file_put(path, data, size);
    FAILS(consm_model_load(&m, path), CONSM_EFORMAT, "expected trees");
    free(data);
}

/* All queries to a model read from its file. */
static void the_file_holds_both(void **state)
{
    (void)state;
    char path[] = "/tmp/consm-with-trees-XXXXXX";
    struct consm_model *m, *loaded;
    struct consm_prediction *all, *some;
    struct consm_explanation *why;
    struct consm_metrics *metrics;
    const int64_t nodes[] = {3, 77};
    if (!boosts("files of ConSM with trees"))
        return;
    struct consm_dataset *d;
    m = asked(&d, path);
    OK(consm_model_load(&loaded, path));
    assert_non_null(loaded->trees);
    assert_string_equal(with_trees(loaded), "yes");
    same_predictions(m, loaded, d);
    same_edges(m, loaded, d);
    OK(consm_predict(&all, loaded, d, 1));
    OK(consm_predict_nodes(&some, loaded, d, nodes, 2, 1));
    for (int i = 0; i < 2; i++)
        assert_memory_equal(some->probability + i * CLASSES, all->probability + nodes[i] * CLASSES,
                            CLASSES * sizeof(float));
    OK(consm_explain(&why, loaded, d, 3, NULL));
    assert_near((double)why->probability, (double)all->confidence[3], 1e-6);
    OK(consm_evaluate(&metrics, loaded, d, 1));
    assert_true(metrics->accuracy > 0.9);
    consm_metrics_free(metrics);
    consm_explanation_free(why);
    consm_prediction_free(all);
    consm_prediction_free(some);
    consm_model_free(m);
    consm_model_free(loaded);
    refuse_impossible_trees(path);
    unlink(path);
    consm_dataset_free(d);
}

/* ---- runs that are interrupted -------------------------------------------------- */

/* Counts the progress of trees and networks; stops at a call of either, 0: never. */
struct ear {
    int64_t trees, networks, stop_trees, stop_networks;
};

static bool hear(void *ctx, const struct consm_progress *p)
{
    struct ear *e = ctx;
    if (p->epoch > 0)
        return false;
    if (strcmp(p->backbone, "trees") == 0)
        return ++e->trees == e->stop_trees;
    return ++e->networks == e->stop_networks;
}

static void trees_are_not_trained_again(void **state)
{
    (void)state;
    char path[] = "/tmp/consm-with-trees-XXXXXX";
    struct consm_model *whole, *part;
    struct ear e = {0};
    if (!boosts("interrupted runs with trees"))
        return;
    close(mkstemp(path));
    unlink(path);
    struct consm_dataset *d = table(true);
    struct consm_options *o = options("consm", 1);
    consm_options_on_progress(o, hear, &e);
    OK(consm_train(&whole, d, o));
    assert_true(whole->trees && e.trees > 20);
    const struct ear all = e;
    OK(consm_options_checkpoint(o, path, 0, true));
    e = (struct ear){.stop_trees = 10}; /* while they are being made */
    FAILS(consm_train(&part, d, o), CONSM_ECANCEL, "choice of the backbone");
    e = (struct ear){.stop_networks = 30};
    FAILS(consm_train(&part, d, o), CONSM_ECANCEL, "choice of the backbone");
    assert_int_equal(e.trees, all.trees);
    e = (struct ear){0};
    OK(consm_train(&part, d, o));
    assert_int_equal(e.trees, 0);
    assert_int_equal(e.networks, all.networks - 30);
    assert_true(part->trees && part->result.trees.val == whole->result.trees.val);
    same_predictions(whole, part, d);
    same_edges(whole, part, d);
    consm_model_free(whole);
    consm_model_free(part);
    unlink(path);
    consm_options_free(o);
    consm_dataset_free(d);
}

/* ---- trees in ensembles, and on all labels --------------------------------------- */

static void ensembles_take_them(void **state)
{
    (void)state;
    char path[] = "/tmp/consm-with-trees-XXXXXX";
    struct consm_model *m, *loaded;
    if (!boosts("ensembles of ConSM with trees"))
        return;
    close(mkstemp(path));
    struct consm_dataset *d = table(true);
    struct consm_options *o = options("consm", 1);
    set(o, "ensemble", "2");
    OK(consm_train(&m, d, o));
    assert_string_equal(with_trees(m), "yes");
    assert_true(m->result.test_acc > 0.9);
    /* Two runs, of each four networks and the trees. */
    assert_int_equal(m->ensemble.pool, 2 * (1 + 4 + 1));
    OK(consm_model_save(m, path));
    OK(consm_model_load(&loaded, path));
    same_predictions(m, loaded, d);
    same_edges(m, loaded, d);
    consm_model_free(m);
    consm_model_free(loaded);
    unlink(path);
    consm_options_free(o);
    consm_dataset_free(d);
}

static void a_refit_trains_both(void **state)
{
    (void)state;
    struct consm_model *m, *trees;
    if (!boosts("a refit of ConSM with trees"))
        return;
    struct consm_dataset *d = table(false);
    struct consm_options *o = options("consm", 1), *alone = options("trees", 1);
    set(o, "refit", "yes");
    set(alone, "refit", "yes");
    OK(consm_train(&m, d, o));
    OK(consm_train(&trees, d, alone));
    assert_non_null(m->trees);
    assert_int_equal(m->refit.labels, NODES * 3 / 4);
    assert_int_equal(m->refit.updates, m->result.trees.rounds);
    same_predictions(m, trees, d);
    consm_model_free(m);
    consm_model_free(trees);
    consm_options_free(o);
    consm_options_free(alone);
    consm_dataset_free(d);
}

/* ---- they lose, or take no part --------------------------------------------------- */

static void elsewhere_they_change_nothing(void **state)
{
    (void)state;
    struct consm_dataset *d;
    struct consm_model *m, *without;
    if (UNDER_ASAN || !boosts("trees that lose"))
        return;
    OK(consm_dataset_open(
        &d, "csbm:nodes=200,classes=2,degree=6,homophily=0.85,features=4,signal=1,seed=3", NULL));
    struct consm_options *o = options("consm", 1);
    set(o, "warmup", "12");
    set(o, "per_class", "50");
    OK(consm_train(&m, d, o));
    set(o, "with_trees", "no");
    OK(consm_train(&without, d, o));
    assert_true(m->result.trees.rounds > 0 && !m->result.trees.taken && !m->trees);
    assert_int_equal(without->result.trees.rounds, 0);
    assert_int_equal(m->result.candidates, without->result.candidates + 1);
    assert_string_equal(with_trees(m), "no");
    same_predictions(m, without, d);
    same_edges(m, without, d);
    consm_model_free(m);
    consm_model_free(without);
    consm_options_free(o);
    consm_dataset_free(d);
}

static void who_takes_no_part(void **state)
{
    (void)state;
    static const char *const off[][2] = {{"candidates", "few"}, {"backbone", "gcn"}};
    struct consm_model *m;
    if (UNDER_ASAN)
        return;
    struct consm_dataset *d = table(true), *bare;
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        struct consm_options *o = options("consm", 1);
        set(o, off[i][0], off[i][1]);
        OK(consm_train(&m, d, o));
        assert_int_equal(m->result.trees.rounds, 0);
        assert_string_equal(with_trees(m), "no");
        consm_model_free(m);
        consm_options_free(o);
    }
    struct consm_options *o = options("consm", 1);
    set(o, "with_trees", "yes");
    set(o, "backbone", "gcn");
    FAILS(consm_train(&m, d, o), CONSM_EINVAL, "ConSM (backbone auto)");
    consm_options_free(o);
    /* A graph with few labels, one without features, and one where fewer than ten nodes of a
     * class validate. */
    static const char *const graph[][2] = {{"csbm:nodes=200,classes=2,features=4", "40"},
                                           {"csbm:nodes=200,classes=2,features=0", "60"},
                                           {"csbm:nodes=140,classes=2,features=4", "60"}};
    for (size_t i = 0; i < sizeof graph / sizeof *graph; i++) {
        o = options("consm", 1);
        set(o, "per_class", graph[i][1]);
        OK(consm_dataset_open(&bare, graph[i][0], NULL));
        OK(consm_train(&m, bare, o));
        assert_int_equal(m->result.trees.rounds, 0);
        consm_model_free(m);
        consm_options_free(o);
        consm_dataset_free(bare);
    }
    consm_dataset_free(d);
}

/* A student may validate worse than the network it replaced: trees must be better than both. */
static void a_modest_student_does_not_help_them(void **state)
{
    (void)state;
    struct candidate_choice choice = {.replaced = 0.9};
    assert_true(consm_best_network(&choice, 0.8) == 0.8); /* it was not taken */
    choice.taught = true;
    assert_true(consm_best_network(&choice, 0.8) == 0.9);
    assert_true(consm_best_network(&choice, 0.95) == 0.95);
}

static void note(void *ctx, enum consm_log_level level, const char *message)
{
    if (level == CONSM_LOG_INFO)
        *(bool *)ctx =
            *(bool *)ctx || strstr(message, "boosted trees are not among the candidates");
}

/* If the plug-in is missing, the log says so; otherwise not. */
static void a_missing_plug_in_is_told(void **state)
{
    (void)state;
    struct consm_model *m;
    const struct boost_library *library;
    const struct plugin_services *services;
    bool told = false, there = plugin_boost(&library, &services) == CONSM_OK;
    struct consm_dataset *d = table(true);
    struct consm_options *o = options("consm", 1);
    consm_set_log(note, &told);
    OK(consm_train(&m, d, o));
    consm_set_log(NULL, NULL);
    assert_true(told != there);
    assert_true((m->result.trees.rounds > 0) == there);
    consm_model_free(m);
    consm_options_free(o);
    consm_dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_predict_where_they_are_better),
        cmocka_unit_test(trees_lead_a_mean),
        cmocka_unit_test(trees_join_a_mean),
        cmocka_unit_test(the_file_holds_both),
        cmocka_unit_test(trees_are_not_trained_again),
        cmocka_unit_test(ensembles_take_them),
        cmocka_unit_test(a_refit_trains_both),
        cmocka_unit_test(elsewhere_they_change_nothing),
        cmocka_unit_test(who_takes_no_part),
        cmocka_unit_test(a_modest_student_does_not_help_them),
        cmocka_unit_test(a_missing_plug_in_is_told),
    };
    if (UNDER_TSAN) /* built without trees; the others run on one thread */
        cmocka_set_test_filter("a_missing_*");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
