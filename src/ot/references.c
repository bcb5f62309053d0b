/* Reference points: k-means, class means, free-support Wasserstein barycentres. Sums in double,
 * one thread, fixed order. */
#include "ot/references.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "ot/cost.h"
#include "ot/exact.h"
#include "ot/monge.h"
#include <math.h>
#include <string.h>

enum { MAX_ROUNDS = 100 };

static const double LEAST_GAIN = 1e-9;

consm_status ot_kmeans_start(float *r, const float *h, int64_t c, int64_t n, int64_t f,
                             uint64_t seed)
{
    consm_status st = CONSM_OK;
    struct rng rng;
    double *distance = NULL; /* (n) squared, to the nearest centre so far */
    TRY(NEW(distance, n));
    for (int64_t l = 0; l < n; l++)
        distance[l] = INFINITY;
    rng_init(&rng, seed, 0);
    int64_t chosen = (int64_t)rng_below(&rng, (uint64_t)n);
    for (int64_t k = 0;; k++) {
        memcpy(r + k * f, h + chosen * f, (size_t)f * sizeof *r);
        if (k + 1 == c)
            break;
        double sum = 0;
        for (int64_t l = 0; l < n; l++) {
            double d = ot_squared_distance(r + k * f, h + l * f, f);
            distance[l] = d < distance[l] ? d : distance[l];
            sum += distance[l];
        }
        /* Draws the next centre with probability distance / sum. If every point is a centre, sum is
         * 0 and any point will do. */
        double mark = rng_uniform(&rng) * sum;
        chosen = (int64_t)rng_below(&rng, (uint64_t)n);
        for (int64_t l = 0; l < n && sum > 0; l++) {
            if (distance[l] > 0)
                chosen = l;
            if (distance[l] > 0 && mark < distance[l])
                break;
            mark -= distance[l];
        }
    }
done:
    mem_free(distance);
    return st;
}

/* Moves each empty centre to the point farthest from its own centre, a different one each. */
static void refill_empty(int32_t *reference, int64_t *count, const float *r, const float *h,
                         int64_t c, int64_t n, int64_t f)
{
    for (int64_t k = 0; k < c; k++) {
        int64_t farthest = -1;
        double distance = 0;
        for (int64_t l = 0; l < n && count[k] == 0; l++) {
            double d = ot_squared_distance(r + reference[l] * f, h + l * f, f);
            if (d > distance && count[reference[l]] > 1) {
                farthest = l;
                distance = d;
            }
        }
        if (farthest < 0)
            continue;
        count[reference[farthest]]--;
        reference[farthest] = (int32_t)k;
        count[k] = 1;
    }
}

/* Nearest centre for every point; true when some assignment changed. */
static bool reassign(int32_t *reference, int64_t *count, const float *r, const float *h, int64_t c,
                     int64_t n, int64_t f)
{
    bool changed = false;
    memset(count, 0, (size_t)c * sizeof *count);
    for (int64_t l = 0; l < n; l++) {
        int32_t best = 0;
        double least = INFINITY;
        for (int64_t k = 0; k < c; k++) {
            double d = ot_squared_distance(r + k * f, h + l * f, f);
            if (d < least) {
                least = d;
                best = (int32_t)k;
            }
        }
        changed = changed || reference[l] != best;
        reference[l] = best;
        count[best]++;
    }
    return changed;
}

consm_status ot_kmeans(float *r, const float *h, int64_t c, int64_t n, int64_t f, uint64_t seed)
{
    consm_status st = CONSM_OK;
    int32_t *reference = NULL; /* (n) */
    int64_t *count = NULL;     /* (c) */
    uint8_t *empty = NULL;     /* (c) */
    float *mean = NULL;        /* (c, f) */
    TRY(NEW(reference, n));
    TRY(NEW(count, c));
    TRY(NEW(empty, c));
    TRY(NEW(mean, c * f));
    TRY(ot_kmeans_start(r, h, c, n, f, seed));
    memset(reference, 0xff, (size_t)n * sizeof *reference);
    for (int round = 0; round < MAX_ROUNDS && reassign(reference, count, r, h, c, n, f); round++) {
        refill_empty(reference, count, r, h, c, n, f);
        TRY(ot_pool(mean, empty, reference, h, c, n, f, CONSM_OT_MEAN));
        for (int64_t k = 0; k < c; k++)
            if (!empty[k]) /* fewer distinct points than centres: the others stay */
                memcpy(r + k * f, mean + k * f, (size_t)f * sizeof *r);
    }
done:
    mem_free(reference);
    mem_free(count);
    mem_free(empty);
    mem_free(mean);
    return st;
}

consm_status ot_class_means(float *r, int64_t *count, const float *h, const int32_t *label,
                            int64_t c, int64_t n, int64_t f)
{
    for (int64_t l = 0; l < n; l++)
        if (label[l] >= c)
            return status_fail(CONSM_EINVAL,
                               "transport: label of point %lld is %d, expected below %lld",
                               (long long)l, label[l], (long long)c);
    if (count) {
        memset(count, 0, (size_t)c * sizeof *count);
        for (int64_t l = 0; l < n; l++)
            if (label[l] >= 0)
                count[label[l]]++;
    }
    return ot_pool(r, NULL, label, h, c, n, f, CONSM_OT_MEAN);
}

