/* Boosted trees: their table against hand-made figures and against lists of all walks, invalid
 * trees, and training, which gives the same bits on any number of threads and after loading; files
 * with impossible trees are refused. THREADED */
#include "check.h"

#include "app/objects.h"
#include "backends/plugin.h"
#include "data/generate/generate.h"
#include "graph/neighbour_columns.h"
#include "reseal.h"
#include "train/forest.h"
#include <math.h>
#include <unistd.h>

/* ---- the table --------------------------------------------------------------- */

/* Two features of five nodes: a triangle 0 1 2, node 3 at node 1, node 4 alone. */
enum { NODES = 5, FEATURES = 2, COLUMNS = 1 + NEIGHBOUR_KINDS * FEATURES };
static const int32_t from[] = {0, 0, 1, 1}, to[] = {1, 2, 2, 3};
static const float features[NODES * FEATURES] = {1, -3, 2, -3, 4, -3, 8, -3, 16, -3};

/* Degree, then for the first feature its seven kinds, by hand. */
static const double by_hand[NODES][1 + NEIGHBOUR_KINDS] = {
    /*   own, mean 1,   mean 2,  max 1, dev 1,   max 2, dev 2 */
    {2, 1, 3, 14.0 / 3, 4, 1, 8, 2.494438258},     {3, 2, 13.0 / 3, 2.5, 8, 2.867441755, 4, 1.5},
    {2, 4, 1.5, 11.0 / 3, 2, 0.5, 8, 3.091206165}, {1, 8, 2, 2.5, 2, 0, 4, 1.5},
    {0, 16, NAN, NAN, NAN, NAN, NAN, NAN},
};

static void same_or_nan(double expected, float found)
{
    if (isnan(expected))
        assert_true(isnan(found));
    else
        assert_near((double)found, expected, 1e-6);
}

static void figures_are_those_made_by_hand(void **state)
{
    (void)state;
    struct csr *graph, *sparse;
    struct team *team;
    float table[NODES * COLUMNS], again[NODES * COLUMNS], some[2 * 3];
    int64_t all[COLUMNS];
    for (int64_t c = 0; c < COLUMNS; c++)
        all[c] = c;
    OK(team_new(&team, 2));
    OK(csr_from_edges(&graph, NODES, NODES, 4, from, to, NULL, CSR_UNDIRECTED, NULL));
    OK(csr_from_dense(&sparse, features, NODES, FEATURES));
    struct neighbour_source source = {.graph = graph, .dense = features, .features = FEATURES};
    OK(neighbour_columns(table, &source, NULL, NODES, all, COLUMNS, team));
    for (int i = 0; i < NODES; i++) {
        const float *row = table + i * COLUMNS;
        same_or_nan(by_hand[i][0], row[0]);
        for (int kind = OWN; kind < NEIGHBOUR_KINDS; kind++) {
            bool deviation = kind == DEVIATION_1 || kind == DEVIATION_2;
            same_or_nan(by_hand[i][1 + kind], row[1 + kind * FEATURES]);
            /* The second feature is -3 everywhere. */
            same_or_nan(i == 4 && kind != OWN ? (double)NAN
                        : deviation           ? 0
                                              : -3,
                        row[1 + kind * FEATURES + 1]);
        }
    }
    /* Sparse features give the same bits. */
    source.sparse = sparse;
    source.dense = NULL;
    OK(neighbour_columns(again, &source, NULL, NODES, all, COLUMNS, team));
    assert_memory_equal(again, table, sizeof table);
    /* Some rows and some columns. */
    const int32_t rows[] = {3, 1};
    const int64_t columns[] = {0, 1 + MEAN_2 * FEATURES, 1 + MAX_2 * FEATURES + 1};
    OK(neighbour_columns(some, &source, rows, 2, columns, 3, team));
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 3; c++)
            assert_true(some[r * 3 + c] == table[rows[r] * COLUMNS + columns[c]]);
    csr_free(sparse);
    csr_free(graph);
    team_free(team);
}

static void wide_features_have_means_only(void **state)
{
    (void)state;
    assert_int_equal(neighbour_columns_count(NEIGHBOUR_NARROW), 1 + 7 * NEIGHBOUR_NARROW);
    assert_int_equal(neighbour_columns_count(NEIGHBOUR_NARROW + 1), 1 + 3 * (NEIGHBOUR_NARROW + 1));
}

