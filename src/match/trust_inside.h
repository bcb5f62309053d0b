/* Internals of a trust sample, for the files that fill it and fit to it. */
#ifndef MATCH_TRUST_INSIDE_H
#define MATCH_TRUST_INSIDE_H

#include "match/trust.h"

#include <math.h>

/* What a fit weighs: the terms of the score, and those that pairs without an edge have instead of
 * some of them (trust_sample.c). */
enum { PAIRS_OWN = 5, FIT_TERMS = TRUST_TERMS + PAIRS_OWN };

/* Sampled edges or pairs with their witnesses. */
struct heard {
    int64_t count;  /* of all processes */
    int terms;      /* TRUST_TERMS; of pairs FIT_TERMS */
    double *x;      /* (count, terms) 1, the standardised witnesses, what only pairs have */
    int64_t *place; /* (mine) positions of this process's edges in its list */
    int64_t mine;
    float *own; /* (mine, WITNESSES) their witnesses */
};

struct trust_sample {
    struct heard known, usual;         /* those with known labels; those drawn from all edges */
    struct heard pairs;                /* all pairs; place, own: NULL */
    uint8_t *same;                     /* (known.count) the truth */
    uint8_t *pair_same;                /* (pairs.count) likewise */
    int64_t validators;                /* nodes that validate */
    const struct partition *partition; /* of a graph in parts, or NULL */
    double shift[TRUST_TERMS], scale[TRUST_TERMS]; /* standardisation of the witnesses */
    double agreement;                              /* mean agreement of the usual edges */
    double *term; /* (known.count + pairs.count) scratch of a fit */
};

/* x (to-from, WITNESSES): the witnesses of the edges place[from … to-1], or (NULL) from … to-1, by
 * one thread of the team. */
void witness_rows(float *x, const struct witnesses *w, const int64_t *place, int64_t from,
                  int64_t to, int thread);

static inline double sigmoid_of(double z)
{
    return z >= 0 ? 1 / (1 + exp(-z)) : exp(z) / (1 + exp(z));
}

static inline double weigh(const double *x, const double *weight, int count)
{
    double z = 0;
    for (int i = 0; i < count; i++)
        z += weight[i] * x[i];
    return z;
}

/* Collects one row of `bytes` for each edge, in order: out, or fresh memory for a graph in parts
 * (*fresh, the caller frees it). */
consm_status heard_collect(const void **out, void **fresh, const struct heard *h,
                           const struct partition *partition, const void *own, size_t bytes);

#endif
