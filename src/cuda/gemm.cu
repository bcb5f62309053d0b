/* Dense products C = op(A)·op(B), all row-major. Large ones use cuBLAS. Those of graph networks on
 * small graphs have kernels here: they are tiny (511 × 64 by 64 × 7) or reduce many rows to a few
 * numbers (weight gradients). */

/* A block computes a tile of C, over all or one part of the inner dimension. Parts are added in
 * order: for a small C by the last block of a tile, for a larger one by another kernel. */
#include "cuda/device.cuh"

struct gemm {
    float *c;
    const float *a, *b;
    int64_t m, n, k;
    int64_t chunk;  /* of the inner dimension, for a block */
    float *partial; /* (splits, m, n) */
    bool separate;  /* a separate kernel adds the parts */
    uint32_t *counters;
};

/* ---- the kernel ---------------------------------------------------------- */

/* Loads a tile of ROWS rows (of C) by DEPTH of op(A), or of op(B) by columns, into shared memory as
 * tile[depth][row]; along: neighbours in depth are neighbours in memory. */
template <int ROWS, int DEPTH, int BLOCK, bool ALONG>
__device__ inline void load_tile(float (&tile)[DEPTH][ROWS + 1], const float *x, int64_t rows,
                                 int64_t depth_end, int64_t row, int64_t depth, int64_t stride)
{
#pragma unroll
    for (int i = 0; i < ROWS * DEPTH / BLOCK; i++) {
        const int at = i * BLOCK + (int)threadIdx.x;
        const int r = ALONG ? at / DEPTH : at % ROWS, d = ALONG ? at % DEPTH : at / ROWS;
        const bool inside = row + r < rows && depth + d < depth_end;
        const int64_t offset =
            ALONG ? (row + r) * stride + depth + d : (depth + d) * stride + row + r;
        tile[d][r] = inside ? x[offset] : 0;
    }
}

/* Element e of C. */
__device__ inline void add_parts(const struct gemm &g, int64_t e, unsigned splits)
{
    double total = 0;
#pragma unroll 16
    for (unsigned s = 0; s < splits; s++)
        total += (double)__ldcg(&g.partial[s * g.m * g.n + e]);
    g.c[e] = (float)total;
}

/* BM × BN tiles, DEPTH of the inner dimension at a time, TM × TN results a thread. */
template <int BM, int BN, int DEPTH, int TM, int TN, bool TA, bool TB>
__global__ void __launch_bounds__(BM / TM * BN / TN) gemm_kernel(struct gemm g)
{
    enum { BLOCK = BM / TM * BN / TN, ACROSS = BN / TN };
    __shared__ float a[DEPTH][BM + 1], b[DEPTH][BN + 1];
    begin();
    const int tx = threadIdx.x % ACROSS, ty = threadIdx.x / ACROSS;
    const int64_t row = (int64_t)blockIdx.x * BM, col = (int64_t)blockIdx.y * BN;
    const int64_t first = blockIdx.z * g.chunk,
                  last = first + g.chunk < g.k ? first + g.chunk : g.k;
    float sum[TM][TN] = {};
    for (int64_t depth = first; depth < last; depth += DEPTH) {
        load_tile<BM, DEPTH, BLOCK, !TA>(a, g.a, g.m, last, row, depth, TA ? g.m : g.k);
        load_tile<BN, DEPTH, BLOCK, TB>(b, g.b, g.n, last, col, depth, TB ? g.k : g.n);
        __syncthreads();
#pragma unroll 8
        for (int d = 0; d < DEPTH; d++) {
            float x[TM], y[TN];
#pragma unroll
            for (int i = 0; i < TM; i++)
                x[i] = a[d][ty + i * (BM / TM)];
#pragma unroll
            for (int j = 0; j < TN; j++)
                y[j] = b[d][tx + j * ACROSS];
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++)
                    sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
        }
        __syncthreads();
    }
    const bool parts = gridDim.z > 1;
    float *out = parts ? g.partial + blockIdx.z * g.m * g.n : g.c;
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) {
            const int64_t r = row + ty + i * (BM / TM), c = col + tx + j * ACROSS;
            if (r < g.m && c < g.n)
                out[r * g.n + c] = sum[i][j];
        }
    if (!parts || g.separate ||
        !last_to_arrive(&g.counters[blockIdx.y * gridDim.x + blockIdx.x], gridDim.z))
        return;
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) {
            const int64_t r = row + ty + i * (BM / TM), c = col + tx + j * ACROSS;
            if (r < g.m && c < g.n)
                add_parts(g, r * g.n + c, gridDim.z);
        }
}

static __global__ void __launch_bounds__(THREADS) parts_kernel(struct gemm g, unsigned splits)
{
    begin();
    const int64_t e = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (e < g.m * g.n)
        add_parts(g, e, splits);
}

/* ---- which tiles --------------------------------------------------------- */

struct tiles {
    int m, n, depth;
    bool library; /* cuBLAS */
};

