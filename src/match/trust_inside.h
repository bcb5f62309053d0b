/* The inside of a trust sample, for the files that fill it and fit to it. */
#ifndef MATCH_TRUST_INSIDE_H
#define MATCH_TRUST_INSIDE_H

#include "match/trust.h"

/* Edges of which the witnesses are heard. */
struct heard {
    int64_t count;  /* among all processes */
    double *x;      /* (count, TRUST_TERMS) 1 and the standardised witnesses */
    int64_t *place; /* (mine) where this process's stand in its list of edges */
    int64_t mine;
    float *own; /* (mine, WITNESSES) what is said of these */
};

struct trust_sample {
    struct heard known, usual;         /* those with known labels; those drawn from all edges */
    uint8_t *same;                     /* (known.count) the truth */
    int64_t validators;                /* nodes that validate */
    const struct partition *partition; /* of a graph in parts, or NULL */
    double shift[TRUST_TERMS], scale[TRUST_TERMS]; /* by which witnesses were standardised */
    double agreement; /* mean probability of agreement over the usual edges */
};

/* One row of so many bytes for each of the edges, in their order: out, or fresh memory where the
 * graph is in parts (*fresh, the caller's to free). */
consm_status heard_collect(const void **out, void **fresh, const struct heard *h,
                           const struct partition *partition, const void *own, size_t bytes);

#endif
