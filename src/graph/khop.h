/*
 * k-hop neighbourhoods: the nodes a walk of 1 to k edges reaches. One scratch space serves any
 * number of questions; a question costs what it looks at, never O(n), because marks carry the
 * number of the question instead of being cleared.
 */
#ifndef GRAPH_KHOP_H
#define GRAPH_KHOP_H

#include "graph/csr.h"

struct khop;

/* Scratch for graphs of up to `nodes` nodes: 12 bytes a node. */
consm_status khop_new(struct khop **out, int64_t nodes);
void khop_free(struct khop *k);

/* The nodes within `hops` edges of node, ascending, without the node itself; *set stays valid until
 * the next question. keep (nnz), or NULL: entries of g with 0 there count as absent. Returns how
 * many. Time: the entries of all nodes within hops-1, and a sort of the result. */
int64_t khop_collect(const int32_t **set, struct khop *k, const struct csr *g, const uint8_t *keep,
                     int32_t node, int hops);

/* The same for many nodes as a matrix: row r holds the neighbourhood of node[r] (node NULL: of
 * node r, for all), with the node itself when with_self is set. Values NULL (all 1). */
consm_status khop_matrix(struct csr **out, const struct csr *g, const uint8_t *keep,
                         const int32_t *node, int64_t rows, int hops, bool with_self);

#endif
