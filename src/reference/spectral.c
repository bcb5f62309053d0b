/* The sum of the largest singular values of a sparse matrix S with learned values, by subspace
 * iteration. From an orthonormal basis V, kept between runs, Y = S·V gives the values as square
 * roots of the eigenvalues of YᵀY; the next basis is the orthonormalised Sᵀ·Y. It ends when the sum
 * converges, or after attr.iterations. */
#include "program/spectral.h"

#include "reference/kernels.h"
#include <math.h>

/* y (rows, w) = S·x, or Sᵀ·x */
static void multiply(double *y, const struct instr *in, bool transposed, const double *x, int64_t w)
{
    const struct csr *a = in->attr.csr;
    const int64_t rows = transposed ? a->cols : a->rows;
    for (int64_t e = 0; e < rows * w; e++)
        y[e] = 0;
    for (int64_t i = 0; i < a->rows; i++)
        EACH_ENTRY (k, a, i)
            for (int64_t c = 0; c < w; c++) {
                const int64_t to = transposed ? a->col[k] : i, from = transposed ? i : a->col[k];
                y[to * w + c] += X(k, 0) * x[from * w + c];
            }
}

/* Σ_i a[i, p] b[i, q] */
static double along(const double *a, int64_t p, const double *b, int64_t q, int64_t n, int64_t w)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i * w + p] * b[i * w + q];
    return sum;
}

/* Gram-Schmidt, twice, on the columns of v (n, w); a column that vanishes becomes zero. */
static void orthonormalize(double *v, int64_t n, int64_t w)
{
    for (int64_t p = 0; p < w; p++) {
        const double before = along(v, p, v, p, n, w);
        for (int pass = 0; pass < 2; pass++)
            for (int64_t q = 0; q < p; q++) {
                const double share = along(v, p, v, q, n, w);
                for (int64_t i = 0; i < n; i++)
                    v[i * w + p] -= share * v[i * w + q];
            }
        const double after = along(v, p, v, p, n, w);
        const double scale = after > 1e-24 * before && after > 0 ? 1 / sqrt(after) : 0;
        for (int64_t i = 0; i < n; i++)
            v[i * w + p] *= scale;
    }
}

/* g (w, w) symmetric becomes diagonal, turn its eigenvectors as columns: Jacobi's rotations. */
static void diagonalize(double *g, double *turn, int64_t w)
{
    for (int64_t e = 0; e < w * w; e++)
        turn[e] = e / w == e % w;
    for (int sweep = 0; sweep < 30; sweep++)
        for (int64_t p = 0; p < w; p++)
            for (int64_t q = p + 1; q < w; q++) {
                if (g[p * w + q] == 0)
                    continue;
                const double theta = (g[q * w + q] - g[p * w + p]) / (2 * g[p * w + q]);
                const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                const double cosine = 1 / sqrt(t * t + 1), sine = t * cosine;
                for (int64_t k = 0; k < w; k++) {
                    const double a = g[k * w + p], b = g[k * w + q];
                    g[k * w + p] = cosine * a - sine * b;
                    g[k * w + q] = sine * a + cosine * b;
                }
                for (int64_t k = 0; k < w; k++) {
                    double a = g[p * w + k], b = g[q * w + k];
                    g[p * w + k] = cosine * a - sine * b;
                    g[q * w + k] = sine * a + cosine * b;
                    a = turn[k * w + p], b = turn[k * w + q];
                    turn[k * w + p] = cosine * a - sine * b;
                    turn[k * w + q] = sine * a + cosine * b;
                }
            }
}

/* sigma, largest first, and the columns of axes that belong to them, from y. Returns the sum of the
 * first `rank`. */
static double singular_values(struct spectral *s, int64_t rank)
{
    const int64_t w = s->width;
    double turn[SPECTRAL_MAX * SPECTRAL_MAX], total = 0;
    bool taken[SPECTRAL_MAX] = {false};
    for (int64_t p = 0; p < w; p++)
        for (int64_t q = 0; q < w; q++)
            s->gram[p * w + q] = along(s->y, p, s->y, q, s->rows, w);
    diagonalize(s->gram, turn, w);
    for (int64_t p = 0; p < w; p++) {
        int64_t best = -1;
        for (int64_t q = 0; q < w; q++)
            if (!taken[q] && (best < 0 || s->gram[q * w + q] > s->gram[best * w + best]))
                best = q;
        taken[best] = true;
        s->sigma[p] = sqrt(fmax(s->gram[best * w + best], 0));
        total += p < rank ? s->sigma[p] : 0;
        for (int64_t k = 0; k < w; k++)
            s->axes[k * w + p] = turn[k * w + best];
    }
    return total;
}

/* left = Y·axes/σ, right = V·axes; vectors of σ = 0 are zero */
static void singular_vectors(struct spectral *s)
{
    const int64_t w = s->width;
    for (int64_t p = 0; p < w; p++) {
        for (int64_t i = 0; i < s->rows; i++) {
            double sum = 0;
            for (int64_t k = 0; k < w; k++)
                sum += s->y[i * w + k] * s->axes[k * w + p];
            s->left[i * w + p] = s->sigma[p] > 0 ? sum / s->sigma[p] : 0;
        }
        for (int64_t j = 0; j < s->cols; j++) {
            double sum = 0;
            for (int64_t k = 0; k < w; k++)
                sum += s->v[j * w + k] * s->axes[k * w + p];
            s->right[j * w + p] = sum;
        }
    }
}

LOOP(nuclear)
{
    const struct csr *a = in->attr.csr;
    struct spectral s = spectral_at(in->state, a->rows, a->cols, in->attr.rank);
    double last = -1;
    orthonormalize(s.v, s.cols, s.width);
    for (int64_t turn = 0;; turn++) {
        multiply(s.y, in, false, s.v, s.width);
        const double total = singular_values(&s, in->attr.rank);
        const bool settled = fabs(total - last) <= 1e-14 * total;
        last = total;
        if (settled || turn == in->attr.iterations)
            break;
        multiply(s.v, in, true, s.y, s.width);
        orthonormalize(s.v, s.cols, s.width);
    }
    singular_vectors(&s);
    OUT(0, 0) = (float)last;
}

/* g·Σ_p left[i, p]·right[j, p] over the leading ones, for the entry (i, j) */
LOOP(nuclear_grad)
{
    const struct csr *a = in->attr.csr;
    const struct spectral s = spectral_at(in->state, a->rows, a->cols, in->attr.rank);
    for (int64_t i = 0; i < a->rows; i++)
        EACH_ENTRY (k, a, i) {
            double sum = 0;
            for (int64_t p = 0; p < in->attr.rank && p < s.width; p++)
                sum += s.left[i * s.width + p] * s.right[a->col[k] * s.width + p];
            OUT(k, 0) = (float)(X(0, 0) * sum);
        }
}
