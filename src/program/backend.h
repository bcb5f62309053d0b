/*
 * What a backend must do: the one page between programs and whatever runs them.
 *
 * The program (record, fuse, restrict, differentiate, plan) knows no backend. It ends in a struct
 * plan: a list of instructions over places in a few blocks of memory, and leaves, the caller's
 * things they read. A backend owns memory and execution: it makes the blocks, compiles a plan, runs
 * its steps, and says when that fails. How it divides the work (threads, streams, ranks) is nobody
 * else's business. tests/test_ops.c, run with it, says whether it is right.
 *
 *   compile   copies the instructions and gives the places addresses (instr_resolve)
 *   run       looks at every leaf: one whose leaf_version() is not the one seen last was bound to
 *             other numbers or rewritten, and is sent again. Then every instruction in order, those
 *             marked `once` in the first run only and whenever a constant leaf has changed
 *
 * All the rest of a training step is in the plan, too: the optimiser is the instruction OP_ADAM, so
 * a run of many steps needs nobody in between. What is to decide without the host (validation,
 * keeping the best parameters) can become instructions in the same way; PLACE_BEST is where they
 * would write. An exchange between parts of a graph is an instruction as well: rows are numbered
 * by attr.number, so that a part draws the random numbers of the whole.
 *
 * Same seed, same bits: an instruction's result depends on its sources, step and stream alone. In
 * place: where an operation works element by element, out may be the address of a source.
 */
#ifndef PROGRAM_BACKEND_H
#define PROGRAM_BACKEND_H

#include "base/threads.h"
#include "graph/csr.h"
#include "program/index.h"

typedef int32_t node;
enum { POISON = -1, NODE_SOURCES = 5, NODE_UPDATES = 2 };

enum op {
#define OP(NAME, name, gradient) OP_##NAME,
#include "program/ops.def"
#undef OP
    OP_COUNT
};
const char *op_name(enum op op);

/* What changes from run to run. */
struct step {
    uint64_t seed;   /* of the whole training run */
    uint64_t number; /* from 0; the optimiser counts from 1 */
};

/* Adam with the weight decay in the gradient, as torch.optim.Adam. */
struct adam_options {
    double lr, beta1, beta2, eps, weight_decay;
};
struct optimiser {
    struct adam_options adam;
    const struct params *params; /* which parts of the blocks are trained */
};

/* What an operation needs beside its sources; ops.def says which of these it reads. */
struct attr {
    float a, b;
    uint32_t stream;                   /* of random numbers */
    bool transposed, other_transposed; /* the matrix; the second of two */
    bool running;                      /* batch norm: by its running statistics */
    int64_t column;                    /* first column of a slice */
    int64_t heads, rank, iterations;   /* attention; spectra */
    enum op function;                  /* which one UNARY_GRAD differentiates */
    size_t state;                      /* offset into PLACE_STATE */
    const struct csr *csr;             /* leaves: */
    const struct index *index, *other;
    const int32_t *label;  /* (rows of x) classes, read at the indexed rows */
    const float *weight;   /* (index->count) row weights, or NULL */
    const int64_t *number; /* (rows) each row's number in the whole; NULL: 0, 1, … */
    const struct optimiser *optimiser;
};

/* The blocks of memory that operands lie in. */
enum place {
    PLACE_NONE,    /* nothing: sparse leaves, nodes nobody reads */
    PLACE_ARENA,   /* intermediate results */
    PLACE_VALUE,   /* the parameters, and beside them … */
    PLACE_GRAD,    /* … gradients … */
    PLACE_MOMENT1, /* … and Adam's moments, as large */
    PLACE_MOMENT2,
    PLACE_BEST,  /* the parameters worth keeping */
    PLACE_STATE, /* what operations of one program remember from run to run */
    PLACE_LEAF,  /* numbers of the caller */
    PLACES
};
struct operand {
    enum place place;
    int32_t leaf;  /* of PLACE_LEAF */
    size_t offset; /* into the block, in bytes */
};

/* One operation. A plan holds operands; addresses are filled in by a backend in its own copy. */
struct instr {
    enum op op;
    bool once; /* its result never changes: see above */
    int64_t rows, cols, src_rows[NODE_SOURCES], src_cols[NODE_SOURCES];
    struct attr attr;
    struct operand out_at, src_at[NODE_SOURCES], update_at[NODE_UPDATES];
    float *out;
    const float *src[NODE_SOURCES];
    float *update[NODE_UPDATES]; /* also written: running statistics, moments */
    void *state;                 /* also written (NUCLEAR) or read (NUCLEAR_GRAD) */
    float *scratch;              /* for the backend's own use */
};

/* A thing of the caller that instructions read: named by a PLACE_LEAF operand, or by its address in
 * attr. */
enum leaf_kind { LEAF_FLOATS, LEAF_LABELS, LEAF_NUMBERS, LEAF_INDEX, LEAF_CSR };
struct leaf {
    enum leaf_kind kind;
    const void *data; /* floats, int32_t, int64_t, struct index, struct csr with its transpose */
    int64_t count;    /* of numbers; of an index or a matrix they say it themselves */
    bool constant;    /* `once` instructions may depend on it */
    uint64_t version; /* of plain numbers; of an index or a matrix they say it themselves */
};
uint64_t leaf_version(const struct leaf *leaf);

struct planned {
    int32_t instrs, leaves;
    const struct instr *instr;
    const struct leaf *leaf;
    struct memory *memory[PLACES]; /* NULL where there is none */
    bool writes[PLACES];           /* a run changes something there */
};

/* Gives an instruction the addresses of its operands: base[place] of a block, leaf[i] of a leaf. */
void instr_resolve(struct instr *in, void *const base[PLACES], const void *const *leaf);

/* A block that a backend made. The backend's own fields follow. */
struct memory {
    size_t bytes;
    void *host; /* its address where host and backend share it, else NULL */
};

struct backend;
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
    /* Steps first->number, first->number+1, …; all have run, and what they wrote can be downloaded,
     * when it returns. It allocates nothing after its first call unless a leaf has grown. */
    consm_status (*run)(struct compiled *c, const struct step *first, int64_t steps);
    void (*discard)(struct compiled *c);
    void (*close)(struct backend *b);
};

/* An open backend. Its own fields follow. A backend serves one thread at a time; several may be
 * open side by side. */
struct backend {
    const struct backend_kind *kind;
    struct team
        *host; /* threads of the host, for loops that are no programs (transport, pooling) */
};

void backend_close(struct backend *b); /* NULL: nothing */

#endif
