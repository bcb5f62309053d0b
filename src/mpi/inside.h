/* A program divided among MPI ranks. Every rank plans the same whole program and computes the rows
 * that it owns. It addresses the whole matrix of every value, so a row has the same number
 * everywhere; the operating system provides memory only for the parts in use: own rows and received
 * ones. */

/*
 * Exactness: an operation on one row, or along the entries of a row, is the CPU's kernel on a range
 * of rows, with global row numbers for random draws; its bits do not depend on where a range
 * starts. Sums over all rows are computed from whole matrices, or in the CPU's blocks, which are
 * gathered and added in the CPU's order.
 */
#ifndef MPI_INSIDE_H
#define MPI_INSIDE_H

#include "program/plugin.h"
#include "program/traits.h"

#include <mpi.h>

/* The processes, and the library's services; filled by consm_ranks. */
struct axis;
struct world {
    const struct plugin_services *os;
    struct ranks ranks;
    MPI_Comm comm;
    int *count;   /* (2·size) for gathers */
    int64_t sent; /* bytes of values, counted for each receiving rank */
    bool crowded; /* fewer processors than busy ranks: waiting ranks let others run */
    int napping;  /* waits left in which they sleep and do not yield */
};
extern struct world world;

/* Waits for requests. MPI's own waiting keeps a processor busy, which on a crowded machine is the
 * one that the awaited rank needs. */
void wait_all(MPI_Request *request, int count);

/* The division of rows 0 … rows-1: rank p owns cut[p] … cut[p+1]-1. */
struct axis {
    int64_t rows;
    int64_t *cut;    /* (size+1) */
    int64_t *number; /* (own rows) their numbers, on first use */
    struct axis *next;
};

/* A matrix in an arena. */
struct value {
    size_t offset; /* in bytes */
    int64_t rows, cols;
    const struct axis *axis; /* the axis of its divided rows; NULL: every rank has it all */
    bool divides;            /* readers by row compute their own rows, though all are here */
    bool once;               /* made by a `once` instruction */
    const struct compiled
        *gathered; /* the list that brings all rows to all ranks before its next reader */
};

/* Memory that the host does not see: reserved address space. */
struct far_memory {
    struct memory base;  /* base.host is NULL */
    struct memory near;  /* the same with an address, for the backend that computes */
    struct value *value; /* of an arena */
    size_t values, room;
};

struct divided {
    struct backend base;
    struct backend *inner;
    struct axis *axes;
    bool in_parts; /* its data */
    float *packed; /* rows that the host reads, contiguous */
    size_t room;   /* its size in bytes */
};

/* ---- axes.c ---- */

static inline int64_t axis_low(const struct axis *a)
{
    return a->cut[world.ranks.rank];
}
static inline int64_t axis_high(const struct axis *a)
{
    return a->cut[world.ranks.rank + 1];
}

/* The axis with `rows` rows; if missing, it is made, with equal shares of weight[rows] (a running
 * sum; NULL: the number of rows). */
consm_status axis_of(struct axis **out, struct divided *d, int64_t rows, const int64_t *weight);
struct axis *axis_find(const struct divided *d, int64_t rows); /* NULL: none */
/* The axis with `rows` rows and this cut (size+1); not always the first axis of that length. */
consm_status axis_cut(struct axis **out, struct divided *d, int64_t rows, const int64_t *cut);
consm_status axis_numbers(const int64_t **out, struct axis *a);
void axes_free(struct axis *a);

/* CONSM_ELIMIT if MPI's 32-bit displacements cannot number its rows. */
consm_status axis_travels(const struct axis *a);

/* Makes axes for all constant matrices and indices of a plan: rows by their entries, entries with
 * their rows. */
consm_status axes_plan(struct divided *d, const struct planned *plan);

/* Whether every rank p has the entries of its rows of s. */
bool axis_follows(const struct divided *d, const struct csr *s);

/* ---- partition.c ---- */

void partition_join(struct ranks *ranks); /* fills in the functions for data in parts */

/* Finds the plan's leaves of which a rank has only its own rows. */
consm_status partition_leaves(struct compiled *c);

