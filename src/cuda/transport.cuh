/* Transport of one set of points to c references by one block, in double precision, in its own
 * memory. */

/*
 * The state is one potential f per reference; columns are normalised exactly:
 *
 *     P_kl = softmax_k((f_k - cost_kl) / ε) / size                                (Eq. sinkhorn)
 *
 * A pass computes P for the current f and sums its rows. Then f is updated as in src/ot/sinkhorn.c:
 * by Sinkhorn's update, or by Newton's, shortened until the dual rises. A small ε is reached
 * through larger ones. Each set starts from zero: waiting for a representative set would take
 * longer than a few more passes.
 */
#ifndef CUDA_TRANSPORT_CUH
#define CUDA_TRANSPORT_CUH

#include "cuda/device.cuh"

enum { SET_THREADS = 256, SET_WARPS = SET_THREADS / WARP };
enum { PLAIN_FIRST = 2, NEWTON_REFERENCES = 64, NEWTON_TRIES = 6 };
enum { STAGE_FACTOR = 4, STAGE_PASSES = 30 };

struct set {
    int64_t c, size;
    const int32_t *point; /* (size) */
    const float *cost;    /* (points there are, c) */
    double *plan; /* (c + 1, size) P·size, and below it ε log Σ_k exp((f_k - cost_kl) / ε) */
    double *f;    /* (c) potentials */
    double *row;  /* (c + 1) Σ_l of plan; after set_assign() the number of points at each */
    double *old, *step; /* (c) of Newton's */
    double *hessian;    /* (c, c); none above NEWTON_REFERENCES */
    int32_t *reference; /* (size) */
};

/* Doubles of a set that do not depend on its size. */
__host__ __device__ static inline int64_t set_fixed(int64_t c)
{
    return 4 * c + 1 + (c <= NEWTON_REFERENCES ? c * c : 0);
}

/* Assigns parts of such doubles to a set. */
__device__ static inline void set_place(struct set &s, double *fixed)
{
    s.f = fixed;
    s.row = s.f + s.c;
    s.old = s.row + s.c + 1;
    s.step = s.old + s.c;
    s.hessian = s.step + s.c;
}

/* plan and row for the current f; Σ_k |row_k - size/c| as a share, in all threads. */
__device__ __attribute__((noinline)) static double set_pass(const struct set &s, double epsilon)
{
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for (int64_t l = threadIdx.x; l < s.size; l += SET_THREADS) {
        const float *cost = s.cost + s.point[l] * s.c;
        double *plan = s.plan + l, highest = -INFINITY, sum = 0;
        for (int64_t k = 0; k < s.c; k++)
            highest = fmax(highest, s.f[k] - (double)cost[k]);
        for (int64_t k = 0; k < s.c; k++)
            sum += plan[k * s.size] = exp((s.f[k] - (double)cost[k] - highest) / epsilon);
        for (int64_t k = 0; k < s.c; k++)
            plan[k * s.size] /= sum;
        plan[s.c * s.size] = highest + epsilon * log(sum);
    }
    __syncthreads();
    for (int64_t k = warp; k <= s.c; k += SET_WARPS) {
        double sum = 0;
        for (int64_t l = lane; l < s.size; l += WARP)
            sum += s.plan[k * s.size + l];
        sum = lanes_sum(sum, 1, WARP);
        if (lane == 0)
            s.row[k] = sum;
    }
    __syncthreads();
    double error = 0;
    for (int64_t k = 0; k < s.c; k++)
        error += fabs(s.row[k] - (double)s.size / (double)s.c);
    return error / (double)s.size;
}

/* Σ_k f_k/c - Σ_l ε log Σ_k exp((f_k - cost_kl) / ε) / size, times size, as of the last pass. */
__device__ static double set_dual(const struct set &s)
{
    double sum = 0;
    for (int64_t k = 0; k < s.c; k++)
        sum += s.f[k];
    return sum * ((double)s.size / (double)s.c) - s.row[s.c];
}

/* f_k += ε log((size/c) / row_k) */
__device__ static void set_update(const struct set &s, double epsilon)
{
    for (int64_t k = threadIdx.x; k < s.c; k += SET_THREADS)
        s.f[k] += epsilon * log((double)s.size / (double)s.c / fmax(s.row[k], 1e-300));
    __syncthreads();
}

/* ---- Newton's step: see src/ot/newton.h and newton.c --------------------- */

