/* Boosted trees by XGBoost (Chen and Guestrin, KDD 2016), a plug-in. Only the trees are taken from
 * XGBoost, as numbers; it reads no model file and makes no predictions. It runs on one thread,
 * because with several the order of gradient sums is not fixed. */
#include "program/boost.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>

struct boost {
    const struct plugin_services *services;
    DMatrixHandle matrix;
    BoosterHandle booster;
    int rounds;
};

#define XGB(call)                                                                         \
    do {                                                                                  \
        if ((call) != 0) {                                                                \
            st = b->services->fail(CONSM_EPROGRAM, "XGBoost: %.400s", XGBGetLastError()); \
            goto done;                                                                    \
        }                                                                                 \
    } while (0)

static void boost_close(struct boost *b)
{
    if (!b)
        return;
    if (b->booster)
        (void)XGBoosterFree(b->booster);
    if (b->matrix)
        (void)XGDMatrixFree(b->matrix);
    b->services->free(b);
}

static consm_status set_number(struct boost *b, const char *name, double number)
{
    consm_status st = CONSM_OK;
    json_t *value = json_real(number); /* written with a decimal point in any locale */
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    if (!text)
        st = CONSM_ENOMEM;
    else
        XGB(XGBoosterSetParam(b->booster, name, text));
done:
    free(text);
    json_decref(value);
    return st;
}

static consm_status set_parameters(struct boost *b, const struct boost_task *t)
{
    consm_status st = CONSM_OK;
    char classes[16], depth[16], seed[16], bins[16];
    snprintf(classes, sizeof classes, "%d", t->classes);
    snprintf(depth, sizeof depth, "%d", (int)t->depth);
    snprintf(seed, sizeof seed, "%u", (unsigned)(t->seed & 0x7fffffff));
    snprintf(bins, sizeof bins, "%d", (int)t->bins);
    const char *const words[][2] = {
        {"verbosity", "0"},
        {"nthread", "1"},
        {"tree_method", "hist"},
        {"objective", t->classes > 2 ? "multi:softprob" : "binary:logistic"},
        {"base_score", "0.5"}, /* log-odds 0, and the same for all of many classes */
        {"max_depth", depth},
        {"max_bin", bins},
        {"seed", seed},
        {"seed_per_iteration", "1"}, /* a round's random numbers depend only on its number */
    };
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"eta", t->lr},
                   {"lambda", t->l2},
                   {"min_child_weight", t->least},
                   {"subsample", t->row_share},
                   {"colsample_bytree", t->column_share}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        XGB(XGBoosterSetParam(b->booster, words[i][0], words[i][1]));
    if (t->classes > 2)
        XGB(XGBoosterSetParam(b->booster, "num_class", classes));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && st == CONSM_OK; i++)
        st = set_number(b, numbers[i].name, numbers[i].value);
done:
    return st;
}

static consm_status boost_open(struct boost **out, const struct boost_task *t,
                               const struct plugin_services *services)
{
    consm_status st = CONSM_OK;
    struct boost *b = services->zalloc(1, sizeof *b);
    bst_ulong rows = (bst_ulong)t->rows;
    *out = NULL;
    if (!b)
        return CONSM_ENOMEM;
    b->services = services;
    XGB(XGDMatrixCreateFromMat_omp(t->value, rows, (bst_ulong)t->columns, NAN, &b->matrix, 1));
    XGB(XGDMatrixSetFloatInfo(b->matrix, "label", t->label, rows));
    if (t->weight)
        XGB(XGDMatrixSetFloatInfo(b->matrix, "weight", t->weight, rows));
    XGB(XGBoosterCreate(&b->matrix, 1, &b->booster));
    st = set_parameters(b, t);
done:
    if (st < 0)
        boost_close(b);
    else
        *out = b;
    return st;
}

/* ---- XGBoost's trees as ours ----------------------------------------------- */

/* The arrays of one tree in XGBoost's JSON, and the nodes made from it. */
struct tree {
    const json_t *left, *right, *column, *split, *missing_left;
    float *node; /* room for all */
    int64_t nodes;
};

