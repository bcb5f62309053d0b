/* Graphs from arrays in memory: integers and reals of either width, dense and sparse features,
 * roles, names, and every kind of invalid array. */
#include "check.h"

#include "app/objects.h"
#include <math.h>
#include <string.h>

enum { N = 12, F = 3 };

/* Two groups of six in one ring; the same graph in both widths, dense and sparse. */
struct toy {
    int32_t from[N], to[N], label[N], start[N + 1], column[N * F];
    int64_t from_64[N], to_64[N], label_64[N], start_64[N + 1], column_64[N * F];
    float weight[N], feature[N * F], value[N * F];
    double weight_64[N], feature_64[N * F], value_64[N * F];
    uint8_t role[N];
    char id_text[N][16];
    const char *id[N], *name[2];
    struct consm_arrays arrays;
};

static void toy_make(struct toy *t)
{
    int32_t entries = 0;
    *t = (struct toy){.name = {"no", "yes"}};
    for (int i = 0; i < N; i++) {
        t->from_64[i] = t->from[i] = i;
        t->to_64[i] = t->to[i] = (i + 2) % N;
        t->label_64[i] = t->label[i] = i % 2;
        t->weight_64[i] = (double)(t->weight[i] = 1 + 0.25f * (float)(i % 3));
        t->role[i] = (uint8_t)(i < 6 ? CONSM_TRAIN : i < 9 ? CONSM_VALIDATION : CONSM_TEST);
        snprintf(t->id_text[i], sizeof t->id_text[i], "n%d", i);
        t->id[i] = t->id_text[i];
        for (int k = 0; k < F; k++) {
            if ((i + k) % 4 != 0) /* a quarter is zero: dense stays dense */
                t->feature[i * F + k] = 1 + sinf(1.7f * (float)i + (float)k);
            t->feature_64[i * F + k] = (double)t->feature[i * F + k];
            if (t->feature[i * F + k] != 0) {
                t->value_64[entries] = (double)(t->value[entries] = t->feature[i * F + k]);
                t->column_64[entries] = t->column[entries] = k;
                entries++;
            }
        }
        t->start_64[i + 1] = t->start[i + 1] = entries;
    }
    t->arrays = (struct consm_arrays){.size = sizeof t->arrays,
                                      .nodes = N,
                                      .edges = N,
                                      .features = F,
                                      .classes = 2,
                                      .from = t->from,
                                      .to = t->to,
                                      .weight = t->weight,
                                      .feature = t->feature,
                                      .label = t->label,
                                      .node_id = t->id,
                                      .class_name = t->name};
}

static void widen(struct toy *t)
{
    struct consm_arrays *a = &t->arrays;
    a->wide_ends = a->wide_weights = a->wide_features = a->wide_columns = a->wide_labels = true;
    a->from = t->from_64;
    a->to = t->to_64;
    a->weight = t->weight_64;
    a->feature = t->feature_64;
    a->label = t->label_64;
}

static struct consm_prediction *labelled_by(const struct consm_arrays *arrays, const char *option,
                                            const char *value)
{
    struct consm_dataset *d;
    struct consm_options *o;
    struct consm_model *m;
    struct consm_prediction *p;
    OK(consm_dataset_from_arrays(&d, arrays));
    OK(consm_options_new(&o, "gcn"));
    OK(consm_options_set(o, "epochs", "8"));
    OK(consm_options_set(o, option, value));
    OK(consm_train(&m, d, o));
    OK(consm_predict(&p, m, d, 1));
    consm_model_free(m);
    consm_options_free(o);
    consm_dataset_free(d);
    return p;
}

static void assert_same(struct consm_prediction *a, struct consm_prediction *b)
{
    assert_memory_equal(a->probability, b->probability, N * 2 * sizeof *a->probability);
    consm_prediction_free(a);
    consm_prediction_free(b);
}

static void arrays_become_datasets(void **state)
{
    struct toy t;
    struct consm_dataset *d;
    struct consm_dataset_info info = {.size = sizeof info};
    char buffer[24];
    (void)state;
    toy_make(&t);
    t.label[5] = -7; /* any negative number: unknown */
    t.arrays.directed = true;
    t.arrays.name = "club";
    OK(consm_dataset_from_arrays(&d, &t.arrays));
    OK(consm_dataset_info(&info, d));
    assert_string_equal(info.name, "club");
    assert_int_equal(info.labelled, N - 1);
    assert_int_equal(consm_dataset_labels(d)[5], -1);
    assert_true(info.directed && info.weighted);
    assert_string_equal(consm_node_id(d, 2, buffer), "n2");
    assert_string_equal(consm_class_name(d, 1, buffer), "yes");
    consm_dataset_free(d);
}

