/* Reads a graph from an archive: finds the layout, then reads its parts. */
#include "data/readers/npz.h"

#include "data/readers/npy_csr.h"
#include "data/readers/npz_archive.h"
#include "data/table/names.h"
#include <stdio.h>
#include <string.h>

/* More classes than this are taken for a mistake, unless there are as many nodes or class names. */
enum { FREE_CLASSES = 1 << 12 };

static const char *const mask_key[] = {"train_masks", "val_masks", "test_masks"};
static const char *const single_mask_key[] = {"train_mask", "val_mask", "test_mask"};

/* Checks that ids or names are distinct. */
static consm_status check_distinct(const struct dataset *d, const char *key, char *const *text,
                                   int64_t count)
{
    consm_status st = CONSM_OK;
    struct names seen = {.count = 0};
    for (int64_t i = 0; text && i < count; i++) {
        int64_t place;
        TRY(names_add(&place, &seen, text[i], strlen(text[i])));
        if (place != i)
            TRY(status_fail(CONSM_EFORMAT, "%s: %s: elements %lld and %lld are both \"%.40s\"",
                            d->name, key, (long long)place, (long long)i, text[i]));
    }
done:
    names_free(&seen);
    return st;
}

/* A single number in low … high; *out is unchanged if the key is missing. */
static consm_status read_number(int64_t *out, const struct npz_archive *archive, const char *key,
                                int64_t low, int64_t high)
{
    consm_status st = CONSM_OK;
    struct npz_array array = {.label = ""};
    if (!npz_find(archive, key))
        return CONSM_OK;
    TRY(npz_read(&array, archive, key));
    TRY(npy_expect(&array.npy, 0, -1, -1));
    TRY(npy_int64(out, &array.npy, low, high));
done:
    npz_array_free(&array);
    return st;
}

consm_status npz_read_labels(struct dataset *d, const struct npz_archive *archive, const char *key)
{
    consm_status st = CONSM_OK;
    struct npz_array array = {.label = ""};
    int64_t classes = -1, names = 0, most;
    TRY(read_number(&classes, archive, "num_classes", 0, INT32_MAX - 1));
    TRY(npz_read_strings(&d->class_name, archive, "class_names", &names, classes));
    if (d->class_name)
        classes = d->classes = (int32_t)names;
    TRY(check_distinct(d, "class_names", d->class_name, names));
    if (npz_find(archive, key)) {
        TRY(npz_read(&array, archive, key));
        if (array.npy.rank == 2 && array.npy.shape[1] == 1)
            array.npy.rank = 1; /* (n,1), as OGB has them */
        TRY(npy_expect(&array.npy, 1, d->nodes, -1));
        d->nodes = array.npy.count;
        most = classes >= 0 ? classes : d->nodes > FREE_CLASSES ? d->nodes : FREE_CLASSES;
        TRY(NEW(d->label, d->nodes));
        TRY(npy_int32(d->label, &array.npy, -1, most - 1));
        for (int64_t i = 0; classes < 0 && i < d->nodes; i++)
            d->classes = d->label[i] >= d->classes ? d->label[i] + 1 : d->classes;
    }
    if (classes > FREE_CLASSES && classes > d->nodes)
        TRY(status_fail(CONSM_EFORMAT, "%s: %lld classes are too many for %lld nodes", d->name,
                        (long long)classes, (long long)d->nodes));
    if (classes >= 0)
        d->classes = (int32_t)classes;
done:
    npz_array_free(&array);
    return st;
}

static consm_status read_masks(struct dataset *d, const struct npz_archive *archive,
                               const char *const key[3]);

static bool has_masks(const struct npz_archive *archive, const char *const key[3])
{
    return npz_find(archive, key[0]) || npz_find(archive, key[1]) || npz_find(archive, key[2]);
}

