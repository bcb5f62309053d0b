/* The exact transport plan of a small problem, by successive shortest paths with potentials. */

/*
 *   min Σ P_kl cost_kl over P ≥ 0 with row sums a and column sums b        (Eq. optimal_transport)
 *
 * Masses become 64-bit integers, so "empty" and "full" are exact and degenerate problems cannot
 * make the solver cycle. Points are routed one after another. The search runs on a graph of the c
 * references only; its arc k→l is the point that moves from k to l most cheaply (kept in a heap).
 * Time O((c² + p c log n) · augmentations) with p the path's length, one or a few augmentations a
 * point; memory O(c² n) for the smaller side c.
 */
#ifndef OT_EXACT_H
#define OT_EXACT_H

#include "base/status.h"
#include "consm_ot.h"

/* Scratch for problems of up to c × n; used by one thread at a time. */
struct ot_exact_work;
consm_status ot_exact_work_new(struct ot_exact_work **out, int64_t c, int64_t n);
void ot_exact_work_free(struct ot_exact_work *work);

/* Limits the augmentations of the quick pass, after which capacity scaling starts over; its number
 * of augmentations has a proven bound. Negative: the default. 0 for tests. */
void ot_exact_quick_limit(struct ot_exact_work *work, int64_t limit);

/*
 * plan (c, n), cost (c, n), a (c) and b (n) or NULL for uniform. dual_r (c) and dual_h (n) may be
 * NULL; they satisfy dual_r[k] + dual_h[l] ≤ cost[k, l], with equality where plan[k, l] > 0, to
 * rounding, and max dual_r = 0. The problem has passed ot_check_problem and fits the scratch.
 * result->iterations counts augmentations.
 */
void ot_exact_solve(struct ot_exact_work *work, double *plan, double *dual_r, double *dual_h,
                    struct consm_ot_result *result, const double *cost, const double *a,
                    const double *b, int64_t c, int64_t n);

#endif
