/* Shared device code: launching, vectors of floats, Philox, sums in a fixed order. */
#ifndef CUDA_DEVICE_CUH
#define CUDA_DEVICE_CUH

#include "cuda/kernels.cuh"

enum { THREADS = 256, WARP = 32, WARPS = THREADS / WARP };

/* ---- launching ----------------------------------------------------------- */

/* The first statement of a kernel. Its blocks may be on the card before the previous kernel has
 * ended (programmatic dependent launch): they wait here, then let the next kernel's blocks come. */
__device__ inline void begin()
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* The share of a multiprocessor's memory for shared memory, in percent. All kernels use the same
 * (64 KB of Hopper's 228), because a kernel with another share must wait until all blocks of the
 * previous one are gone. */
enum { SHARED_PERCENT = 28 };

/* With another share, for a long kernel that needs more. */
template <class... Parameters, class... Arguments>
void launch_sharing(const struct cuda_context *cx, int percent, void (*kernel)(Parameters...),
                    dim3 grid, unsigned block, Arguments... arguments)
{
    cudaLaunchAttribute early = {};
    cudaLaunchConfig_t config = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = grid;
    config.blockDim = dim3(block);
    config.stream = cx->stream;
    config.attrs = &early;
    config.numAttrs = cx->early ? 1 : 0;
    cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                         percent);
    cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

template <class... Parameters, class... Arguments>
void launch(const struct cuda_context *cx, void (*kernel)(Parameters...), dim3 grid, unsigned block,
            Arguments... arguments)
{
    launch_sharing(cx, SHARED_PERCENT, kernel, grid, block, arguments...);
}

static inline int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static inline unsigned blocks_for(int64_t items, int64_t each)
{
    const int64_t most = 1 << 20, blocks = ceil_div(items, each);
    return (unsigned)(blocks < most ? blocks : most);
}

/* The shift of the smallest power of two that is at least x, up to 2^most. */
static inline int shift_for(int64_t x, int most)
{
    int shift = 0;
    while (shift < most && (int64_t)1 << shift < x)
        shift++;
    return shift;
}

/* ---- vectors of 1, 2 or 4 floats ----------------------------------------- */

/* Aligned like CUDA's vector types. */
template <int V> struct alignas(V * sizeof(float)) vec {
    float v[V];
};

template <int V> __device__ inline vec<V> load(const float *p)
{
    vec<V> x;
    if constexpr (V == 4)
        *(float4 *)x.v = *(const float4 *)p;
    else if constexpr (V == 2)
        *(float2 *)x.v = *(const float2 *)p;
    else
        x.v[0] = *p;
    return x;
}

template <int V> __device__ inline void store(float *p, const vec<V> &x)
{
    if constexpr (V == 4)
        *(float4 *)p = *(const float4 *)x.v;
    else if constexpr (V == 2)
        *(float2 *)p = *(const float2 *)x.v;
    else
        *p = x.v[0];
}

/* How many floats at a time suit rows of that length; memory blocks are aligned to 64 bytes. */
static inline int vector_for(int64_t cols)
{
    return cols % 4 == 0 ? 4 : cols % 2 == 0 ? 2 : 1;
}

/* Element by element: f.at<V>(e) computes elements e … e+V-1. */
template <class F> __global__ void __launch_bounds__(THREADS) flat_kernel(F f, int64_t count)
{
    begin();
    const int64_t stride = (int64_t)gridDim.x * THREADS * 4;
    for (int64_t e = ((int64_t)blockIdx.x * THREADS + threadIdx.x) * 4; e < count; e += stride) {
        if (e + 4 <= count)
            f.template at<4>(e);
        else
            for (int64_t i = e; i < count; i++)
                f.template at<1>(i);
    }
}

template <class F> void flat(const struct cuda_context *cx, int64_t count, F f)
{
    if (count > 0)
        launch(cx, flat_kernel<F>, blocks_for(count, THREADS * 4), THREADS, f, count);
}

/* The same by rows: f.at<V>(r, c) computes elements c … c+V-1 of row r. 2^shift threads a row. */
template <int V, class F>
__global__ void __launch_bounds__(THREADS) rows_kernel(F f, int64_t rows, int64_t cols, int shift)
{
    begin();
    const int64_t stride = (int64_t)gridDim.x * (THREADS >> shift);
    const int64_t first = (int64_t)(threadIdx.x & ((1u << shift) - 1)) * V;
    for (int64_t r = (int64_t)blockIdx.x * (THREADS >> shift) + (threadIdx.x >> shift); r < rows;
         r += stride)
        for (int64_t c = first; c < cols; c += (int64_t)V << shift)
            f.template at<V>(r, c);
}

/* quads: 4 floats at a time are possible, sources included. */
template <class F>
void by_rows(const struct cuda_context *cx, int64_t rows, int64_t cols, bool quads, F f)
{
    if (rows == 0 || cols == 0)
        return;
    const int shift = shift_for(quads ? cols / 4 : cols, 8);
    const unsigned grid = blocks_for(rows, THREADS >> shift);
    if (quads)
        launch(cx, rows_kernel<4, F>, grid, THREADS, f, rows, cols, shift);
    else
        launch(cx, rows_kernel<1, F>, grid, THREADS, f, rows, cols, shift);
}

/* ---- random numbers: the same function as src/base/rng.c ----------------- */

__device__ inline uint4 philox(uint32_t low, uint32_t high, uint32_t stream,
                               const struct step *step)
{
    uint32_t c0 = low, c1 = high, c2 = (uint32_t)step->number, c3 = stream;
    uint32_t k0 = (uint32_t)step->seed, k1 = (uint32_t)(step->seed >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        const uint32_t high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
        const uint32_t high1 = __umulhi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
        c0 = high1 ^ c1 ^ k0;
        c2 = high0 ^ c3 ^ k1;
        c1 = low1;
        c3 = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return make_uint4(c0, c1, c2, c3);
}

__device__ inline uint32_t word_of(const uint4 &w, uint32_t i)
{
    return i & 2 ? (i & 1 ? w.w : w.z) : (i & 1 ? w.y : w.x);
}

/* Which elements are kept, as in src/cpu/simd.h. */
struct drop {
    uint32_t bits, threshold, stream; /* threshold 0: all are kept */
    float scale;
    const int64_t *number; /* (rows) each row's number in the whole, or NULL */
    const struct step *step;
};

struct drop drop_of(const struct instr *in, const struct cuda_context *cx);

/* The factors of elements e … e+V-1 of the stream; e is a multiple of V. */
template <int V> __device__ inline vec<V> drop_factors(const struct drop &d, uint64_t e)
{
    vec<V> f;
    const uint64_t first = e * d.bits, block = first >> 7;
    const uint4 words = philox((uint32_t)block, (uint32_t)(block >> 32), d.stream, d.step);
#pragma unroll
    for (int i = 0; i < V; i++) {
        const uint32_t at = (uint32_t)(first & 127) + (uint32_t)i * d.bits;
        const uint32_t number = word_of(words, at >> 5) >> (at & 31) & ((1u << d.bits) - 1);
        f.v[i] = number >= d.threshold ? d.scale : 0;
    }
    return f;
}

/* Applies dropout to x: elements c … c+V-1 of row r of an array with that many columns. A dropped
 * NaN disappears, as on the CPU. */
template <int V>
__device__ inline void drop_row(vec<V> &x, const struct drop &d, int64_t r, int64_t c, int64_t cols)
{
    if (d.threshold == 0)
        return;
    const int64_t row = d.number ? d.number[r] : r;
    const vec<V> f = drop_factors<V>(d, (uint64_t)(row * cols + c));
#pragma unroll
    for (int i = 0; i < V; i++)
        x.v[i] = f.v[i] != 0 ? x.v[i] * f.v[i] : 0;
}

/* ---- sums in a fixed order ----------------------------------------------- */

/* Over lanes that differ in the bits of [from, to); all of them get the result. */
template <class T> __device__ inline T lanes_sum(T x, int from, int to)
{
    for (int bit = from; bit < to; bit <<= 1)
        x += __shfl_xor_sync(0xffffffffu, x, bit);
    return x;
}

__device__ inline float lanes_max(float x, int from, int to)
{
    for (int bit = from; bit < to; bit <<= 1)
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, bit));
    return x;
}