/* The ends of all walks of two steps, listed one by one. */
static void walks_are_all_walks(void **state)
{
    (void)state;
    struct dataset *d;
    struct prepared prepared;
    struct team *team;
    OK(team_new(&team, 1));
    OK(generate_named(&d, "csbm:nodes=80,classes=2,degree=6,features=3,seed=2"));
    OK(prepare(&prepared, d));
    struct problem p = prepare_problem(&prepared, NULL);
    const struct csr *g = p.graph;
    struct neighbour_source source = {.graph = g, .dense = p.dense, .features = p.features};
    int64_t columns[] = {1 + MEAN_2 * p.features + 1, 1 + MAX_2 * p.features + 1,
                         1 + DEVIATION_2 * p.features + 1};
    float *table = mem_alloc((size_t)p.nodes * 3, sizeof *table);
    OK(neighbour_columns(table, &source, NULL, p.nodes, columns, 3, team));
    for (int32_t i = 0; i < p.nodes; i++) {
        double sum = 0, squares = 0, most = -INFINITY, walks = 0;
        for (int64_t e = g->start[i]; e < g->start[i + 1]; e++)
            for (int64_t k = g->start[g->col[e]]; k < g->start[g->col[e] + 1]; k++) {
                double x = (double)p.dense[g->col[k] * p.features + 1];
                if (g->col[k] == i)
                    continue;
                walks++;
                sum += x;
                squares += x * x;
                most = x > most ? x : most;
            }
        if (walks == 0)
            continue;
        assert_near((double)table[3 * i], sum / walks, 1e-5);
        assert_true(table[3 * i + 1] == (float)most);
        assert_near((double)table[3 * i + 2],
                    sqrt(fmax(0, squares / walks - sum / walks * (sum / walks))), 1e-4);
    }
    mem_free(table);
    prepare_free(&prepared);
    dataset_free(d);
    team_free(team);
}

/* ---- trees ------------------------------------------------------------------- */

/* Two trees: "column 1 < 0.5? then column 0 < 2 (missing: right) 1 : 2, else 4", and a leaf. */
static const float sound[] = {1,  0.5, 4, 1, 0,  2, 2, 0, -1, 1, 0, 0,
                              -1, 2,   0, 0, -1, 4, 0, 0, -1, 8, 0, 0};
enum { SOUND = sizeof sound / sizeof *sound / FOREST_COLUMNS };

static float said(const struct forest *f, float first, float second)
{
    float logits[2] = {0, 0};
    const float row[] = {first, second};
    forest_add(logits, f, 0, f->trees, row, NULL, 2);
    assert_true(logits[0] == 0);
    return logits[1];
}

static void questions_lead_to_leaves(void **state)
{
    (void)state;
    struct forest f;
    int64_t columns[2];
    OK(forest_open(&f, sound, SOUND, 2, 2));
    assert_int_equal(f.trees, 2);
    assert_int_equal(f.leaves, 4);
    assert_int_equal(forest_columns(columns, &f, 2), 2);
    assert_true(said(&f, 1, 0) == 9);
    assert_true(said(&f, 2, 0) == 10);
    assert_true(said(&f, 1, 0.5F) == 12);
    assert_true(said(&f, 1, NAN) == 9);  /* missing goes left … */
    assert_true(said(&f, NAN, 0) == 10); /* … or right */
    forest_close(&f);
}

