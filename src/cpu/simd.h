/* The interface of the vector kernels. Each is compiled once per instruction set (src/cpu/simd/);
 * simd_best() returns the table for this processor. */

/*
 * All kernels work on a range [from, to) of rows, elements or blocks; the caller divides the work
 * among threads. They return nothing, allocate nothing and cannot fail. One thread computes every
 * output element, in an order that does not depend on the range, so any division gives the same
 * bits. Arrays are float32, row-major and contiguous; n rows, c columns (`width`). No kernel reads
 * or writes outside its arrays. Outputs must not overlap inputs, unless "in place" says that they
 * may be the same array. NULL is allowed only where stated.
 */
#ifndef CPU_SIMD_H
#define CPU_SIMD_H

#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>

/* ---- dropout: which elements stay ---------------------------------------- */

/* Element e is kept if its `bits` random bits, as a number, are at least `threshold`. They are bits
 * [e·bits, (e+1)·bits) of the stream Philox(key = seed; counter = block, step, op): a function of
 * the element alone, so the backward pass computes them again. */
struct dropout {
    uint64_t seed;
    uint32_t step, op;
    uint32_t bits; /* 1, 2, 4, 8 or 16: the fewest for which p·2^bits is an integer, else 16 */
    uint32_t threshold; /* p·2^bits */
    float scale;        /* 1/(1-p) */
    int64_t shift;      /* element e of an array uses the random bits of element e + shift */
};

/* The rule for probability p in [0, 1). */
struct dropout dropout_rule(float p, uint64_t seed, uint32_t step, uint32_t op);

/* ---- sparse matrices ----------------------------------------------------- */

/* Rows of a sparse matrix in the form of the kernels. Entry k is 1 (val NULL), val[k], or
 * val[index[k]] (a transpose whose values are stored with the original: index = t_entry). Lists of
 * items per segment (start, col) have the same form with val NULL, so segment sums are spmm. */
struct sparse {
    const int64_t *start; /* (rows+1) */
    const int32_t *col;   /* (nnz) */
    const float *val;     /* or NULL */
    const int64_t *index; /* (nnz) or NULL */
};

/* The operations on a finished row sum s before it is stored:
 *   y = drop(relu(scale·s + add_scale·add + bias))
 * y += A x is {.scale = 1, .add = y, .add_scale = 1}. */
struct epilogue {
    float scale;
    const float *add; /* (rows, width) or NULL; may be y */
    float add_scale;
    const float *bias; /* (width) or NULL */
    bool relu;
    const struct dropout *drop; /* or NULL */
    /* spmm only: the sums continue from what y holds, as if not interrupted; */
    bool carry;
    /* they stop before the first column that is not below this one. Row r starts at entry
     * cursor[r], which advances. NULL: all entries. */
    int64_t *cursor;
    int64_t below;
};

/* y(rows, width) = A x(cols, width) for rows [from, to). end NULL: the plain product. */
typedef void spmm_fn(float *y, const struct sparse *a, const float *x, int64_t width,
                     const struct epilogue *end, int64_t from, int64_t to);

/* ---- attention: several weights (heads) per entry ------------------------ */

/* y[r, h·dim+d] = Σ_k val[k·heads+h] x[col[k], h·dim+d]; a->val is (nnz, heads). end as in spmm. */
typedef void spmm_heads_fn(float *y, const struct sparse *a, const float *x, int64_t heads,
                           int64_t dim, const struct epilogue *end, int64_t from, int64_t to);

/* e[k, h] = Σ_d g[r, h·dim+d] x[col[k], h·dim+d] for the entries k of rows [from, to). a->val and
 * a->index are not read. */
typedef void sddmm_fn(float *e, const struct sparse *a, const float *g, const float *x,
                      int64_t heads, int64_t dim, int64_t from, int64_t to);

/* e[k, h] = leaky(left[r, h] + right[col[k], h]), leaky(v) = v > 0 ? v : slope·v; slope 1: plain
 * sum. left or right may be NULL (0). */