consm_status npz_read_extras(struct dataset *d, const struct npz_archive *archive)
{
    consm_status st = CONSM_OK;
    int64_t count, directed = d->directed;
    TRY(npz_read_strings(&d->node_id, archive, "node_ids", &count, d->nodes));
    TRY(check_distinct(d, "node_ids", d->node_id, d->nodes));
    TRY(npz_read_strings(&d->feature_name, archive, "feature_names", &count, d->features));
    TRY(read_number(&directed, archive, "directed", 0, 1));
    d->directed = directed;
    if (has_masks(archive, mask_key))
        TRY(read_masks(d, archive, mask_key));
    else if (has_masks(archive, single_mask_key))
        TRY(read_masks(d, archive, single_mask_key));
    if (!d->label) {
        TRY(NEW(d->label, d->nodes));
        memset(d->label, -1, (size_t)d->nodes * sizeof *d->label);
    }
done:
    return st;
}

/* Gives a role to every node of mask; a node can have only one. */
static consm_status assign_role(uint8_t *role, const uint8_t *mask, int64_t splits, int64_t nodes,
                                uint8_t which, const char *label)
{
    for (int64_t k = 0; k < splits * nodes; k++) {
        if (mask[k] && role[k] != SPLIT_NONE)
            return status_fail(CONSM_EFORMAT,
                               "%s: split %lld: node %lld is in two masks: expected one", label,
                               (long long)(k / nodes), (long long)(k % nodes));
        if (mask[k])
            role[k] = which;
    }
    return CONSM_OK;
}

/* Masks of shape (s,n), or (n) for a single split; a role may be missing. */
static consm_status read_masks(struct dataset *d, const struct npz_archive *archive,
                               const char *const key[3])
{
    consm_status st = CONSM_OK;
    struct npz_array array = {.label = ""};
    uint8_t *mask = NULL;
    for (int i = 0; i < 3; i++) {
        if (has_masks(archive, key) && !npz_find(archive, key[i]))
            continue;
        TRY(npz_read(&array, archive, key[i]));
        int64_t splits = array.npy.rank == 1 ? 1 : array.npy.shape[0];
        if (array.npy.rank == 1)
            TRY(npy_expect(&array.npy, 1, d->nodes, -1));
        else
            TRY(npy_expect(&array.npy, 2, d->role ? d->splits : -1, d->nodes));
        if (!d->role) {
            d->splits = splits;
            TRY(ZNEW(d->role, array.npy.count));
            TRY(NEW(mask, array.npy.count));
        } else if (splits != d->splits) {
            TRY(npy_expect(&array.npy, 2, d->splits, d->nodes));
        }
        TRY(npy_bools(mask, &array.npy));
        TRY(assign_role(d->role, mask, splits, d->nodes, (uint8_t)(SPLIT_TRAIN + i), array.label));
        npz_array_free(&array);
    }
done:
    mem_free(mask);
    npz_array_free(&array);
    return st;
}

/* The three arrays and the shape of a SciPy matrix; `at` is a prefix like "adj_". */
struct csr_arrays {
    struct npz_array data, indices, indptr, shape;
    struct npy_csr parts;
};

static void free_csr_arrays(struct csr_arrays *a)
{
    npz_array_free(&a->data);
    npz_array_free(&a->indices);
    npz_array_free(&a->indptr);
    npz_array_free(&a->shape);
}

static consm_status read_csr_arrays(struct csr_arrays *a, const struct npz_archive *archive,
                                    const char *at)
{
    consm_status st = CONSM_OK;
    char key[64];
    int64_t shape[2];
    struct {
        struct npz_array *to;
        const char *name;
    } part[] = {
        {&a->data, "data"}, {&a->indices, "indices"}, {&a->indptr, "indptr"}, {&a->shape, "shape"}};
    memset(a, 0, sizeof *a);
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        snprintf(key, sizeof key, "%s%s", at, part[i].name);
        TRY(npz_read(part[i].to, archive, key));
    }
    TRY(npy_expect(&a->shape.npy, 1, 2, -1));
    TRY(npy_int64(shape, &a->shape.npy, 0, INT32_MAX - 1));
    a->parts = (struct npy_csr){a->data.npy, a->indices.npy, a->indptr.npy, shape[0], shape[1]};
done:
    return st;
}

