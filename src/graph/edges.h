/* The undirected edges of a symmetric matrix as a list, each once, with the places of its two
 * entries: what per-edge scores are computed on. */
#ifndef GRAPH_EDGES_H
#define GRAPH_EDGES_H

#include "graph/csr.h"

struct edges {
    int64_t count;
    int32_t *left, *right; /* (count) left < right, in row order */
    int64_t *entry, *back; /* (count) where (left,right) and (right,left) stand in the matrix */
};

/* Loops are left out. CONSM_EINVAL when an edge lacks its other direction. */
consm_status edges_new(struct edges **out, const struct csr *graph);
void edges_free(struct edges *e);

#endif
