/* The places of scores among the sorted scores of a class's rows (hits), for ROC-AUC and average
 * precision: only the hits are sorted, every other row looks its place up. A table divides the
 * hits' range into intervals of equal width, so that most lookups compare with a few hits. */
#ifndef STATS_PLACES_H
#define STATS_PLACES_H

#include <stdint.h>

/* Scores are not NaN. */
struct places {
    const float *hit;      /* (hits + PLACES_PAD) ascending, then NaN */
    const uint32_t *first; /* (intervals + 1) hits before an interval */
    int64_t hits, intervals;
    float low, scale; /* a score's interval is (score - low)·scale */
};

enum { PLACES_PAD = 4, PLACES_INTERVALS = 2 }; /* intervals for each hit */

/* Sorts hit (hits + PLACES_PAD) and fills first (PLACES_INTERVALS·hits + 2); spare (hits) is
 * overwritten. O(hits). */
void places_make(struct places *out, float *hit, uint32_t *first, float *spare, int64_t hits);

/* Σ over n scores of 2 for each higher hit and 1 for each equal hit. */
int64_t places_won(const struct places *p, const float *score, int64_t n);

/* reach[j] += the scores that are not below exactly j hits; reach (hits + 1). */
void places_reach(uint32_t *reach, const struct places *p, const float *score, int64_t n);

#endif
