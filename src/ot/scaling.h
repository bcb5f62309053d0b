/* Sinkhorn for many small sets of the same points (Eq. sinkhorn), as in training and scoring. */

/*
 * With one ε for all sets, a point's kernel does not depend on the set. With the potentials f* of a
 * representative set,
 *
 *     K_lk = softmax_k((f*_k - cost_kl) / ε)
 *
 * is computed once per point. The plan of a set is P_kl ∝ u_k K_lk with one factor u_k per
 * reference. u is near 1 if the set resembles the whole, so a few passes without exponentials find
 * it.
 */
#ifndef OT_SCALING_H
#define OT_SCALING_H

#include "base/status.h"

/* Scratch for sets of up to n points; used by one thread at a time. */
struct ot_scaling;
consm_status ot_scaling_new(struct ot_scaling **out, int64_t c, int64_t n);
void ot_scaling_free(struct ot_scaling *s);

/* kernel (c) = softmax((f - cost) / epsilon) of one point with these costs (c). */
void ot_scaling_kernel(double *kernel, const double *cost, const double *f, double epsilon,
                       int64_t c);

/* Finds u for the set of these rows of kernel (·, c); point NULL: the first rows. All points have
 * equal mass and so do all references. Returns false if the factors leave the range in which K is
 * reliable, or after too many passes: the set then needs the log domain. */
bool ot_scaling_solve(struct ot_scaling *s, const double *kernel, const int32_t *point,
                      int64_t size, double tolerance);

/* For the last solved set: the reference with the largest share of each point, or the plan itself
 * (c, size) with columns that sum to 1 / size. */
void ot_scaling_assign(const struct ot_scaling *s, int32_t *reference);
void ot_scaling_plan(const struct ot_scaling *s, float *plan);

#endif
