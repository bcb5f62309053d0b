/* Leading singular values and vectors of a sparse matrix with learned values, by subspace iteration
 * with a Rayleigh-Ritz step. Products are divided by rows; the first worker does the small dense
 * work, in a fixed order. */
#include "program/spectral.h"

#include "cpu/kernels.h"
#include <math.h>
#include <string.h>

enum { JACOBI_SWEEPS = 30 };

/* y (rows, width) = S(values)·x for rows [from, to); entry (nnz) gives the positions of a
 * transpose's values, NULL: in order. */
static void multiply(double *y, const struct csr *a, const int64_t *entry, const float *values,
                     const double *x, int64_t width, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        double *restrict row = y + r * width;
        memset(row, 0, (size_t)width * sizeof *row);
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++) {
            const double *restrict other = x + a->col[k] * width;
            double v = values[entry ? entry[k] : k];
            for (int64_t c = 0; c < width; c++)
                row[c] += v * other[c];
        }
    }
}

/* Gram-Schmidt, twice, on the columns of v; a column that vanishes becomes zero. */
static void orthonormalize(double *v, int64_t n, int64_t width)
{
    for (int64_t c = 0; c < width; c++) {
        double before = 0, norm = 0;
        for (int64_t i = 0; i < n; i++)
            before += v[i * width + c] * v[i * width + c];
        for (int pass = 0; pass < 2; pass++)
            for (int64_t d = 0; d < c; d++) {
                double along = 0;
                for (int64_t i = 0; i < n; i++)
                    along += v[i * width + c] * v[i * width + d];
                for (int64_t i = 0; i < n; i++)
                    v[i * width + c] -= along * v[i * width + d];
            }
        for (int64_t i = 0; i < n; i++)
            norm += v[i * width + c] * v[i * width + c];
        double scale = norm > 1e-24 * before && norm > 0 ? 1 / sqrt(norm) : 0;
        for (int64_t i = 0; i < n; i++)
            v[i * width + c] *= scale;
    }
}

/* One Jacobi rotation that makes g[p,q] zero. */
static void rotate(double *g, double *axes, int64_t w, int64_t p, int64_t q)
{
    if (g[p * w + q] == 0)
        return;
    double theta = (g[q * w + q] - g[p * w + p]) / (2 * g[p * w + q]);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int64_t k = 0; k < w; k++) {
        double a = g[k * w + p], b = g[k * w + q];
        g[k * w + p] = c * a - s * b;
        g[k * w + q] = s * a + c * b;
    }
    for (int64_t k = 0; k < w; k++) {
        double a = g[p * w + k], b = g[q * w + k];
        g[p * w + k] = c * a - s * b;
        g[q * w + k] = s * a + c * b;
        a = axes[k * w + p], b = axes[k * w + q];
        axes[k * w + p] = c * a - s * b;
        axes[k * w + q] = s * a + c * b;
    }
}

/* Eigenvalues (largest first, as square roots) and eigenvectors (columns) of YᵀY. */
static void ritz(struct spectral *s)
{
    int64_t w = s->width;
    double turned[SPECTRAL_MAX * SPECTRAL_MAX];
    int64_t order[SPECTRAL_MAX];
    memset(s->gram, 0, (size_t)(w * w) * sizeof *s->gram);
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t p = 0; p < w; p++)
            for (int64_t q = 0; q < w; q++)
                s->gram[p * w + q] += s->y[i * w + p] * s->y[i * w + q];
    for (int64_t k = 0; k < w * w; k++)
        turned[k] = k / w == k % w;
    for (int sweep = 0; sweep < JACOBI_SWEEPS; sweep++)
        for (int64_t p = 0; p < w; p++)
            for (int64_t q = p + 1; q < w; q++)
                rotate(s->gram, turned, w, p, q);
    for (int64_t p = 0; p < w; p++) {
        int64_t at = p;
        for (; at > 0 && s->gram[order[at - 1] * (w + 1)] < s->gram[p * (w + 1)]; at--)
            order[at] = order[at - 1];
        order[at] = p;
    }
    for (int64_t p = 0; p < w; p++) {
        s->sigma[p] = sqrt(fmax(s->gram[order[p] * (w + 1)], 0));
        for (int64_t k = 0; k < w; k++)
            s->axes[k * w + p] = turned[k * w + order[p]];
    }
}

