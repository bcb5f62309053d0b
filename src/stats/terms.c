/* Fits a sum of terms with coefficients that are not negative. */
#include "stats/stats.h"

#include "base/alloc.h"
#include <math.h>

/* Coordinate descent on Σ_i (Σ_j c_j x_ij/y_i - 1)²: each step puts one coefficient at its best,
 * not below 0. Columns of relative sizes have nearly the same scale, so it converges fast enough.
 */
consm_status stats_fit_terms(double *c, const double *x, const double *y, int64_t n, int terms)
{
    consm_status st = CONSM_OK;
    enum { SWEEPS = 200000 };
    double *share = NULL, *left = NULL, *square = NULL;
    TRY(NEW(share, n * terms));
    TRY(NEW(left, n));
    TRY(ZNEW(square, terms));
    for (int64_t i = 0; i < n; i++) {
        if (!(y[i] > 0 && isfinite(y[i])))
            TRY(status_fail(CONSM_EINVAL, "a fit of relative errors needs positive values"));
        left[i] = -1;
        for (int j = 0; j < terms; j++) {
            share[i * terms + j] = x[i * terms + j] / y[i];
            square[j] += share[i * terms + j] * share[i * terms + j];
        }
    }
    for (int j = 0; j < terms; j++)
        c[j] = 0;
    double moved = 1;
    for (int64_t sweep = 0; sweep < SWEEPS && moved > 1e-12; sweep++) {
        moved = 0;
        for (int j = 0; j < terms; j++) {
            double slope = 0;
            if (square[j] <= 0)
                continue;
            for (int64_t i = 0; i < n; i++)
                slope += left[i] * share[i * terms + j];
            double step = fmax(-c[j], -slope / square[j]);
            c[j] += step;
            for (int64_t i = 0; i < n; i++)
                left[i] += step * share[i * terms + j];
            moved = fmax(moved, fabs(step) * sqrt(square[j]));
        }
    }
done:
    mem_free(share);
    mem_free(left);
    mem_free(square);
    return st;
}
