/* Operations over all entries of a row: softmax and its gradient, sums, shares of the nearest, and
 * DropEdge. A warp has a row of the pattern; a block's warps share hubs. */
#include "cuda/patterns.cuh"

int64_t scratch_edges(const struct instr *in)
{
    return in->op == OP_EDGE_DROP ? in->attr.csr->rows * (int64_t)sizeof(float) : -1;
}

/* Rows with more entries than this get a whole block, one after the other. */
enum { HUB = 128 };

/* A row's values of one or several adjacent heads, for a warp or a whole block. */
struct strip {
    int64_t count, stride; /* of values; from one to the next */
    int heads;             /* adjacent heads: a power of two, at most a warp */
    int thread, threads;
    bool block;
};

/* Calls f(strip, h) for the rows of this block: all heads at once if a warp is a whole number of
 * them, else one after the other; h is the first. */
template <class F>
__device__ inline void each_strip(const int64_t *start, int64_t rows, int64_t heads, const F &f)
{
    const int warp = threadIdx.x / WARP;
    const bool together = heads <= WARP && WARP % heads == 0;
    const int64_t first = (int64_t)blockIdx.x * WARPS, mine = first + warp;
    const int64_t own = mine < rows ? start[mine + 1] - start[mine] : 0;
    struct strip s;
    s.stride = together ? 1 : heads;
    s.heads = together ? (int)heads : 1;
    const int64_t turns = together ? 1 : heads, each = together ? heads : 1;
    s.block = false;
    s.thread = threadIdx.x % WARP;
    s.threads = WARP;
    s.count = own * each;
    for (int64_t h = 0; h < turns && mine < rows && own <= HUB; h++)
        f(s, mine, h);
    if (!__syncthreads_or(own > HUB))
        return;
    s.block = true;
    s.thread = threadIdx.x;
    s.threads = THREADS;
    for (int64_t r = first; r < first + WARPS && r < rows; r++) {
        s.count = (start[r + 1] - start[r]) * each;
        for (int64_t h = 0; h < turns && start[r + 1] - start[r] > HUB; h++)
            f(s, r, h);
    }
}

/* The sum, or the maximum, of each head over a strip's threads, in all threads of that head. */
template <bool MAX> __device__ inline float strip_combine(const struct strip &s, float x)
{
    __shared__ float part[THREADS];
    x = MAX ? lanes_max(x, s.heads, WARP) : lanes_sum(x, s.heads, WARP);
    if (!s.block)
        return x;
    const int lane = threadIdx.x % WARP;
    __syncthreads();
    part[threadIdx.x] = x;
    __syncthreads();
    x = part[lane];
    for (int w = 1; w < WARPS; w++)
        x = MAX ? fmaxf(x, part[w * WARP + lane]) : x + part[w * WARP + lane];
    return x;
}

struct edge_rows {
    float *out;
    const float *x, *y;
    const int64_t *start, *entry;
    int64_t rows, heads;
};

/* exp(x - most)/Σ over the row of the same; y may be x */
static __global__ void __launch_bounds__(THREADS) edge_softmax_kernel(struct edge_rows a)
{
    begin();
    each_strip(a.start, a.rows, a.heads, [&](const struct strip &s, int64_t r, int64_t h) {
        const int64_t base = a.start[r] * a.heads + h;
        float most = -INFINITY, total = 0;
        for (int64_t i = s.thread; i < s.count; i += s.threads)
            most = fmaxf(most, a.x[base + i * s.stride]);
        most = strip_combine<true>(s, most);
        for (int64_t i = s.thread; i < s.count; i += s.threads) {
            const float e = expf(a.x[base + i * s.stride] - most);
            a.out[base + i * s.stride] = e;
            total += e;
        }
        total = strip_combine<false>(s, total);
        for (int64_t i = s.thread; i < s.count; i += s.threads)
            a.out[base + i * s.stride] /= total;
    });
}

/* y(g - Σ over the row of g∘y), x being g; out may be x */
static __global__ void __launch_bounds__(THREADS) edge_softmax_grad_kernel(struct edge_rows a)
{
    begin();
    each_strip(a.start, a.rows, a.heads, [&](const struct strip &s, int64_t r, int64_t h) {
        const int64_t base = a.start[r] * a.heads + h;
        float along = 0;
        for (int64_t i = s.thread; i < s.count; i += s.threads)
            along = fmaf(a.x[base + i * s.stride], a.y[base + i * s.stride], along);
        along = strip_combine<false>(s, along);
        for (int64_t i = s.thread; i < s.count; i += s.threads)
            a.out[base + i * s.stride] =
                a.y[base + i * s.stride] * (a.x[base + i * s.stride] - along);
    });
}

