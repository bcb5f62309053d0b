/* Graphs from NumPy archives: the figures of the real files, both layouts, round trips. */
#include "npz_parts.h"

#include <math.h>

struct figures {
    const char *file;
    int64_t nodes, edges, loops, undirected, features, nonzeros;
    int32_t classes;
    bool directed;
    const char *sha256;
};

static void real_files(void **state)
{
    (void)state;
    static const struct figures known[] = {
        {"yandex/actor.npz", 7600, 26659, 0, 26659, 932, 40977, 5, false, "c350eef06b2c2a9b"},
        {"yandex/chameleon.npz", 2277, 31371, 0, 31371, 2325, 29157, 5, false, "4c640bd2877fc4f9"},
        {"yandex/chameleon_directed.npz", 2277, 36101, 50, 31371, 2325, 29157, 5, true,
         "34aea6b688806354"},
        {"yandex/squirrel.npz", 5201, 198353, 0, 198353, 2089, 93477, 5, false, "d436e3b42c0546b1"},
        {"yandex/squirrel_directed.npz", 5201, 217073, 140, 198353, 2089, 93477, 5, true,
         "3f0436486716cf77"},
    };
    const char *data = real_data("npz real_files");
    for (size_t i = 0; data && i < sizeof known / sizeof *known; i++) {
        struct dataset *d;
        struct csr *graph;
        struct edge_facts facts;
        char *real;
        OK(file_join(&real, data, known[i].file));
        OK(npz_load(&d, real));
        OK(dataset_graph(&graph, d, &facts));
        assert_int_equal(d->nodes, known[i].nodes);
        assert_int_equal(d->edges, known[i].edges);
        assert_int_equal(facts.loops, known[i].loops);
        assert_int_equal(facts.kept, 2 * known[i].undirected);
        assert_int_equal(d->features, known[i].features);
        assert_non_null(d->sparse);
        assert_int_equal(d->sparse->nnz, known[i].nonzeros);
        assert_int_equal(d->classes, known[i].classes);
        assert_int_equal(d->splits, 10);
        assert_int_equal(d->directed, known[i].directed);
        assert_memory_equal(d->sha256, known[i].sha256, 16);
        csr_free(graph);
        dataset_free(d);
        mem_free(real);
    }
}

static void real_split(void **state)
{
    (void)state;
    const char *data = real_data("npz real_split");
    static uint8_t role[7600];
    int count[4] = {0};
    char *real;
    if (!data)
        return;
    OK(file_join(&real, data, "geom-gcn/splits/film_split_0.6_0.2_0.npz"));
    OK(npz_read_split(role, 7600, real));
    for (int i = 0; i < 7600; i++)
        count[role[i]]++;
    assert_int_equal(count[SPLIT_TRAIN], 3648);
    assert_int_equal(count[SPLIT_VAL], 2432);
    assert_int_equal(count[SPLIT_TEST], 1520);
    FAILS(npz_read_split(role, 7599, real), CONSM_EFORMAT, "expected (7599)");
    mem_free(real);
}

static void check_yandex(const struct dataset *d)
{
    static const int32_t label[] = {0, 2, 1, -1}, from[] = {0, 1, 2}, to[] = {1, 2, 3};
    static const uint8_t role[] = {1, 2, 3, 0, 2, 1, 0, 3};
    static const int64_t start[] = {0, 1, 2, 2, 3};
    static const int32_t col[] = {1, 2, 0};
    static const float val[] = {1, 2.5f, 3};
    assert_int_equal(d->nodes, 4);
    assert_int_equal(d->features, 3);
    assert_int_equal(d->classes, 3);
    assert_int_equal(d->edges, 3);
    assert_int_equal(d->splits, 2);
    assert_false(d->directed);
    assert_null(d->weight);
    assert_memory_equal(d->label, label, sizeof label);
    assert_memory_equal(d->from, from, sizeof from);
    assert_memory_equal(d->to, to, sizeof to);
    assert_memory_equal(d->role, role, sizeof role);
    assert_non_null(d->sparse);
    assert_memory_equal(d->sparse->start, start, sizeof start);
    assert_memory_equal(d->sparse->col, col, sizeof col);
    assert_memory_equal(d->sparse->val, val, sizeof val);
}

static void yandex_layout(void **state)
{
    (void)state;
    struct dataset *d;
    for (int deflated = 0; deflated < 2; deflated++) {
        write_parts(yandex, NULL, deflated);
        OK(npz_load(&d, path));
        check_yandex(d);
        dataset_free(d);
    }
}

