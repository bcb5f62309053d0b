/* Cost matrices between references and points, and the checks of a transport problem before a
 * solver gets it. In src/ot: c references, n points, f features. */
#ifndef OT_COST_H
#define OT_COST_H

#include "base/status.h"
#include "consm_ot.h"

/* Σ (x_d - y_d)² over f features. */
double ot_squared_distance(const float *x, const float *y, int64_t f);

/* cost[k, l] (c, n) = d(r_k, h_l) for r (c, f) and h (n, f). Squared Euclidean: ‖r_k - h_l‖².
 * Cosine: 1 - cos(r_k, h_l), in [0, 2]; a zero vector is at distance 1 from everything. */
void ot_cost_matrix(double *cost, const float *r, const float *h, int64_t c, int64_t n, int64_t f,
                    enum consm_ot_metric metric);

/* Sizes are at least 1 and fit an int32_t; the (c, n) matrix can be indexed. */
consm_status ot_check_sizes(int64_t c, int64_t n);

/* Sizes as above, costs finite and not so large that sums of them overflow, masses finite and not
 * negative, with positive and equal totals. a (c) and b (n) may be NULL: uniform. */
consm_status ot_check_problem(const double *cost, const double *a, const double *b, int64_t c,
                              int64_t n);

/* The mass of a problem: Σ a, else Σ b, else 1. */
double ot_total_mass(const double *a, const double *b, int64_t c, int64_t n);

/* Finite coordinates and f ≥ 1; `what` names the array in the message. */
consm_status ot_check_points(const float *x, int64_t n, int64_t f, const char *what);

/* ε of a problem: options->epsilon; if relative, times the mean |cost| (times 1 if every cost is
 * zero, where any ε gives the same plan). */
double ot_epsilon(const double *cost, int64_t c, int64_t n, const struct consm_ot_options *options);
/* The same from the sum of |cost| and their number. */
double ot_epsilon_of(double sum, int64_t count, const struct consm_ot_options *options);

/* Checks method, metric, ε, tolerance and iteration limit. */
consm_status ot_check_options(const struct consm_ot_options *options);

#endif
