/* Batch norm. One kernel computes each column's statistics by blocks of rows: a block centres on
 * its own mean, and the last block to finish merges them (Chan et al. 1979), so that large numbers
 * do not cancel. The second kernel applies the result to every element:
 *   y = along_g·g + along_x·(x - mean) + offset */
#include "cuda/reduce.cuh"

#define VARIANCE_FLOOR 1e-5
#define RUNNING_SHARE  0.1

enum { PARTS = 4, RESULTS = 4 };
enum norm_kind { NORM_FORWARD, NORM_XHAT, NORM_GRAD };

struct norm {
    enum norm_kind kind;
    const float *x, *g; /* (n, cols); g NULL except for the gradient */
    const float *gamma, *beta;
    float *running_mean, *running_variance; /* (cols), NULL: not kept */
    int64_t n, cols;
    struct column_plan plan;
    float *mean, *along_g, *along_x, *offset; /* (cols) */
    float *partial;                           /* (splits, PARTS, cols) */
    uint32_t *counters;
};

int64_t scratch_norm(const struct instr *in)
{
    if (in->op != OP_BATCH_NORM && in->op != OP_BATCH_NORM_XHAT && in->op != OP_BATCH_NORM_GRAD)
        return -1;
    return column_bytes(in->rows, in->cols, PARTS) + RESULTS * in->cols * (int64_t)sizeof(float);
}

/* Statistics of some rows of a column. */
struct moments {
    double mean, squares; /* mean of x; Σ (x - mean)² */
    double g, gx;         /* Σ g; Σ g (x - mean) */
};

__device__ static struct moments block_moments(const struct norm &a, int64_t c, int64_t first,
                                               int64_t last, double *part)
{
    const int line = threadIdx.x >> a.plan.shift, lines = THREADS >> a.plan.shift;
    const bool exists = c < a.cols;
    float sum = 0, squares = 0, g = 0, gx = 0;
    struct moments m = {};
    for (int64_t r = first + line; exists && r < last; r += lines)
        sum += a.x[r * a.cols + c];
    m.mean = column_sum<double>(sum, a.plan.shift, part) / (last > first ? last - first : 1);
    for (int64_t r = first + line; exists && r < last; r += lines) {
        const float d = a.x[r * a.cols + c] - (float)m.mean;
        squares = fmaf(d, d, squares);
        if (a.g) {
            g += a.g[r * a.cols + c];
            gx = fmaf(a.g[r * a.cols + c], d, gx);
        }
    }
    m.squares = column_sum<double>(squares, a.plan.shift, part);
    if (a.g) {
        m.g = column_sum<double>(g, a.plan.shift, part);
        m.gx = column_sum<double>(gx, a.plan.shift, part);
    }
    return m;
}

/* Merges the blocks. */
__device__ static struct moments all_moments(const struct norm &a, int64_t c, double *part)
{
    const int line = threadIdx.x >> a.plan.shift, lines = THREADS >> a.plan.shift;
    struct moments m = {};
    double mean = 0, squares = 0, g = 0, gx = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int s = line; c < a.cols && s < a.plan.splits; s += lines) {
            const int64_t left = a.n - s * a.plan.chunk;
            const double rows = (double)(left < a.plan.chunk ? left : a.plan.chunk);
            const float *p = a.partial + s * PARTS * a.cols + c;
            const double theirs = __ldcg(p), away = theirs - m.mean;
            if (pass == 0) {
                mean += rows * theirs / (double)a.n;
                continue;
            }
            squares += (double)__ldcg(p + a.cols) + rows * away * away;
            if (a.g) {
                g += (double)__ldcg(p + 2 * a.cols);
                gx += (double)__ldcg(p + 3 * a.cols) + away * (double)__ldcg(p + 2 * a.cols);
            }
        }
        if (pass == 0)
            m.mean = column_sum<double>(mean, a.plan.shift, part);
    }
    m.squares = column_sum<double>(squares, a.plan.shift, part);
    m.g = column_sum<double>(g, a.plan.shift, part);
    m.gx = column_sum<double>(gx, a.plan.shift, part);
    return m;
}

/* Updates the running statistics; they store the unbiased variance, as in PyTorch. */
__device__ static void update_running(const struct norm &a, int64_t c, double mean, double variance)
{
    const double n = (double)a.n, unbiased = a.n > 1 ? variance * n / (n - 1) : variance;
    const double m = a.running_mean[c], v = a.running_variance[c];
    a.running_mean[c] = (float)(m + RUNNING_SHARE * (mean - m));
    a.running_variance[c] = (float)(v + RUNNING_SHARE * (unbiased - v));
}

/* forward: γ (x - mean)/σ + β;  x̂: (x - mean)/σ;
 * gradient: γ/σ·(g - mean(g) - x̂·mean(g∘x̂)) */
