/* Memory: 64-byte aligned blocks through a replaceable hook, counted. Every block carries 64 bytes
 * of slack behind its end, so that a vector load (never a store) past the last element harms
 * nobody; AddressSanitizer is told that nobody may. */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include "base/status.h"

/* count × size bytes, uninitialised / zeroed. NULL with a message when they cannot be had or the
 * product overflows. A count of 0 gives a valid empty block. */
void *mem_alloc(size_t count, size_t size);
void *mem_zalloc(size_t count, size_t size);

/* A block of new_count elements that begins with the old ones; the old block is freed on success
 * and untouched on failure. */
void *mem_grow(void *old, size_t old_count, size_t new_count, size_t size);

char *mem_strdup(const char *text);
char *mem_strndup(const char *text, size_t length);
void mem_free(void *block);

/* Zeroed memory of which only the pages exist that somebody wrote to: for arrays that are
 * addressed as a whole and filled in part. Freed by mem_sparse_free alone. */
void *mem_sparse_alloc(size_t count, size_t size);
void mem_sparse_free(void *block);

/* count strings and the array that holds them; NULL is fine, among them too. */
void mem_free_texts(char **text, int64_t count);
/* A copy of them all, to free with mem_free_texts; NULL stays NULL. */
consm_status mem_copy_texts(char ***out, char *const *text, int64_t count);

/* TRY(NEW(p, n)): p becomes an array of n of its own type. */
#define NEW(p, n)                                                                     \
    (((p) = mem_alloc((size_t)(n), sizeof *(p))) == NULL ? (consm_status)CONSM_ENOMEM \
                                                         : (consm_status)CONSM_OK)
#define ZNEW(p, n)                                                                     \
    (((p) = mem_zalloc((size_t)(n), sizeof *(p))) == NULL ? (consm_status)CONSM_ENOMEM \
                                                          : (consm_status)CONSM_OK)
/* TRY(GROW(p, used, capacity, more)): room for `more` elements behind the first `used`. */
#define GROW(p, used, capacity, more) \
    mem_reserve((void **)&(p), (size_t)(used), &(capacity), (size_t)(more), sizeof *(p))

/* The work behind GROW: doubles the capacity until it fits. */
consm_status mem_reserve(void **block, size_t used, size_t *capacity, size_t more, size_t size);

/* ---- what a file may become ----------------------------------------------- */

/* A bound for what the calling thread allocates between begin and end, however deep the calls: a
 * small file must not become gigabytes. What is freed does not come back, but for blocks that
 * grow. Bounds nest; each allocation counts against all of them. */
struct mem_bound {
    size_t left;
    bool exceeded;
    struct mem_bound *outer;
};
void mem_bound_begin(struct mem_bound *b, size_t bytes);

/* Raises the innermost bound: more of a file has come to light (a member of an archive). */
void mem_bound_raise(size_t bytes);

/* Whether something was refused. */
bool mem_bound_end(struct mem_bound *b);

#endif
