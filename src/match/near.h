/* Finds pairs of rows with a large cosine: candidates for missing edges. */
#ifndef MATCH_NEAR_H
#define MATCH_NEAR_H

#include "graph/csr.h"

/* Rows to compare; one of sparse and dense is set. */
struct near_rows {
    int64_t rows, width;
    const struct csr *sparse; /* (rows, width) */
    const float *dense;       /* (rows, width) */
};

/* A list of pairs, left < right; append with near_pairs(), then near_tidy(). */
struct near_list {
    int64_t count;
    size_t room;
    int32_t (*pair)[2];
};

/* Adds for every row the `most` others with the largest cosine. Up to 4,096 rows are compared with
 * all others. With more rows, each is compared with its neighbours in sixteen orders by random
 * projections (drawn by seed): similar rows are probably close in one of them. */
consm_status near_pairs(struct near_list *out, const struct near_rows *x, int most, uint64_t seed);

/* Sorts the list; drops repeats and pairs that are edges of the graph. */
void near_tidy(struct near_list *list, const struct csr *graph);
void near_free(struct near_list *list);

#endif
