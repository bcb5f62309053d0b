/* Reads eight files, six of them pickled arrays, into one graph. */
#include "data/readers/planetoid.h"

#include "base/log.h"
#include "data/readers/npy_csr.h"
#include "io/file.h"
#include "io/pickle/pickle.h"
#include "io/sha256.h"
#include <stdio.h>
#include <string.h>

enum { X, TX, ALLX, Y, TY, ALLY, GRAPH, TEST_INDEX, PICKLES = TEST_INDEX };
static const char *const ending[PLANETOID_FILES] = {"x",  "tx",   "allx",  "y",
                                                    "ty", "ally", "graph", "test.index"};
enum { VALIDATION = 500 };

struct source {
    const struct file_map *map; /* (PLANETOID_FILES) */
    char *const *path;          /* (PLANETOID_FILES) */
    struct pickle *pickle[PICKLES];
    struct csr *matrix[3]; /* x, tx, allx */
    struct npy onehot[3];  /* y, ty, ally */
    int32_t *test;         /* (tests) nodes, as test.index lists them */
    int64_t tests;
};

static void free_source(struct source *s)
{
    for (int i = 0; i < PICKLES; i++)
        pickle_free(s->pickle[i]);
    for (int i = 0; i < 3; i++)
        csr_free(s->matrix[i]);
    mem_free(s->test);
}

/* One node per line; each at most once. */
static consm_status read_test_index(struct source *s)
{
    consm_status st = CONSM_OK;
    const char *path = s->path[TEST_INDEX];
    const uint8_t *at = s->map[TEST_INDEX].data, *end = at + s->map[TEST_INDEX].size;
    size_t room = 0, line = 1;
    for (; at < end; line++) {
        const uint8_t *begin = at;
        int64_t value = 0;
        for (; at < end && *at >= '0' && *at <= '9' && value < INT32_MAX; at++)
            value = 10 * value + (*at - '0');
        if (at == begin || value >= INT32_MAX || (at < end && *at != '\n' && *at != '\r'))
            TRY(status_fail(CONSM_EFORMAT,
                            "%s: line %zu, column %zu: expected one node number per line", path,
                            line, (size_t)(at - begin) + 1));
        while (at < end && *at == '\r')
            at++;
        if (at < end && *at++ != '\n')
            TRY(status_fail(CONSM_EFORMAT, "%s: line %zu: expected the end of the line", path,
                            line));
        TRY(GROW(s->test, s->tests, room, 1));
        s->test[s->tests++] = (int32_t)value;
    }
    if (s->tests == 0)
        TRY(status_fail(CONSM_EFORMAT, "%s: is empty: expected the test nodes", path));
done:
    return st;
}

static consm_status expect_rows(const struct source *s, int file, int64_t found, int64_t expected,
                                const char *of)
{
    if (found == expected)
        return CONSM_OK;
    return status_fail(CONSM_EFORMAT, "%s: found %lld %s: expected %lld", s->path[file],
                       (long long)found, of, (long long)expected);
}

/* Checks that files about the same nodes, features or classes agree on their number. */
static consm_status check_shapes(const struct source *s)
{
    consm_status st = CONSM_OK;
    const int64_t features = s->matrix[ALLX]->cols, classes = s->onehot[2].shape[1];
    for (int i = 0; i < 3; i++) {
        TRY(expect_rows(s, X + i, s->matrix[i]->cols, features, "features"));
        TRY(npy_expect(&s->onehot[i], 2, s->matrix[i]->rows, classes));
    }
    TRY(expect_rows(s, TX, s->matrix[TX]->rows, s->tests, "rows (test.index gives the number)"));
    if (s->matrix[X]->rows > s->matrix[ALLX]->rows)
        TRY(expect_rows(s, X, s->matrix[X]->rows, s->matrix[ALLX]->rows, "rows, more than allx"));
    if (classes < 1 || classes > INT32_MAX / 2 || s->matrix[ALLX]->rows < 1)
        TRY(status_fail(CONSM_EFORMAT,
                        "%s: found %lld classes of %lld nodes: expected at least one",
                        s->path[ALLY], (long long)classes, (long long)s->matrix[ALLX]->rows));
done:
    return st;
}

