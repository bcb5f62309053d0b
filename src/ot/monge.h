/* Maps that do not split mass: the Monge map with barycentric projection (Eq. monge_map; Kolouri et
 * al., "Wasserstein embedding for graph learning", 2021), and the nearest-reference shortcut. */

/*
 * Training keeps assignments fixed while it differentiates the pooling. So everything here has two
 * steps: an assignment (one reference per point), then a pooling over it.
 */
#ifndef OT_MONGE_H
#define OT_MONGE_H

#include "base/status.h"
#include "consm_ot.h"

/* reference[l] (n) = argmin_k cost[k, l] of cost (c, n); ties to the lower index. */
void ot_nearest(int32_t *reference, const double *cost, int64_t c, int64_t n);

/* reference[l] (n) = argmax_k plan[k, l] of plan (c, n); ties to the lower index, -1 for a column
 * without mass. */
void ot_monge_assign(int32_t *reference, const double *plan, int64_t c, int64_t n);

/* image[k] (c, f) = mean, sum or maximum of the points h (n, f) with reference[l] = k; without
 * points it is zero and empty[k] = 1 (c, or NULL). Points with reference -1 are left out. Fails
 * only without memory. */
consm_status ot_pool(float *image, uint8_t *empty, const int32_t *reference, const float *h,
                     int64_t c, int64_t n, int64_t f, enum consm_ot_pooling pooling);

/* The barycentric projection B: image[k] (c, f) = Σ_l plan[k, l] h_l / Σ_l plan[k, l]; if the row
 * has no mass it is zero and empty[k] = 1 (c, or NULL). sums (f) is scratch. */
void ot_project(float *image, uint8_t *empty, double *sums, const double *plan, const float *h,
                int64_t c, int64_t n, int64_t f);

#endif