/* The same graph in other types gives the same dataset. */
static void other_types(void **state)
{
    (void)state;
    const struct part change[] = {
        PART("node_features", ">f8", 2, 4, 3, uint64_t, 0, 0xf03f, 0, 0, 0, 0x0440, 0, 0, 0, 0x0840,
             0, 0),
        PART("node_labels", "|i1", 1, 4, 1, int8_t, 0, 2, 1, -1),
        PART("edges", "<u2", 2, 3, 2, uint16_t, 0, 1, 1, 2, 2, 3),
        PART("train_masks", "<f4", 2, 2, 4, float, 1, 0, 0, 0, 0, 1, 0, 0),
        PART("val_masks", "<i4", 2, 2, 4, int32_t, 0, 1, 0, 0, 1, 0, 0, 0),
        END_PART,
    };
    struct dataset *d;
    write_parts(yandex, change, true);
    OK(npz_load(&d, path));
    check_yandex(d);
    dataset_free(d);
}

/* Column order, as in the mask arrays of the real files, written by hand. */
static void fortran_order(void **state)
{
    (void)state;
    struct zip_writer *w;
    struct dataset *d;
    OK(zip_create(&w, path));
    for (const struct part *p = yandex; p->key; p++) {
        char name[64], header[NPY_HEADER_BYTES];
        uint8_t data[128];
        int64_t shape[2] = {p->rows, p->cols}, width = (int64_t)p->bytes / (p->rows * p->cols);
        size_t length = npy_write_header(header, p->type, p->rank, shape);
        memcpy(strstr(header + 10, "False"), "True ", 5);
        for (int64_t r = 0; r < p->rows; r++)
            for (int64_t c = 0; c < p->cols; c++)
                memcpy(data + (c * p->rows + r) * width,
                       (const uint8_t *)p->data + (r * p->cols + c) * width, (size_t)width);
        snprintf(name, sizeof name, "%s.npy", p->key);
        OK(zip_begin(w, name, true));
        OK(zip_put(w, header, length));
        OK(zip_put(w, data, p->bytes));
        OK(zip_end(w));
    }
    OK(zip_commit(w));
    zip_close(w);
    OK(npz_load(&d, path));
    check_yandex(d);
    dataset_free(d);
}

/* Elements that fall on the border of two pieces, rows longer than a block, and a matrix that turns
 * out to be dense only late. */
static void large_features(void **state)
{
    (void)state;
    enum { ROWS = 40, COLS = 5000 };
    double *cell = mem_zalloc(ROWS * COLS, sizeof *cell);
    int64_t *label = mem_zalloc(ROWS, sizeof *label);
    int64_t edge[2] = {0, 1};
    for (int dense = 0; dense < 2; dense++) {
        int64_t nonzero = 0;
        for (int k = 0; k < ROWS * COLS; k++)
            cell[k] = k % 1000 == 7 || (dense && k > 100000) ? k : 0;
        for (int k = 0; k < ROWS * COLS; k++)
            nonzero += cell[k] != 0;
        const struct part parts[] = {
            {"node_features", "<f8", 2, ROWS, COLS, cell, ROWS * COLS * sizeof *cell},
            {"node_labels", "<i8", 1, ROWS, 1, label, ROWS * sizeof *label},
            {"edges", "<i8", 2, 1, 2, edge, sizeof edge},
            END_PART,
        };
        for (int deflated = 0; deflated < 2; deflated++) {
            struct dataset *d;
            write_parts(parts, NULL, deflated);
            OK(npz_load(&d, path));
            assert_int_equal(d->dense != NULL, dense);
            if (d->sparse)
                assert_int_equal(d->sparse->nnz, nonzero);
            for (int k = 0; k < ROWS * COLS; k++) {
                int64_t at = d->sparse ? csr_find(d->sparse, k / COLS, k % COLS) : 0;
                float value = d->dense ? d->dense[k] : at >= 0 ? d->sparse->val[at] : 0;
                if (value != (float)cell[k])
                    fail_msg("cell %d is %g, expected %g", k, (double)value, cell[k]);
            }
            dataset_free(d);
        }
    }
    mem_free(cell);
    mem_free(label);
}