static void widths_make_no_difference(void **state)
{
    struct toy narrow, wide;
    (void)state;
    toy_make(&narrow);
    toy_make(&wide);
    widen(&wide);
    assert_same(labelled_by(&narrow.arrays, "ties", "loss"),
                labelled_by(&wide.arrays, "ties", "loss"));
    narrow.arrays.feature = narrow.value;
    narrow.arrays.feature_start = narrow.start;
    narrow.arrays.feature_column = narrow.column;
    wide.arrays.feature = wide.value_64;
    wide.arrays.feature_start = wide.start_64;
    wide.arrays.feature_column = wide.column_64;
    assert_same(labelled_by(&narrow.arrays, "ties", "loss"),
                labelled_by(&wide.arrays, "ties", "loss"));
}

/* Sparse rows stay sparse at any density; the values are those of the dense array. */
static void sparse_features_stay_sparse(void **state)
{
    struct toy t;
    struct consm_dataset *d;
    (void)state;
    toy_make(&t);
    t.arrays.feature = t.value;
    t.arrays.feature_start = t.start;
    t.arrays.feature_column = t.column;
    OK(consm_dataset_from_arrays(&d, &t.arrays));
    assert_null(d->data->dense);
    for (int64_t i = 0; i < N; i++)
        for (int64_t e = d->data->sparse->start[i]; e < d->data->sparse->start[i + 1]; e++)
            assert_true(d->data->sparse->val[e] == t.feature[i * F + d->data->sparse->col[e]]);
    consm_dataset_free(d);
    t.arrays.feature = NULL; /* all 1 */
    OK(consm_dataset_from_arrays(&d, &t.arrays));
    assert_null(d->data->sparse->val);
    assert_int_equal(d->data->sparse->nnz, t.start[N]);
    consm_dataset_free(d);
}

/* Dense floats may be used in place; doubles and mostly zero arrays are copied. */
static void features_may_stay_where_they_are(void **state)
{
    struct toy here, there;
    struct consm_dataset *d;
    struct consm_arrays seen = {.size = sizeof seen};
    (void)state;
    toy_make(&here);
    toy_make(&there);
    there.arrays.borrow = CONSM_BORROW_FEATURES;
    OK(consm_dataset_from_arrays(&d, &there.arrays));
    OK(consm_dataset_arrays(&seen, d));
    assert_ptr_equal(seen.feature, there.feature);
    consm_dataset_free(d);
    assert_same(labelled_by(&here.arrays, "ties", "loss"),
                labelled_by(&there.arrays, "ties", "loss"));
    memset(there.feature + F, 0, sizeof there.feature - F * sizeof *there.feature);
    OK(consm_dataset_from_arrays(&d, &there.arrays));
    assert_non_null(d->data->sparse);
    consm_dataset_free(d);
    widen(&there);
    OK(consm_dataset_from_arrays(&d, &there.arrays));
    assert_true(d->data->dense && (const void *)d->data->dense != there.arrays.feature);
    consm_dataset_free(d);
}

static void roles_decide_who_trains(void **state)
{
    struct toy t;
    struct consm_dataset *d;
    struct consm_options *o;
    struct consm_model *m;
    struct consm_model_info info = {.size = sizeof info};
    (void)state;
    toy_make(&t);
    t.arrays.role = t.role;
    OK(consm_options_new(&o, "mlp"));
    OK(consm_options_set(o, "epochs", "2"));
    OK(consm_dataset_from_arrays(&d, &t.arrays));
    OK(consm_train(&m, d, o));
    OK(consm_model_info(&info, m));
    assert_string_equal(info.split, "public");
    assert_int_equal(info.trained, 6);
    assert_int_equal(info.validated, 3);
    assert_int_equal(info.tested, 3);
    consm_model_free(m);
    consm_dataset_free(d);
    for (int i = 0; i < N; i++) /* training and test only: some of the training nodes validate */
        t.role[i] = i < 9 ? CONSM_TRAIN : CONSM_TEST;
    OK(consm_dataset_from_arrays(&d, &t.arrays));
    OK(consm_train(&m, d, o));
    OK(consm_model_info(&info, m));
    assert_int_equal(info.trained + info.validated, 9);
    assert_int_equal(info.held_out, info.validated);
    assert_int_equal(info.tested, 3);
    consm_model_free(m);
    consm_dataset_free(d);
    memset(t.role, CONSM_TEST, sizeof t.role);
    OK(consm_dataset_from_arrays(&d, &t.arrays));
    FAILS(consm_train(&m, d, o), CONSM_EINVAL, "no labelled node for training");
    consm_dataset_free(d);
    consm_options_free(o);
}

