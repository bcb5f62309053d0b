/* The undirected edges of a symmetric matrix as a list, each once, with the places of its two
 * entries: what per-edge scores are computed on. */
#ifndef GRAPH_EDGES_H
#define GRAPH_EDGES_H

#include "graph/csr.h"

struct edges {
    int64_t count;
    int32_t *left, *right; /* (count) left < right, in row order */
    int64_t *entry, *back; /* (count) where (left,right) and (right,left) stand in the matrix */
    /* Of a graph in parts, which has no loops: the list is the entries of the partition's rows, in
     * their order; entry and back are both where the entry itself stands. An edge is on it once for
     * each of its ends that is here, and what is said of it is said alike from both. Else NULL. */
    const struct partition *partition;
    int64_t all; /* … how many edges all processes have together */
};

/* How many edges the graph has. */
static inline int64_t edges_all(const struct edges *e)
{
    return e->partition ? e->all : e->count;
}

/* Loops are left out. CONSM_EINVAL when an edge lacks its other direction. */
consm_status edges_new(struct edges **out, const struct csr *graph);
void edges_free(struct edges *e);

/* The graph without the edges that are marked (count; NULL: none), and with `more` pairs of nodes
 * that weigh `weight` each, where the graph has weights. Not of a graph in parts. */
consm_status edges_changed(struct csr **out, const struct csr *graph, const struct edges *e,
                           const uint8_t *dropped, int64_t more, const int32_t *left,
                           const int32_t *right, float weight);

/* chosen (count) becomes 1 for the k edges of largest score among all
 * processes, ties to the earlier, and 0 elsewhere. All processes call it together. */
consm_status edges_top(uint8_t *chosen, const struct edges *e, const float *score, int64_t k);

/* Draws `some` edges by seed of those that are marked (count): their places on this process's
 * list, out (*count) in row order, each edge with its first end; all of them when they are fewer.
 */
consm_status edges_draw(int64_t **out, int64_t *count, const struct edges *e, const uint8_t *marked,
                        int64_t some, uint64_t seed);

#endif
