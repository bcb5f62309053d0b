/*
 * The agreement model of GAM (Stretcu et al. 2019): the probability that two nodes share a class,
 * from their features alone.
 *   e = relu(X W1 + b1),  w_ij = σ(relu((e_i - e_j)² W2 + b2) W3 + b3)       (ConSM paper, Eq. gam)
 * It learns from pairs of labelled nodes, half of them of one class, by cross-entropy.
 */
#ifndef TRAIN_AGREEMENT_H
#define TRAIN_AGREEMENT_H

#include "graph/edges.h"
#include "train/session.h"

struct agreement;

/* Uses the session's features, configuration, seed and backend. */
consm_status agreement_new(struct agreement **out, struct session *s);
void agreement_free(struct agreement *a);

/* Takes optimiser steps on pairs drawn from the known nodes; class_of (n). */
consm_status agreement_train(struct agreement *a, const int32_t *known, int64_t count,
                             const int32_t *class_of, int64_t steps);

/* w (edges): the probability for every edge. */
consm_status agreement_score(struct agreement *a, float *w, const struct edges *edges);

/* The same for a graph in parts: w (entries), for the rows of the partition. */
consm_status agreement_score_in_parts(struct agreement *a, float *w);

/* Its state between rounds, for checkpoints. */
consm_status agreement_memory(struct agreement *a, memory_fn see, void *ctx);

bool agreement_sound(const struct agreement *a);

/* Record the model: e of all nodes, and its values for the pairs (i, j) of rows of e, before the
 * sigmoid, (pairs, 1). gathers: takes rows one by one, which ranks can divide. */
node agreement_encode(struct program *p, node x, const struct config *c);
node agreement_compare(struct program *p, node e, const struct index *i, const struct index *j,
                       const struct config *c, bool gathers);

#endif
