/* The undirected edges of a symmetric matrix as a list, each once, with the positions of its two
 * entries. Per-edge scores use it. */
#ifndef GRAPH_EDGES_H
#define GRAPH_EDGES_H

#include "graph/csr.h"

struct edges {
    int64_t count;
    int32_t *left, *right; /* (count) left < right, in row order */
    /* NULL, or a graph in parts, which has no loops: then the list holds the entries of the
     * partition's rows in order. An edge is listed once for each of its ends that is here, with
     * equal values from both. */
    const struct partition *partition;
    int64_t all; /* number of edges of all processes together */
};

/* How many edges the graph has. */
static inline int64_t edges_all(const struct edges *e)
{
    return e->partition ? e->all : e->count;
}

/* The sum over all processes of a number of edges of their lists, each edge once. */
static inline int64_t edges_total(const struct edges *e, int64_t mine)
{
    return (int64_t)partition_total(e->partition, (uint64_t)mine) / (e->partition ? 2 : 1);
}

/* Leaves loops out. CONSM_EINVAL if an edge lacks its reverse. */
consm_status edges_new(struct edges **out, const struct csr *graph);
void edges_free(struct edges *e);

/* The weight of edge k in the graph that it was listed from; 1 without weights. O(log degree). */
float edges_weight(const struct edges *e, const struct csr *graph, int64_t k);

/* Walks along the list of edges with their entries in the graph. Storing these would take 16 bytes
 * an edge. */
struct edge_walk {
    const struct csr *graph;
    int64_t row;
    int64_t there, back; /* the entries (left, right) and (right, left) of the current edge; of a
                            graph in parts both are the first, because the other may be elsewhere */
    int64_t *next;       /* (rows) row i's entries before next[i] belong to edges before this one */
};
/* Before the first edge; next is scratch. */
void edge_walk_begin(struct edge_walk *w, const struct csr *graph, int64_t *next);
/* To the next edge, as often as there are edges. */
void edge_walk_step(struct edge_walk *w);

/* Sets both entries of every edge to whether it is taken, and all other entries to 0; entry (nnz).
 * takes: for edge k. next (rows) is scratch. The team, if not NULL, divides the rows. Not for a
 * graph in parts. */
void edges_mark(uint8_t *entry, const struct csr *graph, const struct edges *e,
                bool (*takes)(const void *ctx, int64_t k), const void *ctx, int64_t *next,
                struct team *team);

/* The place of the pair {a, b} among count pairs left < right in row order; -1: it is not there. */
int64_t pair_find(const int32_t *left, const int32_t *right, int64_t count, int32_t a, int32_t b);

/* The graph without the marked edges (count; NULL: none), plus `more` pairs of nodes with weight
 * `weight`, if the graph has weights. The team may be NULL. Not for a graph in parts. */
consm_status edges_changed(struct csr **out, const struct csr *graph, const struct edges *e,
                           const uint8_t *dropped, int64_t more, const int32_t *left,
                           const int32_t *right, float weight, struct team *team);

/* Sets chosen (count) to 1 for the k edges with the largest score among all processes, and to 0 for
 * the others. Ties go to the earlier edge. All processes call it together. */
consm_status edges_top(uint8_t *chosen, const struct edges *e, const float *score, int64_t k);

/* Draws `some` of the marked edges (count) by seed, or all if there are fewer. out (*count) holds
 * their positions in this process's list, in row order; each edge is with its first end. */
consm_status edges_draw(int64_t **out, int64_t *count, const struct edges *e, const uint8_t *marked,
                        int64_t some, uint64_t seed);

#endif