static consm_status read_files(struct source *s)
{
    consm_status st = CONSM_OK;
    struct npy_csr parts;
    for (int i = 0; i < PICKLES; i++)
        TRY(pickle_load(&s->pickle[i], s->map[i].data, s->map[i].size, s->path[i]));
    for (int i = 0; i < 3; i++) {
        TRY(pickle_root_csr(&parts, s->pickle[X + i]));
        TRY(npy_csr_matrix(&s->matrix[i], &parts));
        TRY(pickle_root_array(&s->onehot[i], s->pickle[Y + i]));
        TRY(npy_expect(&s->onehot[i], 2, -1, -1));
    }
    TRY(read_test_index(s));
    TRY(check_shapes(s));
done:
    return st;
}

/* row_of[node]: its row in allx followed by tx, or -1; also gives every test node its role. The
 * nodes are those of allx and all up to the largest of test.index. */
static consm_status place_nodes(struct dataset *d, int32_t **out, const struct source *s)
{
    consm_status st = CONSM_OK;
    int64_t known = s->matrix[ALLX]->rows, train = s->matrix[X]->rows;
    int32_t *row_of = NULL;
    *out = NULL;
    d->nodes = known;
    for (int64_t k = 0; k < s->tests; k++)
        d->nodes = s->test[k] >= d->nodes ? s->test[k] + INT64_C(1) : d->nodes;
    /* Gaps as in Citeseer are few; distant numbers are a mistake and would cost memory. */
    if (d->nodes > 2 * (known + s->tests) + 1000)
        TRY(status_fail(CONSM_EFORMAT, "%s: node %lld is out of range: expected numbers near %lld",
                        s->path[TEST_INDEX], (long long)d->nodes - 1,
                        (long long)(known + s->tests)));
    TRY(NEW(row_of, d->nodes));
    d->splits = 1;
    TRY(ZNEW(d->role, d->nodes));
    for (int64_t i = 0; i < d->nodes; i++) {
        row_of[i] = i < known ? (int32_t)i : -1;
        d->role[i] = i < train                             ? SPLIT_TRAIN
                     : i < train + VALIDATION && i < known ? SPLIT_VAL
                                                           : SPLIT_NONE;
    }
    for (int64_t k = 0; k < s->tests; k++) {
        int32_t node = s->test[k];
        if (node < known || row_of[node] >= 0)
            TRY(status_fail(CONSM_EFORMAT, "%s: line %lld: node %d %s", s->path[TEST_INDEX],
                            (long long)k + 1, node,
                            node < known ? "has a row in allx already: expected a larger number"
                                         : "is listed twice"));
        row_of[node] = (int32_t)(known + k);
        d->role[node] = SPLIT_TEST;
    }
    *out = row_of;
    row_of = NULL;
done:
    mem_free(row_of);
    return st;
}

/* The rows of allx and tx, each at its node's place. */
static consm_status gather_features(struct dataset *d, const struct source *s,
                                    const int32_t *row_of)
{
    consm_status st = CONSM_OK;
    const struct csr *allx = s->matrix[ALLX], *tx = s->matrix[TX];
    d->features = allx->cols;
    if (d->features == 0)
        return CONSM_OK;
    TRY(csr_new(&d->sparse, d->nodes, allx->cols, allx->nnz + tx->nnz, true));
    int64_t nnz = 0;
    for (int64_t i = 0; i < d->nodes; i++) {
        if (row_of[i] >= 0) {
            const struct csr *from = row_of[i] < allx->rows ? allx : tx;
            int64_t row = row_of[i] < allx->rows ? row_of[i] : row_of[i] - allx->rows;
            int64_t first = from->start[row], count = from->start[row + 1] - first;
            memcpy(d->sparse->col + nnz, from->col + first, (size_t)count * sizeof(int32_t));
            memcpy(d->sparse->val + nnz, from->val + first, (size_t)count * sizeof(float));
            nnz += count;
        }
        d->sparse->start[i + 1] = nnz;
    }
done:
    return st;
}

/* The class of each row of a one-hot array; an all-zero row is class 0. */
static consm_status classes_of(int32_t *class_of, const struct npy *onehot)
{
    consm_status st = CONSM_OK;
    int64_t rows = onehot->shape[0], cols = onehot->shape[1];
    uint8_t *cell = NULL;
    TRY(NEW(cell, onehot->count));
    TRY(npy_bools(cell, onehot));
    for (int64_t r = 0; r < rows; r++) {
        int64_t ones = 0;
        class_of[r] = 0;
        for (int64_t c = cols - 1; c >= 0; c--)
            if (cell[r * cols + c]) {
                class_of[r] = (int32_t)c;
                ones++;
            }
        if (ones > 1)
            TRY(status_fail(CONSM_EFORMAT, "%s: row %lld has %lld classes: expected exactly one",
                            onehot->label, (long long)r, (long long)ones));
    }
done:
    mem_free(cell);
    return st;
}

