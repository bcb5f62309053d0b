/* A table of nodes for methods without a graph (trees): each node's degree, its own features, and
 * mean, maximum and deviation of its neighbours' features. */

/*
 * One hop: the neighbours. Two hops: the ends of all walks of two steps that do not return to their
 * start; a node counts once per walk. Edge weights do not count. A statistic of no nodes is missing
 * (NaN).
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

/* With more features than this only the first three kinds exist: such features are word counts, of
 * which the means matter. */
enum { NEIGHBOUR_NARROW = 256 };
int64_t neighbour_columns_count(int64_t features);

struct neighbour_source {
    const struct csr *graph;  /* undirected, no loops, no repeats */
    const struct csr *sparse; /* (n, f) features, or NULL: use dense */
    const float *dense;       /* (n, f) */
    int64_t features;
};

/* Fills out (rows, columns) with columns column[0], column[1], … (ascending) of nodes row[0],
 * row[1], …; row NULL: all nodes. Time O(edges · features among these columns), memory for one
 * column per thread. */
consm_status neighbour_columns(float *out, const struct neighbour_source *source,
                               const int32_t *row, int64_t rows, const int64_t *column,
                               int64_t columns, struct team *team);

#endif
