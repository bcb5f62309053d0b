/* The interface of a backend: the only page between programs and what runs them. */

/*
 * The engine (record, fuse, restrict, differentiate, plan, emit) asks a backend only one question,
 * `supports`. It produces a struct planned. A backend owns memory and execution: it makes blocks,
 * compiles a plan, runs its steps, and reports failures. How it divides the work (threads, streams,
 * ranks) is its own decision. It is correct if tests/test_ops.c passes with it.
 *
 *   compile   copies the instructions and resolves their operands (instr_resolve)
 *   run       checks every leaf: if its leaf_version() changed, it was bound to other numbers or
 *             rewritten, and is sent again. Then runs every instruction in order; those marked
 *             `once` only in the first run and after a constant leaf has changed
 *
 * A plan contains a whole training step, including the optimiser (OP_ADAM), so many steps run
 * without the host; `copy` keeps the best parameters in the backend's memory. If the host should
 * not decide either, validation and keeping become instructions after OP_ADAM, and this page does
 * not change. An exchange between parts of a graph is also an instruction; attr.number lets a part
 * draw the random numbers of the whole.
 */
#ifndef PROGRAM_BACKEND_H
#define PROGRAM_BACKEND_H

#include "program/planned.h"

struct backend;
struct team;
struct ranks;

/* A block of a backend. The backend's own fields follow. */
struct memory {
    size_t bytes;
    void *host; /* its address if host and backend share it, else NULL */
};

struct compiled; /* a plan ready to run, defined by the backend */

struct backend_kind {
    const char *name;
    /* Whether it has an operation. fuse.c asks before it fuses several into one. */
    bool (*supports)(const struct backend *b, enum op op);
    /* Zeroed memory, aligned to 64 bytes, readable for 64 bytes after its end. */
    consm_status (*allocate)(struct backend *b, struct memory **out, size_t bytes);
    void (*release)(struct backend *b, struct memory *m);
    /* Copies bytes [at, at+bytes) of a block from and to the host; and between blocks. */
    consm_status (*upload)(struct backend *b, struct memory *to, size_t at, const void *from,
                           size_t bytes);
    consm_status (*download)(struct backend *b, void *to, const struct memory *from, size_t at,
                             size_t bytes);
    consm_status (*copy)(struct backend *b, struct memory *to, const struct memory *from);
    /* The plan outlives the compiled program. */
    consm_status (*compile)(struct backend *b, struct compiled **out, const struct planned *plan);
    /* Runs steps first->number, first->number+1, …. It may return before they end: download, copy
     * and the next run wait for them and report failures. The caller may change leaves again when
     * it returns. It allocates nothing after its first call unless a leaf has grown. */
    consm_status (*run)(struct compiled *c, const struct step *first, int64_t steps);
    void (*discard)(struct compiled *c);
    void (*close)(struct backend *b);
    /* Programs whose values take at most this many bytes together are planned without sharing
     * memory, so that the backend may reorder instructions. */
    size_t separate;
    /* Largest size in bytes of the matrix of a whole walk that is written out because the loss
     * reads few of its rows (compose.c); 0: never. */
    size_t composes;
    /* Whether run() uses planned.fresh; reused values are in memory that the host shares. */
    bool reuses;
    /* Free bytes where its blocks are; NULL: it uses the host's memory. */
    size_t (*room)(struct backend *b);
    /* Opens the same device once more, with that many of the host's threads, for another thread of
     * the caller; NULL: impossible. Several threads may call it at once. */
    consm_status (*another)(struct backend **out, const struct backend *b, int threads);
    /* download of a value's rows: if ranks divide them, only this rank's rows and row (count;
     * ascending, the same on all ranks). NULL: no rank divides values. */
    consm_status (*download_rows)(struct backend *b, void *to, const struct memory *from, size_t at,
                                  size_t bytes, const int32_t *row, int64_t count);
};

/* An open backend. Its own fields follow. One thread at a time may use it; several may be open. */
struct backend {
    const struct backend_kind *kind;
    const char *device; /* the device as text: cpu, cuda:0 */
    struct team *host; /* the host's threads, for loops that are not programs: transport, pooling */
    const struct ranks *ranks; /* that its programs are divided among, or NULL (backend_ranks) */
    struct backend *near; /* if programs are divided among ranks: a backend for this rank alone, for
                             programs that the others do not run at the same time; else NULL */
};

void backend_close(struct backend *b); /* accepts NULL */

#endif