typedef void edge_add_fn(float *e, const struct sparse *a, const float *left, const float *right,
                         int64_t heads, float slope, int64_t from, int64_t to);

/* Softmax of e over the entries of each row, per head; in place allowed. */
typedef void edge_softmax_fn(float *y, const struct sparse *a, const float *e, int64_t heads,
                             int64_t from, int64_t to);

/* gx = y (g - Σ_row y g); in place (gx == g) allowed. */
typedef void edge_softmax_grad_fn(float *gx, const struct sparse *a, const float *y, const float *g,
                                  int64_t heads, int64_t from, int64_t to);

/* s[r, h] = Σ_k e[k, h], or e[index[k], h] when a->index is set: the transposed sum. */
typedef void edge_row_sum_fn(float *s, const struct sparse *a, const float *e, int64_t heads,
                             int64_t from, int64_t to);

/* Attention as one operation: y_r = Σ_k w_k z[col[k]], per head, with the weights of a row
 *   w = drop(softmax(leaky(left_r + right_col))),  or, with gate,  drop(tanh(left_r +
 * right_col)·val) for one head. drop NULL: none; its element k·heads + h is entry k of the stored
 * matrix. */
struct attention {
    int64_t heads, dim; /* heads at most 64 */
    float slope;        /* of leaky below zero, > 0; 1 for gates */
    bool gate;
    const struct dropout *drop;
};

/* Also the same sums with every weight times the slope of leaky at its score, in bent (rows,
 * heads·dim), and in totals (rows, 2·heads) log Σ exp of the scores and Σ softmax times slopes; for
 * a gate only bent, with (1 - tanh²)·val as weights. Both NULL: not needed. */
typedef void attend_fn(float *y, float *bent, float *totals, const struct attention *t,
                       const struct sparse *a, const float *left, const float *right,
                       const float *z, int64_t from, int64_t to);

/* Its gradient, for columns [from, to): a is the transpose with its own values; its index gives an
 * entry's position, for dropout. packed (rows of the matrix, 3·heads): left, log Σ exp, ⟨g, y⟩ per
 * head. gz_c = Σ_r w_rc g_r, gright_c = Σ_r slope_rc (w_rc ⟨g_r, z_c⟩ - softmax_rc ⟨g_r, y_r⟩).
 * gright NULL: not needed. */
typedef void attend_columns_fn(float *gz, float *gright, const struct attention *t,
                               const struct sparse *a, const float *packed, const float *right,
                               const float *z, const float *g, int64_t from, int64_t to);

/* ---- elementwise on elements [from, to); all in place -------------------- */

enum unary {
    UNARY_RELU,
    UNARY_LEAKY_RELU, /* param: slope, >= 0 */
    UNARY_ELU,        /* param: alpha */
    UNARY_TANH,
    UNARY_SIGMOID,
    UNARY_LOG_SIGMOID,
    UNARY_EXP,
    UNARY_ABS,
    UNARY_SQUARE
};

/* Which array unary_grad needs besides g: the op's input x for LOG_SIGMOID, ABS and SQUARE, its
 * output y for the others. */
static inline bool unary_grad_takes_input(enum unary op)
{
    return op == UNARY_LOG_SIGMOID || op == UNARY_ABS || op == UNARY_SQUARE;
}

/* y = op(x) */
typedef void unary_fn(enum unary op, float *y, const float *x, float param, int64_t from,
                      int64_t to);
/* gx = g · op'; saved is x or y, see unary_grad_takes_input() */
typedef void unary_grad_fn(enum unary op, float *gx, const float *g, const float *saved,
                           float param, int64_t from, int64_t to);

typedef void fill_fn(float *y, float value, int64_t from, int64_t to);
typedef void scale_fn(float *y, float a, const float *x, int64_t from, int64_t to); /* y = a x */
/* y = a x + b z */
typedef void axpby_fn(float *y, float a, const float *x, float b, const float *z, int64_t from,
                      int64_t to);
