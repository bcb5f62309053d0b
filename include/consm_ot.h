/*
 * Optimal transport: moves the mass of n points onto c reference points
 * (docs/explanation/transport.md).
 *
 *     #include <consm_ot.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         const float here[] = {0, 0, 1, 1}, there[] = {0, 1, 1, 2}; // two points each
 *         double cost[4], plan[4];
 *         struct consm_ot_options options = {.size = sizeof options};
 *         struct consm_ot_result result;
 *         if (consm_ot_defaults(&options) < 0 ||
 *             consm_ot_cost_matrix(cost, here, there, 2, 2, 2, CONSM_OT_SQUARED_EUCLIDEAN) < 0 ||
 *             consm_ot_sinkhorn(plan, &result, cost, NULL, NULL, 2, 2, &options) < 0)
 *             return 1;
 *         printf("%g in %lld iterations\n", result.cost, (long long)result.iterations);
 *         return 0;
 *     }
 *
 * Matrices are row-major: references (c, f), points (n, f), costs and plans (c, n). The masses a
 * (c) of the references and b (n) of the points may be NULL: uniform with total 1. Outputs marked
 * "or NULL" are optional. Status codes, messages and memory are those of consm.h. You allocate all
 * outputs; no function here returns an object to free.
 */
#ifndef CONSM_OT_H
#define CONSM_OT_H

#include "consm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- options ------------------------------------------------------------- */

enum consm_ot_metric { CONSM_OT_SQUARED_EUCLIDEAN = 0, CONSM_OT_COSINE = 1 };

enum consm_ot_method {
    CONSM_OT_NEAREST = 0,  /* each point to its nearest reference; ignores the masses */
    CONSM_OT_SINKHORN = 1, /* entropy-regularised plan                                      */
    CONSM_OT_EXACT = 2,    /* the optimal plan                                              */
};

enum consm_ot_pooling { CONSM_OT_MEAN = 0, CONSM_OT_SUM = 1, CONSM_OT_MAX = 2 };

enum consm_ot_scale {
    CONSM_OT_SCALE_NONE = 0, /* P h, as the paper writes it                                 */
    CONSM_OT_SCALE_SQRT = 1, /* sqrt(c) P h (Mialon et al. 2021)                            */
    CONSM_OT_SCALE_MASS = 2, /* c P h: with uniform masses each row is a weighted mean      */
};

struct consm_ot_options {
    size_t size;                 /* sizeof(struct consm_ot_options), set by you             */
    enum consm_ot_method method; /* read by consm_ot_assign                                 */
    enum consm_ot_metric metric; /* read by consm_ot_assign                                 */
    double epsilon;              /* Sinkhorn's regulariser, > 0                             */
    bool relative;               /* epsilon is in units of the problem's mean cost */
    double tolerance;            /* Sinkhorn: sum of |row sum - a|, divided by total mass   */
    int max_iterations;          /* Sinkhorn: over all stages of its epsilon scaling        */
};

/* Fills options with the defaults: exact, squared Euclidean, epsilon 0.05 of the mean cost,
 * tolerance 1e-6, 10000 iterations. Functions below use them if their options are NULL. */
CONSM_API consm_status consm_ot_defaults(struct consm_ot_options *options);

/* This struct will not grow, because functions fill arrays of it. */
struct consm_ot_result {
    double cost;           /* sum of plan times cost                                        */
    double marginal_error; /* sum of |row sum - a|, divided by the total mass */
    int64_t iterations;
    bool converged; /* false: column sums are b, but row sums are not yet a */
};

/* ---- costs and plans ----------------------------------------------------- */

/* Computes the cost (c, n) of moving each point to each reference. */
CONSM_API consm_status consm_ot_cost_matrix(double *cost, const float *references,
                                            const float *points, int64_t c, int64_t n, int64_t f,
                                            enum consm_ot_metric metric);

/* Computes the optimal plan. dual_r (c) and dual_h (n), or both NULL, prove that it is optimal:
 * dual_r[k] + dual_h[l] is at most cost[k, l], and equal to it (up to rounding) where the plan is
 * positive. Memory O(min(c,n)² max(c,n)). */
