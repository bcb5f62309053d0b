/* Small archives for the tests of the NPZ reader: lists of arrays, written to a file. */
#ifndef TESTS_NPZ_PARTS_H
#define TESTS_NPZ_PARTS_H

#include "check.h"

#include "data/readers/npz.h"
#include "data/readers/npz_archive.h"
#include "io/npy.h"
#include <unistd.h>

static char folder[] = "/tmp/consm-npz-XXXXXX", path[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/a.npz", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* One array of a small archive. A NULL key ends a list. */
struct part {
    const char *key, *type;
    int rank;
    int64_t rows, cols;
    const void *data;
    size_t bytes;
};

#define PART(key, type, rank, rows, cols, ctype, ...)              \
    {                                                              \
        key, type, rank, rows, cols, (const ctype[]){__VA_ARGS__}, \
            sizeof((const ctype[]){__VA_ARGS__})                   \
    }

#define END_PART                     \
    {                                \
        NULL, NULL, 0, 0, 0, NULL, 0 \
    }
#define WITHOUT(key)                \
    {                               \
        key, NULL, 0, 0, 0, NULL, 0 \
    }

/* Writes base, with parts of the same key taken from change instead; no type leaves a key out. */
static void write_parts(const struct part *base, const struct part *change, bool deflated)
{
    struct zip_writer *w;
    OK(zip_create(&w, path));
    for (int list = 0; list < 2; list++)
        for (const struct part *p = list ? change : base; p && p->key; p++) {
            const struct part *use = p;
            for (const struct part *c = change; list == 0 && c && c->key; c++)
                if (strcmp(c->key, p->key) == 0)
                    use = NULL;
            if (!use || !use->type)
                continue;
            char name[64], header[NPY_HEADER_BYTES];
            int64_t shape[2] = {use->rows, use->cols};
            snprintf(name, sizeof name, "%s.npy", use->key);
            OK(zip_begin(w, name, deflated));
            OK(zip_put(w, header, npy_write_header(header, use->type, use->rank, shape)));
            OK(zip_put(w, use->data, use->bytes));
            OK(zip_end(w));
        }
    OK(zip_commit(w));
    zip_close(w);
}

static const struct part yandex[] = {
    PART("node_features", "<f4", 2, 4, 3, float, 0, 1, 0, 0, 0, 2.5f, 0, 0, 0, 3, 0, 0),
    PART("node_labels", "<i8", 1, 4, 1, int64_t, 0, 2, 1, -1),
    PART("edges", "<i8", 2, 3, 2, int64_t, 0, 1, 1, 2, 2, 3),
    PART("train_masks", "|b1", 2, 2, 4, uint8_t, 1, 0, 0, 0, 0, 1, 0, 0),
    PART("val_masks", "|b1", 2, 2, 4, uint8_t, 0, 1, 0, 0, 1, 0, 0, 0),
    PART("test_masks", "|b1", 2, 2, 4, uint8_t, 0, 0, 1, 0, 0, 0, 0, 1),
    END_PART,
};

static const struct part scipy[] = {
    PART("adj_data", "<f4", 1, 4, 1, float, 1, 1, 1, 1),
    PART("adj_indices", "<i4", 1, 4, 1, int32_t, 1, 2, 0, 1),
    PART("adj_indptr", "<i4", 1, 4, 1, int32_t, 0, 1, 3, 4),
    PART("adj_shape", "<i8", 1, 2, 1, int64_t, 3, 3),
    PART("attr_data", "<f8", 1, 4, 1, double, 1, 2, 3, 4),
    PART("attr_indices", "<i4", 1, 4, 1, int32_t, 4, 3, 0, 3),
    PART("attr_indptr", "<i4", 1, 4, 1, int32_t, 0, 1, 4, 4),
    PART("attr_shape", "<i8", 1, 2, 1, int64_t, 3, 5),
    PART("labels", "|u1", 1, 3, 1, uint8_t, 0, 1, 0),
    END_PART,
};

#endif