consm_status npz_read_sparse(struct dataset *d, const struct npz_archive *archive, const char *at)
{
    consm_status st = CONSM_OK;
    struct csr_arrays arrays;
    TRY(read_csr_arrays(&arrays, archive, at));
    if (d->nodes >= 0 && arrays.parts.rows != d->nodes)
        TRY(status_fail(CONSM_EFORMAT, "%s: element 0 is %lld: expected %lld, the number of nodes",
                        arrays.shape.label, (long long)arrays.parts.rows, (long long)d->nodes));
    if (arrays.parts.cols > 0)
        TRY(npy_csr_matrix(&d->sparse, &arrays.parts));
    d->nodes = arrays.parts.rows;
    d->features = arrays.parts.cols;
done:
    free_csr_arrays(&arrays);
    return st;
}

static consm_status read_edges(struct dataset *d, const struct npz_archive *archive)
{
    consm_status st = CONSM_OK;
    struct npz_array array = {.label = ""}, weights = {.label = ""};
    int32_t *pair = NULL;
    TRY(npz_read(&array, archive, "edges"));
    TRY(npy_expect(&array.npy, 2, -1, 2));
    TRY(NEW(pair, array.npy.count));
    TRY(npy_int32(pair, &array.npy, 0, d->nodes - 1));
    d->edges = array.npy.shape[0];
    TRY(NEW(d->from, d->edges));
    TRY(NEW(d->to, d->edges));
    for (int64_t e = 0; e < d->edges; e++) {
        d->from[e] = pair[2 * e];
        d->to[e] = pair[2 * e + 1];
    }
    if (npz_find(archive, "edge_weights")) {
        TRY(npz_read(&weights, archive, "edge_weights"));
        TRY(npy_expect(&weights.npy, 1, d->edges, -1));
        TRY(NEW(d->weight, d->edges));
        TRY(npy_floats(d->weight, &weights.npy, 0, d->edges));
    }
done:
    mem_free(pair);
    npz_array_free(&array);
    npz_array_free(&weights);
    return st;
}

static consm_status load_yandex(struct dataset *d, const struct npz_archive *archive)
{
    consm_status st = CONSM_OK;
    if (!npz_find(archive, "edges"))
        return npz_missing(archive, "edges or adj_indptr");
    TRY(npz_read_labels(d, archive, "node_labels"));
    if (npz_find(archive, "node_features"))
        TRY(npz_read_features(d, archive, "node_features"));
    else if (npz_find(archive, "node_features_indptr"))
        TRY(npz_read_sparse(d, archive, "node_features_"));
    /* Without labels only a real matrix proves the number of nodes: (2^60, 0) takes no bytes. */
    if (!d->label && d->features == 0)
        TRY(status_fail(CONSM_EFORMAT,
                        "%s: expected node_labels or node_features, which give the number of nodes",
                        d->name));
    TRY(read_edges(d, archive));
    TRY(npz_read_extras(d, archive));
done:
    return st;
}

consm_status npz_adjacency_edges(struct dataset *d, struct csr *a)
{
    consm_status st = CONSM_OK;
    bool weighted = false;
    d->edges = a->nnz;
    TRY(NEW(d->from, a->nnz));
    csr_entry_rows(d->from, a);
    for (int64_t k = 0; k < a->nnz; k++)
        weighted |= a->val[k] != 1;
    d->to = a->col;
    a->col = NULL;
    if (weighted) {
        d->weight = a->val;
        a->val = NULL;
    }
done:
    return st;
}

static consm_status load_scipy(struct dataset *d, const struct npz_archive *archive,
                               const char *adjacency)
{
    consm_status st = CONSM_OK;
    struct csr_arrays arrays;
    struct csr *a = NULL;
    TRY(read_csr_arrays(&arrays, archive, adjacency));
    if (arrays.parts.rows != arrays.parts.cols)
        TRY(status_fail(CONSM_EFORMAT, "%s: %lld x %lld: expected a square matrix",
                        arrays.shape.label, (long long)arrays.parts.rows,
                        (long long)arrays.parts.cols));
    TRY(npy_csr_entries(&a, &arrays.parts));
    d->nodes = a->rows;
    TRY(npz_adjacency_edges(d, a));
    if (npz_find(archive, "attr_matrix"))
        TRY(npz_read_features(d, archive, "attr_matrix"));
    else if (npz_find(archive, "attr_indptr"))
        TRY(npz_read_sparse(d, archive, "attr_"));
    else if (npz_find(archive, "attr_matrix.indptr"))
        TRY(npz_read_sparse(d, archive, "attr_matrix."));
    TRY(npz_read_labels(d, archive, "labels"));
    TRY(npz_read_extras(d, archive));
done:
    csr_free(a);
    free_csr_arrays(&arrays);
    return st;
}

