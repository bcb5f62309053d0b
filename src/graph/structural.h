/*
 * Features for graphs that have none, from the structure alone: a node's degree, its neighbours'
 * degrees, and where random walks from it lead.
 *
 * The walks are a random projection (after FastRP, Chen et al., CIKM 2019): every node gets a
 * random vector drawn from its id, and a node's features are the average vectors met after 1, 2, …
 * steps. Nodes of one community meet the same vectors. Because vectors come from ids, a graph that
 * changes a little changes the features a little, and a model can be used again next week.
 */
#ifndef GRAPH_STRUCTURAL_H
#define GRAPH_STRUCTURAL_H

#include "graph/csr.h"

enum {
    STRUCTURAL_DEGREES = 5, /* log(1+degree); mean, deviation, least, most of the neighbours' */
    STRUCTURAL_WALK = 48,
    STRUCTURAL_STEPS = 4,
    STRUCTURAL_FEATURES = STRUCTURAL_DEGREES + STRUCTURAL_WALK
};

/* A number for a node's id, from which its random vector is drawn. */
uint64_t structural_key(const char *id);

/* Fills out (n, STRUCTURAL_FEATURES); key (n). Weights are not read. Time O((n + m) · steps). */
consm_status structural_features(float *out, const struct csr *graph, const uint64_t *key);

/* The same for the rows of a graph's share, to the bit: rows of neighbours elsewhere travel once a
 * step. All processes call it. */
consm_status structural_share(float *out, const struct csr *graph, const uint64_t *key);

#endif