/* Σ over the row of x, or of x at entry[k] */
static __global__ void __launch_bounds__(THREADS) edge_sum_kernel(struct edge_rows a)
{
    begin();
    each_strip(a.start, a.rows, a.heads, [&](const struct strip &s, int64_t r, int64_t h) {
        const int shift = __ffs(s.heads) - 1;
        float sum = 0;
        for (int64_t i = s.thread; i < s.count; i += s.threads) {
            int64_t k = a.start[r] + (i >> shift);
            k = a.entry ? a.entry[k] : k;
            sum += a.x[k * a.heads + h + (i & (s.heads - 1))];
        }
        sum = strip_combine<false>(s, sum);
        if (s.thread < s.heads)
            a.out[r * a.heads + h + s.thread] = sum;
    });
}

static void launch_rows(const struct instr *in, const struct cuda_context *cx,
                        void (*kernel)(struct edge_rows))
{
    const struct csr *a = pattern(in);
    if (a->rows > 0 && in->cols > 0)
        launch(cx, kernel, row_blocks(a->rows), THREADS,
               edge_rows{in->out, in->src[0], in->src[1], a->start, stored(in), a->rows, in->cols});
}

KERNEL(edge_softmax)
{
    launch_rows(in, cx, edge_softmax_kernel);
}

KERNEL(edge_softmax_grad)
{
    launch_rows(in, cx, edge_softmax_grad_kernel);
}

KERNEL(edge_sum)
{
    launch_rows(in, cx, edge_sum_kernel);
}

struct choice {
    float *out;
    const float *choice, *w;
    const int64_t *start;
    const int32_t *col;
    int64_t rows, groups;
    bool mean;
};

/* w if the column chose the row's group, divided by the row's sum */
static __global__ void __launch_bounds__(THREADS) nearest_share_kernel(struct choice a)
{
    begin();
    each_strip(a.start, a.rows, 1, [&](const struct strip &s, int64_t r, int64_t) {
        const float group = (float)(r % a.groups);
        float sum = 0;
        for (int64_t i = s.thread; i < s.count; i += s.threads) {
            const int64_t k = a.start[r] + i;
            const float own = a.choice[a.col[k]] == group ? a.w[k] : 0;
            a.out[k] = own;
            sum += own;
        }
        sum = strip_combine<false>(s, sum);
        for (int64_t i = s.thread; i < s.count && a.mean && sum > 0; i += s.threads)
            a.out[a.start[r] + i] /= sum;
    });
}

KERNEL(nearest_share)
{
    const struct csr *a = in->attr.csr;
    if (a->rows > 0)
        launch(cx, nearest_share_kernel, row_blocks(a->rows), THREADS,
               choice{in->out, in->src[0], in->src[1], a->start, a->col, a->rows, in->attr.heads,
                      in->attr.a != 0});
}

/* ---- DropEdge ------------------------------------------------------------ */

struct edge_drop {
    float *out, *inverse_root; /* (nnz), (rows) 1/sqrt(degree of what stays) */
    const int64_t *start, *number;
    const int32_t *col;
    const float *val;
    int64_t rows;
    float rate;
    uint32_t stream;
    const struct step *step;
};

/* A function of the edge's two ends, so that both directions agree. */
__device__ static bool edge_stays(const struct edge_drop &d, int64_t i, int64_t j)
{
    const int64_t a = d.number ? d.number[i] : i, b = d.number ? d.number[j] : j;
    const uint4 words = philox((uint32_t)(a < b ? a : b), (uint32_t)(a < b ? b : a) | 0x80000000u,
                               d.stream, d.step);
    return (float)(words.x >> 8) * 0x1p-24f >= d.rate;
}

/* The kept edges, and the resulting degrees. */
static __global__ void __launch_bounds__(THREADS) edge_drop_kernel(struct edge_drop d)
{
    begin();
    each_strip(d.start, d.rows, 1, [&](const struct strip &s, int64_t r, int64_t) {
        float degree = 0;
        for (int64_t i = s.thread; i < s.count; i += s.threads) {
            const int64_t k = d.start[r] + i, c = d.col[k];
            const bool stays = d.rate == 0 || c == r || edge_stays(d, r, c);
            const float left = stays ? (d.val ? d.val[k] : 1) : 0;
            d.out[k] = left;
            degree += left;
        }
        degree = strip_combine<false>(s, degree);
        if (s.thread == 0)
            d.inverse_root[r] = degree > 0 ? 1 / sqrtf(degree) : 0;
    });
}

static __global__ void __launch_bounds__(THREADS) edge_scale_kernel(struct edge_drop d)
{
    begin();
    each_row(d.start, d.rows, [&](int64_t r, int64_t from, int64_t to) {
        for (int64_t k = from + threadIdx.x % WARP; k < to; k += WARP)
            d.out[k] *= d.inverse_root[r] * d.inverse_root[d.col[k]];
    });
}

KERNEL(edge_drop)
{
    const struct csr *a = in->attr.csr;
    const struct edge_drop d = {
        in->out,    (float *)scratch_of(in), a->start, in->attr.number, a->col, a->val, a->rows,
        in->attr.a, in->attr.stream,         cx->step};
    if (a->rows == 0)
        return;
    launch(cx, edge_drop_kernel, row_blocks(a->rows), THREADS, d);
    launch(cx, edge_scale_kernel, row_blocks(a->rows), THREADS, d);
}