/* y = x z */
typedef void mul_fn(float *y, const float *x, const float *z, int64_t from, int64_t to);
/* y = (x - z)² */
typedef void square_diff_fn(float *y, const float *x, const float *z, int64_t from, int64_t to);

/* y = kept(e) ? x·scale : 0; any range, fastest if it begins at a multiple of 128. Its own
 * gradient: apply it to g with the same rule. */
typedef void dropout_fn(float *y, const float *x, const struct dropout *drop, int64_t from,
                        int64_t to);
/* gx = y > 0 ? g·scale : 0, the gradient through relu and dropout, from their output y alone */
typedef void relu_grad_fn(float *gx, const float *g, const float *y, float scale, int64_t from,
                          int64_t to);

/* ---- rows and columns of an (n, width) matrix, rows [from, to); in place ---- */

/* y = drop(relu(x + bias)); of end, only bias, relu and drop are read. */
typedef void bias_act_fn(float *y, const float *x, int64_t width, const struct epilogue *end,
                         int64_t from, int64_t to);
/* y[r,c] = a[c] x[r,c] + b[c] z[r,c] + d[c]; a NULL: 1, z NULL: no second term, b NULL: 1, d NULL:
 * 0. Bias, batch norm forward and backward. */
typedef void col_affine_fn(float *y, const float *a, const float *x, const float *b, const float *z,
                           const float *d, int64_t width, int64_t from, int64_t to);
/* y[r,c] = s[r] x[r,c] */
typedef void row_scale_fn(float *y, const float *s, const float *x, int64_t width, int64_t from,
                          int64_t to);
/* s[r] = Σ_c x[r,c] z[r,c]; z NULL: Σ_c x[r,c] */
typedef void row_dot_fn(float *s, const float *x, const float *z, int64_t width, int64_t from,
                        int64_t to);
/* y[r,h] = Σ_k x[r, h·dim+k] a[h,k] */
typedef void head_dot_fn(float *y, const float *x, const float *a, int64_t heads, int64_t dim,
                         int64_t from, int64_t to);
/* y[r, h·dim+k] = g[r,h] a[h,k] */
typedef void head_spread_fn(float *y, const float *g, const float *a, int64_t heads, int64_t dim,
                            int64_t from, int64_t to);
/* sum[h·dim+k] += Σ_r g[r,h] x[r, h·dim+k], in order */
typedef void head_outer_fn(float *sum, const float *g, const float *x, int64_t heads, int64_t dim,
                           int64_t from, int64_t to);
/* norm[r] = max(|x_r|, eps), inverse[r] = 1 / norm[r]; either may be NULL */
typedef void row_norm_fn(float *norm, float *inverse, const float *x, int64_t width, float eps,
                         int64_t from, int64_t to);
/* The gradient through y_r = x_r · inverse[r]: gx = inverse[r] (g - y <y, g>), and inverse[r]·g
 * where |x_r| < eps, that is inverse[r]·eps >= 1. */
typedef void row_normalize_grad_fn(float *gx, const float *g, const float *y, const float *inverse,
                                   int64_t width, float eps, int64_t from, int64_t to);
/* y[r, 0…width) = x[r, 0…width), rows of y_stride and x_stride floats: concat and slice */
typedef void copy_cols_fn(float *y, int64_t y_stride, const float *x, int64_t x_stride,
                          int64_t width, int64_t from, int64_t to);

/* y = softmax(x_r) or log softmax(x_r); their gradients from the output y */
typedef void softmax_fn(float *y, const float *x, int64_t width, int64_t from, int64_t to);
typedef void softmax_grad_fn(float *gx, const float *g, const float *y, int64_t width, int64_t from,
                             int64_t to);

/* ---- reductions: fixed blocks, then one fixed sum over the blocks -------- */

enum { COL_BLOCK = 1024, REDUCE_BLOCK = 4096 };

