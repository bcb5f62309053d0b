/* Products of sparse rows with dense ones, for sparse.cu and rows.cu. */
#ifndef CUDA_SPMM_CUH
#define CUDA_SPMM_CUH

#include "cuda/patterns.cuh"
#include "cuda/tail.cuh"

/* y(rows, width) = end(A x(cols, width)), with the matrix as in src/cpu/simd.h: entry k of a row is
 * 1 (val NULL), val[k] or val[entry[k]]; with heads, val (nnz, heads) has one value for each piece
 * of width/heads columns. A finished sum s becomes
 *   drop(relu(scale·s + add_scale·add + bias)),  with mean: s divided by the row's entries first.
 */
struct spmm {
    float *y;
    const float *x;
    const int64_t *start; /* (rows+1) */
    const int32_t *col;
    const float *val;
    const int64_t *entry;
    bool own; /* val is the matrix's own, or 1 */
    int64_t rows, width, heads;
    struct cut cut;
    float scale;
    const float *add; /* (rows, width) or NULL */
    float add_scale;
    const float *bias; /* (width) or NULL */
    bool relu, mean;
    struct drop drop; /* threshold 0: none */
};

void spmm_run(const struct cuda_context *cx, const struct instr *in, const struct spmm *a);

/* How the rows of a product over `entries` entries are cut, and its scratch. */
struct cut spmm_cut(const struct instr *in, int64_t entries, bool changes);
int64_t spmm_scratch(const struct instr *in, int64_t entries, bool changes);

/* Whether a warp holds a whole row of the product. */
bool spmm_row_in_warp(const struct instr *in);

#endif
