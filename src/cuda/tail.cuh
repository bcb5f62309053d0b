/* The work after a row's result in the same kernel. */

/*
 * On a small graph a kernel's work takes less time than its start, and most of a step is a sparse
 * product followed by operations on single rows: bias, activation, dropout, a product with a small
 * matrix, the gradient of the loss. The warp that finished a row of the product continues with
 * them. Every result is written to memory and read from there, as with separate kernels. chains.cu
 * decides what is joined.
 */
#ifndef CUDA_TAIL_CUH
#define CUDA_TAIL_CUH

#include "cuda/elements.cuh"

/* An operation on one row. Sources as in ops.def. */
struct tail_op {
    enum op op, function;
    bool transposed; /* of a product's second matrix */
    int cols, inner; /* of the result; of the first source */
    int heads;
    float a, b;
    float *out, *beside;
    const float *src[NODE_SOURCES];
    const int64_t *start; /* of an index */
    const int32_t *item, *row, *label;
    float count;              /* of labelled rows */
    const int64_t *via_start; /* its rows are those that an index has for the chain's row; */
    const int32_t *via_item;  /* NULL: it is the chain's row */
    struct drop drop;
};

enum { TAIL_MOST = 14 }; /* operations */
struct tail {
    int count;
    struct tail_op op[TAIL_MOST];
};

/* Row r of a source with `cols` columns. */
__device__ inline const float *tail_source(const struct tail_op &t, int i, int64_t r, int cols)
{
    return t.src[i] + r * cols;
}

__device__ inline void tail_put(const struct tail_op &t, int64_t r, int c, float x)
{
    t.out[r * t.cols + c] = x;
}

/* How lanes cover some columns, in groups. */
struct tail_lanes {
    int at, group, groups, lanes;
};

__device__ inline struct tail_lanes tail_lanes(int cols)
{
    int lanes = 1;
    while (lanes < cols && lanes < WARP)
        lanes <<= 1;
    const int lane = threadIdx.x % WARP;
    return {lane & (lanes - 1), lane / lanes, WARP / lanes, lanes};
}

/* Row r of x·W, or x·Wᵀ: groups of lanes share the inner dimension. */
__device__ inline void tail_product(const struct tail_op &t, int64_t r)
{
    const struct tail_lanes me = tail_lanes(t.cols);
    const float *x = tail_source(t, 0, r, t.inner), *w = t.src[1];
    const int along = t.transposed ? 1 : t.cols, across = t.transposed ? t.inner : 1;
    for (int first = 0; first < t.cols; first += me.lanes) {
        const int c = first + me.at;
        float sum = 0;
        if (c < t.cols) {
#pragma unroll 8
            for (int k = me.group; k < t.inner; k += me.groups)
                sum = fmaf(x[k], w[k * along + c * across], sum);
        }
        sum = lanes_sum(sum, me.lanes, WARP);
        if (me.group == 0 && c < t.cols)
            tail_put(t, r, c, sum);
    }
}

/* g·w_r/Σw·(softmax(x_r) - one-hot), with equal weights. */
__device__ inline void tail_nll_grad(const struct tail_op &t, int64_t r)
{
    const int lane = threadIdx.x % WARP;
    const float *x = tail_source(t, 1, r, t.cols);
    const float times = (float)(t.start[r + 1] - t.start[r]);
    const struct normaliser n = normaliser_of(x, t.cols, lane, WARP);
    const float log_total = n.most + logf(n.total), factor = *t.src[0] * times / t.count;
    const int label = times != 0 ? t.label[r] : 0;
    for (int c = lane; c < t.cols; c += WARP)
        tail_put(t, r, c,
                 times != 0 ? factor * (expf(x[c] - log_total) - (c == label ? 1 : 0)) : 0);
}

/* Σ_k x[r, h·d+k] a[h, k] of every head */
__device__ inline void tail_head_dot(const struct tail_op &t, int64_t r)
{
    const int d = t.inner / t.heads;
    const float *x = tail_source(t, 0, r, t.inner);
    const struct tail_lanes me = tail_lanes(t.heads);
    for (int first = 0; first < t.heads; first += me.lanes) {
        const int h = first + me.at;
        float sum = 0;
        for (int k = me.group; h < t.heads && k < d; k += me.groups)
            sum = fmaf(x[h * d + k], t.src[1][h * d + k], sum);
        sum = lanes_sum(sum, me.lanes, WARP);
        if (me.group == 0 && h < t.heads)
            tail_put(t, r, h, sum);
    }
}