/* This rank's rows of a value (rows, cols), and row (count) of all ranks. */
consm_status partition_download(struct divided *d, float *to, const float *from,
                                const struct value *v, const int32_t *row, int64_t count);

/* Whether rows named by an index can be fetched: it is constant, or, for data in parts, the halo is
 * found again whenever it is set. */
bool partition_index(const struct divided *d, const struct index *index);

/* CONSM_EINVAL if an instruction that every rank computes as a whole walks a matrix of which this
 * rank has only a part. */
consm_status partition_allow(const struct instr *in);

/* ---- rules.c ---- */

/* What an operation reads of a source for a range of rows of its result. */
enum reads {
    READS_WHOLE,   /* everything */
    READS_ROWS,    /* the same rows */
    READS_COLUMNS, /* the columns of the matrix's entries in these rows */
    READS_ENTRIES, /* values of these entries */
    READS_INDEXED, /* rows that index names there */
    READS_ITEMS,   /* positions at which index names these rows */
    READS_PAIRS,   /* rows that index or other name there */
    READS_BLOCKS   /* those of blocks of a sum */
};

/* How an operation is divided: not at all, by rows of its result, or (entries) by the rows whose
 * entries its result has. */
enum division { NOT_DIVIDED, BY_ROWS, BY_ENTRIES };

struct rule {
    enum division division;
    enum reads reads[NODE_SOURCES];
};
struct rule rule_of(const struct divided *d, const struct instr *in);

/* The instruction for rows [low, high) of its result; the keeper owns views of matrices and
 * indices. */
struct keeper;
consm_status rule_narrow(struct instr *in, struct keeper *k, const struct rule *rule,
                         struct axis *axis, int64_t low, int64_t high);

/* Objects that belong to a compiled program. */
struct keeper {
    void **thing;
    size_t count, room;
};
void *keep(struct keeper *k, size_t bytes); /* zeroed; NULL with a message */
void keeper_free(struct keeper *k);

/* ---- exchange.c ---- */

/* The rows to exchange, for one kind of reading over one matrix or index. */
struct halo {
    enum reads reads;
    bool transposed;
    const struct csr *csr;
    const struct index *index, *other;
    const struct axis *from, *to; /* of the source; of the result's rows, or of a sum's blocks */
    struct sum_shape shape;       /* for READS_BLOCKS */
    int64_t width;                /* the width of its sources */
    int32_t *send, *receive;      /* row numbers, by rank */
    int *sends, *receives;        /* (size+1) start of each rank */
    uint64_t seen;                /* versions of what it was found from */
    struct halo *next;
};
consm_status halo_of(struct halo **out, struct halo **known, const struct halo *wanted);
void halos_free(struct halo *h);

/* Whether the matrix or index changed; finds the rows again if so. */
bool halo_moves(const struct halo *h);
consm_status halo_follow(struct halo *h);

/* An exchange of one value's rows, made once and started repeatedly. */
struct exchange {
    MPI_Request *request;
    int requests;
    int64_t bytes; /* that this rank sends */
};
consm_status exchange_new(struct exchange *x, const struct halo *h, float *value, int64_t cols);
void exchange_start(struct exchange *x);
void exchange_wait(struct exchange *x);
void exchange_free(struct exchange *x);

/* The MPI type of a row of `cols` floats; made once. */
MPI_Datatype row_type(int64_t cols);

/* Sends all rows of a value to all ranks: from its own rows in place, or to another array. */
void gather_rows(float *to, const float *from, const struct axis *axis, int64_t cols);

/* The addresses of an instruction's operands, here. */
void resolve_here(const struct compiled *c, struct instr *in);

/* ---- compile.c, backend.c ---- */

/* A divided program is a list of pieces. */
enum piece_kind {
    PIECE_COMPUTE,
    PIECE_EXCHANGE, /* the start of an exchange */
    PIECE_WAIT,     /* the end of an exchange */
    PIECE_GATHER,
    PIECE_SUM,
    PIECE_WALK
};
struct piece {
    enum piece_kind kind;
    bool once;           /* nothing to do once constants have been computed */
    struct planned plan; /* COMPUTE: instructions for the backend that computes */
    int32_t first, count;
    struct compiled *ready;
    struct halo *halo; /* EXCHANGE */
    struct exchange exchange;
    uint64_t seen;           /* the version of the halo that it was made for */
    int32_t started;         /* WAIT: the piece that started it */
    float *value;            /* EXCHANGE, GATHER */
    const struct axis *axis; /* GATHER; of a SUM's blocks */
    int64_t cols;
    struct instr sum;        /* SUM, WALK */
    const struct axis *rows; /* of its sources; of its matrix */
};