static consm_status gather_labels(struct dataset *d, const struct source *s, const int32_t *row_of)
{
    consm_status st = CONSM_OK;
    int64_t known = s->onehot[2].shape[0];
    int32_t *class_of = NULL;
    d->classes = (int32_t)s->onehot[2].shape[1];
    TRY(NEW(class_of, known + s->tests));
    TRY(classes_of(class_of, &s->onehot[2]));
    TRY(classes_of(class_of + known, &s->onehot[1]));
    TRY(NEW(d->label, d->nodes));
    for (int64_t i = 0; i < d->nodes; i++)
        d->label[i] = row_of[i] >= 0 ? class_of[row_of[i]] : 0;
done:
    mem_free(class_of);
    return st;
}

static bool is_node(const struct pickle_value *v, int64_t nodes)
{
    return v->kind == PICKLE_INT && v->integer >= 0 && v->integer < nodes;
}

static consm_status bad_node(const char *path, const char *what, const struct pickle_value *v,
                             int64_t nodes)
{
    if (v->kind != PICKLE_INT)
        return status_fail(CONSM_EFORMAT, "%s: %s is %s: expected a node number", path, what,
                           pickle_kind_name(v));
    return status_fail(CONSM_EFORMAT, "%s: %s is %lld: expected a node from 0 to %lld", path, what,
                       (long long)v->integer, (long long)nodes - 1);
}

/* Every entry of the dictionary of lists as an edge, in file order. */
static consm_status list_edges(int32_t **from, int32_t **to, int64_t *count,
                               const struct pickle_items *dict, int64_t nodes, const char *path,
                               size_t bytes)
{
    consm_status st = CONSM_OK;
    size_t from_room = 0, to_room = 0;
    for (uint32_t k = 0; k < dict->count; k += 2) {
        const struct pickle_value *key = &dict->item[k], *list = key + 1;
        if (!is_node(key, nodes))
            TRY(bad_node(path, "a key of the graph", key, nodes));
        if (list->kind != PICKLE_LIST)
            TRY(status_fail(CONSM_EFORMAT,
                            "%s: the neighbours of node %lld are %s: expected a "
                            "list",
                            path, (long long)key->integer, pickle_kind_name(list)));
        /* A neighbour takes at least two bytes; one list under many keys is not a graph. */
        if ((size_t)*count + list->items->count > bytes / 2)
            TRY(status_fail(
                CONSM_EFORMAT,
                "%s: more than %zu neighbours, too many for a file of %zu bytes: the same "
                "list belongs to several nodes",
                path, bytes / 2, bytes));
        TRY(GROW(*from, *count, from_room, list->items->count));
        TRY(GROW(*to, *count, to_room, list->items->count));
        for (uint32_t i = 0; i < list->items->count; i++) {
            const struct pickle_value *end = &list->items->item[i];
            if (!is_node(end, nodes))
                TRY(bad_node(path, "a neighbour in the graph", end, nodes));
            (*from)[*count] = (int32_t)key->integer;
            (*to)[(*count)++] = (int32_t)end->integer;
        }
    }
done:
    return st;
}

/* The edges without repeats and loops, by node. */
static consm_status gather_edges(struct dataset *d, const struct source *s)
{
    consm_status st = CONSM_OK;
    const struct pickle_items *dict;
    int32_t *from = NULL, *to = NULL;
    int64_t count = 0;
    struct csr *a = NULL;
    struct edge_facts facts;
    TRY(pickle_root_dict(&dict, s->pickle[GRAPH]));
    TRY(list_edges(&from, &to, &count, dict, d->nodes, s->path[GRAPH], s->map[GRAPH].size));
    TRY(csr_from_edges(&a, d->nodes, d->nodes, count, from, to, NULL, CSR_DROP_LOOPS, &facts));
    if (facts.loops + facts.repeats > 0)
        log_info("%s: of %lld entries, dropped %lld repeats and %lld self-loops", s->path[GRAPH],
                 (long long)facts.stored, (long long)facts.repeats, (long long)facts.loops);
    d->edges = a->nnz;
    TRY(NEW(d->from, a->nnz));
    csr_entry_rows(d->from, a);
    d->to = a->col;
    a->col = NULL;
done:
    mem_free(from);
    mem_free(to);
    csr_free(a);
    return st;
}

