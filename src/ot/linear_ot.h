/* The linear optimal transport embedding (Eq. optimal_transport and linear_ot; Mialon et al., "A
 * trainable optimal transport embedding", 2021) and, for training, assignments and plan weights of
 * many overlapping point sets at once. */

/*
 * A set is a list of rows of h: a subgraph's nodes. The cost of a node at a reference does not
 * depend on the set, so costs are computed once for all n nodes and each set gathers its columns.
 * All sets share one ε (relative: in units of the mean cost of all n nodes), so they can share a
 * kernel: ot/scaling.h.
 */
#ifndef OT_LINEAR_OT_H
#define OT_LINEAR_OT_H

#include "base/status.h"
#include "base/threads.h"
#include "consm_ot.h"

/* Set i holds the rows point[start[i]] … point[start[i + 1] - 1] of h; point NULL: a single set, of
 * the first rows. Sets may be empty and may share points. */
struct ot_sets {
    int64_t count;
    const int64_t *start; /* (count + 1), from 0, never decreasing */
    const int32_t *point; /* (start[count]) in [0, n), or NULL */
};

/* image (c, f) = scale · plan (c, n) · h (n, f). sums (f) is scratch. */
void ot_linear(float *image, double *sums, const double *plan, const float *h, int64_t c, int64_t n,
               int64_t f, enum consm_ot_scale scale);

/*
 * Assigns a reference to every entry of every set: reference (start[count]); entry e of set i is
 * the point point[e]. By options->method: the nearest, or the argmax of the point's column in the
 * set's Sinkhorn or exact plan with uniform masses. h (n, f), r (c, f). team NULL: only the calling
 * thread; the bits are the same for any team. unconverged (or NULL): sets that Sinkhorn did not
 * finish.
 */
consm_status ot_assign(int32_t *reference, int64_t *unconverged, const float *h, const float *r,
                       int64_t n, int64_t c, int64_t f, const struct ot_sets *sets,
                       const struct consm_ot_options *options, struct team *team);

/*
 * The same for sets that come one by one, with all memory allocated in advance: costs of every
 * node, and one seat per thread. Points of a set are rows of h; largest bounds a set's size.
 */
struct ot_plans;
consm_status ot_plans_new(struct ot_plans **out, int64_t n, int64_t c, int64_t largest,
                          const struct consm_ot_options *options, int threads);
void ot_plans_free(struct ot_plans *p);
void ot_plans_costs(struct ot_plans *p, const float *h, const float *r, int64_t f,
                    struct team *team);

/* The same if only some nodes will be in sets: node[i] (count) is row i of h. Not for Sinkhorn,
 * whose ε depends on all nodes. */
void ot_plans_some_costs(struct ot_plans *p, const float *h, const float *r, int64_t f,
                         const int32_t *node, int64_t count, struct team *team);

/*
 * The same if only some nodes are here: row (count) of them, ascending. First their costs; then,
 * with the magnitudes of all n nodes added up, the rest. sample (n) marks nodes that every process
 * needs in addition to the points of its sets.
 */
consm_status ot_plans_new_sparse(struct ot_plans **out, int64_t n, int64_t c, int64_t largest,
                                 const struct consm_ot_options *options, int threads);
void ot_plans_sample(uint8_t *sample, const struct ot_plans *p);
void ot_plans_costs_of(struct ot_plans *p, const float *h, const float *r, int64_t f,
                       const int32_t *row, int64_t count, struct team *team);
double ot_plans_magnitude(const struct ot_plans *p, int64_t row); /* Σ_k |cost| of that node */
void ot_plans_settle(struct ot_plans *p, double magnitudes, const int32_t *row, int64_t count,
                     struct team *team);

/* reference (size), or weight (c, size) with columns that sum to 1 / size; point NULL: rows 0, 1 …
 * Two threads never share a seat. */
void ot_plans_assign(struct ot_plans *p, int seat, int32_t *reference, const int32_t *point,
                     int64_t size);
void ot_plans_weigh(struct ot_plans *p, int seat, float *weight, const int32_t *point,
                    int64_t size);

/* Number of sets that Sinkhorn did not finish so far. */
int64_t ot_plans_unconverged(const struct ot_plans *p);

#endif
