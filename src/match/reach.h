/* The rows that training the matching module reads: nodes within two steps of a labelled one.
 * Subgraphs never leave them, whichever edges are kept, so the encoder skips the others: five in
 * six on Pubmed with 60 labelled nodes. */
#ifndef MATCH_REACH_H
#define MATCH_REACH_H

#include "match/matcher.h"

/* The training data of the nodes in reach. If nearly all nodes are in reach, the whole graph's
 * arrays are used without copying. */
struct reach {
    int64_t count;
    int32_t *place;           /* (nodes) a node's row; undefined for nodes out of reach */
    int32_t *node;            /* (count) a row's node; NULL: all are in reach */
    const struct csr *sparse; /* X, (count, features), or NULL: dense */
    const float *dense;       /* X, if not sparse */
    const int32_t *label;     /* (count) */
    struct csr *own_sparse;
    float *own_dense;
    int32_t *own_label;
};

consm_status reach_new(struct reach *r, const struct match_data *data);
void reach_free(struct reach *r);

#endif
