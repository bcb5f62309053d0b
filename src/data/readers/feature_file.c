/* Reads a file of features. NumPy and zip files begin with a mark; of the texts, SVM-light has
 * index:value pairs. */
#include "data/readers/feature_file.h"

#include <string.h>

#include "data/readers/feature_text.h"
#include "data/readers/npz_archive.h"
#include "data/readers/svmlight.h"

static bool begins(const struct text_file *file, const char *mark, size_t length)
{
    return file->size >= length && memcmp(file->data, mark, length) == 0;
}

/* The first line that is not a comment has a number and a colon, or a declaration is above it. */
static bool is_svmlight(const struct text_file *file)
{
    const char *at = file->data, *end = at + file->size;
    bool digit = false;
    if (begins(file, "# features: ", 12))
        return true;
    while (at < end && *at == '#') {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    }
    for (; at < end && *at != '\n' && *at != ','; at++) {
        if (*at == ':' && digit)
            return true;
        digit = *at >= '0' && *at <= '9';
    }
    return false;
}

/* (n, f), or (n) for a single feature. */
static consm_status read_npy(struct dataset *d, const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct npy array;
    float *dense = NULL;
    TRY(npy_parse(&array, file->data, file->size, file->name));
    if (array.rank != 1)
        TRY(npy_expect(&array, 2, -1, -1));
    d->nodes = array.shape[0];
    TRY(NEW(dense, array.count));
    TRY(npy_floats(dense, &array, 0, array.count));
    st = dataset_set_features(d, dense, array.rank == 1 ? 1 : array.shape[1]);
    dense = NULL;
done:
    mem_free(dense);
    return st;
}

/* A SciPy matrix (save_npz), or one array: "features", "x", NumPy's "arr_0", or the only one. */
static consm_status read_npz(struct dataset *d, const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct npz_archive archive = {.zip = NULL};
    static const char *const keys[] = {"features", "node_features", "x", "arr_0"};
    const char *key = NULL;
    TRY(npz_open_memory(&archive, file->name, file->data, file->size));
    d->nodes = -1;
    if (npz_find(&archive, "indptr")) {
        TRY(npz_read_sparse(d, &archive, ""));
    } else {
        for (size_t i = 0; !key && i < sizeof keys / sizeof *keys; i++)
            key = npz_find(&archive, keys[i]) ? keys[i] : NULL;
        if (!key && archive.zip->count == 1)
            key = archive.zip->member[0].name;
        if (!key)
            TRY(status_fail(CONSM_EFORMAT,
                            "%s: contains %lld arrays: expected one named features, x or arr_0, or "
                            "a SciPy matrix (data, indices, indptr, shape)",
                            file->name, (long long)archive.zip->count));
        TRY(npz_read_features(d, &archive, key));
    }
done:
    npz_close(&archive);
    if (d->nodes < 0)
        d->nodes = 0;
    return st;
}

static consm_status read_svmlight(struct dataset *d, const struct text_file *file)
{
    consm_status st = svmlight_read(&d->sparse, file);
    if (st < 0)
        return st;
    d->nodes = d->sparse->rows;
    d->features = d->sparse->cols;
    return CONSM_OK;
}

consm_status feature_file_kind(enum feature_kind *out, const struct text_file *file)
{
    if (file->size == 0)
        return status_fail(CONSM_EFORMAT, "%s: is empty: expected features", file->name);
    *out = begins(file, "\x93NUMPY", 6) ? FEATURES_NPY
           : begins(file, "PK\3\4", 4)  ? FEATURES_NPZ
           : is_svmlight(file)          ? FEATURES_SVM
                                        : FEATURES_TEXT;
    return CONSM_OK;
}

consm_status feature_file_read(struct dataset *d, struct node_ids *ids, struct wanted *wanted,
                               const struct text_file *file)
{
    consm_status st = CONSM_OK;
    enum feature_kind kind;
    TRY(feature_file_kind(&kind, file));
    switch (kind) {
    case FEATURES_TEXT: return feature_text_read(d, ids, wanted, file);
    case FEATURES_NPY: TRY(read_npy(d, file)); break;
    case FEATURES_NPZ: TRY(read_npz(d, file)); break;
    case FEATURES_SVM: TRY(read_svmlight(d, file)); break;
    }
    /* Rows without columns take no bytes, so a file may claim any number of them. */
    if (d->features == 0 && !ids->expected)
        TRY(status_fail(CONSM_EFORMAT, "%s: has no features: expected at least one column",
                        file->name));
    TRY(feature_rows_match(ids, d->nodes, file->name));
done:
    return st;
}