/* Makes one thing wrong, expects the message, and restores it. */
#define WRONG(place, value, code, text)                                 \
    do {                                                                \
        struct consm_dataset *none;                                     \
        struct toy before = t;                                          \
        (place) = (value);                                              \
        FAILS(consm_dataset_from_arrays(&none, &t.arrays), code, text); \
        assert_null(none);                                              \
        t = before;                                                     \
    } while (0)

static void wrong_arrays_are_named(void **state)
{
    static struct toy t;
    (void)state;
    toy_make(&t);
    WRONG(t.arrays.size, 0, CONSM_EINVAL, "the size member of a struct");
    WRONG(t.arrays.nodes, 0, CONSM_EINVAL, "0 nodes");
    WRONG(t.arrays.edges, -1, CONSM_EINVAL, "negative");
    WRONG(t.arrays.from, NULL, CONSM_EINVAL, "source and target are NULL");
    WRONG(t.arrays.feature, NULL, CONSM_EINVAL, "no feature values");
    WRONG(t.to[4], N, CONSM_EINVAL, "to[4] is 12: expected 0 to 11");
    WRONG(t.from[0], -1, CONSM_EINVAL, "from[0] is -1");
    WRONG(t.label[3], 2, CONSM_EINVAL, "label[3] is 2: expected -1 to 1");
    WRONG(t.weight[2], NAN, CONSM_EFORMAT, "edge 2 has weight nan");
    WRONG(t.feature[4], INFINITY, CONSM_EFORMAT, "node 1, feature 1 is inf");
    WRONG(t.id[7], "n3", CONSM_EINVAL, "node_id[3] and [7] are both \"n3\"");
    WRONG(t.id[7], NULL, CONSM_EINVAL, "node_id[7] is NULL");
    static const char *const unnamed[] = {"a", NULL};
    WRONG(t.arrays.feature_name, unnamed, CONSM_EINVAL, "feature_name[1] is NULL");
    WRONG(t.name[1], "no", CONSM_EINVAL, "class_name[0] and [1] are both \"no\"");
    t.arrays.role = t.role;
    WRONG(t.role[1], 4, CONSM_EINVAL, "role[1] is 4: expected 0 to 3");
    widen(&t);
    WRONG(t.to_64[4], (int64_t)1 << 32, CONSM_EINVAL, "to[4] is 4294967296");
    WRONG(t.feature_64[5], 1e300, CONSM_EFORMAT, "node 1, feature 2 is inf");
    WRONG(t.label_64[0], (int64_t)1 << 40, CONSM_EINVAL, "label[0] is 1099511627776");
}

static void wrong_sparse_rows_are_named(void **state)
{
    static struct toy t;
    (void)state;
    toy_make(&t);
    t.arrays.feature = t.value;
    t.arrays.feature_start = t.start;
    t.arrays.feature_column = t.column;
    WRONG(t.arrays.feature_column, NULL, CONSM_EINVAL, "feature_column is NULL");
    WRONG(t.start[0], 1, CONSM_EINVAL, "feature_start[0] is 1");
    WRONG(t.start[3], 0, CONSM_EINVAL, "feature_start[3] is 0");
    WRONG(t.start[N], INT32_MAX, CONSM_EINVAL, "feature_start[12] is 2147483647");
    WRONG(t.column[2], F, CONSM_EINVAL, "feature_column[2] is 3: expected 0 to 2");
    WRONG(t.column[1], t.column[0], CONSM_EINVAL, "twice in the same row");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_become_datasets),
        cmocka_unit_test(widths_make_no_difference),
        cmocka_unit_test(sparse_features_stay_sparse),
        cmocka_unit_test(features_may_stay_where_they_are),
        cmocka_unit_test(roles_decide_who_trains),
        cmocka_unit_test(wrong_arrays_are_named),
        cmocka_unit_test(wrong_sparse_rows_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