static void scipy_layout(void **state)
{
    (void)state;
    struct dataset *d;
    write_parts(scipy, NULL, true);
    OK(npz_load(&d, path));
    assert_int_equal(d->nodes, 3);
    assert_int_equal(d->edges, 4);
    assert_null(d->weight);
    static const int32_t from[] = {0, 1, 1, 2}, to[] = {1, 2, 0, 1};
    assert_memory_equal(d->from, from, sizeof from);
    assert_memory_equal(d->to, to, sizeof to);
    assert_int_equal(d->classes, 2);
    /* The second row was 3: 2, 0: 3, 3: 4. */
    assert_int_equal(d->features, 5);
    assert_int_equal(d->sparse->nnz, 3);
    static const int32_t col[] = {4, 0, 3};
    static const float val[] = {1, 3, 6};
    assert_memory_equal(d->sparse->col, col, sizeof col);
    assert_memory_equal(d->sparse->val, val, sizeof val);
    dataset_free(d);

    const struct part change[] = {
        PART("adj_data", "<f4", 1, 4, 1, float, 1, 0.5f, 1, 1),
        WITHOUT("attr_indptr"),
        PART("attr_matrix", "<f4", 2, 3, 1, float, 1, 2, 3),
        PART("class_names", "|S2", 1, 3, 1, char, 'a', 0, 'b', 0, 'c', 'd'),
        END_PART,
    };
    write_parts(scipy, change, false);
    OK(npz_load(&d, path));
    assert_true(d->weight[1] == 0.5f);
    assert_int_equal(d->features, 1);
    assert_true(d->dense[2] == 3);
    assert_int_equal(d->classes, 3);
    assert_string_equal(d->class_name[2], "cd");
    dataset_free(d);
}

/* What scipy.sparse.save_npz writes: the matrix alone. */
static void a_bare_matrix_is_a_graph(void **state)
{
    (void)state;
    const struct part bare[] = {
        PART("indices", "<i4", 1, 4, 1, int32_t, 1, 2, 0, 1),
        PART("indptr", "<i4", 1, 4, 1, int32_t, 0, 1, 3, 4),
        PART("format", "|S3", 0, 1, 1, char, 'c', 's', 'r'),
        PART("shape", "<i8", 1, 2, 1, int64_t, 3, 3),
        PART("data", "<f4", 1, 4, 1, float, 1, 1, 1, 1),
        END_PART,
    };
    const struct part columns[] = {PART("format", "|S3", 0, 1, 1, char, 'c', 's', 'c'), END_PART};
    const struct part list[] = {PART("format", "|S3", 1, 1, 1, char, 'c', 's', 'r'), END_PART};
    struct dataset *d;
    write_parts(bare, NULL, true);
    OK(npz_load(&d, path));
    assert_int_equal(d->nodes, 3);
    assert_int_equal(d->edges, 4);
    assert_int_equal(d->from[1], 1);
    assert_int_equal(d->to[1], 2);
    assert_null(d->weight);
    assert_int_equal(d->features + d->classes, 0);
    assert_int_equal(d->label[2], -1);
    dataset_free(d);
    write_parts(bare, columns, false); /* the same edges, the other way round */
    OK(npz_load(&d, path));
    assert_int_equal(d->from[1], 2);
    assert_int_equal(d->to[1], 1);
    dataset_free(d);
    write_parts(bare, list, false);
    FAILS(npz_load(&d, path), CONSM_EFORMAT, "format.npy");
}

/* ---- round trips --------------------------------------------------------- */

static char **names(int64_t count, const char *format)
{
    char **name = mem_alloc((size_t)count, sizeof *name), text[64];
    for (int64_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, format, (int)i);
        name[i] = mem_strdup(text);
    }
    return name;
}

static void same_names(char **a, char **b, int64_t count)
{
    assert_int_equal(a == NULL, b == NULL);
    for (int64_t i = 0; a && i < count; i++)
        assert_string_equal(a[i], b[i]);
}

static void same_dataset(const struct dataset *a, const struct dataset *b)
{
    size_t n = (size_t)a->nodes, m = (size_t)a->edges;
    assert_int_equal(a->nodes, b->nodes);
    assert_int_equal(a->edges, b->edges);
    assert_int_equal(a->features, b->features);
    assert_int_equal(a->classes, b->classes);
    assert_int_equal(a->directed, b->directed);
    assert_int_equal(a->splits, b->splits);
    assert_memory_equal(a->from, b->from, m * sizeof *a->from);
    assert_memory_equal(a->to, b->to, m * sizeof *a->to);
    assert_memory_equal(a->label, b->label, n * sizeof *a->label);
    assert_int_equal(a->weight == NULL, b->weight == NULL);
    if (a->weight)
        assert_memory_equal(a->weight, b->weight, m * sizeof *a->weight);
    if (a->splits)
        assert_memory_equal(a->role, b->role, n * (size_t)a->splits);
    assert_int_equal(a->dense == NULL, b->dense == NULL);
    assert_int_equal(a->sparse == NULL, b->sparse == NULL);
    if (a->dense)
        assert_memory_equal(a->dense, b->dense, n * (size_t)a->features * sizeof *a->dense);
    if (a->sparse) {
        size_t nnz = (size_t)a->sparse->nnz;
        assert_int_equal(a->sparse->nnz, b->sparse->nnz);
        assert_memory_equal(a->sparse->start, b->sparse->start, (n + 1) * sizeof(int64_t));
        assert_memory_equal(a->sparse->col, b->sparse->col, nnz * sizeof(int32_t));
        for (size_t k = 0; k < nnz; k++)
            assert_true((a->sparse->val ? a->sparse->val[k] : 1) == b->sparse->val[k]);
    }
    same_names(a->node_id, b->node_id, a->nodes);
    same_names(a->class_name, b->class_name, a->classes);
    same_names(a->feature_name, b->feature_name, a->features);
}

