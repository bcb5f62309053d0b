/* Makes a dataset with rows from the two files of a folder; each tensor is checked before use. */
#include "data/readers/parts.h"

#include "data/readers/safetensors.h"

#include <math.h>
#include <stdio.h>

#define FILE_GRAPH "graph.safetensors"
#define FILE_ROWS  "rows.safetensors"

enum sniffed parts_sniff(const struct probe *p)
{
    return p->folder && probe_has(p, FILE_GRAPH) && probe_has(p, FILE_ROWS) ? SNIFF_YES : SNIFF_NO;
}

/* ---- reading ------------------------------------------------------------- */

struct rows_reader {
    const char *path;
    const struct safetensors *s;
    struct dataset *d;
};

/* The data of a one-dimensional tensor; count -1: any. NULL without a message: it is missing. */
static consm_status take(const void **out, int64_t *count, const struct rows_reader *r,
                         const char *name, enum safetensors_type type)
{
    const struct safetensors_tensor *t = safetensors_find(r->s, name);
    *out = NULL;
    if (!t)
        return CONSM_OK;
    if (t->type != type || t->rank != 1 || (*count >= 0 && t->count != *count) ||
        (uintptr_t)t->data % safetensors_type_bytes(type) != 0)
        return status_fail(CONSM_EFORMAT,
                           "%s: tensor \"%s\" is %s with %lld elements: expected %s with %lld",
                           r->path, name, safetensors_type_name(t->type), (long long)t->count,
                           safetensors_type_name(type), (long long)*count);
    *out = t->data;
    *count = t->count;
    return CONSM_OK;
}

static consm_status missing(const struct rows_reader *r, const char *name)
{
    return status_fail(CONSM_EFORMAT,
                       "%s: has no tensor \"%s\": expected a file written by `consm partition`",
                       r->path, name);
}

/* start (n+1) ascends from 0 to the number of entries. */
static consm_status read_graph(struct rows_reader *r)
{
    consm_status st = CONSM_OK;
    struct dataset *d = r->d;
    const void *start, *col, *weight;
    int64_t places = d->nodes + 1, entries = -1;
    TRY(take(&start, &places, r, "start", SAFETENSORS_I64));
    if (!start)
        return missing(r, "start");
    TRY(take(&col, &entries, r, "col", SAFETENSORS_I32));
    if (!col)
        return missing(r, "col");
    TRY(take(&weight, &entries, r, "weight", SAFETENSORS_F32));
    const int64_t *at = start;
    for (int64_t i = 0; i < d->nodes; i++)
        if (at[i] > at[i + 1] || at[0] != 0)
            return status_fail(CONSM_EFORMAT,
                               "%s: row %lld goes from %lld to %lld, which is invalid", r->path,
                               (long long)i, (long long)at[i], (long long)at[i + 1]);
    if (at[d->nodes] != entries)
        return status_fail(CONSM_EFORMAT, "%s: rows end at %lld: expected %lld", r->path,
                           (long long)at[d->nodes], (long long)entries);
    TRY(ZNEW(d->rows, 1));
    *d->rows = (struct csr){.rows = d->nodes,
                            .cols = d->nodes,
                            .nnz = entries,
                            .start = (int64_t *)(uintptr_t)start, /* only read */
                            .col = (int32_t *)(uintptr_t)col,
                            .val = (float *)(uintptr_t)weight,
                            .borrowed = true};
done:
    return st;
}

/* shift and scale (f), both or none. */
static consm_status read_columns(struct rows_reader *r)
{
    consm_status st = CONSM_OK;
    struct dataset *d = r->d;
    const void *shift, *scale;
    int64_t f = d->features;
    TRY(take(&shift, &f, r, "shift", SAFETENSORS_F32));
    TRY(take(&scale, &f, r, "scale", SAFETENSORS_F32));
    if (!shift || !scale || !d->dense)
        return CONSM_OK;
    d->shift = shift;
    d->scale = scale;
    for (int64_t c = 0; c < f; c++)
        if (!isfinite(d->shift[c]) || !isfinite(d->scale[c]))
            return status_fail(CONSM_EFORMAT,
                               "%s: column %lld has the invalid shift %g or scale %g", r->path,
                               (long long)c, (double)d->shift[c], (double)d->scale[c]);
done:
    return st;
}

