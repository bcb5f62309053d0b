/* The low-rank graph of GCN-SVD. Orthogonal iteration finds the subspace Q of the largest
 * eigenvalues in absolute value; A_k = Q (Qᵀ A Q) Qᵀ. Its entries are computed row by row and not
 * stored: a first pass finds the smallest value to keep, a second keeps. */
#include "attack/attack.h"

#include "base/rng.h"
#include <math.h>
#include <string.h>

enum { STREAM_SUBSPACE = 151, TURNS = 40, BINS = 1 << 16 };

/* y = A x; (n, k) */
static void multiply(double *y, const struct csr *a, const double *x, int64_t k)
{
    memset(y, 0, (size_t)(a->rows * k) * sizeof *y);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) {
            double w = a->val ? (double)a->val[e] : 1;
            const double *row = x + (int64_t)a->col[e] * k;
            for (int64_t c = 0; c < k; c++)
                y[i * k + c] += w * row[c];
        }
}

/* Makes columns orthonormal (Gram and Schmidt, twice); a dependent column becomes 0. */
static void straighten(double *q, int64_t n, int64_t k)
{
    for (int64_t c = 0; c < k; c++) {
        double before = 0, squares = 0;
        for (int64_t i = 0; i < n; i++)
            before += q[i * k + c] * q[i * k + c];
        for (int64_t b = 0; b < 2 * c; b++) {
            int64_t other = b % c;
            double along = 0;
            for (int64_t i = 0; i < n; i++)
                along += q[i * k + c] * q[i * k + other];
            for (int64_t i = 0; i < n; i++)
                q[i * k + c] -= along * q[i * k + other];
        }
        for (int64_t i = 0; i < n; i++)
            squares += q[i * k + c] * q[i * k + c];
        double scale = squares > 1e-20 * before ? 1 / sqrt(squares) : 0;
        for (int64_t i = 0; i < n; i++)
            q[i * k + c] *= scale;
    }
}

/* q (n, k) the subspace, b (n, k) = Q (Qᵀ A Q): A_k = B Qᵀ. */
static consm_status subspace(double *q, double *b, const struct csr *graph, int64_t k,
                             uint64_t seed)
{
    consm_status st = CONSM_OK;
    int64_t n = graph->rows;
    double *inner = NULL;
    struct rng rng;
    TRY(ZNEW(inner, k * k));
    rng_init(&rng, seed, STREAM_SUBSPACE);
    for (int64_t i = 0; i < n * k; i++)
        q[i] = rng_normal(&rng);
    straighten(q, n, k);
    for (int turn = 0; turn < TURNS; turn++) {
        multiply(b, graph, q, k);
        memcpy(q, b, (size_t)(n * k) * sizeof *q);
        straighten(q, n, k);
    }
    multiply(b, graph, q, k);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++)
            for (int64_t d = 0; d < k; d++)
                inner[c * k + d] += q[i * k + c] * b[i * k + d];
    for (int64_t i = 0; i < n; i++)
        for (int64_t d = 0; d < k; d++) {
            double sum = 0;
            for (int64_t c = 0; c < k; c++)
                sum += q[i * k + c] * inner[c * k + d];
            b[i * k + d] = sum;
        }
done:
    mem_free(inner);
    return st;
}

/* The bin of a value from 0 on: its upper bits, which are in the order of the values. */
static int64_t bin_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 15;
}

struct walk {
    int64_t n, k;
    const double *q, *b;
};

static float entry(const struct walk *w, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t c = 0; c < w->k; c++)
        sum += w->b[i * w->k + c] * w->q[j * w->k + c];
    return (float)sum;
}

static const float TOO_SMALL = 1e-6f; /* rounding */

/* The least bin to keep, so that at most `most` entries are; the first bin is always kept. */
static consm_status least_bin(int64_t *least, const struct walk *w, int64_t most)
{
    consm_status st = CONSM_OK;
    int64_t *count = NULL, kept = 0;
    TRY(ZNEW(count, BINS));
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t j = i + 1; j < w->n; j++) {
            float value = entry(w, i, j);
            if (value > TOO_SMALL)
                count[bin_of(value)]++;
        }
    *least = BINS;
    for (int64_t b = BINS; b-- > 0 && (kept == 0 || kept + count[b] <= most);) {
        kept += count[b];
        *least = b;
    }
done:
    mem_free(count);
    return st;
}

consm_status attack_low_rank(struct csr **out, const struct csr *graph, int64_t rank, int64_t most,
                             uint64_t seed)
{
    consm_status st = CONSM_OK;
    int64_t n = graph->rows, k = rank < n ? rank : n, least, count = 0;
    double *q = NULL, *b = NULL;
    int32_t *left = NULL, *right = NULL;
    float *weight = NULL;
    size_t room[3] = {0, 0, 0};
    TRY(NEW(q, n * k));
    TRY(NEW(b, n * k));
    TRY(subspace(q, b, graph, k, seed));
    struct walk w = {n, k, q, b};
    TRY(least_bin(&least, &w, most));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            float value = entry(&w, i, j);
            if (value <= TOO_SMALL || bin_of(value) < least)
                continue;
            TRY(GROW(left, count, room[0], 1));
            TRY(GROW(right, count, room[1], 1));
            TRY(GROW(weight, count, room[2], 1));
            left[count] = (int32_t)i;
            right[count] = (int32_t)j;
            weight[count++] = value;
        }
    TRY(csr_from_edges(out, n, n, count, left, right, weight, CSR_UNDIRECTED, NULL));
done:
    mem_free(q);
    mem_free(b);
    mem_free(left);
    mem_free(right);
    mem_free(weight);
    return st;
}
