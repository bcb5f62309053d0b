/* Newton's step for regularised transport: a c × c system by Cholesky. Adding a constant to f
 * changes nothing, so the Hessian is singular in that direction. Adding a multiple of 1 1ᵀ makes it
 * regular and leaves the step without a constant part. */
#include "ot/newton.h"

#include <math.h>

static const double RIDGE = 1e-14; /* of the largest diagonal entry, for rows without mass */

/* Σ_l x_l y_l, in four fixed lanes. */
static double plain_dot(const double *x, const double *y, int64_t n)
{
    double lane[4] = {0};
    int64_t l = 0;
    for (; l + 4 <= n; l += 4)
        for (int i = 0; i < 4; i++)
            lane[i] += x[l + i] * y[l + i];
    for (int i = 0; l + i < n; i++)
        lane[i] += x[l + i] * y[l + i];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/* Σ_l x_l y_l / b_l over the points that have mass, in four fixed lanes. */
static double weighted_dot(const double *x, const double *y, const double *b, int64_t n)
{
    double lane[4] = {0};
    int64_t l = 0;
    for (; l + 4 <= n; l += 4)
        for (int i = 0; i < 4; i++)
            lane[i] += b[l + i] > 0 ? x[l + i] * (y[l + i] / b[l + i]) : 0;
    for (int i = 0; l + i < n; i++)
        lane[i] += b[l + i] > 0 ? x[l + i] * (y[l + i] / b[l + i]) : 0;
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/* In place: the lower triangle of h becomes L with L Lᵀ = h. */
static bool factorise(double *h, int64_t c)
{
    for (int64_t j = 0; j < c; j++)
        for (int64_t i = j; i < c; i++) {
            double sum = h[i * c + j];
            for (int64_t k = 0; k < j; k++)
                sum -= h[i * c + k] * h[j * c + k];
            if (i == j && !(sum > 0))
                return false;
            h[i * c + j] = i == j ? sqrt(sum) : sum / h[j * c + j];
        }
    return true;
}

static void substitute(double *x, const double *lower, int64_t c)
{
    for (int64_t i = 0; i < c; i++) {
        for (int64_t k = 0; k < i; k++)
            x[i] -= lower[i * c + k] * x[k];
        x[i] /= lower[i * c + i];
    }
    for (int64_t i = c - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < c; k++)
            x[i] -= lower[k * c + i] * x[k];
        x[i] /= lower[i * c + i];
    }
}

bool ot_newton_step(double *step, double *hessian, const double *plan, const double *row,
                    const double *a, const double *b, int64_t c, int64_t n, int64_t stride)
{
    double largest = 0;
    /* Rows of the Hessian sum to zero, so the diagonal is a sum of the other entries: all positive,
     * no cancellation. */
    for (int64_t k = 0; k < c; k++)
        hessian[k * c + k] = 0;
    for (int64_t k = 0; k < c; k++)
        for (int64_t l = 0; l < k; l++) {
            const double *x = plan + k * stride, *y = plan + l * stride;
            double shared = b ? weighted_dot(x, y, b, n) : plain_dot(x, y, n);
            hessian[k * c + l] = -shared;
            hessian[k * c + k] += shared;
            hessian[l * c + l] += shared;
        }
    for (int64_t k = 0; k < c; k++) {
        largest = hessian[k * c + k] > largest ? hessian[k * c + k] : largest;
        step[k] = a[k] - row[k];
    }
    if (!(largest > 0))
        return false;
    for (int64_t k = 0; k < c; k++) {
        for (int64_t l = 0; l <= k; l++)
            hessian[k * c + l] += largest / (double)c;
        hessian[k * c + k] += RIDGE * largest;
    }
    if (!factorise(hessian, c))
        return false;
    substitute(step, hessian, c);
    for (int64_t k = 0; k < c; k++)
        if (!isfinite(step[k]))
            return false;
    return true;
}
