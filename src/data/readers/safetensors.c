/* Makes a dataset from tensors, each checked for type and shape before use. */
#include "data/readers/safetensors.h"

#include <stdio.h>
#include <string.h>

#include "data/table/names.h"
#include "io/sha256.h"
#include "io/token.h"

struct tensor_reader {
    const char *name; /* of the file */
    const struct safetensors *s;
    struct dataset *d;
    size_t size; /* of the file */
    bool borrow; /* arrays may point into the file */
};

static consm_status bad_tensor(const struct tensor_reader *r, const struct safetensors_tensor *t,
                               const char *expected)
{
    char shape[96];
    size_t used = 0;
    shape[0] = 0;
    for (int i = 0; i < t->rank && used < sizeof shape - 24; i++)
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%lld", i ? ", " : "",
                                 (long long)t->shape[i]);
    return status_fail(CONSM_EFORMAT, "%s: tensor \"%s\" is %s [%s]: expected %s", r->name, t->name,
                       safetensors_type_name(t->type), shape, expected);
}

/* A count from the metadata, or -1. */
static consm_status read_count(int64_t *out, const struct tensor_reader *r, const char *key)
{
    const char *text = safetensors_metadata(r->s, key);
    *out = -1;
    if (!text)
        return CONSM_OK;
    *out = token_number(text, strlen(text));
    if (*out < 0 || !token_plausible(*out, r->size))
        return status_fail(CONSM_EFORMAT,
                           "%s: \"%s\" in the metadata is \"%.40s\": expected a number that fits a "
                           "file of %zu bytes",
                           r->name, key, text, r->size);
    return CONSM_OK;
}

/* The data in place, or a copy. */
static consm_status take(void *out, const struct tensor_reader *r,
                         const struct safetensors_tensor *t)
{
    void *array = (void *)t->data;
    if (!r->borrow) {
        array = mem_alloc(t->bytes, 1);
        if (!array)
            return CONSM_ENOMEM;
        memcpy(array, t->data, t->bytes);
    }
    memcpy(out, &array, sizeof array);
    return CONSM_OK;
}

/* Converts a tensor of I32 or I64 to I32; numbers that do not fit become -2, which every check
 * refuses. */
static void narrow(int32_t *out, const struct safetensors_tensor *t, int64_t first, int64_t count)
{
    size_t width = safetensors_type_bytes(t->type);
    const char *at = (const char *)t->data + (size_t)first * width;
    for (int64_t k = 0; k < count; k++, at += width) {
        int32_t small;
        int64_t large;
        if (t->type == SAFETENSORS_I32) {
            memcpy(&small, at, sizeof small);
        } else {
            memcpy(&large, at, sizeof large);
            small = large >= -1 && large < INT32_MAX ? (int32_t)large : -2;
        }
        out[k] = small;
    }
}

static bool is_integer(const struct safetensors_tensor *t)
{
    return t->type == SAFETENSORS_I32 || t->type == SAFETENSORS_I64;
}

/* edge_index (2, e) and edge_weight (e) */
static consm_status read_edges(struct tensor_reader *r)
{
    consm_status st = CONSM_OK;
    struct dataset *d = r->d;
    const struct safetensors_tensor *ends = safetensors_find(r->s, "edge_index");
    const struct safetensors_tensor *weight = safetensors_find(r->s, "edge_weight");
    if (!ends)
        return status_fail(CONSM_EFORMAT,
                           "%s: has no tensor \"edge_index\": expected a dataset, not a model",
                           r->name);
    if (!is_integer(ends) || ends->rank != 2 || ends->shape[0] != 2)
        return bad_tensor(r, ends, "I32 or I64 [2, edges]");
    int64_t m = ends->shape[1];
    if (weight && (weight->type != SAFETENSORS_F32 || weight->rank != 1 || weight->shape[0] != m))
        return bad_tensor(r, weight, "F32 [edges]");
    if (r->borrow) {
        d->from = (int32_t *)ends->data;
        d->to = d->from + m;
        d->borrowed |= DATASET_BORROWS_EDGES;
    } else {
        TRY(NEW(d->from, m));
        TRY(NEW(d->to, m));
        narrow(d->from, ends, 0, m);
        narrow(d->to, ends, m, m);
    }
    d->edges = m;
    if (weight)
        TRY(take(&d->weight, r, weight));
done:
    return st;
}