/* Over a block with any number of warps; all threads get the result. Ends with a barrier, so that
 * it may be called again. */
template <class T> __device__ inline T block_sum(T x)
{
    __shared__ T part[WARP];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    x = lanes_sum(x, 1, WARP);
    if (lane == 0)
        part[warp] = x;
    __syncthreads();
    x = lanes_sum(lane < warps ? part[lane] : T(0), 1, WARP);
    __syncthreads();
    return x;
}

/* Scratch starts with counters, which are zero between kernels. */
enum { COUNTERS = 16384, COUNTER_BYTES = COUNTERS * 4 };

static inline void *scratch_of(const struct instr *in)
{
    return (char *)in->scratch + COUNTER_BYTES;
}

static inline uint32_t *counters_of(const struct instr *in)
{
    return (uint32_t *)in->scratch;
}

/* True in the last block to arrive: it can read what the others wrote before, with __ldcg. It sums
 * in a fixed order, so it does not matter which block that is. */
__device__ inline bool last_to_arrive(uint32_t *counter, uint32_t blocks)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(counter, 1u) == blocks - 1;
        if (last)
            *counter = 0;
    }
    __syncthreads();
    if (last)
        __threadfence();
    return last;
}

#define KERNEL(name) void cuda_##name(const struct instr *in, const struct cuda_context *cx)

#define OP(NAME, name, ...) KERNEL(name);
#include "program/ops.def"
#undef OP

/* Scratch bytes after the counters; one function for each file that needs scratch. Negative: none,
 * not even the counters. */
int64_t scratch_dense(const struct instr *in);
int64_t scratch_gemm(const struct instr *in);
int64_t scratch_rows(const struct instr *in);
int64_t scratch_norm(const struct instr *in);
int64_t scratch_loss(const struct instr *in);
int64_t scratch_sparse(const struct instr *in);
int64_t scratch_edges(const struct instr *in);
int64_t scratch_pairs(const struct instr *in);
int64_t scratch_attend(const struct instr *in);
int64_t scratch_attend_columns(const struct instr *in);
int64_t scratch_heads(const struct instr *in);
int64_t scratch_spectral(const struct instr *in);
int64_t scratch_keep(const struct instr *in);
int64_t scratch_transport(const struct instr *in);
int64_t scratch_hops(const struct instr *in);

#endif
