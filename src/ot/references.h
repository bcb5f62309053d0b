/* Computes reference points: k-means centres, class means, class-wise Wasserstein barycentres
 * (section 4.1.2 of the paper names all three). Deterministic for a seed. */
#ifndef OT_REFERENCES_H
#define OT_REFERENCES_H

#include "base/status.h"
#include "consm_ot.h"

/* Centres r (c, f) of the points h (n, f): k-means++ start, then Lloyd until no point changes or
 * 100 rounds. A centre that loses all points moves to the point farthest from its own. */
consm_status ot_kmeans(float *r, const float *h, int64_t c, int64_t n, int64_t f, uint64_t seed);

/* Only the k-means++ start: c distinct positions among the points, if there are that many. */
consm_status ot_kmeans_start(float *r, const float *h, int64_t c, int64_t n, int64_t f,
                             uint64_t seed);

/* r[k] (c, f) = mean of the points h (n, f) with label[l] = k, zero if there is none; count (c) of
 * them or NULL. Negative labels are left out. */
consm_status ot_class_means(float *r, int64_t *count, const float *h, const int32_t *label,
                            int64_t c, int64_t n, int64_t f);

/*
 * The free-support barycentre y (support, f), equal masses, of measures with equal masses: set i
 * has the rows start[i] … start[i + 1] - 1 of h. Minimises the mean over sets of W2² by the fixed
 * point y_k ← mean over sets of the barycentric projection of y_k (Cuturi & Doucet 2014,
 * Álvarez-Esteban et al. 2016) with exact plans; each round lowers the objective, which is
 * returned in *objective (or NULL). Ends when it falls by less than 1e-9 of itself, or after 100
 * rounds. Empty sets are left out; at least one is not empty.
 */
consm_status ot_barycentre(float *y, double *objective, const float *h, const int64_t *start,
                           int64_t sets, int64_t support, int64_t f, uint64_t seed);

/* r (c, support, f): the barycentre of each class's sets; set_class (sets), negative: left out. A
 * class without a point is an error. */
consm_status ot_class_barycentres(float *r, const float *h, const int64_t *start,
                                  const int32_t *set_class, int64_t sets, int64_t c,
                                  int64_t support, int64_t f, uint64_t seed);

#endif
