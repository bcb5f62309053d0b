/* Sums over rows and over all elements. Blocks of rows or elements, with sizes that depend only on
 * the shape, are each summed in a fixed order. The last block to finish adds all partial sums in
 * order, in double precision: one kernel, the same bits every time. */
#ifndef CUDA_REDUCE_CUH
#define CUDA_REDUCE_CUH

#include "cuda/device.cuh"

/* How the sum over n rows with that many columns is divided: tiles of 2^shift columns by `splits`
 * blocks of `chunk` rows. */
struct column_plan {
    int shift, tiles, splits;
    int64_t chunk;
};

static inline struct column_plan column_plan(int64_t n, int64_t cols)
{
    enum { ROWS_EACH = 32, MOST = 512 }; /* rows a thread adds; blocks in all, more or less */
    struct column_plan p;
    p.shift = shift_for(cols, n > 1 << 16 ? 5 : 4);
    p.tiles = (int)ceil_div(cols, 1 << p.shift);
    int64_t splits = ceil_div(n, (int64_t)ROWS_EACH * (THREADS >> p.shift));
    const int64_t most = p.tiles > COUNTERS ? 1 : 1 + MOST / p.tiles;
    splits = splits < 1 ? 1 : splits > most ? most : splits;
    p.chunk = ceil_div(n, splits);
    p.splits = p.chunk > 0 ? (int)ceil_div(n, p.chunk) : 1;
    return p;
}

/* Bytes of partial sums, `values` of them for a column. */
static inline int64_t column_bytes(int64_t n, int64_t cols, int64_t values)
{
    return column_plan(n, cols).splits * cols * values * (int64_t)sizeof(float);
}

/* The sum of x over the threads of a block in the same column, in all of them. part: THREADS items
 * of shared memory. */
template <class T> __device__ inline T column_sum(T x, int shift, T *part)
{
    const int columns = 1 << shift, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    x = lanes_sum(x, columns, WARP);
    __syncthreads();
    if (lane < columns)
        part[warp * columns + lane] = x;
    __syncthreads();
    x = part[lane & (columns - 1)];
#pragma unroll
    for (int w = 1; w < WARPS; w++)
        x += part[w * columns + (lane & (columns - 1))];
    return x;
}

/* y[c] = Σ_r f.at(r, c) */
template <class F>
__global__ void __launch_bounds__(THREADS)
    columns_kernel(float *y, F f, int64_t n, int64_t cols, struct column_plan p, float *partial,
                   uint32_t *counters)
{
    __shared__ double part[THREADS];
    begin();
    const int line = threadIdx.x >> p.shift, lines = THREADS >> p.shift;
    const int64_t c = ((int64_t)blockIdx.x << p.shift) + (threadIdx.x & ((1 << p.shift) - 1));
    const int64_t first = blockIdx.y * p.chunk, last = first + p.chunk < n ? first + p.chunk : n;
    float sum = 0;
    if (c < cols) {
#pragma unroll 8
        for (int64_t r = first + line; r < last; r += lines)
            sum += f.at(r, c);
    }
    double total = column_sum<double>(sum, p.shift, part);
    if (p.splits > 1) {
        if (line == 0 && c < cols)
            partial[blockIdx.y * cols + c] = (float)total;
        if (!last_to_arrive(&counters[blockIdx.x], p.splits))
            return;
        total = 0;
        if (c < cols) {
#pragma unroll 4
            for (int s = line; s < p.splits; s += lines)
                total += (double)__ldcg(&partial[s * cols + c]);
        }
        total = column_sum<double>(total, p.shift, part);
    }
    if (line == 0 && c < cols)
        y[c] = (float)total;
}

template <class F>
void columns(const struct instr *in, const struct cuda_context *cx, int64_t n, int64_t cols, F f)
{
    if (cols == 0)
        return;
    const struct column_plan p = column_plan(n, cols);
    launch(cx, columns_kernel<F>, dim3((unsigned)p.tiles, (unsigned)p.splits), THREADS, in->out, f,
           n, cols, p, (float *)scratch_of(in), counters_of(in));
}

/* ---- to one number ------------------------------------------------------- */

enum { TOTAL_THREADS = 512, TOTAL_MOST = 512 };

static inline int64_t total_blocks(int64_t count)
{
    const int64_t blocks = ceil_div(count, TOTAL_THREADS * 8), most = TOTAL_MOST;
    return blocks < 1 ? 1 : blocks < most ? blocks : most;
}

static inline int64_t total_bytes(int64_t count)
{
    return 2 * total_blocks(count) * (int64_t)sizeof(double);
}

/* f.finish(Σ_e f.at(e)), over e < count, by one thread; T is a type that can be added. */
template <class T, class F>
__global__ void __launch_bounds__(TOTAL_THREADS)
    total_kernel(F f, int64_t count, int64_t chunk, T *partial, uint32_t *counter)
{
    begin();
    const int64_t first = blockIdx.x * chunk, last = first + chunk < count ? first + chunk : count;
    T sum = T(0);
#pragma unroll 4
    for (int64_t e = first + threadIdx.x; e < last; e += TOTAL_THREADS)
        sum += f.at(e);
    sum = block_sum(sum);
    if (gridDim.x > 1) {
        if (threadIdx.x == 0)
            partial[blockIdx.x] = sum;
        if (!last_to_arrive(counter, gridDim.x))
            return;
        sum = T(0);
        for (unsigned b = threadIdx.x; b < gridDim.x; b += TOTAL_THREADS)
            sum += __ldcg(&partial[b]);
        sum = block_sum(sum);
    }
    if (threadIdx.x == 0)
        f.finish(sum);
}

template <class T, class F>
void total(const struct instr *in, const struct cuda_context *cx, int64_t count, F f)
{
    const int64_t blocks = total_blocks(count);
    launch(cx, total_kernel<T, F>, (unsigned)blocks, TOTAL_THREADS, f, count,
           ceil_div(count, blocks), (T *)scratch_of(in), counters_of(in));
}

#endif
