/*
 * A block of memory with two readers: the backend that runs programs on it, and the host. Where the
 * two share memory, both functions hand out its address; where they do not, the host has a mirror
 * and the block remembers whose side is newer.
 */
#ifndef PROGRAM_BLOCK_H
#define PROGRAM_BLOCK_H

#include "program/backend.h"

struct block {
    struct backend *backend;
    struct memory *memory;
    void *mirror; /* where memory->host is NULL, made when first asked for */
    bool host_newer, backend_newer;
    uint64_t version; /* how often its numbers may have changed */
};

consm_status block_new(struct block *b, struct backend *backend, size_t bytes);
void block_free(struct block *b);

/* The host's view, up to date; of _write, which the next run will see. */
consm_status block_read(const void **out, struct block *b);
consm_status block_write(void **out, struct block *b);

/* Bytes [at, at+bytes) from the host, wherever the newest of the others are: they stay there. */
consm_status block_put(struct block *b, size_t at, const void *from, size_t bytes);

/* The same numbers; both of one backend and size. Nothing passes through the host. */
consm_status block_copy(struct block *to, struct block *from);

/* Before a run: the backend sees what the host wrote. After it: the backend wrote. */
consm_status block_send(struct block *b);
void block_ran(struct block *b);

#endif