/* Checks that both files come from one `consm partition`. */
static consm_status read_seal(const struct rows_reader *r)
{
    const char *of = safetensors_metadata(r->s, "graph");
    if (!safetensors_seal(r->s) || !of || strcmp(of, r->d->sha256) != 0)
        return status_fail(CONSM_EFORMAT,
                           "%s: does not belong to the other file in its folder: expected two "
                           "files written together by `consm partition`",
                           r->path);
    return CONSM_OK;
}

consm_status parts_load(struct dataset **out, const char *path)
{
    consm_status st = CONSM_OK;
    char *graph = NULL, *rows = NULL;
    struct dataset *d = NULL;
    struct safetensors *s = NULL;
    *out = NULL;
    TRY(file_join(&graph, path, FILE_GRAPH));
    TRY(file_join(&rows, path, FILE_ROWS));
    TRY(safetensors_dataset_load(&d, graph));
    if (!d->mapping)
        TRY(status_fail(CONSM_EFORMAT, "%s: expected a file written by `consm partition`", graph));
    TRY(safetensors_open(&s, rows));
    struct rows_reader r = {rows, s, d};
    TRY(read_seal(&r));
    TRY(read_graph(&r));
    TRY(read_columns(&r));
    struct file_map map = safetensors_release(s);
    d->rows_mapping = (void *)(uintptr_t)map.data;
    d->rows_bytes = map.size;
    *out = d;
    d = NULL;
done:
    dataset_free(d);
    safetensors_close(s);
    mem_free(graph);
    mem_free(rows);
    return st;
}

consm_status parts_borders(const int64_t **first, int64_t *count, const struct dataset *d)
{
    consm_status st = CONSM_OK;
    struct safetensors *s = NULL;
    const void *part;
    *first = NULL;
    *count = -1;
    TRY(safetensors_read(&s, d->name, d->rows_mapping, d->rows_bytes));
    struct rows_reader r = {d->name, s, NULL};
    TRY(take(&part, count, &r, "part", SAFETENSORS_I64));
    *first = part;
    for (int64_t i = 0; part && i < *count; i++)
        if ((*first)[i] < (i ? (*first)[i - 1] : 0) || (*first)[i] > d->nodes)
            TRY(status_fail(CONSM_EFORMAT, "%s: part %lld begins at the invalid row %lld of %lld",
                            d->name, (long long)i, (long long)(*first)[i], (long long)d->nodes));
done:
    safetensors_close(s);
    if (st < 0 || !*first)
        *count = 0;
    return st;
}

consm_status parts_check_rows(const struct dataset *d, int64_t low, int64_t high)
{
    const struct csr *a = d->rows;
    int64_t f = d->features;
    for (int64_t r = low; r < high; r++) {
        int64_t before = -1;
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++) {
            if (a->col[k] <= before || a->col[k] >= a->cols || a->col[k] == r)
                return status_fail(CONSM_EFORMAT,
                                   "%s: row %lld has column %d after %lld: expected ascending "
                                   "columns below %lld, without the row itself",
                                   d->name, (long long)r, a->col[k], (long long)before,
                                   (long long)a->cols);
            if (a->val && !(a->val[k] >= 0 && isfinite(a->val[k])))
                return status_fail(CONSM_EFORMAT, "%s: row %lld has the invalid weight %g", d->name,
                                   (long long)r, (double)a->val[k]);
            before = a->col[k];
        }
    }
    if (d->sparse)
        for (int64_t r = low; r < high; r++)
            for (int64_t k = d->sparse->start[r]; k < d->sparse->start[r + 1]; k++)
                if (d->sparse->col[k] < 0 || d->sparse->col[k] >= f ||
                    (d->sparse->val && !isfinite(d->sparse->val[k])))
                    return status_fail(CONSM_EFORMAT,
                                       "%s: node %lld has feature %d: expected a feature below "
                                       "%lld with a finite value",
                                       d->name, (long long)r, d->sparse->col[k], (long long)f);
    for (int64_t k = low * f; d->dense && k < high * f; k++)
        if (!isfinite(d->dense[k]))
            return status_fail(
                CONSM_EFORMAT, "%s: node %lld, feature %lld is %g: expected a finite number",
                d->name, (long long)(k / f), (long long)(k % f), (double)d->dense[k]);
    return CONSM_OK;
}

