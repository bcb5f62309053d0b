/* Ranks scores by a radix sort of their bits: three passes of eleven bits. */
#include "stats/rank.h"

#include <math.h>
#include <string.h>

enum { PASSES = 3, RADIX = 11, BUCKETS = 1 << RADIX };

/* Bits that grow as the score falls; the lowest bit says whether it is positive. The sign bit of a
 * positive float is 0 and its bits grow with it; those of a negative float fall. */
uint64_t rank_item(float score, bool positive)
{
    uint32_t bits;
    score = isnan(score) ? -INFINITY : score + 0.0f; /* -0 is 0 */
    memcpy(&bits, &score, sizeof bits);
    bits = bits >> 31 ? bits : ~(bits | 0x80000000u);
    return (uint64_t)bits << 1 | positive;
}

float rank_score(uint64_t item)
{
    uint32_t bits = (uint32_t)(item >> 1);
    float score;
    bits = bits >> 31 ? bits : ~bits & 0x7fffffffu;
    memcpy(&score, &bits, sizeof score);
    return score;
}

static int digit(uint64_t item, int pass)
{
    return (int)(item >> (1 + pass * RADIX) & (BUCKETS - 1));
}

void rank_sort(uint64_t *item, uint64_t *spare, int64_t n)
{
    int64_t place[PASSES][BUCKETS] = {{0}};
    uint64_t *from = item, *to = spare;
    for (int64_t i = 0; i < n; i++)
        for (int pass = 0; pass < PASSES; pass++)
            place[pass][digit(item[i], pass)]++;
    for (int pass = 0; pass < PASSES; pass++) {
        int64_t sum = 0;
        for (int b = 0; b < BUCKETS; b++) {
            int64_t count = place[pass][b];
            place[pass][b] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; i++)
            to[place[pass][digit(from[i], pass)]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    memcpy(item, from,
           (size_t)n * sizeof *item); /* the number of passes is odd, so the result is in spare */
}

/* The bar is found digit by digit, from the highest. */
void rank_choose(struct rank_choice *out, const float *score, int64_t n, int64_t k)
{
    uint64_t bar = 0; /* its digits so far */
    *out = (struct rank_choice){k < 1 ? 0 : UINT64_MAX, 0};
    if (k < 1 || k > n)
        return;
    for (int pass = PASSES - 1; pass >= 0; pass--) {
        int64_t count[BUCKETS] = {0}, b = 0;
        const int below = 1 + pass * RADIX;
        for (int64_t i = 0; i < n; i++) {
            const uint64_t item = rank_item(score[i], false);
            count[digit(item, pass)] += item >> below >> RADIX == bar;
        }
        for (; k > count[b]; b++)
            k -= count[b];
        bar = bar << RADIX | (uint64_t)b;
    }
    *out = (struct rank_choice){bar << 1, k};
}

bool rank_takes(struct rank_choice *c, float score)
{
    const uint64_t item = rank_item(score, false);
    return item < c->bar || (item == c->bar && c->ties-- > 0);
}

/* Bits that grow with the number. */
static uint32_t ascending(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

/* The counters of a radix sort cost more than a few numbers. */
static void insert_floats(float *x, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const float own = x[i];
        int64_t at = i;
        for (; at > 0 && x[at - 1] > own; at--)
            x[at] = x[at - 1];
        x[at] = own;
    }
}

void rank_floats(float *x, float *spare, int64_t n)
{
    enum { FEW = 64 };
    uint32_t place[PASSES][BUCKETS] = {{0}};
    float *from = x, *to = spare;
    if (n <= FEW) {
        insert_floats(x, n);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        for (int pass = 0; pass < PASSES; pass++)
            place[pass][ascending(x[i]) >> (pass * RADIX) & (BUCKETS - 1)]++;
    for (int pass = 0; pass < PASSES; pass++) {
        uint32_t sum = 0;
        for (int b = 0; b < BUCKETS; b++) {
            const uint32_t count = place[pass][b];
            place[pass][b] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; i++)
            to[place[pass][ascending(from[i]) >> (pass * RADIX) & (BUCKETS - 1)]++] = from[i];
        float *swap = from;
        from = to;
        to = swap;
    }
    memcpy(x, from, (size_t)n * sizeof *x); /* the number of passes is odd */
}

static double positives_of(const uint64_t *item, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)(item[i] & 1);
    return sum;
}

/* Finds the end of the items with the same score as `begin`, and the positives among them. */
static int64_t step_from(double *hits, const uint64_t *item, int64_t n, int64_t begin)
{
    int64_t end = begin;
    *hits = 0;
    for (; end < n && item[end] >> 1 == item[begin] >> 1; end++)
        *hits += (double)(item[end] & 1);
    return end;
}

double rank_auc(const uint64_t *item, int64_t n)
{
    double won = 0, above = 0, negatives = 0, hits;
    for (int64_t begin = 0, end; begin < n; begin = end) {
        end = step_from(&hits, item, n, begin);
        double misses = (double)(end - begin) - hits;
        won += misses * (above + hits / 2);
        above += hits;
        negatives += misses;
    }
    return above > 0 && negatives > 0 ? won / (above * negatives) : (double)NAN;
}

double rank_average_precision(const uint64_t *item, int64_t n)
{
    double sum = 0, above = 0, hits;
    for (int64_t begin = 0, end; begin < n; begin = end) {
        end = step_from(&hits, item, n, begin);
        above += hits;
        sum += hits * above / (double)end;
    }
    return above > 0 ? sum / above : (double)NAN;
}

double rank_hits(const uint64_t *item, int64_t n, int64_t k)
{
    double sum = 0, hits;
    for (int64_t begin = 0, end; begin < k; begin = end) {
        end = step_from(&hits, item, n, begin);
        sum += end <= k ? hits : hits * (double)(k - begin) / (double)(end - begin);
    }
    return sum;
}

/* A curve point at which the first `taken` items, `above` of them positive, are called positive. */
static struct consm_curve_point point_at(uint64_t last, double above, double taken,
                                         double positives, double negatives)
{
    return (struct consm_curve_point){(double)rank_score(last), above / taken, above / positives,
                                      (taken - above) / negatives};
}

/* Keeps a point when recall or the false positive rate has reached another fiftieth. */
int64_t rank_curve(struct consm_curve_point *out, const uint64_t *item, int64_t n)
{
    double positives = positives_of(item, n), negatives = (double)n - positives;
    double above = 0, hits, steps = RANK_STEPS, recall = -1, rate = -1;
    int64_t count = 0;
    if (positives == 0 || negatives == 0)
        return 0;
    for (int64_t begin = 0, end; begin < n; begin = end) {
        end = step_from(&hits, item, n, begin);
        above += hits;
        struct consm_curve_point p =
            point_at(item[begin], above, (double)end, positives, negatives);
        if (floor(steps * p.recall) == recall && floor(steps * p.false_positive_rate) == rate &&
            end < n)
            continue;
        recall = floor(steps * p.recall);
        rate = floor(steps * p.false_positive_rate);
        out[count++] = p;
    }
    return count;
}

bool rank_threshold(struct consm_curve_point *out, const uint64_t *item, int64_t n,
                    double precision, double recall)
{
    double positives = positives_of(item, n), negatives = (double)n - positives;
    double above = 0, hits, best = 0;
    bool found = false;
    for (int64_t begin = 0, end; begin < n && positives > 0; begin = end) {
        end = step_from(&hits, item, n, begin);
        above += hits;
        struct consm_curve_point p =
            point_at(item[begin], above, (double)end, positives, negatives);
        double f1 = 2 * above / ((double)end + positives);
        bool better = precision > 0 ? p.precision >= precision
                      : recall > 0  ? p.recall >= recall && !found
                                    : f1 > best;
        if (!better)
            continue;
        found = true;
        best = f1;
        *out = p;
    }
    return found;
}