/* A leaf read from one of our rows on. */
struct shifted {
    int32_t leaf; /* of the plan */
    size_t bytes; /* from its start */
};

struct compiled {
    struct divided *owner;
    const struct planned *plan;
    struct memory *near[PLACES];
    struct instr *instr;
    int32_t instrs;
    size_t instr_room;
    struct piece *piece;
    int32_t pieces;
    size_t piece_room;
    struct leaf *leaf;    /* those of the plan, then the shifted ones */
    const void **leaf_at; /* (leaves) their addresses */
    int32_t leaves;
    struct shifted *shift; /* (leaves - plan->leaves) */
    size_t shift_room;
    struct keeper keeper;
    struct halo *halos;
    uint64_t *seen;           /* (plan->leaves) versions */
    struct value *leaf_value; /* (plan->leaves) of leaves in parts; else without an axis */
    bool settled;
    void *partial, *work; /* of the current sum */
    size_t partial_bytes, work_bytes;
};
consm_status divided_compile(struct backend *b, struct compiled **out, const struct planned *plan);
void divided_discard(struct compiled *c);
void divided_follow(struct compiled *c); /* checks the leaves */

/* The value at an operand; NULL: it is neither in an arena nor a leaf in parts. */
struct value *compiled_value(const struct compiled *c, const struct operand *at);
consm_status note_value(const struct compiled *c, const struct operand *at, struct value value);

/* Add pieces to the list: a new one; all rows of a value to all ranks; the rows of source `slot`
 * that this rank's rows of the result, or blocks of a sum, read. */
consm_status add_piece(struct compiled *c, struct piece **out, enum piece_kind kind);
consm_status add_gather(struct compiled *c, const struct operand *at, struct value *v);
consm_status add_exchange(struct compiled *c, const struct instr *in, int slot, struct value *v,
                          enum reads reads, const struct axis *to, const struct sum_shape *shape);

consm_status add_instr(struct compiled *c, const struct instr *in);

/* Whether only other ranks have some of its rows. */
bool is_spread(const struct compiled *c, const struct value *v);

/* Waits for the exchanges among pieces first …. */
consm_status add_waits(struct compiled *c, int32_t first);

/* ---- overlap.c ---- */

enum { MOST_RUNS = 16 };
struct runs {
    int count;
    struct run {
        int64_t low, high;
    } run[MOST_RUNS];
};

/* Runs of this rank's rows, in order, that read only its own columns. */
void inner_runs(struct runs *runs, const struct instr *in, const struct rule *rule,
                const struct axis *rows, const struct axis *columns);

/* ---- sums.c ---- */

bool sum_divides(const struct compiled *c, const struct instr *in, const struct axis **rows);
consm_status divide_sum(struct compiled *c, const struct instr *in, const struct axis *rows);
void sum_run(struct compiled *c, struct piece *piece);
void sum_needs(uint8_t *needed, const struct halo *h, int64_t first, int64_t last);

/* ---- reshape.c ---- */

bool reshape_divides(const struct compiled *c, const struct instr *in);
consm_status divide_reshape(struct compiled *c, const struct instr *in);

/* ---- walks.c ---- */

bool walk_divides(const struct compiled *c, const struct instr *in);
consm_status divide_walk(struct compiled *c, const struct instr *in);
void walk_run(struct compiled *c, struct piece *piece, const struct step *step);

consm_status divided_open(struct backend **out, struct backend *inner, const struct partition *rows,
                          const struct partition *columns);
struct value *memory_value(struct far_memory *m, size_t offset); /* NULL: none */

/* Room for one more in a growing array. */
consm_status grow(void *array, size_t used, size_t *room, size_t size);

#endif