static inline int64_t block_count(int64_t count, int64_t block)
{
    return (count + block - 1) / block;
}

/* partial[b, c] = Σ over rows r of block b (COL_BLOCK rows) of x[r,c], times z[r,c] if z. */
typedef void col_sum_fn(float *partial, const float *x, const float *z, int64_t width, int64_t n,
                        int64_t from_block, int64_t to_block);
/* partial[b, c] = Σ_r (x[r,c] - mean[c])² */
typedef void col_var_fn(float *partial, const float *x, const float *mean, int64_t width, int64_t n,
                        int64_t from_block, int64_t to_block);
/* out[c] = scale Σ_b partial[b, c] for columns [from, to) */
typedef void col_combine_fn(float *out, const float *partial, int64_t blocks, int64_t width,
                            float scale, int64_t from, int64_t to);

/* partial[b] = Σ x, times z if z, over REDUCE_BLOCK elements each */
typedef void reduce_fn(double *partial, const float *x, const float *z, int64_t count,
                       int64_t from_block, int64_t to_block);
/* *out = the sum of all partials in order; by one thread */
typedef void reduce_combine_fn(float *out, const double *partial, int64_t blocks);

/* ---- pairs of rows ------------------------------------------------------- */

/* out[k] = <x_i, z_j> xs[i] zs[j], i = left[k], j = right[k]; xs, zs NULL: 1. With the inverse
 * norms of row_norm it is the cosine. Pairs [from, to). */
typedef void pair_dot_fn(float *out, const float *x, const float *z, const float *xs,
                         const float *zs, const int32_t *left, const int32_t *right, int64_t width,
                         int64_t from, int64_t to);
/* The pairs of one side: pair[start[r] … start[r+1]) name row r there, k names self[k] there and
 * other[k] on the other side. */
struct pair_lists {
    const int64_t *start;
    const int32_t *pair, *self, *other;
};
/* Its gradient to the rows [from, to) of one side; for pairs of rows of one matrix, of both sides,
 * the second added to the first:
 *   gx_r = Σ_sides (s[r] (Σ_k w_self[k]) x_r + Σ_k w_other[k] z_other(k))
 * s NULL: 1; w_self NULL: no first term. Cosine: w_other = g/(|x_i||z_j|), w_self = -g cos,
 * s = 1/|x_r|². */
typedef void pair_grad_fn(float *gx, const float *x, const float *z, const float *w_other,
                          const float *w_self, const float *s, const struct pair_lists *side,
                          int sides, int64_t width, int64_t from, int64_t to);

/* ---- gather ------------------------------------------------- */

/* y[i] = x[row[i]] for i in [from, to) */
typedef void gather_fn(float *y, const float *x, const int32_t *row, int64_t width, int64_t from,
                       int64_t to);
/* ---- Adam ---------------------------------------------------------------- */

/* torch.optim.Adam with L2 weight decay; adam_rule() fills it for step t = 1, 2, …
 *   g += wd w;  m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g²
 *   w -= lr / (1-b1^t) · m / (sqrt(v) / sqrt(1-b2^t) + eps) */
struct adam {
    float beta1, beta2, one_minus_beta1, one_minus_beta2, weight_decay, eps;
    float step_size;   /* lr / (1-b1^t) */
    float root_factor; /* 1 / sqrt(1-b2^t) */
};
struct adam adam_rule(double lr, double beta1, double beta2, double eps, double weight_decay,
                      int64_t t);
typedef void adam_fn(float *w, float *m, float *v, const float *g, const struct adam *rule,
                     int64_t from, int64_t to);

/* ---- dense products, for gemm.c ------------------------------------------ */

/* Columns of a panel at most; with most instruction sets fewer (panel_width). */
enum { PANEL_WIDTH = 32 };

/* C[r, 0…n) = Σ_i a[r·a_row + i·a_inner] B[i, 0…n) + beta C, n <= panel_width; rows of C are
 * c_row floats apart. With beta 0, C is not read. */
