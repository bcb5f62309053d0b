/* Lanes that share a row, for operations on whole rows. */
#ifndef CUDA_ROWS_CUH
#define CUDA_ROWS_CUH

#include "cuda/patterns.cuh"

__device__ static const float NORM_FLOOR = 1e-8f; /* rows shorter than this count as this long */

/* Σ_c x[c] y[c] over the lanes that share a row, in all of them. */
__device__ static inline float lanes_dot(const float *x, const float *y, int64_t cols, int lane,
                                         int lanes)
{
    float sum = 0;
    for (int64_t c = lane; c < cols; c += lanes)
        sum = fmaf(x[c], y[c], sum);
    return lanes_sum(sum, 1, lanes);
}

/* 1/|x|, which is 1/floor at most. */
__device__ static inline float inverse_length(const float *x, int64_t cols, int lane, int lanes)
{
    return 1 / fmaxf(sqrtf(lanes_dot(x, x, cols, lane, lanes)), NORM_FLOOR);
}

/* The row of this thread; threads after the last row compute with it and write nothing. */
struct row_lane {
    int64_t row;
    bool exists;
    int lane, lanes;
};

__device__ static inline struct row_lane row_lane(int64_t rows, int shift)
{
    const int lanes = 1 << shift;
    const int64_t r = (int64_t)blockIdx.x * (THREADS >> shift) + (threadIdx.x >> shift);
    return {r < rows ? r : rows - 1, r < rows, (int)threadIdx.x & (lanes - 1), lanes};
}

static inline unsigned lane_blocks(int64_t rows, int shift)
{
    return (unsigned)ceil_div(rows, THREADS >> shift);
}

#endif