/* After A·v: the sum of the leading values, and whether it has converged. */
static void judge(struct spectral *s, int64_t rank)
{
    double total = 0;
    ritz(s);
    for (int64_t k = 0; k < rank && k < s->width; k++)
        total += s->sigma[k];
    s->sum[1] = fabs(total - s->sum[0]) <= 1e-14 * total;
    s->sum[0] = total;
}

/* left = y·axes/σ, right = v·axes for this worker's rows; vectors of σ = 0 are zero. */
static void turn_vectors(struct spectral *s, struct worker who)
{
    int64_t from, to, w = s->width;
    for (int side = 0; side < 2; side++) {
        const double *x = side ? s->v : s->y;
        double *out = side ? s->right : s->left;
        range_rows(side ? s->cols : s->rows, who, &from, &to);
        for (int64_t i = from; i < to; i++)
            for (int64_t p = 0; p < w; p++) {
                double sum = 0;
                for (int64_t k = 0; k < w; k++)
                    sum += x[i * w + k] * s->axes[k * w + p];
                out[i * w + p] = side ? sum : s->sigma[p] > 0 ? sum / s->sigma[p] : 0;
            }
    }
}

/* ---- the steps ---- */

static struct spectral spectral_of(const struct instr *in)
{
    const struct csr *a = in->attr.csr;
    return spectral_at(in->state, a->rows, a->cols, in->attr.rank);
}

void nuclear_begin(const struct instr *in)
{
    struct spectral s = spectral_of(in);
    orthonormalize(s.v, s.cols, s.width);
    s.sum[0] = -1;
}

void nuclear_forth(const struct instr *in, int64_t from, int64_t to)
{
    struct spectral s = spectral_of(in);
    multiply(s.y, in->attr.csr, NULL, in->src[0], s.v, s.width, from, to);
}

bool nuclear_judge(const struct instr *in, int64_t turn)
{
    struct spectral s = spectral_of(in);
    judge(&s, in->attr.rank);
    s.sum[1] = s.sum[1] != 0 || turn == in->attr.iterations;
    return s.sum[1] != 0;
}

void nuclear_back(const struct instr *in, int64_t from, int64_t to)
{
    const struct csr *a = in->attr.csr;
    struct spectral s = spectral_of(in);
    multiply(s.turn, a->t, a->t_entry, in->src[0], s.y, s.width, from, to);
}

void nuclear_turned(const struct instr *in)
{
    struct spectral s = spectral_of(in);
    orthonormalize(s.turn, s.cols, s.width);
    memcpy(s.v, s.turn, (size_t)(s.cols * s.width) * sizeof *s.v);
}

void nuclear_end(const struct instr *in, struct worker who)
{
    struct spectral s = spectral_of(in);
    turn_vectors(&s, who);
    if (who.id == 0)
        in->out[0] = (float)s.sum[0];
}

KERNEL(nuclear)
{
    const struct csr *a = in->attr.csr;
    const struct spectral s = spectral_of(in);
    int64_t from, to, left, right;
    (void)step;
    range_entries(a->start, a->rows, who, &from, &to);
    range_entries(a->t->start, a->t->rows, who, &left, &right);
    if (who.id == 0)
        nuclear_begin(in);
    team_barrier(who);
    for (int64_t turn = 0;; turn++) {
        nuclear_forth(in, from, to);
        team_barrier(who);
        if (who.id == 0)
            nuclear_judge(in, turn);
        team_barrier(who);
        if (s.sum[1] != 0)
            break;
        nuclear_back(in, left, right);
        team_barrier(who);
        if (who.id == 0)
            nuclear_turned(in);
        team_barrier(who);
    }
    nuclear_end(in, who);
}

void nuclear_grad_rows(const struct instr *in, int64_t from, int64_t to)
{
    const struct csr *a = in->attr.csr;
    const struct spectral s = spectral_of(in);
    const int64_t w = s.width, rank = in->attr.rank < w ? in->attr.rank : w;
    for (int64_t r = from; r < to; r++)
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++) {
            double sum = 0;
            for (int64_t c = 0; c < rank; c++)
                sum += s.left[r * w + c] * s.right[a->col[k] * w + c];
            in->out[k] = (float)(sum * in->src[0][0]);
        }
}

KERNEL(nuclear_grad)
{
    const struct csr *a = in->attr.csr;
    int64_t from, to;
    (void)step;
    range_entries(a->start, a->rows, who, &from, &to);
    nuclear_grad_rows(in, from, to);
}
