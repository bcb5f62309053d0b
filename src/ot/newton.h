/* One Newton step on the potentials of the references, for regularised transport. */
#ifndef OT_NEWTON_H
#define OT_NEWTON_H

#include "base/status.h"

/*
 * The dual of regularised transport, seen as a function of the references' potentials f alone, has
 * the gradient a - P 1 and the Hessian -(diag(P 1) - P diag(1/b) Pᵀ) / ε; P has exact column sums.
 * step (c) receives Newton's step for f, divided by ε. plan (c, stride) of which n columns count,
 * row (c) = P 1, a (c), b (n) or NULL for all 1, hessian (c, c) scratch. False when the Hessian is
 * numerically singular. O(c² n + c³).
 */
bool ot_newton_step(double *step, double *hessian, const double *plan, const double *row,
                    const double *a, const double *b, int64_t c, int64_t n, int64_t stride);

#endif
