/* For tests of readers and writers: scratch folders, files with given text, comparing datasets. */
#ifndef TESTS_DATASETS_H
#define TESTS_DATASETS_H

#include "check.h"

#include "data/dataset.h"
#include "io/file.h"
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[64];

static inline int scratch_make(void **state)
{
    (void)state;
    strcpy(scratch, "/tmp/consm-test-XXXXXX");
    return mkdtemp(scratch) ? 0 : -1;
}

/* Removes a folder with what is in it. */
static inline void remove_tree(const char *path)
{
    DIR *listing = opendir(path);
    struct dirent *entry;
    while (listing && (entry = readdir(listing)) != NULL) {
        char *inner;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        OK(file_join(&inner, path, entry->d_name));
        if (file_kind(inner) == FILE_FOLDER)
            remove_tree(inner);
        else
            unlink(inner);
        mem_free(inner);
    }
    if (listing)
        closedir(listing);
    rmdir(path);
}

static inline int scratch_remove(void **state)
{
    (void)state;
    remove_tree(scratch);
    return 0;
}

/* scratch/name in one of a few alternating buffers. */
static inline const char *in_scratch(const char *name)
{
    static char path[32][256];
    static int turn;
    turn = (turn + 1) % 32;
    snprintf(path[turn], sizeof path[turn], "%s/%s", scratch, name);
    return path[turn];
}

/* Writes bytes to scratch/name, folders included, and returns the path. */
static inline const char *write_bytes(const char *name, const void *bytes, size_t count)
{
    const char *path = in_scratch(name);
    char folder[256];
    struct file_writer *w;
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = 0;
    OK(file_make_folders(folder));
    OK(file_create(&w, path));
    OK(file_write(w, bytes, count));
    OK(file_commit(w));
    file_close(w);
    return path;
}

static inline const char *write_text(const char *name, const char *text)
{
    return write_bytes(name, text, strlen(text));
}

static inline void same_names(char *const *a, char *const *b, int64_t count)
{
    assert_true(!a == !b);
    for (int64_t i = 0; a && i < count; i++)
        assert_string_equal(a[i], b[i]);
}

/* The same values, whether a matrix of ones stores them or not. */
static inline void same_sparse(const struct csr *a, const struct csr *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->cols, b->cols);
    assert_int_equal(a->nnz, b->nnz);
    assert_memory_equal(a->start, b->start, (size_t)(a->rows + 1) * sizeof *a->start);
    assert_memory_equal(a->col, b->col, (size_t)a->nnz * sizeof *a->col);
    for (int64_t k = 0; k < a->nnz; k++)
        assert_true((a->val ? a->val[k] : 1) == (b->val ? b->val[k] : 1));
}

/* Everything but name and hash. */
static inline void same_dataset(const struct dataset *a, const struct dataset *b)
{
    assert_int_equal(a->nodes, b->nodes);
    assert_int_equal(a->edges, b->edges);
    assert_int_equal(a->features, b->features);
    assert_int_equal(a->classes, b->classes);
    assert_int_equal(a->splits, b->splits);
    assert_int_equal(a->directed, b->directed);
    assert_memory_equal(a->from, b->from, (size_t)a->edges * sizeof *a->from);
    assert_memory_equal(a->to, b->to, (size_t)a->edges * sizeof *a->to);
    assert_true(!a->weight == !b->weight);
    if (a->weight)
        assert_memory_equal(a->weight, b->weight, (size_t)a->edges * sizeof *a->weight);
    assert_memory_equal(a->label, b->label, (size_t)a->nodes * sizeof *a->label);
    assert_true(!a->sparse == !b->sparse);
    if (a->sparse)
        same_sparse(a->sparse, b->sparse);
    assert_true(!a->dense == !b->dense);
    if (a->dense)
        assert_memory_equal(a->dense, b->dense,
                            (size_t)(a->nodes * a->features) * sizeof *a->dense);
    if (a->splits)
        assert_memory_equal(a->role, b->role, (size_t)(a->splits * a->nodes));
    same_names(a->node_id, b->node_id, a->nodes);
    same_names(a->class_name, b->class_name, a->classes);
    same_names(a->feature_name, b->feature_name, a->features);
}

/* Whether a message is one line that begins with that. */
static inline bool message_begins(const char *text)
{
    const char *message = consm_errmsg();
    return strncmp(message, text, strlen(text)) == 0 && !strchr(message, '\n');
}

#endif
