/*
 * Chooses the edges that subgraphs use: reference points, the score of every edge against them, and
 * the top k scores (section 4.1.3, "Prune"; Algorithm 1, lines 3 and 4).
 */
#ifndef MATCH_PRUNE_H
#define MATCH_PRUNE_H

#include "base/threads.h"
#include "graph/edges.h"

/* r (c, f): the mean embedding of the labelled nodes of each class; zero for a class without any.
 * node (count) are the labelled nodes, label (n) every node's class. */
void prune_references(float *r, const float *h, const int32_t *node, int64_t count,
                      const int32_t *label, int64_t c, int64_t f);

/* S = h·rᵀ (Eq. similarity), by cosine or by dot product; S is (n, c). */
void prune_similarity(float *s, const float *h, const float *r, int64_t n, int64_t c, int64_t f,
                      bool cosine, struct team *team);

/* score_e = S_i·S_j for every edge. */
void prune_edge_scores(float *score, const float *s, int64_t c, const struct edges *edges,
                       struct team *team);

/* Keeps exactly the k edges with the largest score, ties to the earlier edge: sets keep (nnz of the
 * graph) to 1 for both entries of a kept edge, else 0. next (nodes) is scratch; the team may be
 * NULL. O(count). */
void prune_top(uint8_t *keep, const struct csr *graph, const float *score,
               const struct edges *edges, int64_t k, int64_t *next, struct team *team);

#endif
