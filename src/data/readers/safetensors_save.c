/* Writes a dataset as tensors. Wide types come first, so that all are aligned without gaps. */
#include "data/readers/safetensors.h"
#include "data/table/notes.h"

#include <stdio.h>
#include <string.h>

static int64_t text_bytes(char *const *names, int64_t count)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < count; i++)
        bytes += (int64_t)strlen(names[i]) + 1;
    return bytes;
}

static consm_status declare_names(struct safetensors_writer *w, const char *key, char *const *names,
                                  int64_t count)
{
    if (!names)
        return CONSM_OK;
    return safetensors_declare(w, key, SAFETENSORS_U8, 1, (int64_t[]){text_bytes(names, count)});
}

static consm_status declare(struct safetensors_writer *w, const struct dataset *d)
{
    consm_status st = CONSM_OK;
    const struct csr *x = d->features > 0 ? d->sparse : NULL;
    int64_t n = d->nodes, m = d->edges;
    if (x)
        TRY(safetensors_declare(w, "x.indptr", SAFETENSORS_I64, 1, (int64_t[]){n + 1}));
    TRY(safetensors_declare(w, "edge_index", SAFETENSORS_I32, 2, (int64_t[]){2, m}));
    if (d->weight)
        TRY(safetensors_declare(w, "edge_weight", SAFETENSORS_F32, 1, &m));
    if (x)
        TRY(safetensors_declare(w, "x.indices", SAFETENSORS_I32, 1, &x->nnz));
    if (x && x->val)
        TRY(safetensors_declare(w, "x.values", SAFETENSORS_F32, 1, &x->nnz));
    if (d->dense && d->features > 0)
        TRY(safetensors_declare(w, "x", SAFETENSORS_F32, 2, (int64_t[]){n, d->features}));
    TRY(safetensors_declare(w, "y", SAFETENSORS_I32, 1, &n));
    if (d->role)
        TRY(safetensors_declare(w, "split", SAFETENSORS_U8, 2, (int64_t[]){d->splits, n}));
    TRY(declare_names(w, "node_id", d->node_id, n));
    TRY(declare_names(w, "class_name", d->class_name, d->classes));
    TRY(declare_names(w, "feature_name", d->feature_name, d->features));
done:
    return st;
}

static consm_status note_count(struct safetensors_writer *w, const char *key, int64_t count)
{
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)count);
    return safetensors_note(w, key, number);
}

static consm_status note(struct safetensors_writer *w, const struct dataset *d)
{
    consm_status st = CONSM_OK;
    TRY(safetensors_note(w, "format", "consm dataset 1"));
    TRY(safetensors_note(w, "name", d->name));
    TRY(note_count(w, "nodes", d->nodes));
    TRY(note_count(w, "features", d->features));
    TRY(note_count(w, "classes", d->classes));
    TRY(safetensors_note(w, "directed", d->directed ? "true" : "false"));
done:
    return st;
}

static consm_status write_array(struct safetensors_writer *w, const void *array, int64_t count,
                                size_t size)
{
    return array ? safetensors_write(w, array, (size_t)count * size) : CONSM_OK;
}

static consm_status write_names(struct safetensors_writer *w, char *const *names, int64_t count)
{
    consm_status st = CONSM_OK;
    for (int64_t i = 0; names && i < count; i++)
        TRY(safetensors_write(w, names[i], strlen(names[i]) + 1));
done:
    return st;
}

/* In the order of declare(). */
static consm_status write_all(struct safetensors_writer *w, const struct dataset *d)
{
    consm_status st = CONSM_OK;
    const struct csr *x = d->features > 0 ? d->sparse : NULL;
    if (x)
        TRY(write_array(w, x->start, d->nodes + 1, sizeof *x->start));
    TRY(write_array(w, d->from, d->edges, sizeof *d->from));
    TRY(write_array(w, d->to, d->edges, sizeof *d->to));
    TRY(write_array(w, d->weight, d->edges, sizeof *d->weight));
    if (x)
        TRY(write_array(w, x->col, x->nnz, sizeof *x->col));
    if (x)
        TRY(write_array(w, x->val, x->nnz, sizeof *x->val));
    TRY(write_array(w, d->dense, d->nodes * d->features, sizeof *d->dense));
    TRY(write_array(w, d->label, d->nodes, sizeof *d->label));
    TRY(write_array(w, d->role, d->splits * d->nodes, sizeof *d->role));
    TRY(write_names(w, d->node_id, d->nodes));
    TRY(write_names(w, d->class_name, d->classes));
    TRY(write_names(w, d->feature_name, d->features));
done:
    return st;
}

consm_status safetensors_dataset_save(const struct dataset *d, const char *path)
{
    consm_status st = CONSM_OK;
    struct safetensors_writer *w = NULL;
    TRY(dataset_check(d));
    notes_say_lost(d->edge_notes, path);
    TRY(safetensors_writer_new(&w));
    TRY(declare(w, d));
    TRY(note(w, d));
    TRY(safetensors_begin(w, path, true));
    TRY(write_all(w, d));
    TRY(safetensors_commit(w));
done:
    safetensors_writer_free(w);
    return st;
}
