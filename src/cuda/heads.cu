/* Products of each row's pieces with one vector per head, for attention. */
#include "cuda/reduce.cuh"

int64_t scratch_heads(const struct instr *in)
{
    return in->op == OP_HEAD_OUTER ? column_bytes(in->src_rows[0], in->src_cols[1], 1) : -1;
}

/* out[i] = Σ_k x[i·d+k] a[(i%heads)·d+k], i = row·heads + head; 2^shift lanes each */
template <int V>
static __global__ void __launch_bounds__(THREADS)
    head_dot_kernel(float *out, const float *x, const float *a, int64_t items, unsigned heads,
                    int64_t d, int shift)
{
    begin();
    const int lanes = 1 << shift, part = threadIdx.x & (lanes - 1);
    const int64_t item = (int64_t)blockIdx.x * (THREADS >> shift) + (threadIdx.x >> shift);
    float sum = 0;
    if (item < items) {
        const float *vector = a + (item % heads) * d;
        for (int64_t c = part * V; c < d; c += lanes * V) {
            const vec<V> s = load<V>(x + item * d + c), t = load<V>(vector + c);
            for (int i = 0; i < V; i++)
                sum = fmaf(s.v[i], t.v[i], sum);
        }
    }
    sum = lanes_sum(sum, 1, lanes);
    if (item < items && part == 0)
        out[item] = sum;
}

template <int V> static void launch_dot(const struct instr *in, const struct cuda_context *cx)
{
    const int64_t items = in->rows * in->cols, d = in->src_cols[1];
    const int shift = shift_for(d / V, 5);
    launch(cx, head_dot_kernel<V>, (unsigned)ceil_div(items, THREADS >> shift), THREADS, in->out,
           in->src[0], in->src[1], items, (unsigned)in->cols, d, shift);
}

KERNEL(head_dot)
{
    if (in->rows * in->cols == 0)
        return;
    if (in->src_cols[1] % 4 == 0)
        launch_dot<4>(in, cx);
    else
        launch_dot<1>(in, cx);
}

/* out[r, h·d+k] = g[r,h] a[h,k] */
struct spread_map {
    float *out;
    const float *g, *a;
    int64_t cols, heads, d;
    template <int V> __device__ void at(int64_t r, int64_t c) const
    {
        vec<V> s = load<V>(a + c);
        const float factor = g[r * heads + (unsigned)c / (unsigned)d];
        for (int i = 0; i < V; i++)
            s.v[i] *= factor;
        store<V>(out + r * cols + c, s);
    }
};

KERNEL(head_spread)
{
    const int64_t heads = in->attr.heads, d = in->cols / heads;
    by_rows(cx, in->rows, in->cols, d % 4 == 0,
            spread_map{in->out, in->src[0], in->src[1], in->cols, heads, d});
}

/* out[h,k] = Σ_r g[r,h] x[r, h·d+k]: the sums of heads·d columns */
struct outer_column {
    const float *g, *x;
    int64_t cols, heads, d;
    __device__ float at(int64_t r, int64_t c) const
    {
        return g[r * heads + (unsigned)c / (unsigned)d] * x[r * cols + c];
    }
};

KERNEL(head_outer)
{
    const int64_t heads = in->attr.heads, width = in->src_cols[1];
    columns(in, cx, in->src_rows[0], width,
            outer_column{in->src[0], in->src[1], width, heads, in->cols});
}
