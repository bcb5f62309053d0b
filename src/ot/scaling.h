/*
 * Sinkhorn for many small sets of the same points (Eq. sinkhorn), as training and scoring meet
 * them.
 *
 * With one ε for all sets, what a point brings along does not depend on the set: with the
 * potentials f* of a set that stands for all,
 *
 *     K_lk = softmax_k((f*_k - cost_kl) / ε)
 *
 * is made once per point. The plan of a set is P_kl ∝ u_k K_lk with one factor u_k per reference,
 * near 1 where the set resembles the whole: a few passes without a single exponential find it.
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

/* Finds u for the set of these rows of kernel (·, c); point NULL: the first rows. All points weigh
 * the same and so do all references. False when the factors leave the range in which K can be
 * trusted, or after too many passes: the set needs the log domain. */
bool ot_scaling_solve(struct ot_scaling *s, const double *kernel, const int32_t *point,
                      int64_t size, double tolerance);

/* Of the set solved last: the reference with the largest share of each point, or the plan itself
 * (c, size) with columns that sum to 1 / size. */
void ot_scaling_assign(const struct ot_scaling *s, int32_t *reference);
void ot_scaling_plan(const struct ot_scaling *s, float *plan);

#endif
