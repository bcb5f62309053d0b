/* Entropy-regularised transport in the log domain. */

/*
 *   min Σ P_kl cost_kl - ε H(P) over P ≥ 0 with row sums a and column sums b         (Eq. sinkhorn)
 *
 * The state is one potential per reference; columns are normalised exactly. Between returns to the
 * log domain the updates are multiplications on a kernel that cannot overflow (absorption,
 * Schmitzer 2019). A small ε is reached through larger ones (ε-scaling).
 */
#ifndef OT_SINKHORN_H
#define OT_SINKHORN_H

#include "base/status.h"
#include "base/threads.h"
#include "consm_ot.h"

/* Scratch for problems of up to c × n; used by one thread at a time. */
struct ot_sinkhorn_work;
consm_status ot_sinkhorn_work_new(struct ot_sinkhorn_work **out, int64_t c, int64_t n);
void ot_sinkhorn_work_free(struct ot_sinkhorn_work *work);

/* plan (c, n), cost (c, n), a (c) and b (n) or NULL for uniform. The problem has passed
 * ot_check_problem, the options ot_check_options, and it fits the scratch. */
void ot_sinkhorn_solve(struct ot_sinkhorn_work *work, double *plan, struct consm_ot_result *result,
                       const double *cost, const double *a, const double *b, int64_t c, int64_t n,
                       const struct consm_ot_options *options);

/* The potentials (c) of the references in the last solved problem. */
void ot_sinkhorn_potentials(const struct ot_sinkhorn_work *work, double *f);

/* Problems side by side, uniform masses; layout as in consm_ot_sinkhorn_batch. team NULL: the
 * calling thread alone. Each problem is solved by one thread: same bits for any team. */
consm_status ot_sinkhorn_batch(double *plans, struct consm_ot_result *results, const double *costs,
                               const int64_t *start, int64_t count, int64_t c,
                               const struct consm_ot_options *options, struct team *team);

#endif
