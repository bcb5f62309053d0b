/* Shared by the backend's files: how work is divided, and the kernels that they define. */
#ifndef CPU_KERNELS_H
#define CPU_KERNELS_H

#include "base/threads.h"
#include "cpu/gemm.h"
#include "cpu/simd.h"
#include "program/backend.h"
#include "program/traits.h"

/* Called by all workers of a team; ends without a barrier. */
typedef void (*kernel)(const struct instr *in, const struct step *step, struct worker who);

enum { GRAIN = 1024 }; /* elements: a multiple of the granularity of dropout and vectors */

/* This worker's range of an operation's elements, rows, or blocks. */
static inline void range_elements(const struct instr *in, struct worker who, int64_t *from,
                                  int64_t *to)
{
    team_range(who, in->rows * in->cols, GRAIN, from, to);
}

static inline void range_rows(int64_t rows, struct worker who, int64_t *from, int64_t *to)
{
    team_range(who, rows, 16, from, to);
}

/* Divides the rows of a pattern by entries, so that hubs do not make the others wait. */
void range_entries(const int64_t *start, int64_t rows, struct worker who, int64_t *from,
                   int64_t *to);

/* The pattern an operation walks: its matrix, or the transpose. */
static inline const struct csr *pattern(const struct instr *in)
{
    return in->attr.transposed ? in->attr.csr->t : in->attr.csr;
}

/* The dropout rule of an operation at this step; rate attr.a, stream attr.stream. */
struct dropout dropout_at(const struct instr *in, const struct step *step);

/* y = drop(x), y (rows, cols) as the operation's result, for numbered rows. */
void drop_numbered(float *y, const float *x, const struct instr *in, const struct step *step,
                   int64_t from, int64_t to);

#define KERNEL(name) \
    void run_##name(const struct instr *in, const struct step *step, struct worker who)

/* One for each row of ops.def; table.c names those that share a kernel or have none. */
#define OP(NAME, name, ...) KERNEL(name);
#include "program/ops.def"
#undef OP
KERNEL(unary); /* for all functions of a single element */

/* Sums over many rows in two halves: the partial sums of blocks [from, to), each at its place among
 * all blocks, and the total of all. sums.c offers them to callers that have only some of the rows.
 */
enum { LOSS_BLOCK = 256 }; /* terms */
struct gemm gemm_of(const struct instr *in);
void head_outer_blocks(float *partial, const struct instr *in, int64_t from, int64_t to);
void nll_blocks(double *partial, const struct instr *in, int64_t from, int64_t to);
void nll_total(const struct instr *in, const double *partial, int64_t blocks);
void weighted_blocks(double *partial, const struct instr *in, int64_t from, int64_t to);
enum { BATCH_COLUMNS = 6 };               /* of work, in columns of the operation */
int batch_phases(const struct instr *in); /* 0: it does not sum */
void batch_blocks(float *partial, const struct instr *in, float *work, int phase, int64_t from,
                  int64_t to);
void batch_total(const struct instr *in, const float *partial, float *work, int phase, int64_t left,
                 int64_t right);
void batch_rows(const struct instr *in, float *work, int64_t from, int64_t to);

/* Operations over rows that need something of all rows in between, in steps for rows [from, to).
 * walks.c offers them to callers that have only some of the rows. inverse_root (rows):
 * 1/sqrt(degree of the remaining edges). */
void edge_drop_keep(float *inverse_root, const struct instr *in, const struct step *step,
                    int64_t from, int64_t to);
void edge_drop_scale(const float *inverse_root, const struct instr *in, int64_t from, int64_t to);
void nuclear_begin(const struct instr *in);
void nuclear_forth(const struct instr *in, int64_t from, int64_t to); /* y = S v */
bool nuclear_judge(const struct instr *in, int64_t turn);             /* whether it has converged */
void nuclear_back(const struct instr *in, int64_t from, int64_t to);  /* turn = Sᵀ y */
void nuclear_turned(const struct instr *in);                          /* the next v */
void nuclear_end(const struct instr *in, struct worker who);
void nuclear_grad_rows(const struct instr *in, int64_t from, int64_t to);

/* The kernel of every operation; NULL: none (leaves). */
extern const kernel cpu_kernels[OP_COUNT];

/* waits[i]: whether all threads must finish the instructions before i, whose addresses are filled
 * in, before any thread starts i. (barriers.c) */
void mark_barriers(bool *waits, const struct instr *instr, int32_t count);

/* Scratch bytes of an operation; one function for each file that needs scratch. */
size_t scratch_bytes(const struct instr *in);
size_t scratch_dense(const struct instr *in);
size_t scratch_rows(const struct instr *in);
size_t scratch_loss(const struct instr *in);
size_t scratch_sparse(const struct instr *in);
size_t scratch_heads(const struct instr *in);
size_t scratch_batch(const struct instr *in);
size_t scratch_keep(const struct instr *in);

#endif