/* x (n, f), or x.indptr (n+1), x.indices (nnz) and perhaps x.values (nnz) */
static consm_status read_sparse(struct tensor_reader *r, const struct safetensors_tensor *start,
                                int64_t features)
{
    consm_status st = CONSM_OK;
    const struct safetensors_tensor *col = safetensors_find(r->s, "x.indices");
    const struct safetensors_tensor *val = safetensors_find(r->s, "x.values");
    struct csr *a;
    int64_t n = r->d->nodes;
    if (start->type != SAFETENSORS_I64 || start->rank != 1 || start->shape[0] != n + 1)
        return bad_tensor(r, start, "I64 [nodes + 1]");
    if (!col || col->type != SAFETENSORS_I32 || col->rank != 1)
        return status_fail(CONSM_EFORMAT, "%s: tensor \"x.indices\": expected I32 [entries]",
                           r->name);
    if (val && (val->type != SAFETENSORS_F32 || val->rank != 1 || val->count != col->count))
        return bad_tensor(r, val, "F32 [entries]");
    if (features < 0)
        return status_fail(CONSM_EFORMAT,
                           "%s: has sparse features: expected \"features\", their number of "
                           "columns, in the metadata",
                           r->name);
    TRY(ZNEW(r->d->sparse, 1));
    a = r->d->sparse;
    r->d->features = features;
    *a = (struct csr){.rows = n, .cols = features, .nnz = col->count, .borrowed = r->borrow};
    TRY(take(&a->start, r, start));
    TRY(take(&a->col, r, col));
    if (val)
        TRY(take(&a->val, r, val));
    if (a->start[0] != 0 || a->start[n] != a->nnz)
        TRY(bad_tensor(r, start, "row starts from 0 to the number of entries"));
    for (int64_t i = 0; i < n; i++)
        if (a->start[i] > a->start[i + 1] || a->start[i + 1] > a->nnz)
            TRY(bad_tensor(r, start, "ascending row starts"));
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = a->start[i] + 1; k < a->start[i + 1]; k++)
            if (a->col[k - 1] >= a->col[k])
                TRY(bad_tensor(r, col, "ascending columns in each row"));
done:
    return st;
}

static consm_status read_features(struct tensor_reader *r)
{
    consm_status st = CONSM_OK;
    const struct safetensors_tensor *dense = safetensors_find(r->s, "x");
    const struct safetensors_tensor *start = safetensors_find(r->s, "x.indptr");
    int64_t features;
    TRY(read_count(&features, r, "features"));
    if (dense && start)
        return status_fail(CONSM_EFORMAT,
                           "%s: has both tensors \"x\" and \"x.indptr\": expected one of them",
                           r->name);
    if (start)
        return read_sparse(r, start, features);
    if (!dense)
        return CONSM_OK;
    if (dense->type != SAFETENSORS_F32 || dense->rank != 2 || dense->shape[0] != r->d->nodes ||
        (features >= 0 && dense->shape[1] != features))
        return bad_tensor(r, dense, "F32 [nodes, features]");
    TRY(take(&r->d->dense, r, dense));
    r->d->features = dense->shape[1];
    r->d->borrowed |= r->borrow ? DATASET_BORROWS_DENSE : 0;
done:
    return st;
}