static void impossible_trees_are_refused(void **state)
{
    (void)state;
    static const struct {
        int node, column;
        float value;
        const char *message;
    } damage[] = {
        {0, FOREST_COLUMN, 2, "uses a column that does not exist"},
        {0, FOREST_COLUMN, 0.5F, "uses a column that does not exist"},
        {0, FOREST_COLUMN, NAN, "uses a column that does not exist"},
        {0, FOREST_COLUMN, -2, "uses a column that does not exist"},
        {3, FOREST_SPLIT, INFINITY, "not finite"},
        {0, FOREST_RIGHT, 0, "two children"},
        {0, FOREST_RIGHT, -1, "two children"},
        {0, FOREST_RIGHT, 3, "two children"},
        {0, FOREST_RIGHT, 5, "two children"},
        {0, FOREST_RIGHT, NAN, "two children"},
        {5, FOREST_COLUMN, 0, "two children"}, /* a question without answers after it */
    };
    struct forest f;
    float numbers[SOUND * FOREST_COLUMNS];
    for (size_t k = 0; k < sizeof damage / sizeof *damage; k++) {
        memcpy(numbers, sound, sizeof sound);
        numbers[damage[k].node * FOREST_COLUMNS + damage[k].column] = damage[k].value;
        FAILS(forest_open(&f, numbers, SOUND, 2, 2), CONSM_EFORMAT, damage[k].message);
    }
    FAILS(forest_open(&f, sound, SOUND, 2, 3), CONSM_EFORMAT, "expected a multiple of 3");
    FAILS(forest_open(&f, sound, 0, 2, 2), CONSM_EFORMAT, "found 0 trees");
}

/* ---- training ---------------------------------------------------------------- */

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

static struct consm_options *options(const char *epochs, int threads)
{
    struct consm_options *o;
    OK(consm_options_new(&o, "trees"));
    OK(consm_options_set(o, "epochs", epochs));
    o->threads = threads;
    return o;
}

static void same_prediction(const struct consm_prediction *a, const struct consm_prediction *b)
{
    assert_int_equal(a->nodes, b->nodes);
    size_t count = (size_t)a->nodes * (size_t)a->classes;
    assert_memory_equal(a->probability, b->probability, count * sizeof *a->probability);
}

static void training_learns(void **state)
{
    (void)state;
    const char *const sets[] = {
        "csbm:nodes=300,classes=3,features=12,signal=3,homophily=0.4,seed=1",
        "csbm:nodes=300,classes=2,features=12,signal=3,homophily=0.3,seed=1",
        "csbm:nodes=300,features=300,words=12,classes=3"};
    char path[] = "/tmp/consm-trees-XXXXXX";
    if (!boosts("training trees"))
        return;
    close(mkstemp(path));
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct consm_dataset *d;
        struct consm_model *m, *other, *loaded;
        struct consm_prediction *p, *q, *read;
        OK(consm_dataset_open(&d, sets[k], NULL));
        struct consm_options *one = options("40", 1), *two = options("40", 2);
        OK(consm_train(&m, d, one));
        OK(consm_train(&other, d, two));
        assert_true(m->result.val_acc > 1.25 / m->classes);
        assert_true(m->result.test_acc > 1.25 / m->classes);
        assert_in_range(m->result.best_epoch, 1, 40);
        OK(consm_predict(&p, m, d, 2));
        OK(consm_predict(&q, other, d, 1));
        same_prediction(p, q);
        OK(consm_model_save(m, path));
        OK(consm_model_load(&loaded, path));
        OK(consm_predict(&read, loaded, d, 1));
        same_prediction(p, read);
        /* Another seed draws other rows and columns. */
        OK(consm_options_set(two, "seed", "1"));
        consm_model_free(other);
        OK(consm_train(&other, d, two));
        consm_prediction_free(q);
        OK(consm_predict(&q, other, d, 1));
        assert_memory_not_equal(p->probability, q->probability,
                                (size_t)(p->nodes * p->classes) * sizeof *p->probability);
        consm_prediction_free(p);
        consm_prediction_free(q);
        consm_prediction_free(read);
        consm_model_free(m);
        consm_model_free(other);
        consm_model_free(loaded);
        consm_options_free(one);
        consm_options_free(two);
        consm_dataset_free(d);
    }
    unlink(path);
}

/* Without validation the last round counts; trees that may grow memorise their training nodes. */
static void more_rounds_fit_better(void **state)
{
    (void)state;
    struct consm_dataset *d;
    struct consm_model *few, *many;
    if (!boosts("rounds of trees"))
        return;
    OK(consm_dataset_open(&d, "csbm:nodes=300,classes=3,features=12,signal=3,seed=1", NULL));
    struct consm_options *o = options("2", 1);
    OK(consm_options_set(o, "patience", "0"));
    OK(consm_options_set(o, "row_share", "1"));
    OK(consm_options_set(o, "metric", "log-likelihood"));
    OK(consm_train(&few, d, o));
    OK(consm_options_set(o, "epochs", "60"));
    OK(consm_train(&many, d, o));
    assert_int_equal(few->result.epochs, 2);
    assert_int_equal(many->result.epochs, 60);
    assert_true(many->result.loss < 0.3 * few->result.loss);
    assert_true(many->result.val_score > few->result.val_score);
    assert_true(many->result.params > few->result.params);
    consm_model_free(few);
    consm_model_free(many);
    consm_options_free(o);
    consm_dataset_free(d);
}

