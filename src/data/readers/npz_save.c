/* Writes a dataset as an archive, in the Yandex layout with our own keys for the rest. Arrays that
 * the reader might take for a zip bomb are stored, not deflated, so that we can always read our own
 * files. */
#include "data/readers/npz.h"

#include "data/table/notes.h"
#include "io/npy.h"
#include "io/zip.h"
#include <stdio.h>
#include <string.h>

enum { RUN = 4096, UNITS = 256 };
static const double deflate_below = 16 << 20; /* arrays below this size are deflated, in bytes */
static const double dense_below =
    64 << 20; /* sparse matrices below this size are written densely, in bytes */
static const double padded_below =
    16 << 20; /* strings below this size are padded to the longest, in bytes */

/* Begins the member KEY.npy and writes its header. */
static consm_status begin(struct zip_writer *w, const char *key, const char *type, int64_t width,
                          int rank, int64_t rows, int64_t cols, bool deflated)
{
    consm_status st = CONSM_OK;
    char name[80], header[NPY_HEADER_BYTES];
    int64_t shape[2] = {rows, cols};
    double bytes = (double)width * (double)(rank > 0 ? rows : 1) * (double)(rank > 1 ? cols : 1);
    snprintf(name, sizeof name, "%s.npy", key);
    TRY(zip_begin(w, name, deflated || bytes < deflate_below));
    TRY(zip_put(w, header, npy_write_header(header, type, rank, shape)));
done:
    return st;
}

/* Type names of arrays in this machine's byte order. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define ORDER ">"
#else
#define ORDER "<"
#endif

/* Writes an array that has its final layout in memory. */
static consm_status put_array(struct zip_writer *w, const char *key, const char *type,
                              int64_t width, int rank, int64_t rows, int64_t cols, const void *data)
{
    consm_status st = CONSM_OK;
    int64_t count = (rank > 0 ? rows : 1) * (rank > 1 ? cols : 1);
    TRY(begin(w, key, type, width, rank, rows, cols, false));
    TRY(zip_put(w, data, (size_t)(count * width)));
    TRY(zip_end(w));
done:
    return st;
}

/* Columns of 32-bit integers side by side as 64-bit ones, NumPy's default. */
static consm_status put_integers(struct zip_writer *w, const char *key, int64_t rows,
                                 const int32_t *first, const int32_t *second)
{
    consm_status st = CONSM_OK;
    int64_t run[RUN], used = 0, cols = second ? 2 : 1;
    TRY(begin(w, key, ORDER "i8", 8, (int)cols, rows, cols, false));
    for (int64_t i = 0; i < rows; i++) {
        run[used++] = first[i];
        if (second)
            run[used++] = second[i];
        if (used == RUN || i + 1 == rows) {
            TRY(zip_put(w, run, (size_t)used * sizeof *run));
            used = 0;
        }
    }
    TRY(zip_end(w));
done:
    return st;
}

static consm_status put_masks(struct zip_writer *w, const struct dataset *d)
{
    consm_status st = CONSM_OK;
    static const char *const key[] = {"train_masks", "val_masks", "test_masks"};
    uint8_t run[RUN];
    int64_t cells = d->splits * d->nodes;
    for (int which = 0; which < 3; which++) {
        TRY(begin(w, key[which], "|b1", 1, 2, d->splits, d->nodes, false));
        for (int64_t k = 0; k < cells; k += RUN) {
            int64_t count = cells - k < RUN ? cells - k : RUN;
            for (int64_t i = 0; i < count; i++)
                run[i] = d->role[k + i] == SPLIT_TRAIN + which;
            TRY(zip_put(w, run, (size_t)count));
        }
        TRY(zip_end(w));
    }
done:
    return st;
}