CONSM_API consm_status consm_ot_exact(double *plan, double *dual_r, double *dual_h,
                                      struct consm_ot_result *result, const double *cost,
                                      const double *a, const double *b, int64_t c, int64_t n);

/* Computes the entropy-regularised plan. It works in the log domain, so no epsilon and no cost
 * makes it underflow. Reaching max_iterations is not an error; result->converged is then false.
 * O(c n) per iteration. */
CONSM_API consm_status consm_ot_sinkhorn(double *plan, struct consm_ot_result *result,
                                         const double *cost, const double *a, const double *b,
                                         int64_t c, int64_t n,
                                         const struct consm_ot_options *options);

/* As consm_ot_sinkhorn(), for `count` problems with c references each and uniform masses, on
 * `threads` threads (0: all). The bits do not depend on the number of threads. Problem i has the
 * points start[i] … start[i + 1]-1. Its cost and plan (c, points) begin at element c * start[i].
 * results (count). */
CONSM_API consm_status consm_ot_sinkhorn_batch(double *plans, struct consm_ot_result *results,
                                               const double *costs, const int64_t *start,
                                               int64_t count, int64_t c,
                                               const struct consm_ot_options *options, int threads);

/* Assigns each point to one reference by options->method: the nearest, or the one that takes most
 * of the point's mass under a plan with uniform masses. Ties go to the lower index. assignment (n).
 */
CONSM_API consm_status consm_ot_assign(int32_t *assignment, const float *references,
                                       const float *points, int64_t c, int64_t n, int64_t f,
                                       const struct consm_ot_options *options);

/* ---- maps ---------------------------------------------------------------- */

/* Linear map (mass may split): image (c, f) = scale · plan · points. */
CONSM_API consm_status consm_ot_linear(float *image, const double *plan, const float *points,
                                       int64_t c, int64_t n, int64_t f, enum consm_ot_scale scale);

/* Barycentric projection: image[k] (c, f) is the mean of the points under row k of the plan. If the
 * row has no mass, image[k] is zero and empty[k] = 1 (c, or NULL). */
CONSM_API consm_status consm_ot_project(float *image, uint8_t *empty, const double *plan,
                                        const float *points, int64_t c, int64_t n, int64_t f);

/* Monge map (mass does not split): every point goes to the reference that takes most of its mass
 * (assignment (n) or NULL; -1 for a point without mass). A reference's image (c, f) is pooled from
 * its points. Without points it is zero and empty[k] = 1 (c, or NULL). */
CONSM_API consm_status consm_ot_monge(float *image, int32_t *assignment, uint8_t *empty,
                                      const double *plan, const float *points, int64_t c, int64_t n,
                                      int64_t f, enum consm_ot_pooling pooling);

/* ---- reference points ---------------------------------------------------- */

/* Computes references (c, f) as the centres of k-means on the points. The seed decides the start.
 */
CONSM_API consm_status consm_ot_kmeans(float *references, const float *points, int64_t c, int64_t n,
                                       int64_t f, uint64_t seed);

/* Computes references (c, f) as class means. label (n) is in [0, c), or negative: not used. A class
 * without a point gets zeros. count (c, or NULL) receives the points of each class. */
CONSM_API consm_status consm_ot_class_means(float *references, int64_t *count, const float *points,
                                            const int32_t *label, int64_t c, int64_t n, int64_t f);

/* Computes references (c * support, f): for each class the free-support Wasserstein barycentre of
 * its sets, `support` points of equal mass. Set i has the points start[i] … start[i + 1]-1, with
 * equal masses. Its class is set_class[i] (sets) in [0, c), or negative: not used. With one set per
 * class, the result is the measure of `support` equal masses closest to it. A class without a set
 * is an error. */
CONSM_API consm_status consm_ot_barycentres(float *references, const float *points,
                                            const int64_t *start, const int32_t *set_class,
                                            int64_t sets, int64_t c, int64_t support, int64_t f,
                                            uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
