/* Memory: 64-byte aligned blocks from a replaceable hook, counted. Every block has 64 bytes of
 * slack after its end, so that a vector load (never a store) may read past the last element.
 * AddressSanitizer still reports such reads. */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include "base/status.h"

/* count × size bytes, uninitialised / zeroed. NULL with a message if there is no memory or the
 * product overflows. A count of 0 gives a valid empty block. */
void *mem_alloc(size_t count, size_t size);
void *mem_zalloc(size_t count, size_t size);

char *mem_strdup(const char *text);
char *mem_strndup(const char *text, size_t length);
void mem_free(void *block);

/* Zeroed memory in which only written pages become resident: for arrays that are indexed as a whole
 * but filled in part. Free it with mem_sparse_free only. */
void *mem_sparse_alloc(size_t count, size_t size);
void mem_sparse_free(void *block);

/* Frees count strings and the array that holds them; any of them may be NULL. */
void mem_free_texts(char **text, int64_t count);
/* Copies them all; free the copy with mem_free_texts. NULL stays NULL. */
consm_status mem_copy_texts(char ***out, char *const *text, int64_t count);

/* TRY(NEW(p, n)): p becomes an array of n elements of its type. */
#define NEW(p, n)                                                                     \
    (((p) = mem_alloc((size_t)(n), sizeof *(p))) == NULL ? (consm_status)CONSM_ENOMEM \
                                                         : (consm_status)CONSM_OK)
#define ZNEW(p, n)                                                                     \
    (((p) = mem_zalloc((size_t)(n), sizeof *(p))) == NULL ? (consm_status)CONSM_ENOMEM \
                                                          : (consm_status)CONSM_OK)
/* TRY(GROW(p, used, capacity, more)): room for `more` elements after the first `used`. */
#define GROW(p, used, capacity, more) \
    mem_reserve((void **)&(p), (size_t)(used), &(capacity), (size_t)(more), sizeof *(p))

/* Implements GROW: doubles the capacity until it fits. */
consm_status mem_reserve(void **block, size_t used, size_t *capacity, size_t more, size_t size);

/* ---- what a file may become ----------------------------------------------- */

/* Limits what the calling thread allocates between begin and end, including in called functions: a
 * small file must not become gigabytes. Freed memory is not subtracted, except for blocks that
 * grow. Limits nest; each allocation counts against all of them. */
struct mem_bound {
    size_t left;
    bool exceeded;
    struct mem_bound *outer;
};
void mem_bound_begin(struct mem_bound *b, size_t bytes);

/* Raises the innermost limit, when more of a file turns up (a member of an archive). */
void mem_bound_raise(size_t bytes);

/* Returns whether an allocation was refused. */
bool mem_bound_end(struct mem_bound *b);

#endif
