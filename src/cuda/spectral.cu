/* Leading singular values and vectors of a sparse matrix with learned values, by subspace iteration
 * with a Rayleigh-Ritz step, in double precision. */

/* It is one kernel whose blocks wait for each other, because only the card knows how many turns it
 * takes. Threads own rows of the tall matrices. Sums over rows go through one number per block,
 * which all blocks add in the same order. */
#include "cuda/patterns.cuh"

#include <cooperative_groups.h>

extern "C" {
#include "program/spectral.h"
}

namespace cg = cooperative_groups;

enum { SPECTRAL_THREADS = 256, SPECTRAL_BLOCKS = 64, JACOBI_SWEEPS = 30 };

struct nuclear {
    struct spectral s;
    const int64_t *start, *t_start, *t_entry;
    const int32_t *col, *t_col;
    const float *values;
    int64_t rank, iterations;
    double *partial; /* two of (SPECTRAL_BLOCKS, width²) */
    float *out;
};

int64_t scratch_spectral(const struct instr *in)
{
    if (in->op != OP_NUCLEAR)
        return -1;
    const struct csr *a = in->attr.csr;
    const int64_t width = spectral_at(NULL, a->rows, a->cols, in->attr.rank).width;
    return 2 * SPECTRAL_BLOCKS * width * width * (int64_t)sizeof(double);
}

/* ---- sums over all blocks ------------------------------------------------ */

/* The two halves of `partial`, used in turn: a block may still read one while another writes the
 * next. */
struct rounds {
    double *half[2];
    int turn;
};

__device__ static double *next_half(struct rounds &r)
{
    return r.half[r.turn++ & 1];
}

/* After all blocks have arrived: Σ over them of half[block, 0 … count-1], into total (shared
 * memory). */
__device__ static void gather_blocks(double *total, const double *half, int64_t count)
{
    cg::this_grid().sync();
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
        double sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            sum += __ldcg(&half[b * count + i]);
        total[i] = sum;
    }
    __syncthreads();
}

/* ---- the tall matrices --------------------------------------------------- */

/* y (rows, w) = S(values)·x, entries found through entry if given. Synchronises all blocks. */
__device__ static void multiply(double *y, int64_t rows, const int64_t *start, const int32_t *col,
                                const int64_t *entry, const float *values, const double *x,
                                int64_t w)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; e < rows * w; e += stride) {
        const int64_t r = e / w, c = e - r * w;
        double sum = 0;
        for (int64_t k = start[r]; k < start[r + 1]; k++)
            sum += (double)values[entry ? entry[k] : k] * x[col[k] * w + c];
        y[e] = sum;
    }
    cg::this_grid().sync();
}

/* Σ over this block's rows of v[i, c]·v[i, d] for d = 0 … c, stored for the others. */
__device__ static void put_products(double *half, const double *v, int64_t n, int64_t w, int64_t c)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t d = 0; d <= c; d++) {
        double sum = 0;
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
            sum += v[i * w + c] * v[i * w + d];
        sum = block_sum(sum);
        if (threadIdx.x == 0)
            half[blockIdx.x * (c + 1) + d] = sum;
    }
}

/* Gram-Schmidt, twice, on the columns of v; a column that vanishes becomes zero. */
__device__ static void orthonormalize(double *v, int64_t n, int64_t w, struct rounds &rounds,
                                      double *total)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    const int64_t mine = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int64_t c = 0; c < w; c++) {
        double before = 0;
        for (int pass = 0; pass < 3; pass++) {
            double *half = next_half(rounds);
            put_products(half, v, n, w, c);
            gather_blocks(total, half, c + 1);
            before = pass == 0 ? total[c] : before;
            const double norm = total[c];
            const double scale = norm > 1e-24 * before && norm > 0 ? 1 / sqrt(norm) : 0;
            for (int64_t i = mine; i < n; i += stride) {
                double x = v[i * w + c];
                for (int64_t d = 0; pass < 2 && d < c; d++)
                    x -= total[d] * v[i * w + d];
                v[i * w + c] = pass < 2 ? x : x * scale;
            }
            __syncthreads();
        }
    }
}

/* ---- the small ones, by the first block ---------------------------------- */

/* This block's part of YᵀY: rows in turns, one thread per number. */
__device__ static void put_gram(double *half, const struct spectral &s)
{
    const int64_t w = s.width, each = (s.rows + gridDim.x - 1) / gridDim.x;
    const int64_t first = blockIdx.x * each, last = first + each < s.rows ? first + each : s.rows;
    for (int64_t e = threadIdx.x; e < w * w; e += blockDim.x) {
        double sum = 0;
        for (int64_t i = first; i < last; i++)
            sum += s.y[i * w + e / w] * s.y[i * w + e % w];
        half[blockIdx.x * w * w + e] = sum;
    }
}

