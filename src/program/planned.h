/* A planned program: the engine's output for a backend. A list of instructions over places in a few
 * memory blocks, and the leaves: data of the caller that they read. It is plain data. A backend
 * copies the instructions and resolves the places to its own addresses; a backend that wraps
 * another (a wall in the tests, ranks of a cluster) makes its own plan from it. */

/*
 * Same seed, same bits: an instruction's result depends only on its sources, the step and its
 * stream. In place: in an elementwise operation out may be the address of a source.
 */
#ifndef PROGRAM_PLANNED_H
#define PROGRAM_PLANNED_H

#include "graph/csr.h"
#include "program/index.h"
#include "stats/score.h"

typedef int32_t node;
enum { POISON = -1, NODE_SOURCES = 5, NODE_UPDATES = 2 };

enum op {
#define OP(NAME, name, ...) OP_##NAME,
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

/* What is made from a transport plan (size columns that sum to 1/size each, heads rows to 1/heads
 * each). The plan itself; or every column goes to the row with its largest entry (the first, if
 * several are equal up to rounding), with weight 1, or with 1 over the number of columns there; or
 * the maximum of what is pooled. */
enum take { TAKE_PLAN, TAKE_SUM, TAKE_MEAN, TAKE_MAX };

/* What an operation needs besides its sources; ops.def says which of these it reads. */
struct attr {
    float a, b;
    uint32_t stream;                   /* of random numbers */
    bool transposed, other_transposed; /* of the matrix; of the second of two */
    bool running;                      /* batch norm: use running statistics */
    int64_t column;                    /* first column of a slice */
    int64_t heads, rank, iterations;   /* attention; spectra */
    enum op function;                  /* which one UNARY_GRAD differentiates */
    enum take take;                    /* transport */
    enum score_metric metric;          /* what OP_KEEP compares, */
    int32_t positive;                  /* and its positive class */
    uint64_t seed;                     /* of samples that are the same at every step */
    size_t state;                      /* offset into PLACE_STATE */
    const struct csr *csr;             /* leaves: */
    const struct index *index, *other;
    const int32_t *label;  /* (rows of x) classes, read at the indexed rows */
    const float *weight;   /* (index->count) row weights, or NULL */
    const int64_t *number; /* (rows) each row's number in the whole; NULL: 0, 1, … */
    const struct optimiser *optimiser;
};

/* The memory blocks of operands. */
enum place {
    PLACE_NONE,    /* nothing: sparse leaves, unused nodes */
    PLACE_ARENA,   /* intermediate results */
    PLACE_VALUE,   /* the parameters */
    PLACE_GRAD,    /* their gradients */
    PLACE_MOMENT1, /* Adam's moments */
    PLACE_MOMENT2,
    PLACE_BEST,   /* the best parameters */
    PLACE_STATE,  /* state of a program's operations between runs */
    PLACE_LEAF,   /* numbers of the caller */
    PLACE_OTHER,  /* the arena of a second program: in one plan with it (course.h), or common.c */
    PLACE_RECORD, /* the record of OP_KEEP: see keep.h */
    PLACES
};
struct operand {
    enum place place;
    int32_t leaf;  /* of PLACE_LEAF */
    size_t offset; /* into the block, in bytes */
};

/* What an instruction may do if another program over the same parameters has computed the same, and
 * they have not changed since (common.c): nothing, because only reused values read it; or take the
 * result, as it is or through its dropout. */
enum reuse { REUSE_NOTHING, REUSE_NEEDLESS, REUSE_VALUE, REUSE_DROPPED };

/* One operation. A plan holds operands; a backend fills in addresses in its own copy. */
struct instr {
    enum op op;
    bool once; /* its result never changes: see above */
    bool kept; /* others than instructions also read its result */
    int64_t rows, cols, src_rows[NODE_SOURCES], src_cols[NODE_SOURCES];
    int64_t
        update_cols[NODE_UPDATES]; /* of what it writes besides its result, row by row; else 0 */
    struct attr attr;
    struct operand out_at, src_at[NODE_SOURCES], update_at[NODE_UPDATES];
    enum reuse reuse;
    size_t reuse_at;           /* position of its value in PLACE_OTHER, in bytes */
    const int32_t *reuse_rows; /* (rows) its rows there; NULL: all */
    float *out;
    const float *src[NODE_SOURCES];
    float *update[NODE_UPDATES]; /* also written: running statistics, moments */
    void *state;                 /* also written (NUCLEAR) or read (NUCLEAR_GRAD) */
    float *scratch;              /* for the backend's own use */
};

/* Data of the caller that instructions read: named by a PLACE_LEAF operand, or by its address in
 * attr. */
enum leaf_kind { LEAF_FLOATS, LEAF_LABELS, LEAF_NUMBERS, LEAF_INDEX, LEAF_CSR };
struct leaf {
    enum leaf_kind kind;
    const void *data; /* floats, int32_t, int64_t, struct index, struct csr with its transpose */
    int64_t count;    /* number of elements; an index or a matrix knows its own */
    bool constant;    /* `once` instructions may depend on it */
    uint64_t version; /* of plain numbers; an index or a matrix has its own */
    const struct partition *partition; /* of floats of which a rank has only these rows; or NULL */
};
uint64_t leaf_version(const struct leaf *leaf);

struct memory; /* backend.h */

struct planned {
    int32_t instrs, leaves;
    const struct instr *instr;
    const struct leaf *leaf;
    struct memory *memory[PLACES]; /* NULL where there is none */
    bool writes[PLACES];           /* a run changes something there */
    bool fresh;                    /* values for `reuse` are up to date */
};

/* Resolves an instruction's operands: base[place] of a block, leaf[i] of a leaf. */
void instr_resolve(struct instr *in, void *const base[PLACES], const void *const *leaf);

#endif