/* y (n); without it every label is unknown */
static consm_status read_labels(struct tensor_reader *r)
{
    consm_status st = CONSM_OK;
    struct dataset *d = r->d;
    const struct safetensors_tensor *y = safetensors_find(r->s, "y");
    int64_t classes;
    TRY(read_count(&classes, r, "classes"));
    if (y && (!is_integer(y) || y->rank != 1 || y->shape[0] != d->nodes))
        return bad_tensor(r, y, "I32 or I64 [nodes]");
    if (y && r->borrow) {
        TRY(take(&d->label, r, y));
        d->borrowed |= DATASET_BORROWS_LABELS;
    } else {
        TRY(NEW(d->label, d->nodes));
        memset(d->label, 0xff, (size_t)d->nodes * sizeof *d->label); /* all -1 */
        if (y)
            narrow(d->label, y, 0, d->nodes);
    }
    for (int64_t i = 0; classes < 0 && i < d->nodes; i++) {
        if (d->label[i] == INT32_MAX)
            return status_fail(CONSM_EFORMAT, "%s: node %lld has label %d, which is too large",
                               r->name, (long long)i, d->label[i]);
        if (d->label[i] >= d->classes)
            d->classes = d->label[i] + 1;
    }
    if (classes >= 0)
        d->classes = (int32_t)classes;
    if (!token_plausible(d->classes, r->size))
        return status_fail(CONSM_EFORMAT, "%s: %d classes are too many for a file of %zu bytes",
                           r->name, d->classes, r->size);
done:
    return st;
}

/* split (s, n) */
static consm_status read_roles(struct tensor_reader *r)
{
    consm_status st = CONSM_OK;
    const struct safetensors_tensor *t = safetensors_find(r->s, "split");
    if (!t)
        return CONSM_OK;
    if (t->type != SAFETENSORS_U8 || t->rank != 2 || t->shape[1] != r->d->nodes)
        return bad_tensor(r, t, "U8 [splits, nodes]");
    TRY(take(&r->d->role, r, t));
    r->d->splits = t->shape[0];
    r->d->borrowed |= r->borrow ? DATASET_BORROWS_ROLES : 0;
done:
    return st;
}

/* Checks that ids and classes are distinct. */
static consm_status distinct_names(const struct tensor_reader *r, const char *key,
                                   char *const *name, int64_t count)
{
    consm_status st = CONSM_OK;
    struct names seen = {0};
    int64_t place;
    for (int64_t i = 0; name && i < count; i++) {
        TRY(names_add(&place, &seen, name[i], strlen(name[i])));
        if (place != i)
            TRY(status_fail(CONSM_EFORMAT,
                            "%s: tensor \"%s\": texts %lld and %lld are both \"%.40s\"", r->name,
                            key, (long long)place, (long long)i, name[i]));
    }
done:
    names_free(&seen);
    return st;
}

static consm_status read_names(char ***out, struct tensor_reader *r, const char *key, int64_t count,
                               unsigned packed)
{
    const struct safetensors_tensor *t = safetensors_find(r->s, key);
    if (!t)
        return CONSM_OK;
    if (t->type != SAFETENSORS_U8 || t->rank != 1)
        return bad_tensor(r, t, "U8 [bytes]");
    consm_status st = names_pack_text(out, t->data, t->bytes, count, !r->borrow);
    if (st == CONSM_EFORMAT)
        return status_fail(
            CONSM_EFORMAT,
            "%s: tensor \"%s\": expected %lld UTF-8 texts, each followed by a zero byte", r->name,
            key, (long long)count);
    r->d->borrowed |= packed;
    return st < 0 || packed == DATASET_PACKED_FEATURES ? st : distinct_names(r, key, *out, count);
}

/* From the metadata, or from the first tensor with a row per node. */
static consm_status read_nodes(struct tensor_reader *r)
{
    consm_status st = CONSM_OK;
    static const char *const keys[] = {"y", "x", "x.indptr"};
    TRY(read_count(&r->d->nodes, r, "nodes"));
    for (int i = 0; r->d->nodes < 0 && i < 3; i++) {
        const struct safetensors_tensor *t = safetensors_find(r->s, keys[i]);
        if (t && t->rank > 0)
            r->d->nodes = t->shape[0] - (i == 2);
    }
    if (r->d->nodes < 0 || !token_plausible_nodes(r->d->nodes, r->size)) {
        r->d->nodes = 0;
        return status_fail(CONSM_EFORMAT,
                           "%s: expected \"nodes\" in the metadata, or a tensor \"y\" or \"x\" "
                           "with a row for each node",
                           r->name);
    }
done:
    return st;
}

