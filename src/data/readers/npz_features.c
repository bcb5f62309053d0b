/* Streams feature matrices from the inflater into compressed rows. Most are nearly empty:
 * Squirrel's 43 MB hold 93,477 numbers. The bytes are read once, while they are in the cache, and
 * no dense array is made, unless the matrix turns out to be dense. */
#include "data/readers/npz_archive.h"

#include <stdio.h>
#include <string.h>

enum { SHARE = 3, BLOCK = 1024, GROUP = 16 };

struct feature_stream {
    struct dataset *d;
    struct npy npy;
    const char *label;
    uint64_t total;     /* bytes of the member */
    bool started;       /* the header has been read */
    int64_t done;       /* cells seen */
    uint8_t partial[8]; /* an element at the border of two pieces */
    size_t partial_bytes;
    struct csr *sparse; /* until it becomes too full */
    size_t col_room, val_room;
    float *dense;
};

/* Too many entries for a sparse matrix: continue with a dense one. */
static consm_status turn_dense(struct feature_stream *s)
{
    consm_status st = CONSM_OK;
    int64_t cols = s->npy.shape[1], last = s->done / cols;
    struct csr *a = s->sparse;
    TRY(ZNEW(s->dense, s->npy.count));
    for (int64_t r = 0; r <= last && r < a->rows; r++) {
        int64_t end = r < last ? a->start[r + 1] : a->nnz;
        for (int64_t k = a->start[r]; k < end; k++)
            s->dense[r * cols + a->col[k]] = a->val[k];
    }
    csr_free(a);
    s->sparse = NULL;
done:
    return st;
}

/* Cells of one row from column first; only non-zeros are processed further. */
static void take_cells(struct csr *a, const float *cell, int64_t count, int64_t first)
{
    int64_t i = 0;
    while (i < count) {
        if (count - i >= GROUP) {
            uint64_t word[GROUP / 2], any = 0;
            memcpy(word, cell + i, sizeof word);
            for (int k = 0; k < GROUP / 2; k++)
                any |= word[k];
            if (any == 0) {
                i += GROUP;
                continue;
            }
        }
        int64_t end = count - i < GROUP ? count : i + GROUP;
        for (; i < end; i++)
            if (cell[i] != 0) {
                a->col[a->nnz] = (int32_t)(first + i);
                a->val[a->nnz++] = cell[i];
            }
    }
}

/* The next cells in row order. */
static consm_status take_floats(struct feature_stream *s, const float *cell, int64_t count)
{
    consm_status st = CONSM_OK;
    int64_t cols = s->npy.shape[1];
    while (count > 0 && s->sparse) {
        struct csr *a = s->sparse;
        int64_t row = s->done / cols, col = s->done % cols;
        int64_t part = cols - col < count ? cols - col : count;
        part = part < BLOCK ? part : BLOCK;
        TRY(GROW(a->col, a->nnz, s->col_room, part));
        TRY(GROW(a->val, a->nnz, s->val_room, part));
        take_cells(a, cell, part, col);
        a->start[row + 1] = a->nnz;
        s->done += part;
        cell += part;
        count -= part;
        if (a->nnz > s->npy.count / SHARE)
            TRY(turn_dense(s));
    }
    if (count > 0) {
        memcpy(s->dense + s->done, cell, (size_t)count * sizeof *cell);
        s->done += count;
    }
done:
    return st;
}

/* Whole elements of the array's own type. */
static consm_status take_elements(struct feature_stream *s, const uint8_t *bytes, int64_t count)
{
    consm_status st = CONSM_OK;
    struct npy part = s->npy;
    float cell[BLOCK];
    bool plain = part.kind == 'f' && part.width == 4 && !part.swapped;
    if (plain && (uintptr_t)bytes % sizeof *cell == 0)
        return take_floats(s, (const float *)(const void *)bytes, count);
    part.data = bytes;
    part.fortran = false;
    for (int64_t i = 0; i < count; i += BLOCK) {
        int64_t share = count - i < BLOCK ? count - i : BLOCK;
        TRY(npy_floats(cell, &part, i, share));
        TRY(take_floats(s, cell, share));
    }
done:
    return st;
}

