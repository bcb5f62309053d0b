/*
 * What a backend must do: the one page between programs and whatever runs them.
 *
 * The engine (record, fuse, restrict, differentiate, plan, emit) knows no backend but for one
 * question, `supports`. It ends in a struct planned. A backend owns memory and execution: it makes
 * the blocks, compiles a plan, runs its steps, and says when that fails. How it divides the work
 * (threads, streams, ranks) is nobody else's business. tests/test_ops.c, run with it, says whether
 * it is right.
 *
 *   compile   copies the instructions and resolves their operands (instr_resolve)
 *   run       looks at every leaf: one whose leaf_version() is not the one seen last was bound to
 *             other numbers or rewritten, and is sent again. Then every instruction in order, those
 *             marked `once` in the first run only and whenever a constant leaf has changed
 *
 * A whole training step is in the plan, the optimiser included (OP_ADAM), so a run of many steps
 * needs nobody in between; the best parameters are kept by `copy`, in the backend's memory. Where
 * the host is to be left out of the decision as well, validation and keeping become instructions
 * behind OP_ADAM, and nothing on this page changes. An exchange between parts of a graph is an
 * instruction, too; attr.number lets a part draw the random numbers of the whole.
 */
#ifndef PROGRAM_BACKEND_H
#define PROGRAM_BACKEND_H

#include "program/planned.h"

struct backend;
struct team;

/* A block that a backend made. The backend's own fields follow. */
struct memory {
    size_t bytes;
    void *host; /* its address where host and backend share it, else NULL */
};

struct compiled; /* a plan, ready to run: the backend's own */

struct backend_kind {
    const char *name;
    /* Whether it has an operation. Asked before fuse.c makes a fused one of several. */
    bool (*supports)(const struct backend *b, enum op op);
    /* Zeroed memory, aligned to 64 bytes and readable for 64 bytes behind its end. */
    consm_status (*allocate)(struct backend *b, struct memory **out, size_t bytes);
    void (*release)(struct backend *b, struct memory *m);
    /* Bytes [at, at+bytes) of a block from and to the host; from one block to another. */
    consm_status (*upload)(struct backend *b, struct memory *to, size_t at, const void *from,
                           size_t bytes);
    consm_status (*download)(struct backend *b, void *to, const struct memory *from, size_t at,
                             size_t bytes);
    consm_status (*copy)(struct backend *b, struct memory *to, const struct memory *from);
    /* The plan outlives what is compiled. */
    consm_status (*compile)(struct backend *b, struct compiled **out, const struct planned *plan);
    /* Steps first->number, first->number+1, … It may return before they have ended: download, copy
     * and the next run wait for them and say what failed. Leaves are the caller's again when it
     * returns. It allocates nothing after its first call unless a leaf has grown. */
    consm_status (*run)(struct compiled *c, const struct step *first, int64_t steps);
    void (*discard)(struct compiled *c);
    void (*close)(struct backend *b);
    /* Programs whose values all together are no larger than so many bytes are planned without
     * sharing memory among them, so that the backend may change the order of instructions. */
    size_t separate;
    /* How many bytes the matrix of a whole walk may have that is written out because the loss reads
     * few of its rows (compose.c); 0: walks are walked. */
    size_t composes;
    /* Whether run() looks at planned.fresh; what an instruction would take over is in memory that
     * the host shares. */
    bool reuses;
    /* Bytes of memory that are free where its blocks lie; NULL: it is the host's. */
    size_t (*room)(struct backend *b);
};

/* An open backend. Its own fields follow. A backend serves one thread at a time; several may be
 * open side by side. */
struct backend {
    const struct backend_kind *kind;
    const char *device; /* what it runs on, for people: cpu, cuda:0 */
    struct team *host;  /* the host's threads, for loops that are no programs: transport, pooling */
    struct backend *near; /* where programs are divided among ranks: what computes here alone, for
                             programs that the others do not run at the same time; else NULL */
};

void backend_close(struct backend *b); /* NULL: nothing */

#endif
