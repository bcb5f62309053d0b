/* Features from the structure alone, for graphs without features: a node's degree, its neighbours'
 * degrees, and where random walks from it lead. */

/*
 * The walks are a random projection (after FastRP, Chen et al., CIKM 2019). Every node gets a
 * random vector drawn from its id; a node's features are the mean vectors after 1, 2, … steps.
 * Nodes of one community meet the same vectors. Vectors depend on ids, so a graph that changes a
 * little changes its features a little, and a saved model stays usable.
 */
#ifndef GRAPH_STRUCTURAL_H
#define GRAPH_STRUCTURAL_H

#include "graph/csr.h"

enum {
    STRUCTURAL_DEGREES =
        5, /* log(1+degree); mean, deviation, minimum, maximum of the neighbours' degrees */
    STRUCTURAL_WALK = 48,
    STRUCTURAL_STEPS = 4,
    STRUCTURAL_FEATURES = STRUCTURAL_DEGREES + STRUCTURAL_WALK
};

/* A hash of a node's id, from which its random vector is drawn. */
uint64_t structural_key(const char *id);

/* Fills out (n, STRUCTURAL_FEATURES); key (n). Weights are not read. Time O((n + m) · steps). Of a
 * graph in parts it fills the partition's rows, bit-identical: rows of neighbours elsewhere are
 * sent once a step, and all processes call it. */
consm_status structural_features(float *out, const struct csr *graph, const uint64_t *key);

#endif