static consm_status start(struct feature_stream *s, const uint8_t *bytes, size_t count,
                          size_t *header)
{
    consm_status st = CONSM_OK;
    TRY(npy_header(&s->npy, header, bytes, count, s->total, s->label));
    TRY(npy_expect(&s->npy, 2, s->d->nodes, -1));
    if (s->npy.kind == 'S' || s->npy.kind == 'U')
        TRY(status_fail(CONSM_EFORMAT, "%s: is an array of strings: expected numbers", s->label));
    s->started = true;
    if (s->npy.count > 0)
        TRY(csr_new(&s->sparse, s->npy.shape[0], s->npy.shape[1], 0, true));
done:
    return st;
}

static consm_status take_piece(void *ctx, const uint8_t *bytes, size_t count)
{
    consm_status st = CONSM_OK;
    struct feature_stream *s = ctx;
    size_t skip = 0, width;
    if (!s->started)
        TRY(start(s, bytes, count, &skip));
    bytes += skip;
    count -= skip;
    width = (size_t)s->npy.width;
    if (s->partial_bytes > 0) {
        size_t missing = width - s->partial_bytes, share = missing < count ? missing : count;
        memcpy(s->partial + s->partial_bytes, bytes, share);
        s->partial_bytes += share;
        bytes += share;
        count -= share;
        if (s->partial_bytes < width)
            return CONSM_OK;
        s->partial_bytes = 0;
        TRY(take_elements(s, s->partial, 1));
    }
    TRY(take_elements(s, bytes, (int64_t)(count / width)));
    s->partial_bytes = count % width;
    memcpy(s->partial, bytes + count - s->partial_bytes, s->partial_bytes);
done:
    return st;
}

/* Column order cannot be streamed into rows: reads the whole array first. */
static consm_status read_whole(struct dataset *d, const struct npz_archive *archive,
                               const char *key)
{
    consm_status st = CONSM_OK;
    struct npz_array array = {.label = ""};
    float *dense = NULL;
    TRY(npz_read(&array, archive, key));
    TRY(NEW(dense, array.npy.count));
    TRY(npy_floats(dense, &array.npy, 0, array.npy.count));
    d->nodes = array.npy.shape[0];
    st = dataset_set_features(d, dense, array.npy.shape[1]);
    dense = NULL;
done:
    mem_free(dense);
    npz_array_free(&array);
    return st;
}

/* Stops the stream if the header shows column order. */
static consm_status take_piece_in_rows(void *ctx, const uint8_t *bytes, size_t count)
{
    struct feature_stream *s = ctx;
    size_t header;
    if (!s->started) {
        consm_status st = npy_header(&s->npy, &header, bytes, count, s->total, s->label);
        if (st < 0)
            return st;
        if (s->npy.fortran && s->npy.rank == 2)
            return CONSM_ECANCEL;
    }
    return take_piece(ctx, bytes, count);
}

consm_status npz_read_features(struct dataset *d, const struct npz_archive *archive,
                               const char *key)
{
    consm_status st = CONSM_OK;
    const struct zip_member *m = npz_find(archive, key);
    struct feature_stream s = {.d = d, .total = m->size};
    char label[300];
    snprintf(label, sizeof label, "%s: %s", archive->zip->file, m->name);
    s.label = label;
    if (m->size == 0)
        TRY(status_fail(CONSM_EFORMAT, "%s: the member is empty: expected a .npy array", label));
    st = zip_push(archive->zip, m, take_piece_in_rows, &s);
    if (st == CONSM_ECANCEL) {
        TRY(npy_expect(&s.npy, 2, d->nodes, -1));
        return read_whole(d, archive, key);
    }
    TRY(st);
    d->nodes = s.npy.shape[0];
    d->features = s.npy.shape[1];
    d->sparse = s.sparse;
    d->dense = s.dense;
    s.sparse = NULL;
    s.dense = NULL;
    /* (n,0) is an array without features, (0,f) one without nodes; neither gives a matrix. */
    if (s.npy.count == 0)
        d->features = 0;
done:
    csr_free(s.sparse);
    mem_free(s.dense);
    return st;
}
