/* Scores, thresholds and sets of conformal prediction. */
#include "stats/conformal.h"

#include "base/rng.h"
#include <math.h>
#include <stdlib.h>

enum { STREAM_SETS = 97 };

/* ---- scores -------------------------------------------------------------- */

struct ranked {
    float p;
    int32_t which;
};

/* The more probable class first; of equal ones the smaller number. */
static int by_probability(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->p != y->p)
        return x->p > y->p ? -1 : 1;
    return x->which < y->which ? -1 : x->which > y->which;
}

/* u of a node: a function of the seed and of the node's name, so that sets do not depend on time or
 * on the order of nodes. */
static double draw(const struct conformal_data *d, int64_t i)
{
    uint64_t node = d->key ? d->key[i] : (uint64_t)i;
    uint32_t counter[4] = {(uint32_t)node, (uint32_t)(node >> 32), STREAM_SETS, 0};
    uint32_t key[2] = {(uint32_t)d->seed, (uint32_t)(d->seed >> 32)}, word[4];
    philox4x32(word, counter, key);
    return ((double)word[0] + 0.5) * 0x1p-32;
}

/* s(i,y) = Σ_{k before y} p_k + u p_y */
static void score_row(float *score, const float *p, int32_t c, double u, struct ranked *order)
{
    double before = 0;
    for (int32_t k = 0; k < c; k++)
        order[k] = (struct ranked){p[k], k};
    qsort(order, (size_t)c, sizeof *order, by_probability);
    for (int32_t k = 0; k < c; k++) {
        score[order[k].which] = (float)(before + u * (double)order[k].p);
        before += (double)order[k].p;
    }
}

/* ŝ_i = (1-λ) s_i + λ mean of the neighbours' s; a node without neighbours keeps its own. */
static void smooth_row(float *out, const float *score, const struct conformal_data *d, int64_t i,
                       double share)
{
    int64_t c = d->classes, from = d->start[i], to = d->start[i + 1];
    for (int64_t y = 0; y < c; y++) {
        double own = (double)score[i * c + y], sum = 0;
        for (int64_t e = from; e < to; e++)
            sum += (double)score[d->col[e] * c + y];
        double mean = to > from ? sum / (double)(to - from) : own;
        out[i * c + y] = (float)((1 - share) * own + share * mean);
    }
}

consm_status conformal_scores(float *score, const struct conformal_data *d, double smoothing)
{
    consm_status st = CONSM_OK;
    struct ranked *order = NULL;
    float *plain = NULL;
    int64_t c = d->classes;
    bool smooth = smoothing > 0;
    TRY(NEW(order, c));
    if (smooth)
        TRY(NEW(plain, d->nodes * c));
    float *to = smooth ? plain : score;
    for (int64_t i = 0; i < d->nodes; i++)
        score_row(to + i * c, d->probability + i * c, d->classes, draw(d, i), order);
    for (int64_t i = 0; smooth && i < d->nodes; i++)
        smooth_row(score, plain, d, i, smoothing);
done:
    mem_free(order);
    mem_free(plain);
    return st;
}

/* ---- thresholds ---------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

/* ⌈(count+1)·coverage⌉; 10 · 0.9 is 9, in spite of rounding. */
static int64_t rank_of(int64_t count, double coverage)
{
    return (int64_t)ceil((double)(count + 1) * coverage - 1e-9);
}

double conformal_threshold(float *score, int64_t count, double coverage)
{
    int64_t rank = rank_of(count, coverage);
    if (rank > count)
        return INFINITY;
    qsort(score, (size_t)count, sizeof *score, ascending);
    return rank > 0 ? (double)score[rank - 1] : -INFINITY;
}

int64_t conformal_least(double coverage)
{
    int64_t count = (int64_t)floor(coverage / (1 - coverage)) - 1;
    count = count < 0 ? 0 : count;
    while (rank_of(count, coverage) > count)
        count++;
    return count;
}

/* Collects the scores of the marked nodes' own classes; returns their number. own (n). */
static int64_t collect(float *own, const float *score, const struct conformal_data *d,
                       const int32_t *label, const uint8_t *marked)
{
    int64_t count = 0;
    for (int64_t i = 0; i < d->nodes; i++)
        if (marked[i] && label[i] >= 0)
            own[count++] = score[i * d->classes + label[i]];
    return count;
}

/* ---- sets ---------------------------------------------------------------- */

