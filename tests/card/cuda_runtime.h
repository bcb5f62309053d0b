/* A simulated card for machines without one: the parts of CUDA that src/cuda uses, on the host. */

/*
 * A kernel's threads are fibres that take turns; they switch at barriers and where lanes of a warp
 * exchange numbers. So a missing barrier, a lane left out of an exchange or a sum over the wrong
 * lanes gives wrong numbers or a deadlock here too. The order of threads and blocks alternates
 * between launches. It says nothing about speed.
 */
#ifndef CARD_CUDA_RUNTIME_H
#define CARD_CUDA_RUNTIME_H

#include <functional>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __launch_bounds__(...)

struct uint3 {
    unsigned x, y, z;
};
struct uint4 {
    unsigned x, y, z, w;
};
struct float2 {
    float x, y;
} __attribute__((aligned(8)));
struct float4 {
    float x, y, z, w;
} __attribute__((aligned(16)));

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c)
    {
    }
};

static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return uint4{x, y, z, w};
}

/* Of the current thread. */
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

/* ---- what threads wait for ---- */

/* All threads of the block; all blocks; all lanes of the warp, each of which sees what the others
 * stored (size bytes) in the returned table of 32 items. */
void card_block_barrier(void);
void card_grid_barrier(void);
const void *card_exchange(const void *mine, size_t size);
int card_block_or(int mine);

static inline void __syncthreads()
{
    card_block_barrier();
}

static inline int __syncthreads_or(int mine)
{
    return card_block_or(mine);
}

static inline void __syncwarp()
{
    char nothing = 0;
    card_exchange(&nothing, sizeof nothing);
}

template <class T> T __shfl_sync(unsigned, T mine, int lane)
{
    return ((const T *)card_exchange(&mine, sizeof mine))[lane & 31];
}

template <class T> T __shfl_xor_sync(unsigned, T mine, int bits)
{
    return ((const T *)card_exchange(&mine, sizeof mine))[(threadIdx.x & 31) ^ (unsigned)bits];
}

static inline unsigned __ballot_sync(unsigned, int mine)
{
    const int *all = (const int *)card_exchange(&mine, sizeof mine);
    unsigned bits = 0;
    for (int lane = 0; lane < 32; lane++)
        bits |= (all[lane] != 0 ? 1u : 0u) << lane;
    return bits;
}

/* ---- single instructions ---- */

static inline void __threadfence()
{
}

static inline unsigned atomicAdd(unsigned *to, unsigned more)
{
    unsigned before = *to;
    *to += more;
    return before;
}

static inline int atomicMin(int *to, int other)
{
    int before = *to;
    *to = other < before ? other : before;
    return before;
}

static inline int atomicCAS(int *to, int expected, int other)
{
    int before = *to;
    *to = before == expected ? other : before;
    return before;
}

static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((uint64_t)a * b >> 32);
}

static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}

static inline int __ffs(int x)
{
    return __builtin_ffs(x);
}

template <class T> T __ldcg(const T *from)
{
    return *from;
}

/* ---- launching ---- */

typedef struct card_stream *cudaStream_t;

enum cudaLaunchAttributeID {
    cudaLaunchAttributeProgrammaticStreamSerialization,
    cudaLaunchAttributeCooperative
};
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    struct {
        int programmaticStreamSerializationAllowed, cooperative;
    } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

enum cudaFuncAttribute { cudaFuncAttributePreferredSharedMemoryCarveout };
static inline void cudaFuncSetAttribute(const void *, cudaFuncAttribute, int)
{
}

/* Runs every thread to its end. Blocks run one after the other, because __shared__ is one place for
 * all of them; kernels whose blocks wait for each other get a single block. */
void card_launch(const cudaLaunchConfig_t *config, const std::function<void()> &thread);

template <class... Parameters, class... Arguments>
void cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                        Arguments... arguments)
{
    card_launch(config, [=] { kernel(arguments...); });
}

#endif