/* The pair p < q of rotation i in a round: every pair meets once in `even` - 1 rounds. */
__device__ static void pair_of(int64_t even, int64_t round, int64_t i, int64_t *p, int64_t *q)
{
    const int64_t turns = even - 1;
    const int64_t a = i == 0 ? turns : (round + i) % turns, b = (round + turns - i) % turns;
    *p = a < b ? a : b;
    *q = a < b ? b : a;
}

/* One round of disjoint Jacobi rotations, each making its g[p,q] zero. */
__device__ static void rotate_round(double *g, double *axes, int64_t w, int64_t round, double *turn)
{
    const int64_t even = w + w % 2, pairs = even / 2;
    for (int64_t i = threadIdx.x; i < pairs; i += blockDim.x) {
        int64_t p, q;
        pair_of(even, round, i, &p, &q);
        double c = 1, s = 0;
        if (q < w && g[p * w + q] != 0) {
            const double theta = (g[q * w + q] - g[p * w + p]) / (2 * g[p * w + q]);
            const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
            c = 1 / sqrt(t * t + 1);
            s = t * c;
        }
        turn[2 * i] = c;
        turn[2 * i + 1] = s;
    }
    __syncthreads();
    for (int side = 0; side < 2; side++) {
        for (int64_t e = threadIdx.x; e < pairs * w; e += blockDim.x) {
            const int64_t i = e / w, k = e % w;
            int64_t p, q;
            pair_of(even, round, i, &p, &q);
            const double c = turn[2 * i], s = turn[2 * i + 1];
            if (q >= w || s == 0)
                continue;
            double *x = side ? &g[p * w + k] : &g[k * w + p];
            double *y = side ? &g[q * w + k] : &g[k * w + q];
            double a = *x, b = *y;
            *x = c * a - s * b;
            *y = s * a + c * b;
            if (side) {
                a = axes[k * w + p], b = axes[k * w + q];
                axes[k * w + p] = c * a - s * b;
                axes[k * w + q] = s * a + c * b;
            }
        }
        __syncthreads();
    }
}

/* The off-diagonal part of g, relative to the whole. */
__device__ static double beside_diagonal(const double *g, int64_t w)
{
    double all = 0, beside = 0;
    for (int64_t e = threadIdx.x; e < w * w; e += blockDim.x) {
        all += g[e] * g[e];
        beside += e / w != e % w ? g[e] * g[e] : 0;
    }
    all = block_sum(all);
    beside = block_sum(beside);
    return all > 0 ? beside / all : 0;
}

/* Eigenvalues (largest first, as square roots) and eigenvectors (columns) of s.gram, and whether
 * the sum of the leading ones has converged. */
__device__ static void judge(const struct spectral &s, double *turned, int64_t rank)
{
    __shared__ double turn[SPECTRAL_MAX + 2];
    const int64_t w = s.width, even = w + w % 2;
    for (int64_t e = threadIdx.x; e < w * w; e += blockDim.x)
        turned[e] = e / w == e % w;
    __syncthreads();
    for (int sweep = 0; sweep < JACOBI_SWEEPS && beside_diagonal(s.gram, w) > 1e-32; sweep++)
        for (int64_t round = 0; round < even - 1; round++)
            rotate_round(s.gram, turned, w, round, turn);
    for (int64_t p = threadIdx.x; p < w; p += blockDim.x) {
        const double mine = s.gram[p * (w + 1)];
        int64_t place = 0;
        for (int64_t q = 0; q < w; q++) {
            const double theirs = s.gram[q * (w + 1)];
            place += theirs > mine || (theirs == mine && q < p);
        }
        s.sigma[place] = sqrt(fmax(mine, 0.0));
        for (int64_t k = 0; k < w; k++)
            s.axes[k * w + place] = turned[k * w + p];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        double total = 0;
        for (int64_t k = 0; k < rank && k < w; k++)
            total += s.sigma[k];
        s.sum[1] = fabs(total - s.sum[0]) <= 1e-14 * total;
        s.sum[0] = total;
    }
}

/* left = y·axes/σ, right = v·axes; vectors of σ = 0 are zero */
__device__ static void turn_vectors(double *out, const double *x, const double *sigma,
                                    const double *axes, int64_t n, int64_t w)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; e < n * w; e += stride) {
        const int64_t i = e / w, p = e % w;
        double sum = 0;
        for (int64_t k = 0; k < w; k++)
            sum += x[i * w + k] * __ldcg(&axes[k * w + p]);
        if (sigma)
            sum = __ldcg(&sigma[p]) > 0 ? sum / __ldcg(&sigma[p]) : 0;
        out[e] = sum;
    }
}