static double at(const json_t *array, int64_t i)
{
    return json_number_value(json_array_get(array, (size_t)i));
}

/* Writes node i and all below it; false: the numbers are not a tree. */
static bool take_node(struct tree *t, int64_t i)
{
    int64_t all = (int64_t)json_array_size(t->left), here = t->nodes;
    if (i < 0 || i >= all || here >= all)
        return false;
    float *to = t->node + FOREST_COLUMNS * t->nodes++;
    to[FOREST_SPLIT] = (float)at(t->split, i);
    if (at(t->left, i) < 0) {
        to[FOREST_COLUMN] = -1;
        to[FOREST_RIGHT] = to[FOREST_MISSING_LEFT] = 0;
        return true;
    }
    to[FOREST_COLUMN] = (float)at(t->column, i);
    const json_t *missing = json_array_get(t->missing_left, (size_t)i);
    to[FOREST_MISSING_LEFT] = json_is_true(missing) || json_number_value(missing) > 0 ? 1 : 0;
    if (!take_node(t, (int64_t)at(t->left, i)))
        return false;
    to[FOREST_RIGHT] = (float)(t->nodes - here);
    return take_node(t, (int64_t)at(t->right, i));
}

static consm_status unknown_format(const struct plugin_services *services)
{
    return services->fail(CONSM_EFORMAT,
                          "libconsm_trees.so cannot read the trees of this XGBoost version");
}

/* out (nodes, FOREST_COLUMNS): the trees in a booster's JSON. */
static consm_status take_trees(float **out, int64_t *nodes, const json_t *model,
                               const struct plugin_services *services)
{
    const json_t *learner = json_object_get(json_object_get(model, "learner"), "gradient_booster");
    const json_t *trees = json_object_get(json_object_get(learner, "model"), "trees");
    size_t rows = 0;
    *nodes = 0;
    if (json_array_size(trees) == 0)
        return unknown_format(services);
    for (size_t k = 0; k < json_array_size(trees); k++)
        rows += json_array_size(json_object_get(json_array_get(trees, k), "left_children"));
    *out = services->zalloc(rows * FOREST_COLUMNS + 1, sizeof **out);
    if (!*out)
        return CONSM_ENOMEM;
    for (size_t k = 0; k < json_array_size(trees); k++) {
        const json_t *from = json_array_get(trees, k);
        struct tree t = {.left = json_object_get(from, "left_children"),
                         .right = json_object_get(from, "right_children"),
                         .column = json_object_get(from, "split_indices"),
                         .split = json_object_get(from, "split_conditions"),
                         .missing_left = json_object_get(from, "default_left"),
                         .node = *out + FOREST_COLUMNS * *nodes};
        if (!take_node(&t, 0))
            return unknown_format(services);
        *nodes += t.nodes;
    }
    return CONSM_OK;
}

static consm_status boost_round(struct boost *b, float **out, int64_t *nodes)
{
    consm_status st = CONSM_OK;
    BoosterHandle last = NULL;
    json_t *model = NULL;
    bst_ulong length;
    const char *text;
    *out = NULL;
    XGB(XGBoosterUpdateOneIter(b->booster, b->rounds, b->matrix));
    XGB(XGBoosterSlice(b->booster, b->rounds, b->rounds + 1, 1, &last));
    XGB(XGBoosterSaveModelToBuffer(last, "{\"format\": \"json\"}", &length, &text));
    b->rounds++;
    model = json_loadb(text, (size_t)length, 0, NULL);
    st = take_trees(out, nodes, model, b->services);
done:
    json_decref(model);
    if (last)
        (void)XGBoosterFree(last);
    if (st < 0) {
        b->services->free(*out);
        *out = NULL;
    }
    return st;
}

__attribute__((visibility("default"))) boost_library_fn consm_boost;

consm_status consm_boost(const struct boost_library **out, const struct plugin_services *services,
                         uint64_t layout)
{
    static const struct boost_library library = {boost_open, boost_round, boost_close};
    *out = NULL;
    if (layout != boost_layout())
        return services->fail(CONSM_ENOTFOUND, "libconsm_trees.so is from another build of consm");
    *out = &library;
    return CONSM_OK;
}
