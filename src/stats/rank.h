/* Ranks scores without allocating: for validation after every epoch and for the areas and curves of
 * metrics. An item holds a score and whether it is positive. Sorted, the highest scores come first.
 * Equal scores count as one step, so no figure depends on their order. */
#ifndef STATS_RANK_H
#define STATS_RANK_H

#include "base/alloc.h"
#include "base/threads.h"

/* A NaN score ranks last. */
uint64_t rank_item(float score, bool positive);
float rank_score(uint64_t item);

/* Sorts; spare (n) is overwritten. O(n). */
void rank_sort(uint64_t *item, uint64_t *spare, int64_t n);

/* Chooses the k highest of n scores, ties to the earlier: afterwards rank_takes() answers for the
 * score at a place. Counts digits instead of sorting: O(n), without memory. The team, if not NULL,
 * divides the scores. */
struct rank_choice {
    uint64_t bar;  /* the item of the k-th highest score, if 1 <= k <= n */
    int64_t until; /* scores equal to it are taken before this place */
};
void rank_choose(struct rank_choice *out, const float *score, int64_t n, int64_t k,
                 struct team *team);
bool rank_takes(const struct rank_choice *c, float score, int64_t place);

/* Sorts numbers, none of them NaN, in ascending order; spare (n) is overwritten. O(n). */
void rank_floats(float *x, float *spare, int64_t n);

/* Of sorted items. NaN if there are no positives or no negatives; for the second, if there are no
 * positives. */
double rank_auc(const uint64_t *item, int64_t n);

/* Average precision: Σ over the steps of (recall - recall before) · precision. */
double rank_average_precision(const uint64_t *item, int64_t n);

/* Positives among the k highest, 0 <= k <= n; of scores tied at the border, the mean over all
 * choices. */
double rank_hits(const uint64_t *item, int64_t n, int64_t k);

/* The curve over all thresholds, thinned to RANK_POINTS. Returns the number of points; 0 if one
 * side is missing. out (RANK_POINTS). */
enum { RANK_STEPS = 50, RANK_POINTS = 2 * RANK_STEPS + 3 };
int64_t rank_curve(struct consm_curve_point *out, const uint64_t *item, int64_t n);

/* Finds a threshold: the lowest with at least that precision if recall is 0; else the highest with
 * at least that recall; with both 0 the one with the largest F1. False if there is none. */
bool rank_threshold(struct consm_curve_point *out, const uint64_t *item, int64_t n,
                    double precision, double recall);

#endif
