/* The quality of edge scores: as a ranking (AUC), as a choice of the k best (F1), and as
 * probabilities (calibration). Ties never depend on the order of the edges. */
#include <math.h>
#include <stdlib.h>

#include "stats/stats.h"

struct scored {
    float score;
    uint8_t positive;
};

static int by_score_down(const void *a, const void *b)
{
    float x = ((const struct scored *)a)->score, y = ((const struct scored *)b)->score;
    return (x < y) - (x > y);
}

/* Sorts the pairs by score, highest first. */
static consm_status sort_scores(struct scored **out, const float *score, const uint8_t *positive,
                                int64_t n)
{
    consm_status st = CONSM_OK;
    struct scored *list = NULL;
    *out = NULL;
    TRY(NEW(list, n));
    for (int64_t i = 0; i < n; i++) {
        if (isnan(score[i]))
            TRY(status_fail(CONSM_ENUMERIC, "score %lld is not a number", (long long)i));
        list[i] = (struct scored){score[i], positive[i] != 0};
    }
    qsort(list, (size_t)n, sizeof *list, by_score_down);
    *out = list;
    return CONSM_OK;
done:
    mem_free(list);
    return st;
}

consm_status stats_auc(double *out, const float *score, const uint8_t *positive, int64_t n)
{
    consm_status st = CONSM_OK;
    struct scored *list = NULL;
    double won = 0, positives_above = 0, negatives_above = 0;
    *out = NAN;
    TRY(sort_scores(&list, score, positive, n));
    for (int64_t begin = 0, end; begin < n; begin = end) {
        double hits = 0;
        for (end = begin; end < n && list[end].score == list[begin].score; end++)
            hits += list[end].positive;
        double misses = (double)(end - begin) - hits;
        won += misses * (positives_above + hits / 2);
        positives_above += hits;
        negatives_above += misses;
    }
    if (positives_above > 0 && negatives_above > 0)
        *out = won / (positives_above * negatives_above);
done:
    mem_free(list);
    return st;
}

consm_status stats_top_k(struct stats_top *out, const float *score, const uint8_t *positive,
                         int64_t n, int64_t k)
{
    consm_status st = CONSM_OK;
    struct scored *list = NULL;
    double hits = 0, positives = 0;
    *out = (struct stats_top){NAN, NAN, NAN};
    if (k < 0 || k > n)
        TRY(status_fail(CONSM_EINVAL, "top %lld of %lld scores: expected 0 to %lld", (long long)k,
                        (long long)n, (long long)n));
    TRY(sort_scores(&list, score, positive, n));
    for (int64_t begin = 0, end; begin < n; begin = end) {
        double group = 0;
        for (end = begin; end < n && list[end].score == list[begin].score; end++)
            group += list[end].positive;
        positives += group;
        if (end <= k)
            hits += group;
        else if (begin < k) /* the mean over all choices among the tied */
            hits += group * (double)(k - begin) / (double)(end - begin);
    }
    if (k > 0)
        out->precision = hits / (double)k;
    if (positives > 0)
        out->recall = hits / positives;
    if ((double)k + positives > 0)
        out->f1 = 2 * hits / ((double)k + positives);
done:
    mem_free(list);
    return st;
}

consm_status stats_reliability(struct stats_reliability *out, const float *probability,
                               const uint8_t *positive, int64_t n, int bins)
{
    double predicted[STATS_MAX_BINS] = {0}, observed[STATS_MAX_BINS] = {0}, squares = 0;
    *out = (struct stats_reliability){.bins = bins, .ece = NAN, .worst = NAN, .brier = NAN};
    if (bins < 1 || bins > STATS_MAX_BINS)
        return status_fail(CONSM_EINVAL, "%d reliability bins: expected 1 to %d", bins,
                           STATS_MAX_BINS);
    for (int64_t i = 0; i < n; i++) {
        double p = probability[i], truth = positive[i] != 0;
        if (!(p >= 0 && p <= 1))
            return status_fail(CONSM_ENUMERIC, "probability %lld is %g: expected 0 to 1",
                               (long long)i, p);
        int bin = p >= 1 ? bins - 1 : (int)(p * bins);
        out->count[bin]++;
        predicted[bin] += p;
        observed[bin] += truth;
        squares += (p - truth) * (p - truth);
    }
    if (n > 0)
        out->ece = out->worst = 0, out->brier = squares / (double)n;
    for (int b = 0; b < bins; b++) {
        double count = (double)out->count[b];
        out->predicted[b] = out->count[b] ? predicted[b] / count : NAN;
        out->observed[b] = out->count[b] ? observed[b] / count : NAN;
        if (!out->count[b])
            continue;
        double gap = fabs(out->observed[b] - out->predicted[b]);
        out->ece += count / (double)n * gap;
        out->worst = fmax(out->worst, gap);
    }
    return CONSM_OK;
}
