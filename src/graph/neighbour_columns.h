/*
 * A table of nodes for methods that know no graph: each node's degree, its own features, and mean,
 * maximum and deviation of the features around it.
 *
 * One hop: the neighbours. Two hops: the ends of all walks of two steps that do not return to where
 * they began; a node that several walks reach counts once for each. Edge weights do not count. What
 * is taken of nobody is missing, NaN.
 */
#ifndef GRAPH_NEIGHBOUR_COLUMNS_H
#define GRAPH_NEIGHBOUR_COLUMNS_H

#include "base/threads.h"
#include "graph/csr.h"

/* Column 0 is the degree; column 1 + kind·features + k is that kind of feature k. */
enum neighbour_kind {
    OWN,
    MEAN_1,
    MEAN_2,
    MAX_1,
    DEVIATION_1,
    MAX_2,
    DEVIATION_2,
    NEIGHBOUR_KINDS
};

/* Of more features there are the first three kinds only: words are counted, and it is their means
 * that matter. */
enum { NEIGHBOUR_NARROW = 256 };
int64_t neighbour_columns_count(int64_t features);

struct neighbour_source {
    const struct csr *graph;  /* undirected, no loops, no repeats */
    const struct csr *sparse; /* (n, f) features, or NULL … */
    const float *dense;       /* … then these */
    int64_t features;
};

/* out (rows, columns): columns column[0], column[1], … (ascending) of nodes row[0], row[1], … ; row
 * NULL: of all. Time O(edges · features among these columns), room for one column a thread. */
consm_status neighbour_columns(float *out, const struct neighbour_source *source,
                               const int32_t *row, int64_t rows, const int64_t *column,
                               int64_t columns, struct team *team);

#endif