/* Removing a feature also removes it from the columns around a node, also for sparse features. */
static void features_have_effects(void **state)
{
    (void)state;
    const char *const sets[] = {"csbm:nodes=150,features=40,words=8,classes=2",
                                "csbm:nodes=150,features=8,classes=2,signal=3"};
    if (!boosts("explaining trees"))
        return;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct consm_dataset *d;
        struct consm_model *m;
        struct consm_explanation *e;
        bool features_count = false, edges_count = false;
        OK(consm_dataset_open(&d, sets[k], NULL));
        struct consm_options *o = options("10", 1);
        OK(consm_train(&m, d, o));
        for (int64_t i = 0; i < 4; i++) {
            OK(consm_explain(&e, m, d, i, NULL));
            for (int64_t f = 0; f < e->features; f++)
                features_count = features_count || e->feature_log_odds[f] != 0;
            for (int64_t f = 0; f < e->edges; f++)
                edges_count = edges_count || e->edge_log_odds[f] != 0;
            consm_explanation_free(e);
        }
        assert_true(features_count && edges_count);
        consm_model_free(m);
        consm_options_free(o);
        consm_dataset_free(d);
    }
}

/* A file with a valid seal and invalid trees. */
static void files_with_impossible_trees_are_refused(void **state)
{
    (void)state;
    char path[] = "/tmp/consm-trees-XXXXXX";
    struct consm_dataset *d;
    struct consm_model *m;
    size_t size = 0, bytes = 0;
    if (!boosts("files of trees"))
        return;
    close(mkstemp(path));
    OK(consm_dataset_open(&d, "karate", NULL));
    struct consm_options *o = options("5", 1);
    OK(consm_options_set(o, "per_class", "8"));
    OK(consm_train(&m, d, o));
    OK(consm_model_save(m, path));
    consm_model_free(m);
    uint8_t *data = file_bytes(path, &size);
    uint8_t *trees = tensor_in(data, size, "forest", &bytes);
    assert_non_null(trees);
    for (size_t at = 0; at + 4 <= bytes; at += 4) {
        const float wrong = 1e9F;
        float kept, column;
        size_t number = at / 4 % FOREST_COLUMNS;
        memcpy(&kept, trees + at, 4);
        memcpy(trees + at, &wrong, 4);
        memcpy(&column, trees + at - 4 * number, 4);
        reseal(data, size);
        file_put(path, data, size);
        consm_status st = consm_model_load(&m, path);
        /* A split and a leaf may be any number; of a leaf nothing else is read. */
        if (number == FOREST_SPLIT || number == FOREST_MISSING_LEFT || column == -1)
            OK(st);
        else
            FAILS(st, CONSM_EFORMAT, "trees: node ");
        consm_model_free(m);
        memcpy(trees + at, &kept, 4);
    }
    free(data);
    unlink(path);
    consm_options_free(o);
    consm_dataset_free(d);
}

static void what_trees_cannot_do_is_said(void **state)
{
    (void)state;
    struct consm_dataset *d;
    struct consm_model *m;
    OK(consm_dataset_open(&d, "karate", NULL));
    struct consm_options *o = options("5", 1);
    OK(consm_options_set(o, "propagation", "ngm"));
    FAILS(consm_train(&m, d, o), CONSM_EINVAL, "trees have no gradients");
    consm_options_free(o);
    consm_dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_made_by_hand),
        cmocka_unit_test(wide_features_have_means_only),
        cmocka_unit_test(walks_are_all_walks),
        cmocka_unit_test(questions_lead_to_leaves),
        cmocka_unit_test(impossible_trees_are_refused),
        cmocka_unit_test(training_learns),
        cmocka_unit_test(more_rounds_fit_better),
        cmocka_unit_test(features_have_effects),
        cmocka_unit_test(files_with_impossible_trees_are_refused),
        cmocka_unit_test(what_trees_cannot_do_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