/* The gradient of a row's score: ⟨g, bent⟩ - ⟨g, result⟩·slopes of every head. */
__device__ inline void tail_attend_rows(const struct tail_op &t, int64_t r)
{
    const int d = t.inner / t.heads;
    const float *g = tail_source(t, 0, r, t.inner), *y = tail_source(t, 1, r, t.inner);
    const float *steep = tail_source(t, 2, r, t.inner);
    const float *totals = tail_source(t, 3, r, 2 * t.heads);
    const float *x = tail_source(t, 4, r, t.heads);
    const bool gate = t.function == OP_TANH;
    const struct tail_lanes me = tail_lanes(t.heads);
    for (int first = 0; first < t.heads; first += me.lanes) {
        const int h = first + me.at;
        float along = 0, bent = 0;
        for (int k = me.group; h < t.heads && k < d; k += me.groups) {
            const int at = h * d + k;
            along = gate ? 0 : fmaf(g[at], y[at], along);
            bent = fmaf(g[at], steep[at], bent);
        }
        along = lanes_sum(along, me.lanes, WARP);
        bent = lanes_sum(bent, me.lanes, WARP);
        if (me.group != 0 || h >= t.heads)
            continue;
        tail_put(t, r, h, bent - along * totals[t.heads + h]);
        if (t.beside) {
            float *packed = t.beside + r * 3 * t.heads + h;
            packed[0] = x[h];
            packed[t.heads] = totals[h];
            packed[2 * t.heads] = along;
        }
    }
}

/* Element c of row r of an elementwise operation; x, y, z: the sources' rows. */
__device__ inline float tail_element(const struct tail_op &t, const float *x, const float *y,
                                     const float *z, int64_t r, int c)
{
    switch (t.op) {
    case OP_ADD_BIAS: return x[c] + t.src[1][c];
    case OP_BIAS_RELU_DROPOUT: {
        const float s = x[c] + t.src[1][c];
        vec<1> v = {{s > 0 ? s : 0}};
        drop_row<1>(v, t.drop, r, c, t.cols);
        return v.v[0];
    }
    case OP_DROPOUT: {
        vec<1> v = {{x[c]}};
        drop_row<1>(v, t.drop, r, c, t.cols);
        return v.v[0];
    }
    case OP_BIAS_RELU_DROPOUT_GRAD: return y[c] > 0 ? x[c] * t.drop.scale : 0;
    case OP_AXPBY: return fmaf(t.a, x[c], t.b * y[c]);
    case OP_SCALE: return t.a * x[c];
    case OP_MUL: return x[c] * y[c];
    case OP_HEAD_SPREAD: return x[c / (t.cols / t.heads)] * t.src[1][c];
    case OP_GATHER: return t.src[0][(int64_t)t.row[r] * t.cols + c];
    case OP_SEGMENT_SUM: {
        float sum = 0;
        for (int64_t k = t.start[r]; k < t.start[r + 1]; k++)
            sum += t.src[0][(int64_t)t.item[k] * t.cols + c];
        return sum;
    }
    case OP_UNARY_GRAD:
        return x[c] *
               unary_slope(t.function, slope_takes_input(t.function) ? y[c] : z[c], t.a, t.b);
    default: return unary_value(t.op, x[c], t.a, t.b);
    }
}

__device__ inline void tail_row(const struct tail_op &t, int64_t r)
{
    switch (t.op) {
    case OP_MATMUL: tail_product(t, r); break;
    case OP_NLL_GRAD: tail_nll_grad(t, r); break;
    case OP_HEAD_DOT: tail_head_dot(t, r); break;
    case OP_ATTEND_ROWS: tail_attend_rows(t, r); break;
    default: {
        const float *x = tail_source(t, 0, r, t.op == OP_HEAD_SPREAD ? t.heads : t.cols);
        const float *y = tail_source(t, 1, r, t.cols);
        const float *z = tail_source(t, 2, r, t.cols);
        for (int c = threadIdx.x % WARP; c < t.cols; c += WARP)
            tail_put(t, r, c, tail_element(t, x, y, z, r, c));
    }
    }
}

/* All lanes of the warp that wrote row r of the chain's first result call it. */
__device__ inline void tail_run(const struct tail &tail, int64_t r)
{
    for (int i = 0; i < tail.count; i++) {
        const struct tail_op &t = tail.op[i];
        __syncwarp();
        if (!t.via_start) {
            tail_row(t, r);
            continue;
        }
        for (int64_t k = t.via_start[r]; k < t.via_start[r + 1]; k++)
            tail_row(t, t.via_item[k]);
    }
}

/* For kernels without a tail. */
struct no_tail {
    char nothing;
};

__device__ inline void tail_run(const struct no_tail &, int64_t)
{
}

#endif