/* The lower triangle without its diagonal: -Σ_l P_kl P_jl. A warp an entry. */
__device__ static void set_products(const struct set &s)
{
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for (int64_t q = warp; q < s.c * s.c; q += SET_WARPS) {
        const int64_t k = q / s.c, j = q - k * s.c;
        if (j >= k)
            continue;
        double sum = 0;
        for (int64_t l = lane; l < s.size; l += WARP)
            sum += s.plan[k * s.size + l] * s.plan[j * s.size + l];
        sum = lanes_sum(sum, 1, WARP);
        if (lane == 0)
            s.hessian[q] = -sum;
    }
    __syncthreads();
}

/* The whole matrix: the diagonal, so that rows sum to zero, and a term that makes it regular; by
 * one warp. False: nothing can change. */
__device__ static bool set_matrix(const struct set &s, int lane)
{
    double largest = 0;
    for (int64_t k = lane; k < s.c; k += WARP) {
        double sum = 0;
        for (int64_t j = 0; j < s.c; j++)
            sum -= j == k ? 0 : s.hessian[j < k ? k * s.c + j : j * s.c + k];
        s.hessian[k * s.c + k] = sum;
        s.step[k] = (double)s.size / (double)s.c - s.row[k];
        largest = fmax(largest, sum);
    }
    for (int bit = 1; bit < WARP; bit <<= 1)
        largest = fmax(largest, __shfl_xor_sync(0xffffffffu, largest, bit));
    __syncwarp();
    for (int64_t k = lane; k < s.c; k += WARP) {
        s.hessian[k * s.c + k] += 1e-14 * largest;
        for (int64_t j = 0; j <= k; j++)
            s.hessian[k * s.c + j] += largest / (double)s.c;
    }
    __syncwarp();
    for (int64_t k = lane; k < s.c; k += WARP)
        for (int64_t j = k + 1; j < s.c; j++)
            s.hessian[k * s.c + j] = s.hessian[j * s.c + k];
    __syncwarp();
    return largest > 0;
}

/* step = matrix⁻¹·step by elimination, by one warp, each lane some rows. The matrix is positive
 * definite, so pivots need no order; false if rounding breaks this. */
__device__ static bool set_eliminate(const struct set &s, int lane)
{
    double *h = s.hessian, *x = s.step;
    for (int64_t j = 0; j < s.c; j++) {
        const double pivot = h[j * s.c + j];
        if (!(pivot > 0))
            return false;
        for (int64_t i = lane; i < s.c; i += WARP) {
            if (i == j)
                continue;
            const double factor = h[i * s.c + j] / pivot;
            for (int64_t k = j + 1; k < s.c; k++)
                h[i * s.c + k] -= factor * h[j * s.c + k];
            x[i] -= factor * x[j];
        }
        __syncwarp();
    }
    for (int64_t i = lane; i < s.c; i += WARP)
        x[i] /= h[i * s.c + i];
    __syncwarp();
    return true;
}

/* f = old + t·step, and a pass. */
__device__ static double set_move(const struct set &s, double t, double epsilon)
{
    __syncthreads(); /* others may still read f for the dual */
    for (int64_t k = threadIdx.x; k < s.c; k += SET_THREADS)
        s.f[k] = s.old[k] + (t == 0 ? 0 : t * s.step[k]);
    __syncthreads();
    return set_pass(s, epsilon);
}

/* Newton's step, at most 10 ε, shortened until the error shrinks or the dual rises; if none helps,
 * f is unchanged. True: the error shrank. */
__device__ __attribute__((noinline)) static bool set_newton(const struct set &s, double epsilon,
                                                            double &error)
{
    int failed = 0;
    const double before = set_dual(s);
    set_products(s);
    if (threadIdx.x < WARP)
        failed = !set_matrix(s, threadIdx.x) || !set_eliminate(s, threadIdx.x);
    if (__syncthreads_or(failed))
        return false;
    double longest = 10, slope = 0;
    for (int64_t k = 0; k < s.c; k++) {
        slope += ((double)s.size / (double)s.c - s.row[k]) * s.step[k];
        longest = fmax(longest, fabs(s.step[k]));
    }
    for (int64_t k = threadIdx.x; k < s.c; k += SET_THREADS)
        s.old[k] = s.f[k];
    double t = isfinite(longest) ? epsilon * (10 / longest) : 0;
    __syncthreads();
    for (int tries = 0; t > 0 && tries < NEWTON_TRIES; tries++, t /= 4) {
        const double there = set_move(s, t, epsilon);
        if (there < 0.9 * error || set_dual(s) - before > 1e-3 * t * slope) {
            const bool shrank = there < 0.9 * error;
            error = there;
            return shrank;
        }
    }
    set_move(s, 0, epsilon);
    return false;
}

