/* The rows that training the matching module reads: nodes within two steps of a labelled one. A
 * subgraph never leaves them, whichever edges are kept, so that the encoder need not compute the
 * others: on Pubmed, with 60 labelled nodes, they are five in six. */
#ifndef MATCH_REACH_H
#define MATCH_REACH_H

#include "match/matcher.h"

/* All that training needs to know of a node, for those in reach. Where nearly all are, the whole
 * graph's numbers are borrowed instead of copied. */
struct reach {
    int64_t count;
    int32_t *place;           /* (nodes) a node's row; of nodes out of reach not to be read */
    int32_t *node;            /* (count) a row's node; NULL: all are in reach */
    const struct csr *sparse; /* X, (count, features): this … */
    const float *dense;       /* … or that */
    const int32_t *label;     /* (count) */
    struct csr *own_sparse;
    float *own_dense;
    int32_t *own_label;
};

consm_status reach_new(struct reach *r, const struct match_data *data);
void reach_free(struct reach *r);

#endif