/* ---- writing ------------------------------------------------------------- */

static consm_status declare(struct safetensors_writer *w, const struct csr *a, int64_t features,
                            int64_t parts)
{
    consm_status st = CONSM_OK;
    TRY(safetensors_declare(w, "start", SAFETENSORS_I64, 1, (int64_t[]){a->rows + 1}));
    TRY(safetensors_declare(w, "part", SAFETENSORS_I64, 1, (int64_t[]){parts + 1}));
    TRY(safetensors_declare(w, "col", SAFETENSORS_I32, 1, &a->nnz));
    if (a->val)
        TRY(safetensors_declare(w, "weight", SAFETENSORS_F32, 1, &a->nnz));
    if (features > 0) {
        TRY(safetensors_declare(w, "shift", SAFETENSORS_F32, 1, &features));
        TRY(safetensors_declare(w, "scale", SAFETENSORS_F32, 1, &features));
    }
done:
    return st;
}

static consm_status write_array(struct safetensors_writer *w, const void *array, int64_t count,
                                size_t size)
{
    return array ? safetensors_write(w, array, (size_t)count * size) : CONSM_OK;
}

/* The seal of the graph.safetensors in the folder. */
static consm_status note_graph(struct safetensors_writer *w, const char *folder)
{
    consm_status st = CONSM_OK;
    struct safetensors *s = NULL;
    char *path = NULL, seal[65] = "";
    TRY(file_join(&path, folder, FILE_GRAPH));
    TRY(safetensors_open(&s, path));
    if (safetensors_seal(s))
        snprintf(seal, sizeof seal, "%.64s", safetensors_seal(s));
    TRY(safetensors_note(w, "format", "consm rows 1"));
    TRY(safetensors_note(w, "graph", seal));
done:
    safetensors_close(s);
    mem_free(path);
    return st;
}

consm_status parts_save(const struct dataset *d, const char *folder, const int64_t *first,
                        int64_t parts, const float *shift, const float *scale)
{
    consm_status st = CONSM_OK;
    struct safetensors_writer *w = NULL;
    struct csr *a = NULL;
    char *path = NULL;
    int64_t f = shift && scale ? d->features : 0;
    TRY(dataset_graph(&a, d, NULL));
    TRY(file_join(&path, folder, FILE_ROWS));
    TRY(safetensors_writer_new(&w));
    TRY(declare(w, a, f, parts));
    TRY(note_graph(w, folder));
    TRY(safetensors_begin(w, path, true));
    TRY(write_array(w, a->start, a->rows + 1, sizeof *a->start));
    TRY(write_array(w, first, parts + 1, sizeof *first));
    TRY(write_array(w, a->col, a->nnz, sizeof *a->col));
    TRY(write_array(w, a->val, a->nnz, sizeof *a->val));
    TRY(write_array(w, f > 0 ? shift : NULL, f, sizeof *shift));
    TRY(write_array(w, f > 0 ? scale : NULL, f, sizeof *scale));
    TRY(safetensors_commit(w));
done:
    safetensors_writer_free(w);
    csr_free(a);
    mem_free(path);
    return st;
}
