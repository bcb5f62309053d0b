/*
 * A block of memory that both the backend and the host use. If they share memory, both functions
 * return its address. Otherwise the host has a copy, and the block records which side is newer.
 */
#ifndef PROGRAM_BLOCK_H
#define PROGRAM_BLOCK_H

#include "program/backend.h"

struct block {
    struct backend *backend;
    struct memory *memory;
    void *mirror; /* if memory->host is NULL: made on first use */
    bool host_newer, backend_newer;
    uint64_t version; /* how often its numbers may have changed; 0: they are zero */
};

consm_status block_new(struct block *b, struct backend *backend, size_t bytes);
void block_free(struct block *b);

/* The host's view, up to date; the next run sees what is written through _write. */
consm_status block_read(const void **out, struct block *b);
consm_status block_write(void **out, struct block *b);

/* The same for a caller that writes every byte: the backend's numbers are not fetched. */
consm_status block_overwrite(void **out, struct block *b);

/* Writes bytes [at, at+bytes) from the host; the others stay on the side where they are newest. */
consm_status block_put(struct block *b, size_t at, const void *from, size_t bytes);

/* Copies all numbers; both blocks belong to one backend and have the same size. Nothing passes
 * through the host. */
consm_status block_copy(struct block *to, struct block *from);

/* Before a run: sends what the host wrote. After it: marks what the backend wrote. */
consm_status block_send(struct block *b);
void block_ran(struct block *b);

#endif
