/* Sorted hits with a table of intervals. */
#include "stats/places.h"

#include "stats/rank.h"
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Never falls as the score grows; all of it selects, for a branch would often be mispredicted. */
static inline int32_t interval_of(const struct places *p, float score)
{
    const float above = (score > p->low ? score : p->low) - p->low, at = above * p->scale;
    const float last = (float)(p->intervals - 1);
    return (int32_t)(at < last ? at : last); /* NaN, from inf · 0 or 0 · inf, is in the last */
}

void places_make(struct places *out, float *hit, uint32_t *first, float *spare, int64_t hits)
{
    struct places p = {.hit = hit, .first = first, .hits = hits, .low = -FLT_MAX / 4};
    float high = FLT_MAX / 4;
    rank_floats(hit, spare, hits);
    for (int i = 0; i < PLACES_PAD; i++)
        hit[hits + i] = NAN;
    p.low = hits > 0 && hit[0] > p.low ? hit[0] : p.low;
    high = hits > 0 && hit[hits - 1] < high ? hit[hits - 1] : high;
    p.intervals = PLACES_INTERVALS * hits + 1;
    /* A float counts up to 2^24; more intervals would have no edges. */
    p.intervals = p.intervals < 1 << 24 ? p.intervals : 1 << 24;
    p.scale = high > p.low ? (float)p.intervals / (high - p.low) : 0;
    /* The last hit of an interval stays in the next; where there is none, as many as before. */
    memset(first, 0, (size_t)(p.intervals + 1) * sizeof *first);
    for (int64_t k = 0; k < hits; k++)
        first[interval_of(&p, hit[k]) + 1] = (uint32_t)k + 1;
    for (int64_t at = 1; at <= p.intervals; at++)
        first[at] = first[at] > first[at - 1] ? first[at] : first[at - 1];
    *out = p;
}

/* The first hit of [from, to) that is above the score, or (orequal) not below it. */
static int64_t bisect(const float *hit, int64_t from, int64_t to, float score, bool orequal)
{
    while (from < to) {
        const int64_t middle = (from + to) / 2;
        if (orequal ? hit[middle] >= score : hit[middle] > score)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

typedef float v4 __attribute__((vector_size(4 * PLACES_PAD)));
typedef int32_t v4i __attribute__((vector_size(4 * PLACES_PAD)));

/* The scores' intervals are computed first, in vectors. An interval with few hits, as most are, is
 * read as a whole, with some hits of the next ones, which are above the score. */
int64_t places_won(const struct places *p, const float *score, int64_t n)
{
    enum { BLOCK = 256 };
    int64_t lost = 0;
    int32_t at[BLOCK];
    for (int64_t begin = 0; begin < n; begin += BLOCK) {
        const int64_t count = n - begin < BLOCK ? n - begin : BLOCK;
        v4i among = {0};
        for (int64_t k = 0; k < count; k++)
            at[k] = interval_of(p, score[begin + k]);
        for (int64_t k = 0; k < count; k++) {
            const float x = score[begin + k];
            const uint32_t *first = p->first + at[k];
            v4 hit;
            if (first[1] - first[0] > PLACES_PAD) {
                lost += bisect(p->hit, first[0], first[1], x, true) +
                        bisect(p->hit, first[0], first[1], x, false);
                continue;
            }
            memcpy(&hit, p->hit + first[0], sizeof hit);
            among += (v4i)(hit < x) + (v4i)(hit <= x); /* true is -1 */
            lost += 2 * (int64_t)first[0];
        }
        for (int i = 0; i < PLACES_PAD; i++)
            lost -= among[i];
    }
    return 2 * p->hits * n - lost;
}

void places_reach(uint32_t *reach, const struct places *p, const float *score, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        const uint32_t *first = p->first + interval_of(p, score[k]);
        int64_t reached = first[0];
        if (first[1] - first[0] > PLACES_PAD)
            reached = bisect(p->hit, first[0], first[1], score[k], false);
        else
            for (const float *hit = p->hit + first[0]; hit < p->hit + first[0] + PLACES_PAD; hit++)
                reached += *hit <= score[k];
        reach[reached]++;
    }
}
