/* Fits a sum of terms with coefficients that are not negative. */
#include "stats/stats.h"

#include "base/alloc.h"
#include <math.h>

/* Coordinate descent on Σ_i (Σ_j c_j share_ij - whole_i)²: each step puts one coefficient at its
 * best, not below 0. Columns of relative sizes have nearly the same scale, so it converges fast
 * enough. */
static void descend(double *c, const double *share, const double *whole, double *left, int64_t n,
                    int terms)
{
    enum { SWEEPS = 20000 };
    for (int64_t i = 0; i < n; i++) {
        left[i] = -whole[i];
        for (int j = 0; j < terms; j++)
            left[i] += c[j] * share[i * terms + j];
    }
    double moved = 1;
    for (int64_t sweep = 0; sweep < SWEEPS && moved > 1e-12; sweep++) {
        moved = 0;
        for (int j = 0; j < terms; j++) {
            double slope = 0, square = 0;
            for (int64_t i = 0; i < n; i++) {
                slope += left[i] * share[i * terms + j];
                square += share[i * terms + j] * share[i * terms + j];
            }
            double step = square > 0 ? fmax(-c[j], -slope / square) : 0;
            c[j] += step;
            for (int64_t i = 0; i < n; i++)
                left[i] += step * share[i * terms + j];
            moved = fmax(moved, fabs(step) * sqrt(square));
        }
    }
}

/* Coefficients whose terms are nowhere more than a billionth of the whole are what rounding left.
 */
static void clear_rests(double *c, const double *x, const double *y, int64_t n, int terms)
{
    for (int j = 0; j < terms; j++) {
        double most = 0;
        for (int64_t i = 0; i < n; i++)
            most = fmax(most, c[j] * x[i * terms + j] / y[i]);
        c[j] = most > 1e-9 ? c[j] : 0;
    }
}

/* Minimises Σ f/y + y/f: twice as much and half as much count the same. With f of the round before,
 * its slope is that of a sum of squares (f - y)²/scale², scale² = 2 y f²/(y + f). At first f = y.
 */
consm_status stats_fit_terms(double *c, const double *x, const double *y, int64_t n, int terms)
{
    consm_status st = CONSM_OK;
    enum { ROUNDS = 30 };
    double *share = NULL, *left = NULL, *whole = NULL;
    TRY(NEW(share, n * terms));
    TRY(NEW(left, n));
    TRY(NEW(whole, n));
    for (int64_t i = 0; i < n; i++)
        if (!(y[i] > 0 && isfinite(y[i])))
            TRY(status_fail(CONSM_EINVAL, "a fit of relative errors needs positive values"));
    for (int j = 0; j < terms; j++)
        c[j] = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int64_t i = 0; i < n; i++) {
            double f = 0;
            for (int j = 0; j < terms; j++)
                f += c[j] * x[i * terms + j];
            f = f > 0 ? f : y[i];
            double scale = f * sqrt(2 * y[i] / (y[i] + f));
            whole[i] = y[i] / scale;
            for (int j = 0; j < terms; j++)
                share[i * terms + j] = x[i * terms + j] / scale;
        }
        descend(c, share, whole, left, n, terms);
    }
    clear_rests(c, x, y, n, terms);
done:
    mem_free(share);
    mem_free(left);
    mem_free(whole);
    return st;
}
