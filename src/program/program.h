/* A program: a static list of operations, recorded once for a graph, differentiated once, its
 * memory planned once, then run thousands of times without allocation, shape checks or branches on
 * the model's type. */

/*
 * Recording reports no errors. An impossible operation poisons the program: the constructor returns
 * POISON, everything built on it is POISON too, and program_compile() reports the first fault with
 * the name of its node. So models need no checks.
 *
 * Dimension letters: n nodes, m entries of a sparse pattern, f columns, c classes.
 */
#ifndef PROGRAM_PROGRAM_H
#define PROGRAM_PROGRAM_H

#include "program/backend.h"
#include "program/params.h"

struct program;

/* Makes an empty program over a parameter store that several programs may share. In a program that
 * is not for training, dropout and similar operations vanish and batch norm uses its running
 * statistics. */
consm_status program_new(struct program **out, struct params *params, bool training);
void program_free(struct program *p);
bool program_training(const struct program *p);

/* Gives a node a name for dumps and errors; returns it. */
node program_name(struct program *p, node x, const char *name);

/* Keeps the node's value readable after a run. */
void program_keep(struct program *p, node x);

/* Gives an object to the program, which frees it (also if this call fails). */
consm_status program_own(struct program *p, void *thing, void (*release)(void *thing));

/* Poisons the program with a message; returns POISON. */
node program_fault(struct program *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Row r of a node that draws random numbers (dropout, noise) becomes row number[r] of a larger
 * whole and draws the numbers of that row; for edge_drop, number (columns) does it for nodes. The
 * numbers must stay valid. Without it rows count from 0, also in a program that compiling shrank.
 */
void program_number(struct program *p, node x, const int64_t *number);

/* A model's own term of the loss, (1,1), for instance a regulariser; program_minimize adds it. */
void program_penalty(struct program *p, node term);

/* The same for a call that failed while recording: keeps its code and message. */
node program_failed(struct program *p, consm_status code);

/* Sets the scalar to minimise; compile then also records its gradient. Returns it with the
 * penalties added. */
node program_minimize(struct program *p, node loss);

/* Makes every run end with a step of Adam over all trained parameters of the store. */
void program_optimize(struct program *p, const struct adam_options *adam);

/* The first fault of the recording, as program_compile() reports it. */
consm_status program_check(const struct program *p);

/* Fuses, differentiates, drops unused nodes, plans the memory, and lets the backend compile the
 * result. Reports the first fault of the recording. A run computes every kept node, the loss and
 * the parameters' gradients. The backend must outlive program and parameters. */
consm_status program_compile(struct program *p, struct backend *backend);

/* The same, but what takes long happens in the first run, because there may be none. The store has
 * all memory that an optimiser needs. What was recorded must not be freed before. */
consm_status program_compile_later(struct program *p, struct backend *backend);

/* How many numbers a compiled program computes in a run, for comparing two of them. */
int64_t program_elements(const struct program *p);

/* Runs every operation once; those on constants only in the first run. */
consm_status program_run(struct program *p, const struct step *step);

/* The value of a kept node or of the loss, after a run. */
consm_status program_read(const float **out, struct program *p, node x);
/* The same for a caller that needs only some rows, if ranks divide them: this rank's and row
 * (count; ascending, the same on all ranks). The others are undefined. row NULL: all. */
consm_status program_read_rows(const float **out, struct program *p, node x, const int32_t *row,
                               int64_t count);
/* The input of the last weights before x: the source of the last product among x's ancestors whose
 * result has a multiple of x's columns and whose source has another number. x itself if there is
 * none. For a recorded program. */
node program_before(const struct program *p, node x);
/* Whether an operation walks the matrix. For a recorded program. */
bool program_walks(const struct program *p, const struct csr *matrix);
bool program_has(const struct program *p, node x); /* whether there is such a node */
int64_t program_rows(const struct program *p, node x);
int64_t program_cols(const struct program *p, node x);

/* How many steps over square matrices lie between a row of x and the rows it depends on; -1: it
 * depends on all rows. A step over two_steps (may be NULL) counts twice. For a recorded program,
 * compiled or not; reports the first fault of the recording. */
consm_status program_reach(int64_t *out, const struct program *p, node x,
                           const struct csr *two_steps);

/* Points an input at other floats of the same shape. Works before and after compiling. */
void program_bind(struct program *p, node input, const float *values);

/* Tells the program that numbers it reads (floats of an input, labels, row weights) were rewritten
 * in place; data NULL: all of them. An index and a sparse matrix track this themselves. */
void program_touch(struct program *p, const void *data);

/* The state of operations between runs, for checkpoints: block `index` and its bytes, to read or to
 * write; NULL after the last. */
consm_status program_memory(void **out, struct program *p, int index, size_t *bytes);

/* Bytes of the arena, once compiled. */
size_t program_arena_bytes(const struct program *p);

/* Prints the program, one line an operation (number, name, op, shape, sources, bytes, arena
 * offset), through the given function. */
void program_dump(const struct program *p, void (*line)(void *ctx, const char *text), void *ctx);

/* ---- leaves -------------------------------------------------------------- */
node param(struct program *p, const char *name, int64_t rows, int64_t cols, enum init init);
/* Like param, but not trained: running statistics and similar. */
node state(struct program *p, const char *name, int64_t rows, int64_t cols, enum init init);
node input(struct program *p, const float *values, int64_t rows, int64_t cols);
/* Like input, but the floats never change, so its sparse products are computed once. */
node constant(struct program *p, const float *values, int64_t rows, int64_t cols);
bool program_is_constant(const struct program *p, node x);
/* Of this input a rank has only the partition's rows: programs fetch the others from their owners.
 * NULL: all are here. Returns the input. */
node in_parts(struct program *p, node x, const struct partition *partition);
node sparse(struct program *p, const struct csr *matrix);
bool program_is_sparse(const struct program *p, node x);
node fill(struct program *p, float value, int64_t rows, int64_t cols);
node noise(struct program *p, int64_t rows, int64_t cols);
/* start·factor^step, (1,1), for values that change during training. */
node anneal(struct program *p, float start, float factor);

/* ---- dense algebra (ops/dense.c) ----------------------------------------- */
node matmul(struct program *p, node x, node y); /* x may be sparse */
node matmul_t(struct program *p, node x, bool x_transposed, node y, bool y_transposed);
node axpby(struct program *p, float a, node x, float b, node y);
node add(struct program *p, node x, node y);
node sub(struct program *p, node x, node y);
node scale(struct program *p, float a, node x);
node mul(struct program *p, node x, node y);
node scale_by(struct program *p, node x, node scalar);
node scale_rows(struct program *p, node x, node factor);
node add_bias(struct program *p, node x, node bias);
node concat(struct program *p, node x, node y);
node slice(struct program *p, node x, int64_t from, int64_t cols);
node reshape(struct program *p, node x, int64_t rows, int64_t cols);
node col_sum(struct program *p, node x);
node row_sum(struct program *p, node x);
node sum(struct program *p, node x);
node dot(struct program *p, node x, node y);
node expand(struct program *p, node x, int64_t rows, int64_t cols);

/* ---- element by element (ops/elementwise.c) ------------------------------ */
node relu(struct program *p, node x);
node leaky_relu(struct program *p, node x, float slope);
node elu(struct program *p, node x);
node tanh_(struct program *p, node x);
node sigmoid(struct program *p, node x);
node log_sigmoid(struct program *p, node x);
node exp_(struct program *p, node x);
node log_(struct program *p, node x, float floor);
node square(struct program *p, node x);
node abs_(struct program *p, node x);
node clamp(struct program *p, node x, float low, float high);
node dropout(struct program *p, node x, float rate); /* x may be sparse */

/* ---- sparse matrices and edges (ops/sparse.c) ---------------------------- */
node spmm(struct program *p, const struct csr *s, node x);
node spmm_values(struct program *p, const struct csr *s, node values, node x);
node sddmm(struct program *p, const struct csr *s, node x, node y, int64_t heads);
/* Each row's pieces (one per head) against one vector per head, a (heads, d): (n, heads). */
node head_dot(struct program *p, node x, node a);
node edge_add(struct program *p, const struct csr *s, node x, node y);
node edge_sum(struct program *p, const struct csr *s, node values);
node edge_softmax(struct program *p, const struct csr *s, node values);
/* Values of D^-1/2 (A' + I) D^-1/2, where A' is A without a random share of its edges, both
 * directions of an edge together (Rong et al. 2020). s is the pattern of A + I, with weights. */
node edge_drop(struct program *p, const struct csr *s, float rate);

/* ---- rows by index (ops/rows.c) ------------------------------------------ */
node gather(struct program *p, node x, const struct index *index);
node segment_sum(struct program *p, node x, const struct index *index);
node segment_mean(struct program *p, node x, const struct index *index);
node segment_max(struct program *p, node x, const struct index *index);
/* (n,1): the nearest row of y to row r of x, ties to the first; a choice, so it has no gradient. */
node nearest(struct program *p, node x, node y);
/* Values (nnz,1) for spmm_values over s, whose rows come in runs of `groups`, one per group. An
 * entry has its value in w (nnz,1) if its column chose the row's group, else 0; mean: divided by
 * their sum, if positive. choice (columns of s, 1) is from nearest(). */
node nearest_share(struct program *p, const struct csr *s, node choice, node w, int64_t groups,
                   bool mean);
node row_normalize(struct program *p, node x);
node pair_cosine(struct program *p, node x, const struct index *i, const struct index *j);
node pair_squared(struct program *p, node x, const struct index *i, const struct index *j);
node batch_norm(struct program *p, const char *name, node x);

/* ---- transport (ops/transport.c) ----------------------------------------- */

/* All of these are choices and have no gradient. */

/* (n,c): squared distances of the rows of x to those of y (c,f). */
node distances(struct program *p, node x, node y);

/* How a set of points is transported to c references: regularised by ε (1,1), costs (points,c),
 * equal masses on both sides, until the references' shares deviate by at most tolerance in sum, in
 * at most `iterations` iterations; 0: each point to the nearest. */
struct transport {
    node cost, epsilon;
    double tolerance;
    int64_t iterations;
    enum take take;
};

/* Values (nnz,1) for spmm_values over s, whose rows come in runs of c with the same columns, one
 * per reference: the plan of the set of columns where w (nnz,1) is not 0. s may change and become
 * shorter; values after its end are unchanged. */
node transport(struct program *p, const struct csr *s, const struct transport *t, node w);

/* (n,c·f): the rows of x of each node's two-hop set over the entries of s with non-zero kept
 * (nnz,1), pooled by reference. cap > 0: larger sets are sampled from (seed, node) as in
 * src/match/walk.h. Rows with wanted (n,1) 0 are 0. */
node pool_hops(struct program *p, const struct csr *s, const struct transport *t, node x, node kept,
               node wanted, int64_t cap, uint64_t seed);

/* ---- spectra (ops/spectral.c) -------------------------------------------- */
/* Sum of the `rank` largest singular values of the matrix with pattern s and values (nnz,1), by at
 * most `iterations` subspace iterations from the end of the last run. */
node nuclear(struct program *p, const struct csr *s, node values, int64_t rank, int64_t iterations);

/* ---- losses (ops/loss.c) ------------------------------------------------- */
node softmax(struct program *p, node x);
node log_softmax(struct program *p, node x);
/* Mean (weighted by weight (count), if given) over r in rows of -log softmax(x_r)[label[r]]. */
node nll(struct program *p, node x, const struct index *rows, const int32_t *label,
         const float *weight);
/* Σ weight · loss(x, target) over all elements; target and weight have x's shape. */
node bce(struct program *p, node x, node target, node weight);
node l1(struct program *p, node x, node target, node weight);
node mse(struct program *p, node x, node target, node weight);

#endif