static consm_status read_all(struct tensor_reader *r)
{
    consm_status st = CONSM_OK;
    struct dataset *d = r->d;
    const char *directed = safetensors_metadata(r->s, "directed");
    TRY(read_nodes(r));
    TRY(read_edges(r));
    TRY(read_features(r));
    TRY(read_labels(r));
    TRY(read_roles(r));
    TRY(read_names(&d->node_id, r, "node_id", d->nodes, DATASET_PACKED_IDS));
    TRY(read_names(&d->class_name, r, "class_name", d->classes, DATASET_PACKED_CLASSES));
    TRY(read_names(&d->feature_name, r, "feature_name", d->features, DATASET_PACKED_FEATURES));
    d->directed = directed && strcmp(directed, "true") == 0;
    d->unchecked = r->borrow;
    /* Checks the rest now, through a view without what is postponed. */
    struct dataset view = *d;
    if (r->borrow) {
        view.edges = 0;
        view.features = d->dense ? 0 : d->features;
        view.dense = NULL;
    }
    TRY(dataset_check(&view));
done:
    return st;
}

/* In place only if every array is aligned for its type and vector loads may run past its end: the
 * 64 bytes of the seal allow that. */
static bool may_borrow(const struct safetensors *s)
{
    if (!safetensors_seal(s))
        return false;
    for (int64_t i = 0; i < safetensors_count(s); i++) {
        const struct safetensors_tensor *t = safetensors_at(s, i);
        if ((uintptr_t)t->data % safetensors_type_bytes(t->type) != 0)
            return false;
        if ((strcmp(t->name, "edge_index") == 0 || strcmp(t->name, "y") == 0) &&
            t->type != SAFETENSORS_I32)
            return false;
    }
    return true;
}

static void read_hash(struct dataset *d, const struct safetensors *s)
{
    const char *seal = safetensors_seal(s);
    struct file_map bytes = safetensors_bytes(s);
    if (seal)
        snprintf(d->sha256, sizeof d->sha256, "%.64s", seal);
    else
        sha256_of(d->sha256, bytes.data, bytes.size);
}

static consm_status make_dataset(struct dataset **out, const char *path, struct safetensors *s,
                                 bool borrow)
{
    consm_status st = CONSM_OK;
    struct dataset *d = NULL;
    const char *name = safetensors_metadata(s, "name");
    struct tensor_reader r = {path, s, NULL, safetensors_bytes(s).size, borrow};
    TRY(dataset_new(&d, name && *name ? name : path));
    r.d = d;
    TRY(read_all(&r));
    read_hash(d, s);
    if (borrow) {
        struct file_map map = safetensors_release(s);
        d->mapping = (void *)map.data;
        d->mapping_bytes = map.size;
    }
    *out = d;
    d = NULL;
done:
    dataset_free(d);
    return st;
}

enum sniffed safetensors_dataset_sniff(const struct probe *p)
{
    const uint8_t *bytes = p->file.data; /* 8 bytes of length, then JSON */
    return p->file.size >= 9 && bytes[8] == '{' && bytes[7] == 0 ? SNIFF_YES : SNIFF_NO;
}

consm_status safetensors_dataset_load(struct dataset **out, const char *path)
{
    consm_status st = CONSM_OK;
    struct safetensors *s = NULL;
    *out = NULL;
    TRY(safetensors_open(&s, path));
    TRY(make_dataset(out, path, s, may_borrow(s)));
done:
    safetensors_close(s);
    return st;
}

consm_status safetensors_dataset_read(struct dataset **out, const char *name, const void *data,
                                      size_t size)
{
    consm_status st = CONSM_OK;
    struct safetensors *s = NULL;
    *out = NULL;
    TRY(safetensors_read(&s, name, data, size));
    TRY(make_dataset(out, name, s, false));
done:
    safetensors_close(s);
    return st;
}

consm_status safetensors_dataset_verify(const struct dataset *d)
{
    consm_status st = CONSM_OK;
    struct safetensors *s = NULL;
    if (d->mapping) {
        TRY(safetensors_read(&s, d->name, d->mapping, d->mapping_bytes));
        TRY(safetensors_verify(s));
    }
    TRY(dataset_check(d));
done:
    safetensors_close(s);
    return st;
}