/* ---- the iteration ------------------------------------------------------- */

static __global__ void __launch_bounds__(SPECTRAL_THREADS) nuclear_kernel(struct nuclear a)
{
    __shared__ double total[SPECTRAL_MAX];
    begin();
    const struct spectral &s = a.s;
    const int64_t w = s.width;
    struct rounds rounds = {{a.partial, a.partial + SPECTRAL_BLOCKS * w * w}, 0};
    if (blockIdx.x == 0 && threadIdx.x == 0)
        s.sum[0] = -1;
    orthonormalize(s.v, s.cols, w, rounds, total);
    cg::this_grid().sync();
    for (int64_t turn = 0;; turn++) {
        multiply(s.y, s.rows, a.start, a.col, NULL, a.values, s.v, w);
        double *half = next_half(rounds);
        put_gram(half, s);
        cg::this_grid().sync();
        if (blockIdx.x == 0) {
            for (int64_t e = threadIdx.x; e < w * w; e += blockDim.x) {
                double sum = 0;
                for (unsigned b = 0; b < gridDim.x; b++)
                    sum += __ldcg(&half[b * w * w + e]);
                s.gram[e] = sum;
            }
            __syncthreads();
            judge(s, next_half(rounds), a.rank);
        } else {
            next_half(rounds);
        }
        cg::this_grid().sync();
        if (__ldcg(&s.sum[1]) != 0 || turn == a.iterations)
            break;
        multiply(s.v, s.cols, a.t_start, a.t_col, a.t_entry, a.values, s.y, w);
        orthonormalize(s.v, s.cols, w, rounds, total);
        cg::this_grid().sync();
    }
    turn_vectors(s.left, s.y, s.sigma, s.axes, s.rows, w);
    turn_vectors(s.right, s.v, NULL, s.axes, s.cols, w);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *a.out = (float)s.sum[0];
}

/* Requires all blocks to be on the card together, by one attribute instead of the early start. */
KERNEL(nuclear)
{
    const struct csr *m = in->attr.csr;
    cudaLaunchAttribute together = {};
    cudaLaunchConfig_t config = {};
    struct nuclear a = {};
    a.s = spectral_at(in->state, m->rows, m->cols, in->attr.rank);
    a.start = m->start;
    a.col = m->col;
    a.t_start = m->t->start;
    a.t_col = m->t->col;
    a.t_entry = m->t_entry;
    a.values = in->src[0];
    a.rank = in->attr.rank;
    a.iterations = in->attr.iterations;
    a.partial = (double *)scratch_of(in);
    a.out = in->out;
    const int64_t most = SPECTRAL_BLOCKS, wanted = ceil_div(m->rows + m->cols, SPECTRAL_THREADS);
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    config.gridDim = dim3((unsigned)(wanted < 1 ? 1 : wanted < most ? wanted : most));
    config.blockDim = dim3(SPECTRAL_THREADS);
    config.stream = cx->stream;
    config.attrs = &together;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, nuclear_kernel, a);
}

/* ---- its gradient -------------------------------------------------------- */

struct nuclear_grad {
    float *out;
    const float *g;
    const double *left, *right;
    const int64_t *start;
    const int32_t *col;
    int64_t rows, width, rank;
};

/* g·Σ_p left[r, p]·right[col, p] over the leading ones */
static __global__ void __launch_bounds__(THREADS) nuclear_grad_kernel(struct nuclear_grad a)
{
    begin();
    each_row(a.start, a.rows, [&](int64_t r, int64_t from, int64_t to) {
        for (int64_t k = from + threadIdx.x % WARP; k < to; k += WARP) {
            double sum = 0;
            for (int64_t p = 0; p < a.rank; p++)
                sum += a.left[r * a.width + p] * a.right[a.col[k] * a.width + p];
            a.out[k] = (float)(sum * (double)*a.g);
        }
    });
}

KERNEL(nuclear_grad)
{
    const struct csr *m = in->attr.csr;
    const struct spectral s = spectral_at(in->state, m->rows, m->cols, in->attr.rank);
    const int64_t rank = in->attr.rank < s.width ? in->attr.rank : s.width;
    if (m->rows > 0)
        launch(cx, nuclear_grad_kernel, row_blocks(m->rows), THREADS,
               nuclear_grad{in->out, in->src[0], s.left, s.right, m->start, m->col, m->rows,
                            s.width, rank});
}