/* The next code point of UTF-8 text, or -1 at an error; moves *at. */
static int32_t next_point(const char **at)
{
    const uint8_t *p = (const uint8_t *)*at;
    int more = p[0] < 0x80       ? 0
               : p[0] >> 5 == 6  ? 1
               : p[0] >> 4 == 14 ? 2
               : p[0] >> 3 == 30 ? 3
                                 : -1;
    static const int32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (more < 0)
        return -1;
    int32_t point = more == 0 ? p[0] : p[0] & (0x3f >> more);
    for (int i = 1; i <= more; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return -1;
        point = point << 6 | (p[i] & 0x3f);
    }
    if (point < least[more] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return -1;
    *at += more + 1;
    return point;
}

/* Code points of a string, or -1 when it is not UTF-8. */
static int64_t points_in(const char *text)
{
    int64_t count = 0;
    for (; *text; count++)
        if (next_point(&text) < 0)
            return -1;
    return count;
}

/* Strings as NumPy's own fixed-width Unicode. */
static consm_status put_padded(struct zip_writer *w, const char *key, char *const *text,
                               int64_t count, int64_t width)
{
    consm_status st = CONSM_OK;
    char type[32];
    snprintf(type, sizeof type, ORDER "U%lld", (long long)width);
    TRY(begin(w, key, type, 4 * width, 1, count, 1, false));
    for (int64_t i = 0; i < count; i++) {
        const char *at = text[i];
        for (int64_t done = 0; done < width; done += UNITS) {
            int32_t unit[UNITS];
            int64_t part = width - done < UNITS ? width - done : UNITS;
            for (int64_t k = 0; k < part; k++)
                unit[k] = *at ? next_point(&at) : 0;
            TRY(zip_put(w, unit, (size_t)part * sizeof *unit));
        }
    }
    TRY(zip_end(w));
done:
    return st;
}

/* Strings one after the other: KEY_utf8 holds the bytes, KEY_ends the ends. */
static consm_status put_packed(struct zip_writer *w, const char *key, char *const *text,
                               int64_t count)
{
    consm_status st = CONSM_OK;
    char name[64];
    int64_t *end = NULL, total = 0;
    TRY(NEW(end, count));
    for (int64_t i = 0; i < count; i++)
        end[i] = total += (int64_t)strlen(text[i]);
    snprintf(name, sizeof name, "%s_ends", key);
    TRY(put_array(w, name, ORDER "i8", 8, 1, count, 1, end));
    snprintf(name, sizeof name, "%s_utf8", key);
    TRY(begin(w, name, "|u1", 1, 1, total, 1, false));
    for (int64_t i = 0; i < count; i++)
        TRY(zip_put(w, text[i], strlen(text[i])));
    TRY(zip_end(w));
done:
    mem_free(end);
    return st;
}

static consm_status put_strings(struct zip_writer *w, const char *key, char *const *text,
                                int64_t count)
{
    int64_t width = 1;
    for (int64_t i = 0; i < count && width > 0; i++) {
        int64_t points = points_in(text[i]);
        width = points < 0 ? 0 : points > width ? points : width;
    }
    if (width > 0 && 4.0 * (double)width * (double)count < padded_below)
        return put_padded(w, key, text, count, width);
    return put_packed(w, key, text, count);
}

/* Whether reading it back from a dense array gives exactly the same matrix. */
static bool fits_dense(const struct csr *a)
{
    if (4.0 * (double)a->rows * (double)a->cols >= dense_below || a->nnz > a->rows * a->cols / 3)
        return false;
    for (int64_t k = 0; a->val && k < a->nnz; k++)
        if (a->val[k] == 0)
            return false;
    return true;
}

static consm_status put_densely(struct zip_writer *w, const struct csr *a)
{
    consm_status st = CONSM_OK;
    float *row = NULL;
    TRY(ZNEW(row, a->cols));
    TRY(begin(w, "node_features", ORDER "f4", 4, 2, a->rows, a->cols, true));
    for (int64_t r = 0; r < a->rows; r++) {
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
            row[a->col[k]] = a->val ? a->val[k] : 1;
        TRY(zip_put(w, row, (size_t)a->cols * sizeof *row));
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
            row[a->col[k]] = 0;
    }
    TRY(zip_end(w));
done:
    mem_free(row);
    return st;
}

static consm_status put_sparsely(struct zip_writer *w, const struct csr *a)
{
    consm_status st = CONSM_OK;
    int64_t shape[2] = {a->rows, a->cols};
    float *ones = NULL;
    if (!a->val) {
        TRY(NEW(ones, a->nnz));
        for (int64_t k = 0; k < a->nnz; k++)
            ones[k] = 1;
    }
    TRY(put_array(w, "node_features_data", ORDER "f4", 4, 1, a->nnz, 1, a->val ? a->val : ones));
    TRY(put_array(w, "node_features_indices", ORDER "i4", 4, 1, a->nnz, 1, a->col));
    TRY(put_array(w, "node_features_indptr", ORDER "i8", 8, 1, a->rows + 1, 1, a->start));
    TRY(put_array(w, "node_features_shape", ORDER "i8", 8, 1, 2, 1, shape));
done:
    mem_free(ones);
    return st;
}

static consm_status put_features(struct zip_writer *w, const struct dataset *d)
{
    if (d->dense)
        return put_array(w, "node_features", ORDER "f4", 4, 2, d->nodes, d->features, d->dense);
    if (!d->sparse)
        return CONSM_OK;
    return fits_dense(d->sparse) ? put_densely(w, d->sparse) : put_sparsely(w, d->sparse);
}

/* Parts that the layout itself lacks. */
static consm_status put_extras(struct zip_writer *w, const struct dataset *d)
{
    consm_status st = CONSM_OK;
    uint8_t directed = d->directed;
    int64_t classes = d->classes, seen = 0;
    for (int64_t i = 0; i < d->nodes; i++)
        seen = d->label[i] >= seen ? d->label[i] + 1 : seen;
    TRY(put_array(w, "directed", "|b1", 1, 0, 1, 1, &directed));
    if (seen != classes)
        TRY(put_array(w, "num_classes", ORDER "i8", 8, 0, 1, 1, &classes));
    if (d->weight)
        TRY(put_array(w, "edge_weights", ORDER "f4", 4, 1, d->edges, 1, d->weight));
    if (d->node_id)
        TRY(put_strings(w, "node_ids", d->node_id, d->nodes));
    if (d->class_name)
        TRY(put_strings(w, "class_names", d->class_name, d->classes));
    if (d->feature_name)
        TRY(put_strings(w, "feature_names", d->feature_name, d->features));
done:
    return st;
}

consm_status npz_save(const struct dataset *d, const char *path)
{
    consm_status st = CONSM_OK;
    struct zip_writer *w = NULL;
    notes_say_lost(d->edge_notes, path);
    TRY(zip_create(&w, path));
    TRY(put_features(w, d));
    TRY(put_integers(w, "node_labels", d->nodes, d->label, NULL));
    TRY(put_integers(w, "edges", d->edges, d->from, d->to));
    if (d->splits > 0)
        TRY(put_masks(w, d));
    TRY(put_extras(w, d));
    TRY(zip_commit(w));
done:
    zip_close(w);
    return st;
}