/* ---- barycentres --------------------------------------------------------- */

struct barycentre {
    const float *h;
    const int64_t *start;
    int64_t sets, used, support, f; /* used: sets that are not empty */
    double *cost, *plan;            /* (support, largest set) */
    double *next;                   /* (support, f) */
    struct ot_exact_work *exact;
};

/* One round: *objective = mean W2² of y to the sets, next = mean of y's projections onto them. With
 * equal masses 1/s the projection of y_k is s Σ_l P_kl h_l. */
static void barycentre_round(struct barycentre *b, double *objective, const float *y)
{
    int64_t s = b->support, f = b->f;
    struct consm_ot_result result;
    memset(b->next, 0, (size_t)(s * f) * sizeof *b->next);
    *objective = 0;
    for (int64_t i = 0; i < b->sets; i++) {
        const float *h = b->h + b->start[i] * f;
        int64_t n = b->start[i + 1] - b->start[i];
        if (n == 0)
            continue;
        ot_cost_matrix(b->cost, y, h, s, n, f, CONSM_OT_SQUARED_EUCLIDEAN);
        ot_exact_solve(b->exact, b->plan, NULL, NULL, &result, b->cost, NULL, NULL, s, n);
        *objective += result.cost / (double)b->used;
        for (int64_t k = 0; k < s; k++)
            for (int64_t l = 0; l < n; l++) {
                double p = b->plan[k * n + l] * (double)s / (double)b->used;
                for (int64_t d = 0; d < f && p > 0; d++)
                    b->next[k * f + d] += p * (double)h[l * f + d];
            }
    }
}

consm_status ot_barycentre(float *y, double *objective, const float *h, const int64_t *start,
                           int64_t sets, int64_t support, int64_t f, uint64_t seed)
{
    consm_status st = CONSM_OK;
    struct barycentre b = {.h = h, .start = start, .sets = sets, .support = support, .f = f};
    int64_t largest = 1;
    double before = INFINITY, now = 0;
    for (int64_t i = 0; i < sets; i++) {
        int64_t n = start[i + 1] - start[i];
        b.used += n > 0;
        largest = n > largest ? n : largest;
    }
    if (b.used == 0)
        return status_fail(CONSM_EINVAL, "transport: a barycentre needs at least one point");
    TRY(NEW(b.cost, support * largest));
    TRY(NEW(b.plan, support * largest));
    TRY(NEW(b.next, support * f));
    TRY(ot_exact_work_new(&b.exact, support, largest));
    TRY(ot_kmeans_start(y, h + start[0] * f, support, start[sets] - start[0], f, seed));
    for (int round = 0;; round++) {
        barycentre_round(&b, &now, y);
        if (round + 1 == MAX_ROUNDS || (round > 0 && !(now < before - LEAST_GAIN * before)))
            break;
        before = now;
        for (int64_t i = 0; i < support * f; i++)
            y[i] = (float)b.next[i];
    }
    if (objective)
        *objective = now;
done:
    mem_free(b.cost);
    mem_free(b.plan);
    mem_free(b.next);
    ot_exact_work_free(b.exact);
    return st;
}

/* Collects the sets of one class one after another: bounds (*count + 1) and their points. */
static void collect_class(float *points, int64_t *bounds, int64_t *count, const float *h,
                          const int64_t *start, const int32_t *set_class, int64_t sets, int64_t k,
                          int64_t f)
{
    *count = 0;
    bounds[0] = 0;
    for (int64_t i = 0; i < sets; i++) {
        int64_t n = start[i + 1] - start[i];
        if (set_class[i] != k || n == 0)
            continue;
        memcpy(points + bounds[*count] * f, h + start[i] * f, (size_t)(n * f) * sizeof *points);
        bounds[*count + 1] = bounds[*count] + n;
        ++*count;
    }
}

consm_status ot_class_barycentres(float *r, const float *h, const int64_t *start,
                                  const int32_t *set_class, int64_t sets, int64_t c,
                                  int64_t support, int64_t f, uint64_t seed)
{
    consm_status st = CONSM_OK;
    float *points = NULL;   /* (start[sets], f) */
    int64_t *bounds = NULL; /* (sets + 1) */
    int64_t count;
    TRY(NEW(points, start[sets] * f));
    TRY(NEW(bounds, sets + 1));
    for (int64_t k = 0; k < c; k++) {
        collect_class(points, bounds, &count, h, start, set_class, sets, k, f);
        if (count == 0)
            TRY(status_fail(CONSM_EINVAL, "transport: class %lld has no point for its barycentre",
                            (long long)k));
        TRY(ot_barycentre(r + k * support * f, NULL, points, bounds, count, support, f,
                          seed + (uint64_t)k));
    }
done:
    mem_free(points);
    mem_free(bounds);
    return st;
}