static void hash_files(char sha256[65], const struct file_map *map)
{
    struct sha256 hash;
    sha256_init(&hash);
    for (int i = 0; i < PLANETOID_FILES; i++)
        sha256_add(&hash, map[i].data, map[i].size);
    sha256_hex(sha256, &hash);
}

consm_status planetoid_read(struct dataset **out, const char *name,
                            const struct file_map file[PLANETOID_FILES],
                            char *const path[PLANETOID_FILES])
{
    consm_status st = CONSM_OK;
    struct source s = {.map = file, .path = path};
    struct dataset *d = NULL;
    int32_t *row_of = NULL;
    *out = NULL;
    TRY(dataset_new(&d, name));
    hash_files(d->sha256, file);
    TRY(read_files(&s));
    TRY(place_nodes(d, &row_of, &s));
    TRY(gather_features(d, &s, row_of));
    TRY(gather_labels(d, &s, row_of));
    TRY(gather_edges(d, &s));
    TRY(dataset_check(d));
    *out = d;
    d = NULL;
done:
    mem_free(row_of);
    dataset_free(d);
    free_source(&s);
    return st;
}

consm_status planetoid_load(struct dataset **out, const char *folder, const char *name)
{
    consm_status st = CONSM_OK;
    struct file_map map[PLANETOID_FILES] = {{NULL, 0}};
    char *path[PLANETOID_FILES] = {NULL}, file[256];
    *out = NULL;
    for (int i = 0; i < PLANETOID_FILES; i++) {
        int length = snprintf(file, sizeof file, "ind.%s.%s", name, ending[i]);
        if (length < 0 || (size_t)length >= sizeof file)
            TRY(status_fail(CONSM_EINVAL, "\"%.40s…\": the dataset name is too long", name));
        TRY(file_join(&path[i], folder, file));
        TRY(file_map(&map[i], path[i]));
    }
    TRY(planetoid_read(out, name, map, path));
done:
    for (int i = 0; i < PLANETOID_FILES; i++) {
        mem_free(path[i]);
        file_unmap(&map[i]);
    }
    return st;
}

/* ---- paths --------------------------------------------------------------- */

/* The set of a file: "cora" for …/ind.cora.graph; length 0 for any other name. */
static const char *set_of(const char *path, size_t *length)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strncmp(base, "ind.", 4) == 0 ? strchr(base + 4, '.') : NULL;
    *length = dot ? (size_t)(dot - base) - 4 : 0;
    return base + 4;
}

enum sniffed planetoid_sniff(const struct probe *p)
{
    size_t length = 0;
    if (!p->folder)
        set_of(p->path, &length);
    for (int64_t i = 0; i < p->names.count && length == 0; i++)
        set_of(names_at(&p->names, i), &length);
    return length > 0 ? SNIFF_YES : SNIFF_NO;
}

/* The set in the folder, by the name of one of its files; several are an error. */
static consm_status only_set(const char **out, const struct probe *p)
{
    size_t length = 0, other;
    const char *set = "";
    for (int64_t i = 0; i < p->names.count; i++) {
        const char *found = set_of(names_at(&p->names, i), &other);
        if (other == 0)
            continue;
        if (length > 0 && (other != length || memcmp(found, set, length) != 0))
            return status_fail(CONSM_EFORMAT,
                               "%s: the folder contains several datasets: give the path of one, as "
                               "in %s/ind.%.*s.graph",
                               p->path, p->path, (int)length, set);
        set = found;
        length = other;
    }
    if (length == 0)
        return status_fail(CONSM_EFORMAT, "%s: the folder contains no ind.NAME.graph", p->path);
    *out = set - 4;
    return CONSM_OK;
}

consm_status planetoid_load_path(struct dataset **out, const char *path)
{
    consm_status st = CONSM_OK;
    struct probe p = {0};
    const char *file = path;
    char *folder = NULL, *name = NULL;
    size_t length;
    *out = NULL;
    if (file_kind(path) == FILE_FOLDER) {
        TRY(probe_open(&p, path));
        TRY(only_set(&file, &p));
        folder = mem_strdup(path);
    } else {
        TRY(file_folder(&folder, path));
    }
    file = set_of(file, &length);
    if (length == 0)
        TRY(status_fail(CONSM_EFORMAT,
                        "%s: expected a folder of Planetoid files, or one of these files", path));
    name = mem_strndup(file, length);
    if (!name || !folder)
        TRY(CONSM_ENOMEM);
    TRY(planetoid_load(out, folder, name));
done:
    probe_close(&p);
    mem_free(name);
    mem_free(folder);
    return st;
}