__device__ static void conclude(const struct norm &a, int64_t c, const struct moments &m)
{
    const double share = a.n > 0 ? 1 / (double)a.n : 0, variance = m.squares * share;
    const double inverse = 1 / sqrt(variance + VARIANCE_FLOOR);
    const double gamma = a.kind == NORM_XHAT ? 1 : (double)a.gamma[c], slope = gamma * inverse;
    a.mean[c] = (float)m.mean;
    a.along_g[c] = (float)slope;
    a.along_x[c] = (float)(a.kind == NORM_GRAD ? -slope * inverse * inverse * m.gx * share : slope);
    a.offset[c] = (float)(a.kind == NORM_GRAD      ? -slope * m.g * share
                          : a.kind == NORM_FORWARD ? (double)a.beta[c]
                                                   : 0);
    if (a.running_mean)
        update_running(a, c, m.mean, variance);
}

static __global__ void __launch_bounds__(THREADS) norm_kernel(struct norm a)
{
    __shared__ double part[THREADS];
    begin();
    const int line = threadIdx.x >> a.plan.shift;
    const int64_t c =
        ((int64_t)blockIdx.x << a.plan.shift) + (threadIdx.x & ((1 << a.plan.shift) - 1));
    const int64_t first = blockIdx.y * a.plan.chunk,
                  last = first + a.plan.chunk < a.n ? first + a.plan.chunk : a.n;
    const bool writes = line == 0 && c < a.cols;
    struct moments m = block_moments(a, c, first, last, part);
    if (a.plan.splits > 1) {
        if (writes) {
            float *p = a.partial + blockIdx.y * PARTS * a.cols + c;
            p[0] = (float)m.mean;
            p[a.cols] = (float)m.squares;
            p[2 * a.cols] = (float)m.g;
            p[3 * a.cols] = (float)m.gx;
        }
        if (!last_to_arrive(&a.counters[blockIdx.x], a.plan.splits))
            return;
        m = all_moments(a, c, part);
    }
    if (writes)
        conclude(a, c, m);
}

struct norm_map {
    float *out;
    const float *g, *x, *along_g, *along_x, *mean, *offset;
    int64_t cols;
    template <int V> __device__ void at(int64_t r, int64_t c) const
    {
        vec<V> s = load<V>(x + r * cols + c);
        const vec<V> slope = load<V>(along_x + c), centre = load<V>(mean + c),
                     shift = load<V>(offset + c);
        for (int i = 0; i < V; i++)
            s.v[i] = fmaf(slope.v[i], s.v[i] - centre.v[i], shift.v[i]);
        if (g) {
            const vec<V> t = load<V>(g + r * cols + c), factor = load<V>(along_g + c);
            for (int i = 0; i < V; i++)
                s.v[i] = fmaf(factor.v[i], t.v[i], s.v[i]);
        }
        store<V>(out + r * cols + c, s);
    }
};

/* By the running statistics. */
struct running_map {
    float *out;
    const float *x, *gamma, *beta, *mean, *variance;
    int64_t cols;
    template <int V> __device__ void at(int64_t r, int64_t c) const
    {
        vec<V> s = load<V>(x + r * cols + c);
        for (int i = 0; i < V; i++) {
            const float slope = gamma[c + i] / sqrtf(variance[c + i] + (float)VARIANCE_FLOOR);
            s.v[i] = fmaf(slope, s.v[i] - mean[c + i], beta[c + i]);
        }
        store<V>(out + r * cols + c, s);
    }
};

static void normalize(const struct instr *in, const struct cuda_context *cx, struct norm a)
{
    float *scratch = (float *)scratch_of(in);
    a.n = in->rows;
    a.cols = in->cols;
    if (a.cols == 0)
        return;
    a.plan = column_plan(a.n, a.cols);
    a.mean = scratch;
    a.along_g = a.mean + a.cols;
    a.along_x = a.along_g + a.cols;
    a.offset = a.along_x + a.cols;
    a.partial = a.offset + a.cols;
    a.counters = counters_of(in);
    launch(cx, norm_kernel, dim3((unsigned)a.plan.tiles, (unsigned)a.plan.splits), THREADS, a);
    by_rows(cx, a.n, a.cols, a.cols % 4 == 0,
            norm_map{in->out, a.g, a.x, a.along_g, a.along_x, a.mean, a.offset, a.cols});
}

KERNEL(batch_norm)
{
    struct norm a = {};
    if (in->attr.running) {
        by_rows(cx, in->rows, in->cols, in->cols % 4 == 0,
                running_map{in->out, in->src[0], in->src[1], in->src[2], in->src[3], in->src[4],
                            in->cols});
        return;
    }
    a.kind = NORM_FORWARD;
    a.x = in->src[0];
    a.gamma = in->src[1];
    a.beta = in->src[2];
    a.running_mean = in->update[0];
    a.running_variance = in->update[1];
    normalize(in, cx, a);
}

KERNEL(batch_norm_xhat)
{
    struct norm a = {};
    a.kind = NORM_XHAT;
    a.x = in->src[0];
    normalize(in, cx, a);
}

KERNEL(batch_norm_grad)
{
    struct norm a = {};
    a.kind = NORM_GRAD;
    a.g = in->src[0];
    a.x = in->src[1];
    a.gamma = in->src[2];
    normalize(in, cx, a);
}