/* kind 0: sparse, fits densely; 1: sparse with a stored zero; 2: sparse and very wide; 3: dense;
 * 4: sparse without values; 5: no features */
static struct dataset *everything(int kind, bool rich)
{
    enum { N = 50, M = 80 };
    struct dataset *d;
    OK(dataset_new(&d, "everything"));
    d->nodes = N;
    d->edges = M;
    d->classes = rich ? 7 : 5;
    OK(NEW(d->label, N));
    OK(NEW(d->from, M));
    OK(NEW(d->to, M));
    for (int i = 0; i < N; i++)
        d->label[i] = i % 6 - 1;
    for (int e = 0; e < M; e++) {
        d->from[e] = e * 7 % N;
        d->to[e] = e * 11 % N;
    }
    d->features = kind == 5 ? 0 : kind == 2 ? 1000000 : 20;
    if (kind == 3) {
        OK(NEW(d->dense, N * 20));
        for (int k = 0; k < N * 20; k++)
            d->dense[k] = (float)sin(k);
    } else if (kind != 5) {
        OK(csr_new(&d->sparse, N, d->features, N, kind != 4));
        for (int i = 0; i < N; i++) {
            d->sparse->start[i + 1] = i + 1;
            d->sparse->col[i] = (int32_t)(i * 7919 % d->features);
            if (kind != 4)
                d->sparse->val[i] = kind == 1 && i == 9 ? 0 : (float)(i + 1) / 3;
        }
    }
    if (!rich)
        return d;
    d->directed = true;
    d->splits = 3;
    OK(NEW(d->role, 3 * N));
    OK(NEW(d->weight, M));
    for (int k = 0; k < 3 * N; k++)
        d->role[k] = (uint8_t)(k % 4);
    for (int e = 0; e < M; e++)
        d->weight[e] = (float)e / 7;
    d->node_id = names(N, "Knoten-%d-é€");
    d->class_name = names(7, "%d");
    if (d->features == 20)
        d->feature_name = names(20, "wort %d");
    return d;
}

static void round_trips(void **state)
{
    (void)state;
    for (int kind = 0; kind < 6; kind++)
        for (int rich = 0; rich < 2; rich++) {
            struct dataset *a = everything(kind, rich), *b;
            OK(dataset_check(a));
            OK(npz_save(a, path));
            OK(npz_load(&b, path));
            same_dataset(a, b);
            dataset_free(a);
            dataset_free(b);
        }
}

/* Strings that cannot be padded: one of a million bytes, one that is not UTF-8, an empty one. */
static void odd_names(void **state)
{
    (void)state;
    struct dataset *a = everything(0, true), *b;
    mem_free(a->node_id[3]);
    a->node_id[3] = mem_alloc(1000001, 1);
    memset(a->node_id[3], 'x', 1000000);
    a->node_id[3][1000000] = 0;
    mem_free(a->class_name[2]);
    a->class_name[2] = mem_strdup("caf\u00e9 \u200e\x1b");
    mem_free(a->feature_name[0]);
    a->feature_name[0] = mem_strdup("");
    OK(npz_save(a, path));
    OK(npz_load(&b, path));
    same_dataset(a, b);
    dataset_free(b);
    strcpy(a->class_name[2], "\xe9");
    OK(npz_save(a, path));
    FAILS(npz_load(&b, path), CONSM_EFORMAT, "class 2 is not UTF-8");
    dataset_free(a);
}

static void real_round_trip(void **state)
{
    (void)state;
    const char *data = real_data("npz real_round_trip");
    struct dataset *a, *b;
    char *real;
    if (!data)
        return;
    OK(file_join(&real, data, "yandex/texas.npz"));
    OK(npz_load(&a, real));
    OK(npz_save(a, path));
    OK(npz_load(&b, path));
    same_dataset(a, b);
    dataset_free(a);
    dataset_free(b);
    mem_free(real);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_files),      cmocka_unit_test(real_split),
        cmocka_unit_test(yandex_layout),   cmocka_unit_test(other_types),
        cmocka_unit_test(fortran_order),   cmocka_unit_test(large_features),
        cmocka_unit_test(scipy_layout),    cmocka_unit_test(a_bare_matrix_is_a_graph),
        cmocka_unit_test(round_trips),     cmocka_unit_test(odd_names),
        cmocka_unit_test(real_round_trip),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