/* scipy.sparse.save_npz records how the matrix is stored. Columns instead of rows give the same
 * edges reversed. */
static consm_status load_saved(struct dataset *d, const struct npz_archive *archive)
{
    consm_status st = CONSM_OK;
    struct npz_array array = {.label = ""};
    char **text = NULL;
    bool columns = false;
    if (npz_find(archive, "format")) {
        TRY(npz_read(&array, archive, "format"));
        TRY(npy_expect(&array.npy, 0, -1, -1));
        TRY(npy_strings(&text, &array.npy));
        columns = strcmp(text[0], "csc") == 0;
        if (!columns && strcmp(text[0], "csr") != 0)
            TRY(status_fail(CONSM_EFORMAT,
                            "%s: found the format \"%.20s\", expected \"csr\", \"csc\" or \"coo\"; "
                            "convert the matrix with .tocsr() before saving",
                            array.label, text[0]));
    }
    TRY(load_scipy(d, archive, ""));
    if (columns) {
        int32_t *from = d->from;
        d->from = d->to;
        d->to = from;
    }
done:
    if (text)
        mem_free(text[0]);
    mem_free(text);
    npz_array_free(&array);
    return st;
}

consm_status npz_load_archive(struct dataset **out, const struct npz_archive *archive,
                              const char *name)
{
    consm_status st = CONSM_OK;
    struct dataset *d = NULL;
    *out = NULL;
    TRY(dataset_new(&d, name));
    d->nodes = -1;
    if (npz_find(archive, "adj_indptr"))
        TRY(load_scipy(d, archive, "adj_"));
    else if (npz_find(archive, "adj_matrix.indptr"))
        TRY(load_scipy(d, archive, "adj_matrix."));
    else if (npz_find(archive, "indptr"))
        TRY(load_saved(d, archive));
    else if (npz_find(archive, "row") && npz_find(archive, "col"))
        TRY(npz_load_coordinates(d, archive));
    else if (npz_find(archive, "edge_index"))
        TRY(npz_load_edge_index(d, archive));
    else if (!npz_find(archive, "edges") && npz_adjacency_key(archive))
        TRY(npz_load_matrices(d, archive, npz_adjacency_key(archive)));
    else
        TRY(load_yandex(d, archive));
    memcpy(d->sha256, archive->sha256, sizeof d->sha256);
    TRY(dataset_check(d));
    *out = d;
    d = NULL;
done:
    dataset_free(d);
    return st;
}

enum sniffed npz_sniff(const struct probe *p)
{
    return p->file.size >= 4 && memcmp(p->file.data, "PK\3\4", 4) == 0 ? SNIFF_YES : SNIFF_NO;
}

consm_status npz_load(struct dataset **out, const char *path)
{
    consm_status st = CONSM_OK;
    static const char suffix[] = "_directed.npz";
    struct npz_archive archive;
    size_t length = strlen(path), end = sizeof suffix - 1;
    *out = NULL;
    TRY(npz_open(&archive, path));
    TRY(npz_load_archive(out, &archive, path));
    if (!npz_find(&archive, "directed"))
        (*out)->directed = length > end && strcmp(path + length - end, suffix) == 0;
done:
    npz_close(&archive);
    return st;
}

consm_status npz_read_split(uint8_t *role, int64_t nodes, const char *path)
{
    consm_status st = CONSM_OK;
    struct npz_archive archive;
    struct dataset split = {.nodes = nodes};
    TRY(npz_open(&archive, path));
    TRY(read_masks(&split, &archive, single_mask_key));
    if (split.splits != 1)
        TRY(status_fail(CONSM_EFORMAT, "%s: contains %lld splits: expected one", path,
                        (long long)split.splits));
    memcpy(role, split.role, (size_t)nodes);
done:
    mem_free(split.role);
    npz_close(&archive);
    return st;
}