struct panel {
    float *c;
    const float *a;
    int64_t c_row, a_row, a_inner, n, k;
    float beta;
};
/* Lays out B[i, j] = alpha b[i·b_inner + j·b_col] for panel_product; panel has
 * k·panel_width floats. */
typedef void panel_pack_fn(float *panel, const float *b, int64_t b_inner, int64_t b_col, int64_t n,
                           int64_t k, float alpha);
typedef void panel_product_fn(const struct panel *p, const float *panel, int64_t from, int64_t to);

enum { TALL_ROWS = 4, TALL_COLS = 16 };

/* C(m, n) += Aᵀ(m, k) B(k, n), with contiguous rows; m is a multiple of TALL_ROWS, n of TALL_COLS.
 */
typedef void tall_product_fn(float *c, const float *a, const float *b, int64_t m, int64_t n,
                             int64_t k);

enum { THIN_COLS = 8 };

/* panel_product for rows [0, m), bit for bit, if a_row is 1 and n at most THIN_COLS; B(k, n) is not
 * packed. */
typedef void thin_product_fn(const struct panel *p, const float *b, int64_t m);

/* ---- for benchmarks ------------------------------------------------------ */

/* rounds × peak_chains independent vector multiply-adds in registers: the peak rate of this
 * instruction set. out (PEAK_ROW small, different numbers) is input and result, so that the
 * compiler cannot remove them. */
enum { PEAK_ROW = 64 };
typedef void fma_peak_fn(float *out, int64_t rounds);

/* out (PEAK_ROW) = the sum of rows row[from] … row[to-1] of x, PEAK_ROW floats each: the pure cost
 * of gathering. */
typedef void gather_peak_fn(float *out, const float *x, const int32_t *row, int64_t from,
                            int64_t to);

/* ---- the table ----------------------------------------------------------- */

/* clang-format off */
#define SIMD_KERNELS(X)                                                                        \
    X(spmm) X(spmm_heads) X(sddmm) X(edge_add) X(edge_softmax) X(edge_softmax_grad)            \
    X(edge_row_sum) X(attend) X(attend_columns) X(unary) X(unary_grad) X(fill) X(scale) X(axpby) X(mul) X(square_diff)     \
    X(dropout) X(relu_grad) X(bias_act) X(col_affine) X(row_scale) X(row_dot) X(head_dot) X(head_spread)      \
    X(head_outer) X(row_norm)                                                                  \
    X(row_normalize_grad) X(copy_cols) X(softmax) X(log_softmax) X(softmax_grad)               \
    X(log_softmax_grad) X(col_sum) X(col_var) X(col_combine) X(reduce) X(reduce_combine)       \
    X(pair_dot) X(pair_grad) X(gather) X(adam) X(fma_peak) X(gather_peak) X(panel_pack) X(panel_product)      \
    X(tall_product) X(thin_product)
/* clang-format on */

typedef softmax_fn log_softmax_fn;
typedef softmax_grad_fn log_softmax_grad_fn;

struct simd {
    const char *name; /* of the instruction set */
    int lanes;        /* floats per vector */
    int panel_width;  /* columns that panel_product takes */
    int peak_chains;  /* of fma_peak */
#define SIMD_MEMBER(kernel) kernel##_fn *kernel;
    SIMD_KERNELS(SIMD_MEMBER)
#undef SIMD_MEMBER
};

/* The widest table that this processor can run, or the one that the environment variable CONSM_SIMD
 * names: base, avx2 or avx512 on x86-64; base or neon, which are the same, on aarch64. The same
 * result on every call. */
const struct simd *simd_best(void);

/* The table with that name; NULL if the processor cannot run it. */
const struct simd *simd_named(const char *name);

/* CONSM_EINVAL if CONSM_SIMD names a set that cannot run here. */
consm_status simd_check(void);

/* Tables that run here, narrowest first, then NULL. For tests. */
const struct simd *simd_table(int i);

#endif
