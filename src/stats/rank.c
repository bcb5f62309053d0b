/* Ranks scores by a radix sort of their bits: three passes of eleven bits. */
#include "stats/rank.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { PASSES = 3, RADIX = 11, BUCKETS = 1 << RADIX };

/* Bits that grow as the score falls; the lowest bit says whether it is positive. The sign bit of a
 * positive float is 0 and its bits grow with it; those of a negative float fall. No arithmetic: the
 * threads of a team would take a subnormal score for 0. */
uint64_t rank_item(float score, bool positive)
{
    static const uint32_t minus_infinity = 0xff800000u, minus_zero = 0x80000000u;
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    if ((bits | minus_zero) > minus_infinity) /* NaN */
        bits = minus_infinity;
    if (bits == minus_zero)
        bits = 0;
    bits = bits >> 31 ? bits : ~(bits | minus_zero);
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

enum { PIECES = 256 };

struct choosing {
    const float *score;
    int64_t n, k;                       /* k: still to be found below the bar's digits so far */
    uint64_t bar;                       /* these digits */
    atomic_int_fast64_t count[BUCKETS]; /* of the next digit */
    int64_t tied[PIECES];               /* scores with the bar in pieces of the scores */
};

/* Counts the next digit among this thread's scores. The sums are of integers, so it does not matter
 * who adds first. */
static void count_digit(struct choosing *q, struct worker who, int pass)
{
    int64_t count[BUCKETS] = {0}, from, to;
    const int below = 1 + pass * RADIX;
    team_range(who, q->n, 64, &from, &to);
    for (int64_t i = from; i < to; i++) {
        const uint64_t item = rank_item(q->score[i], false);
        count[digit(item, pass)] += item >> below >> RADIX == q->bar;
    }
    for (int b = 0; b < BUCKETS; b++)
        if (count[b] > 0)
            atomic_fetch_add_explicit(&q->count[b], count[b], memory_order_relaxed);
}

static void take_digit(struct choosing *q)
{
    int64_t b = 0;
    for (; q->k > q->count[b]; b++)
        q->k -= q->count[b];
    q->bar = q->bar << RADIX | (uint64_t)b;
    for (b = 0; b < BUCKETS; b++)
        q->count[b] = 0;
}

static int64_t piece_end(const struct choosing *q, int64_t piece)
{
    return piece * (q->n / PIECES) + piece * (q->n % PIECES) / PIECES;
}

static void choosing_worker(void *arg, struct worker who)
{
    struct choosing *q = arg;
    int64_t from, to;
    for (int pass = PASSES - 1; pass >= 0; pass--) {
        count_digit(q, who, pass);
        team_barrier(who);
        if (who.id == 0)
            take_digit(q);
        team_barrier(who);
    }
    team_range(who, PIECES, 1, &from, &to);
    for (int64_t piece = from; piece < to; piece++)
        for (int64_t i = piece_end(q, piece); i < piece_end(q, piece + 1); i++)
            q->tied[piece] += rank_item(q->score[i], false) == q->bar << 1;
}

/* The place after the last score with the bar that is taken. */
static int64_t last_tie(const struct choosing *q)
{
    int64_t piece = 0, left = q->k, at;
    for (; left > q->tied[piece]; piece++)
        left -= q->tied[piece];
    for (at = piece_end(q, piece); left > 0; at++)
        left -= rank_item(q->score[at], false) == q->bar << 1;
    return at;
}

/* The bar is found digit by digit, from the highest. */
void rank_choose(struct rank_choice *out, const float *score, int64_t n, int64_t k,
                 struct team *team)
{
    struct choosing q = {.score = score, .n = n, .k = k};
    *out = (struct rank_choice){k < 1 ? 0 : UINT64_MAX, 0};
    if (k < 1 || k > n)
        return;
    team_run_or_alone(team, choosing_worker, &q);
    *out = (struct rank_choice){q.bar << 1, last_tie(&q)};
}

bool rank_takes(const struct rank_choice *c, float score, int64_t place)
{
    const uint64_t item = rank_item(score, false);
    return item < c->bar || (item == c->bar && place < c->until);
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