void conformal_sets(uint8_t *set, const float *score, double threshold, int64_t nodes,
                    int32_t classes)
{
    for (int64_t i = 0; i < nodes; i++) {
        const float *row = score + i * classes;
        int32_t least = 0, held = 0;
        for (int32_t y = 0; y < classes; y++) {
            bool in = (double)row[y] <= threshold;
            set[i * classes + y] = in;
            held += in;
            least = row[y] < row[least] ? y : least;
        }
        if (held == 0)
            set[i * classes + least] = 1;
    }
}

consm_status conformal_choose(double *smoothing, const struct conformal_data *d,
                              const int32_t *label, const uint8_t *selects, double coverage)
{
    static const double choice[] = CONFORMAL_CHOICES;
    consm_status st = CONSM_OK;
    float *score = NULL, *own = NULL;
    uint8_t *set = NULL;
    int64_t least = INT64_MAX, cells = d->nodes * d->classes;
    TRY(NEW(score, cells));
    TRY(NEW(own, d->nodes));
    TRY(NEW(set, cells));
    for (size_t k = 0; k < sizeof choice / sizeof *choice; k++) {
        int64_t size = 0;
        TRY(conformal_scores(score, d, choice[k]));
        double q = conformal_threshold(own, collect(own, score, d, label, selects), coverage);
        conformal_sets(set, score, q, d->nodes, d->classes);
        for (int64_t i = 0; i < cells; i++)
            size += set[i];
        if (size < least) {
            least = size;
            *smoothing = choice[k];
        }
    }
done:
    mem_free(score);
    mem_free(own);
    mem_free(set);
    return st;
}

consm_status conformal_fit(struct conformal *out, const struct conformal_data *d,
                           const int32_t *label, const uint8_t *calibrates, double coverage,
                           double smoothing)
{
    consm_status st = CONSM_OK;
    float *score = NULL, *own = NULL;
    *out = (struct conformal){.coverage = coverage, .smoothing = smoothing};
    TRY(NEW(score, d->nodes * d->classes));
    TRY(NEW(own, d->nodes));
    TRY(conformal_scores(score, d, smoothing));
    out->calibrated = collect(own, score, d, label, calibrates);
    out->threshold = conformal_threshold(own, out->calibrated, coverage);
done:
    mem_free(score);
    mem_free(own);
    return st;
}

consm_status conformal_apply(uint8_t *set, const struct conformal *c,
                             const struct conformal_data *d)
{
    consm_status st = CONSM_OK;
    float *score = NULL;
    TRY(NEW(score, d->nodes * d->classes));
    TRY(conformal_scores(score, d, c->smoothing));
    conformal_sets(set, score, c->threshold, d->nodes, d->classes);
done:
    mem_free(score);
    return st;
}

/* ---- class by class ------------------------------------------------------ */

consm_status conformal_class_fit(double *threshold, const struct conformal_data *d,
                                 const int32_t *label, const uint8_t *calibrates, double coverage,
                                 double smoothing)
{
    consm_status st = CONSM_OK;
    float *score = NULL, *own = NULL;
    TRY(NEW(score, d->nodes * d->classes));
    TRY(NEW(own, d->nodes));
    TRY(conformal_scores(score, d, smoothing));
    for (int32_t y = 0; y < d->classes; y++) {
        int64_t count = 0;
        for (int64_t i = 0; i < d->nodes; i++)
            if (calibrates[i] && label[i] == y)
                own[count++] = score[i * d->classes + y];
        threshold[y] = conformal_threshold(own, count, coverage);
    }
done:
    mem_free(score);
    mem_free(own);
    return st;
}

consm_status conformal_class_apply(uint8_t *set, const double *threshold,
                                   const struct conformal_data *d, double smoothing)
{
    consm_status st = CONSM_OK;
    float *score = NULL;
    TRY(NEW(score, d->nodes * d->classes));
    TRY(conformal_scores(score, d, smoothing));
    for (int64_t i = 0; i < d->nodes; i++) {
        const float *row = score + i * d->classes;
        int32_t least = 0, held = 0;
        for (int32_t y = 0; y < d->classes; y++) {
            bool in = (double)row[y] <= threshold[y];
            set[i * d->classes + y] = in;
            held += in;
            least = row[y] < row[least] ? y : least;
        }
        if (held == 0)
            set[i * d->classes + least] = 1;
    }
done:
    mem_free(score);
    return st;
}