static struct tiles tiles_for(int64_t m, int64_t n, int64_t k)
{
    const int64_t ENOUGH = 64; /* tiles that keep the card busy, if the inner dimension helps */
    const int64_t parts = k / 128 + 1, narrow = m < n ? m : n;
    if (narrow > 16 && m * n * k > (int64_t)1 << 25)
        return {0, 0, 0, true};
    if (n <= 8 && m >= 1 << 14)
        return {128, 8, 32, false};
    if (n > 8 && ceil_div(m, 64) * ceil_div(n, 64) * parts >= ENOUGH && narrow > 32)
        return {64, 64, 16, false};
    if (n > 8 && ceil_div(m, 32) * ceil_div(n, 32) * parts >= ENOUGH && narrow > 8)
        return {32, 32, 32, false};
    return {16, 8, 64, false};
}

/* The parts of the inner dimension: enough blocks to keep the card busy. */
static int64_t splits_for(const struct tiles *t, int64_t m, int64_t n, int64_t k)
{
    const int64_t tiles = ceil_div(m, t->m) * ceil_div(n, t->n), depths = ceil_div(k, t->depth);
    int64_t most = 128 / tiles;
    const int64_t long_ones = depths / 16 < 1024 / tiles ? depths / 16 : 1024 / tiles;
    most = long_ones > most ? long_ones : most;
    most = most < depths ? most : depths;
    return most < 1 || tiles > COUNTERS ? 1 : most;
}

static int64_t inner(const struct instr *in)
{
    return in->attr.transposed ? in->src_rows[0] : in->src_cols[0];
}

bool cuda_calls_blas(const struct instr *in)
{
    return in->op == OP_MATMUL && tiles_for(in->rows, in->cols, inner(in)).library;
}

int64_t scratch_gemm(const struct instr *in)
{
    if (in->op != OP_MATMUL)
        return -1;
    const struct tiles t = tiles_for(in->rows, in->cols, inner(in));
    if (t.library)
        return -1;
    const int64_t splits = splits_for(&t, in->rows, in->cols, inner(in));
    return splits > 1 ? splits * in->rows * in->cols * (int64_t)sizeof(float) : 0;
}

template <int BM, int BN, int DEPTH, int TM, int TN>
static void launch_tiles(const struct instr *in, const struct cuda_context *cx, struct gemm g,
                         int64_t splits)
{
    const dim3 grid((unsigned)ceil_div(g.m, BM), (unsigned)ceil_div(g.n, BN), (unsigned)splits);
    const unsigned block = BM / TM * BN / TN;
    const bool ta = in->attr.transposed, tb = in->attr.other_transposed;
    if (ta && tb)
        launch(cx, gemm_kernel<BM, BN, DEPTH, TM, TN, true, true>, grid, block, g);
    else if (ta)
        launch(cx, gemm_kernel<BM, BN, DEPTH, TM, TN, true, false>, grid, block, g);
    else if (tb)
        launch(cx, gemm_kernel<BM, BN, DEPTH, TM, TN, false, true>, grid, block, g);
    else
        launch(cx, gemm_kernel<BM, BN, DEPTH, TM, TN, false, false>, grid, block, g);
}

/* Row-major C = op(A)·op(B) is column-major Cᵀ = op(B)ᵀ·op(A)ᵀ. */
static void library_product(const struct instr *in, const struct cuda_context *cx)
{
    const float one = 1, zero = 0;
    const cublasOperation_t a = in->attr.transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                            b = in->attr.other_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasSgemm_64(cx->blas, b, a, in->cols, in->rows, inner(in), &one, in->src[1], in->src_cols[1],
                   in->src[0], in->src_cols[0], &zero, in->out, in->cols);
}

KERNEL(matmul)
{
    const struct tiles t = tiles_for(in->rows, in->cols, inner(in));
    if (in->rows == 0 || in->cols == 0)
        return;
    if (t.library) {
        library_product(in, cx);
        return;
    }
    const int64_t splits = splits_for(&t, in->rows, in->cols, inner(in));
    const int64_t chunk = ceil_div(ceil_div(inner(in), splits), t.depth) * t.depth;
    const bool separate = splits > 1 && in->rows * in->cols > 2048;
    const struct gemm g = {in->out,  in->src[0],     in->src[1], in->rows,
                           in->cols, inner(in),      chunk,      (float *)scratch_of(in),
                           separate, counters_of(in)};
    if (t.m == 128)
        launch_tiles<128, 8, 32, 1, 8>(in, cx, g, splits);
    else if (t.m == 64)
        launch_tiles<64, 64, 16, 4, 4>(in, cx, g, splits);
    else if (t.m == 32)
        launch_tiles<32, 32, 32, 2, 2>(in, cx, g, splits);
    else
        launch_tiles<16, 8, 64, 1, 1>(in, cx, g, splits);
    if (separate)
        launch(cx, parts_kernel, (unsigned)ceil_div(g.m * g.n, THREADS), THREADS, g,
               (unsigned)splits);
}
