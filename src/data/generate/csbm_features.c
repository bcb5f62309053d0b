/* The features of the contextual stochastic block model: Gaussian around class means, or words. */
#include "base/order.h"
#include "base/rng.h"
#include "data/generate/csbm.h"

#include <math.h>
#include <stdlib.h>

/* Two independent normals from one Box-Muller step. */
static void two_normals(float out[2], struct rng *rng)
{
    double radius = sqrt(-2 * log(1 - rng_uniform(rng)));
    double angle = 2 * 3.14159265358979323846 * rng_uniform(rng);
    out[0] = (float)(radius * cos(angle));
    out[1] = (float)(radius * sin(angle));
}

static void fill_normal(float *x, int64_t count, struct rng *rng)
{
    float pair[2];
    for (int64_t k = 0; k < count; k += 2) {
        two_normals(pair, rng);
        x[k] = pair[0];
        if (k + 1 < count)
            x[k + 1] = pair[1];
    }
}

/* x_i = signal · mean of i's class + noise; the means are random directions of length 1. */
static consm_status draw_gaussian(struct dataset *d, const struct csbm_options *o)
{
    enum { ROWS = 256 }; /* rows a stream */
    consm_status st = CONSM_OK;
    int64_t f = d->features, c = d->classes;
    float *mean = NULL; /* (c, f) */
    struct rng rng;
    TRY(NEW(mean, c * f));
    TRY(NEW(d->dense, d->nodes * f));
    rng_init(&rng, o->seed, STREAM_MEANS);
    for (int64_t k = 0; k < c; k++) {
        double square = 0;
        fill_normal(mean + k * f, f, &rng);
        for (int64_t j = 0; j < f; j++)
            square += (double)mean[k * f + j] * mean[k * f + j];
        for (int64_t j = 0; j < f; j++)
            mean[k * f + j] = (float)(mean[k * f + j] * o->signal / sqrt(square));
    }
    for (int64_t i = 0; i < d->nodes; i++) {
        float *row = d->dense + i * f;
        if (i % ROWS == 0)
            rng_init(&rng, o->seed, (uint64_t)(STREAM_ROWS + i / ROWS));
        fill_normal(row, f, &rng);
        for (int64_t j = 0; j < f; j++)
            row[j] += mean[d->label[i] * f + j];
    }
done:
    mem_free(mean);
    return st;
}

/* A bag of words: every class owns an equal part of the vocabulary; a word comes from it with
 * probability signal / (1 + signal), else from the whole vocabulary. */
static consm_status draw_words(struct dataset *d, const struct csbm_options *o)
{
    consm_status st = CONSM_OK;
    int64_t f = d->features, c = d->classes, at = 0, *seen = NULL;
    double own = o->signal / (1 + o->signal);
    struct rng rng;
    TRY(ZNEW(seen, f)); /* row + 1 that last used the word */
    TRY(csr_new(&d->sparse, d->nodes, f, d->nodes * o->words, false));
    rng_init(&rng, o->seed, STREAM_ROWS);
    for (int64_t i = 0; i < d->nodes; i++) {
        int64_t begin = d->label[i] * f / c, end = (d->label[i] + 1) * f / c;
        for (int64_t w = 0; w < o->words; w++) {
            bool topic = rng_uniform(&rng) < own;
            int64_t from = topic ? begin : 0, until = topic ? end : f;
            int64_t word = from + (int64_t)rng_below(&rng, (uint64_t)(until - from));
            if (seen[word] == i + 1)
                continue;
            seen[word] = i + 1;
            d->sparse->col[at++] = (int32_t)word;
        }
        qsort(d->sparse->col + d->sparse->start[i], (size_t)(at - d->sparse->start[i]),
              sizeof *d->sparse->col, order_int32);
        d->sparse->start[i + 1] = at;
    }
    d->sparse->nnz = at;
done:
    mem_free(seen);
    return st;
}

consm_status csbm_draw_features(struct dataset *d, const struct csbm_options *o)
{
    d->features = o->features;
    if (o->features == 0)
        return CONSM_OK;
    return o->words > 0 ? draw_words(d, o) : draw_gaussian(d, o);
}
