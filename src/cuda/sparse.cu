/* Sparse products, and operations entry by entry: within a row of the pattern, lanes cover (entry,
 * head) in memory order. Sums over the entries of a row are in edges.cu. */
#include "cuda/spmm.cuh"

int64_t scratch_sparse(const struct instr *in)
{
    switch (in->op) {
    case OP_SPMM:
    case OP_SPMM_FUSED:
    case OP_SPMM_ADD:
    case OP_SPMM_VALUES: return spmm_scratch(in, in->attr.csr->nnz, in->attr.csr->changes);
    default: return -1;
    }
}

/* ---- products ------------------------------------------------------------ */

/* The plain product with a pattern's own values. */
static struct spmm product_of(const struct instr *in, const struct csr *a)
{
    struct spmm s = {};
    s.y = in->out;
    s.x = in->src[0];
    s.start = a->start;
    s.col = a->col;
    s.val = a->val;
    s.own = true;
    s.rows = a->rows;
    s.width = in->cols;
    s.cut = spmm_cut(in, in->attr.csr->nnz, in->attr.csr->changes);
    s.heads = 1;
    s.scale = 1;
    return s;
}

KERNEL(spmm)
{
    const struct spmm s = product_of(in, pattern(in));
    spmm_run(cx, in, &s);
}

KERNEL(spmm_fused)
{
    struct spmm s = product_of(in, in->attr.csr);
    s.bias = in->src[1];
    s.relu = true;
    s.drop = drop_of(in, cx);
    spmm_run(cx, in, &s);
}

KERNEL(spmm_add)
{
    struct spmm s = product_of(in, pattern(in));
    s.scale = in->attr.a;
    s.add = in->src[1];
    s.add_scale = in->attr.b;
    spmm_run(cx, in, &s);
}

KERNEL(spmm_values)
{
    struct spmm s = product_of(in, pattern(in));
    s.val = in->src[0];
    s.own = false;
    s.entry = stored(in);
    s.x = in->src[1];
    s.heads = in->attr.heads;
    spmm_run(cx, in, &s);
}

/* ---- entry by entry ------------------------------------------------------ */

struct edges {
    float *out; /* (nnz, heads) */
    const int64_t *start;
    const int32_t *col;
    int64_t rows, heads;
    const float *x, *y; /* of an entry's row and column */
    float slope;
};

static struct edges edges_of(const struct instr *in, int64_t heads)
{
    const struct csr *a = in->attr.csr;
    return {in->out, a->start, a->col, a->rows, heads, in->src[0], in->src[1], in->attr.a};
}

/* ⟨x_r, y_col⟩ per head: 2^shift lanes for a product of d terms, so that a warp computes several
 * adjacent results at once. */
template <int V>
__global__ void __launch_bounds__(THREADS) sddmm_kernel(struct edges a, int64_t d, int shift)
{
    begin();
    const int lanes = 1 << shift, part = threadIdx.x & (lanes - 1);
    const unsigned slot = (threadIdx.x % WARP) >> shift, slots = WARP >> shift;
    each_row(a.start, a.rows, [&](int64_t r, int64_t from, int64_t to) {
        const unsigned heads = (unsigned)a.heads, items = (unsigned)(to - from) * heads;
        const int64_t width = a.heads * d;
        for (unsigned base = 0; base < items; base += slots) {
            const unsigned item = base + slot, k = item / heads, h = item - k * heads;
            float sum = 0;
            if (item < items) {
                const float *x = a.x + r * width + h * d;
                const float *y = a.y + (int64_t)a.col[from + k] * width + h * d;
                for (int64_t c = part * V; c < d; c += lanes * V) {
                    const vec<V> s = load<V>(x + c), t = load<V>(y + c);
                    for (int i = 0; i < V; i++)
                        sum = fmaf(s.v[i], t.v[i], sum);
                }
            }
            sum = lanes_sum(sum, 1, lanes);
            if (item < items && part == 0)
                a.out[from * a.heads + item] = sum;
        }
    });
}

template <int V> static void launch_sddmm(const struct instr *in, const struct cuda_context *cx)
{
    const int64_t heads = in->attr.heads, d = in->src_cols[0] / heads;
    launch(cx, sddmm_kernel<V>, row_blocks(in->attr.csr->rows), THREADS, edges_of(in, heads), d,
           shift_for(d / V, 5));
}

KERNEL(sddmm)
{
    if (in->attr.csr->rows == 0)
        return;
    switch (vector_for(in->src_cols[0] / in->attr.heads)) {
    case 4: launch_sddmm<4>(in, cx); break;
    case 2: launch_sddmm<2>(in, cx); break;
    default: launch_sddmm<1>(in, cx);
    }
}

/* leaky(x_r + y_col) per head */
static __global__ void __launch_bounds__(THREADS) edge_add_kernel(struct edges a)
{
    begin();
    const unsigned lane = threadIdx.x % WARP;
    each_row(a.start, a.rows, [&](int64_t r, int64_t from, int64_t to) {
        const unsigned heads = (unsigned)a.heads, items = (unsigned)(to - from) * heads;
        for (unsigned item = lane; item < items; item += WARP) {
            const unsigned k = item / heads, h = item - k * heads;
            const float s = a.x[r * a.heads + h] + a.y[(int64_t)a.col[from + k] * a.heads + h];
            a.out[from * a.heads + item] = s > 0 ? s : a.slope * s;
        }
    });
}

KERNEL(edge_add)
{
    if (in->attr.csr->rows > 0)
        launch(cx, edge_add_kernel, row_blocks(in->attr.csr->rows), THREADS,
               edges_of(in, in->cols));
}
