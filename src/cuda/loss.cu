/* Softmax and the losses. A row of classes has 2^shift neighbouring lanes. */
#include "cuda/elements.cuh"
#include "cuda/reduce.cuh"

int64_t scratch_loss(const struct instr *in)
{
    switch (in->op) {
    case OP_NLL: return 2 * TOTAL_MOST * (int64_t)sizeof(double);
    case OP_NLL_GRAD: return total_bytes(in->attr.index->count) + (int64_t)sizeof(double);
    case OP_BCE:
    case OP_L1:
    case OP_MSE: return total_bytes(in->src_rows[0] * in->src_cols[0]);
    default: return -1;
    }
}

/* ---- rows ---------------------------------------------------------------- */

enum rowwise { SOFTMAX, LOG_SOFTMAX, SOFTMAX_GRAD, LOG_SOFTMAX_GRAD };

struct classes {
    float *out;
    const float *x, *y;
    int64_t rows, cols;
};

/* Lanes after the last row compute with it and write nothing. */
template <enum rowwise KIND>
static __global__ void __launch_bounds__(THREADS) rowwise_kernel(struct classes a, int shift)
{
    begin();
    const int lanes = 1 << shift, lane = threadIdx.x & (lanes - 1);
    const int64_t mine = (int64_t)blockIdx.x * (THREADS >> shift) + (threadIdx.x >> shift);
    const bool exists = mine < a.rows;
    const int64_t r = exists ? mine : a.rows - 1;
    const float *x = a.x + r * a.cols, *y = a.y + r * a.cols;
    float *out = a.out + r * a.cols;
    if (KIND == SOFTMAX || KIND == LOG_SOFTMAX) {
        const struct normaliser n = normaliser_of(x, a.cols, lane, lanes);
        const float log_total = n.most + logf(n.total);
        for (int64_t c = lane; exists && c < a.cols; c += lanes)
            out[c] = KIND == SOFTMAX ? expf(x[c] - n.most) / n.total : x[c] - log_total;
        return;
    }
    /* y∘(g - ⟨g, y⟩) and g - exp(y)·Σg, x being g */
    float sum = 0;
    for (int64_t c = lane; c < a.cols; c += lanes)
        sum += KIND == SOFTMAX_GRAD ? x[c] * y[c] : x[c];
    sum = lanes_sum(sum, 1, lanes);
    for (int64_t c = lane; exists && c < a.cols; c += lanes)
        out[c] = KIND == SOFTMAX_GRAD ? y[c] * (x[c] - sum) : x[c] - expf(y[c]) * sum;
}

template <enum rowwise KIND>
static void launch_rowwise(const struct instr *in, const struct cuda_context *cx)
{
    const int shift = shift_for(in->cols, 5);
    if (in->rows > 0 && in->cols > 0)
        launch(cx, rowwise_kernel<KIND>, (unsigned)ceil_div(in->rows, THREADS >> shift), THREADS,
               classes{in->out, in->src[0], in->src[1], in->rows, in->cols}, shift);
}

KERNEL(softmax)
{
    launch_rowwise<SOFTMAX>(in, cx);
}

KERNEL(log_softmax)
{
    launch_rowwise<LOG_SOFTMAX>(in, cx);
}

KERNEL(softmax_grad)
{
    launch_rowwise<SOFTMAX_GRAD>(in, cx);
}

KERNEL(log_softmax_grad)
{
    launch_rowwise<LOG_SOFTMAX_GRAD>(in, cx);
}

/* ---- negative log likelihood of labelled rows ---------------------------- */

struct labelled {
    float *out;
    const float *x, *weight;
    const int32_t *row, *label;
    int64_t cols;
};

/* Σ_k w_k (-log softmax(x_r)[label_r]) / Σ w, r = row[k]; 0 if the weights are */
static __global__ void __launch_bounds__(TOTAL_THREADS)
    nll_kernel(struct labelled a, int64_t count, int64_t chunk, double *partial, uint32_t *counter,
               int shift)
{
    begin();
    const int lanes = 1 << shift, lane = threadIdx.x & (lanes - 1), slots = TOTAL_THREADS >> shift;
    const int64_t first = blockIdx.x * chunk, last = first + chunk < count ? first + chunk : count;
    double loss = 0, weight = 0;
    for (int64_t base = first; base < last; base += slots) {
        const int64_t mine = base + (threadIdx.x >> shift), k = mine < last ? mine : last - 1;
        const int32_t r = a.row[k];
        const float w = a.weight ? a.weight[k] : 1;
        const float *x = a.x + (int64_t)r * a.cols;
        const struct normaliser n = normaliser_of(x, a.cols, lane, lanes);
        if (mine < last && lane == 0) {
            if (w != 0)
                loss += (double)w * (double)(n.most + logf(n.total) - x[a.label[r]]);
            weight += (double)w;
        }
    }
    loss = block_sum(loss);
    weight = a.weight ? block_sum(weight) : (double)(last > first ? last - first : 0);
    if (gridDim.x > 1) {
        if (threadIdx.x == 0) {
            partial[2 * blockIdx.x] = loss;
            partial[2 * blockIdx.x + 1] = weight;
        }
        if (!last_to_arrive(counter, gridDim.x))
            return;
        const bool mine = threadIdx.x < gridDim.x;
        loss = block_sum(mine ? __ldcg(&partial[2 * threadIdx.x]) : 0.0);
        weight = block_sum(mine ? __ldcg(&partial[2 * threadIdx.x + 1]) : 0.0);
    }
    if (threadIdx.x == 0)
        *a.out = weight > 0 ? (float)(loss / weight) : 0;
}