/* ---- the whole set ------------------------------------------------------- */

/* Passes at one ε until the shares are met or the iterations are used up. */
__device__ __attribute__((noinline)) static void set_stage(const struct set &s, double epsilon,
                                                           double tolerance, int64_t most)
{
    double error = set_pass(s, epsilon);
    int plain = 0; /* updates since the last step of Newton's that left the error */
    for (int64_t turn = 1; error > tolerance && turn < most; turn++) {
        if (plain >= PLAIN_FIRST && s.c <= NEWTON_REFERENCES) {
            if (set_newton(s, epsilon, error))
                continue;
            plain = PLAIN_FIRST -
                    1; /* a long step along one potential needs plain updates of the others */
            __syncthreads();
        }
        set_update(s, epsilon);
        plain++;
        error = set_pass(s, epsilon);
    }
}

/* The widest spread of costs within one column, in all threads. */
__device__ static float set_range(const struct set &s)
{
    __shared__ float part[SET_WARPS];
    float range = 0;
    for (int64_t l = threadIdx.x; l < s.size; l += SET_THREADS) {
        const float *cost = s.cost + s.point[l] * s.c;
        float low = cost[0], high = cost[0];
        for (int64_t k = 1; k < s.c; k++) {
            low = fminf(low, cost[k]);
            high = fmaxf(high, cost[k]);
        }
        range = fmaxf(range, high - low);
    }
    range = lanes_max(range, 1, WARP);
    if (threadIdx.x % WARP == 0)
        part[threadIdx.x / WARP] = range;
    __syncthreads();
    for (int w = 0; w < SET_WARPS; w++)
        range = fmaxf(range, part[w]);
    __syncthreads();
    return isfinite(range) ? range : 0; /* stages from an infinite range would not end */
}

__device__ static void set_solve(const struct set &s, double epsilon, double tolerance,
                                 int64_t most)
{
    for (int64_t k = threadIdx.x; k < s.c; k += SET_THREADS)
        s.f[k] = 0;
    __syncthreads();
    for (double stage = 0.1 * (double)set_range(s); stage > STAGE_FACTOR * epsilon;
         stage /= STAGE_FACTOR)
        set_stage(s, stage, 1e-2, STAGE_PASSES);
    set_stage(s, epsilon, tolerance, most);
}

/* The reference of each point: the largest share or, if nothing is solved, the least cost. */
__device__ static void set_assign(const struct set &s, bool nearest)
{
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for (int64_t l = threadIdx.x; l < s.size; l += SET_THREADS) {
        const float *cost = s.cost + s.point[l] * s.c;
        const double *plan = s.plan + l;
        int64_t best = 0;
        for (int64_t k = 1; k < s.c; k++)
            if (nearest ? cost[k] < cost[best]
                        : plan[k * s.size] > plan[best * s.size] * (1 + 1e-6))
                best = k;
        s.reference[l] = (int32_t)best;
    }
    __syncthreads();
    for (int64_t k = warp; k < s.c; k += SET_WARPS) {
        int count = 0;
        for (int64_t l = lane; l < s.size; l += WARP)
            count += s.reference[l] == k;
        count = lanes_sum(count, 1, WARP);
        if (lane == 0)
            s.row[k] = count;
    }
    __syncthreads();
}

/* The transport parameters of an instruction. */
struct route {
    const float *epsilon; /* (1) */
    double tolerance;
    int64_t iterations;
    enum take take;
};

static inline struct route route_of(const struct instr *in, const float *epsilon)
{
    return {epsilon, (double)in->attr.a, in->attr.iterations, in->attr.take};
}

__device__ static inline void set_map(const struct set &s, const struct route &r)
{
    const double epsilon = *r.epsilon > 0 ? (double)*r.epsilon : 1;
    if (r.iterations > 0 && s.size > 0)
        set_solve(s, epsilon, r.tolerance, r.iterations);
    set_assign(s, r.iterations == 0 || s.size == 1); /* with one point all shares are equal */
}

/* The weight of point l at reference k. */
__device__ static inline float set_taken(const struct set &s, const struct route &r, int64_t k,
                                         int64_t l)
{
    if (r.take == TAKE_PLAN && r.iterations > 0)
        return (float)(s.plan[k * s.size + l] / (double)s.size);
    if (s.reference[l] != k)
        return 0;
    return r.take == TAKE_PLAN   ? (float)(1 / (double)s.size)
           : r.take == TAKE_MEAN ? (float)(1 / s.row[k])
                                 : 1;
}

#endif
