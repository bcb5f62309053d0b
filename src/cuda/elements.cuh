/* Functions of single elements and of rows of classes, for kernels and for tails of kernels. */
#ifndef CUDA_ELEMENTS_CUH
#define CUDA_ELEMENTS_CUH

#include "cuda/device.cuh"

__device__ inline float logistic(float x)
{
    const float e = expf(-fabsf(x));
    return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

__device__ inline float unary_value(enum op op, float x, float a, float b)
{
    switch (op) {
    case OP_RELU: return x > 0 ? x : 0;
    case OP_LEAKY_RELU: return x > 0 ? x : a * x;
    case OP_ELU: return x > 0 ? x : expm1f(x);
    case OP_TANH: return tanhf(x);
    case OP_SIGMOID: return logistic(x);
    case OP_LOG_SIGMOID: return fminf(x, 0) - log1pf(expf(-fabsf(x)));
    case OP_EXP: return expf(x);
    case OP_LOG: return logf(x > a ? x : a);
    case OP_SQUARE: return x * x;
    case OP_ABS: return fabsf(x);
    default: return x < a ? a : x > b ? b : x;
    }
}

/* Whether a derivative is computed from x; the others are from y = f(x). */
__host__ __device__ inline bool slope_takes_input(enum op op)
{
    return op == OP_LOG_SIGMOID || op == OP_LOG || op == OP_SQUARE || op == OP_ABS ||
           op == OP_CLAMP;
}

/* f'(x); s is x or y */
__device__ inline float unary_slope(enum op op, float s, float a, float b)
{
    switch (op) {
    case OP_RELU: return s > 0 ? 1 : 0;
    case OP_LEAKY_RELU: return s > 0 ? 1 : a;
    case OP_ELU: return s > 0 ? 1 : s + 1;
    case OP_TANH: return 1 - s * s;
    case OP_SIGMOID: return s * (1 - s);
    case OP_LOG_SIGMOID: return logistic(-s);
    case OP_EXP: return s;
    case OP_LOG: return s > a ? 1 / s : 0;
    case OP_SQUARE: return 2 * s;
    case OP_ABS: return s > 0 ? 1 : s < 0 ? -1 : 0;
    default: return s >= a && s <= b ? 1 : 0;
    }
}

/* The largest of a row's x, and Σ exp(x - most), in all its lanes. */
struct normaliser {
    float most, total;
};

__device__ inline struct normaliser normaliser_of(const float *x, int64_t cols, int lane, int lanes)
{
    struct normaliser n = {-INFINITY, 0};
    for (int64_t c = lane; c < cols; c += lanes)
        n.most = fmaxf(n.most, x[c]);
    n.most = lanes_max(n.most, 1, lanes);
    for (int64_t c = lane; c < cols; c += lanes)
        n.total += expf(x[c] - n.most);
    n.total = lanes_sum(n.total, 1, lanes);
    return n;
}

#endif