KERNEL(nll)
{
    const struct index *index = in->attr.index;
    const int shift = in->src_cols[0] <= 16 ? 0 : shift_for(in->src_cols[0], 5);
    const int64_t wanted = ceil_div(index->count, TOTAL_THREADS >> shift), most = TOTAL_MOST;
    const int64_t blocks = wanted < 1 ? 1 : wanted < most ? wanted : most;
    launch(
        cx, nll_kernel, (unsigned)blocks, TOTAL_THREADS,
        labelled{in->out, in->src[0], in->attr.weight, index->row, in->attr.label, in->src_cols[0]},
        index->count, ceil_div(index->count, blocks), (double *)scratch_of(in), counters_of(in),
        shift);
}

/* Σ w, for the gradient */
struct weight_term {
    double *out;
    const float *weight;
    __device__ double at(int64_t k) const
    {
        return (double)weight[k];
    }
    __device__ void finish(double sum) const
    {
        *out = sum;
    }
};

struct labelled_grad {
    float *out;
    const float *g, *x, *weight;
    const int64_t *start;
    const int32_t *item, *label;
    int64_t rows, cols, count;
    const double *weights; /* their sum; NULL: the count */
};

/* g·w_r/Σw·(softmax(x_r) - one-hot), w_r over all k that name r */
static __global__ void __launch_bounds__(THREADS) nll_grad_kernel(struct labelled_grad a, int shift)
{
    begin();
    const int lanes = 1 << shift, lane = threadIdx.x & (lanes - 1);
    const int64_t mine = (int64_t)blockIdx.x * (THREADS >> shift) + (threadIdx.x >> shift);
    const bool exists = mine < a.rows;
    const int64_t r = exists ? mine : a.rows - 1;
    const float *x = a.x + r * a.cols;
    float *out = a.out + r * a.cols, w = 0;
    for (int64_t k = a.start[r]; k < a.start[r + 1]; k++)
        w += a.weight ? a.weight[a.item[k]] : 1;
    const struct normaliser n = normaliser_of(x, a.cols, lane, lanes);
    const float log_total = n.most + logf(n.total);
    const float factor = *a.g * w / (float)(a.weights ? *a.weights : (double)a.count);
    const int32_t label = w != 0 ? a.label[r] : 0;
    for (int64_t c = lane; exists && c < a.cols; c += lanes)
        out[c] = w != 0 ? factor * (expf(x[c] - log_total) - (c == label ? 1 : 0)) : 0;
}

KERNEL(nll_grad)
{
    const struct index *index = in->attr.index;
    double *weights = NULL;
    const int shift = shift_for(in->cols, 5);
    if (in->rows == 0 || in->cols == 0)
        return;
    if (in->attr.weight) {
        weights = (double *)((char *)scratch_of(in) + total_bytes(index->count));
        total<double>(in, cx, index->count, weight_term{weights, in->attr.weight});
    }
    launch(cx, nll_grad_kernel, (unsigned)ceil_div(in->rows, THREADS >> shift), THREADS,
           labelled_grad{in->out, in->src[0], in->src[1], in->attr.weight, index->start,
                         index->item, in->attr.label, in->rows, in->cols, index->count, weights},
           shift);
}

/* ---- values against targets, weighted ------------------------------------ */

/* max(x,0) - x·t + log(1 + exp(-|x|)): cross-entropy of sigmoid(x) without overflow */
struct bce_loss {
    __device__ static float term(float x, float t)
    {
        return fmaxf(x, 0) - x * t + log1pf(expf(-fabsf(x)));
    }
    __device__ static float slope(float x, float t)
    {
        const float e = expf(-fabsf(x));
        return (x >= 0 ? 1 / (1 + e) : e / (1 + e)) - t;
    }
};

struct l1_loss {
    __device__ static float term(float x, float t)
    {
        return fabsf(x - t);
    }
    __device__ static float slope(float x, float t)
    {
        return x > t ? 1 : x < t ? -1 : 0;
    }
};

struct mse_loss {
    __device__ static float term(float x, float t)
    {
        return (x - t) * (x - t);
    }
    __device__ static float slope(float x, float t)
    {
        return 2 * (x - t);
    }
};

/* Σ w·term(x, t) */
template <class LOSS> struct loss_term {
    float *out;
    const float *x, *t, *w;
    __device__ double at(int64_t e) const
    {
        return (double)(w[e] * LOSS::term(x[e], t[e]));
    }
    __device__ void finish(double sum) const
    {
        *out = (float)sum;
    }
};

/* g·w·slope(x, t) */
template <class LOSS> struct loss_slope {
    float *out;
    const float *g, *x, *t, *w;
    template <int V> __device__ void at(int64_t e) const
    {
        vec<V> s = load<V>(w + e);
        const vec<V> at_x = load<V>(x + e), at_t = load<V>(t + e);
        const float factor = *g;
        for (int i = 0; i < V; i++)
            s.v[i] *= factor * LOSS::slope(at_x.v[i], at_t.v[i]);
        store<V>(out + e, s);
    }
};

#define WEIGHTED(name)                                                                          \
    KERNEL(name)                                                                                \
    {                                                                                           \
        total<double>(in, cx, in->src_rows[0] * in->src_cols[0],                                \
                      loss_term<name##_loss>{in->out, in->src[0], in->src[1], in->src[2]});     \
    }                                                                                           \
    KERNEL(name##_grad)                                                                         \
    {                                                                                           \
        flat(cx, in->rows * in->cols,                                                           \
             loss_slope<name##_loss>{in->out, in->src[0], in->src[1], in->src[2], in->src[3]}); \
    }

WEIGHTED(bce)
WEIGHTED(l1)
WEIGHTED(mse)
