/*
 * The agreement model of GAM (Stretcu et al. 2019): the chance that two nodes share a class, from
 * their features alone.
 *   e = relu(X W1 + b1),  w_ij = σ(relu((e_i - e_j)² W2 + b2) W3 + b3)       (ConSM paper, Eq. gam)
 * It learns from pairs of labelled nodes, as many alike as not, by cross-entropy.
 */
#ifndef TRAIN_AGREEMENT_H
#define TRAIN_AGREEMENT_H

#include "graph/edges.h"
#include "train/session.h"

struct agreement;

/* Reads the session's features, configuration, seed and backend. */
consm_status agreement_new(struct agreement **out, struct session *s);
void agreement_free(struct agreement *a);

/* Takes optimiser steps on pairs drawn from the known nodes; class_of (n). */
consm_status agreement_train(struct agreement *a, const int32_t *known, int64_t count,
                             const int32_t *class_of, int64_t steps);

/* w (edges): the chance for every edge. */
consm_status agreement_score(struct agreement *a, float *w, const struct edges *edges);

/* The same of a graph in parts: w (entries), for the rows of the partition. */
consm_status agreement_score_share(struct agreement *a, float *w);

/* What it carries from round to round, for checkpoints. */
consm_status agreement_memory(struct agreement *a, memory_fn see, void *ctx);

bool agreement_sound(const struct agreement *a);

/* Records the model for the pairs (i, j) and returns its values before the sigmoid, (pairs, 1). */
node agreement_record(struct program *p, node x, const struct index *i, const struct index *j,
                      const struct config *c);

/* The two halves of it: e of all nodes, and what is said of pairs of its rows. gathers: rows are
 * taken one by one, which ranks that have a share of them can. */
node agreement_encode(struct program *p, node x, const struct config *c);
node agreement_compare(struct program *p, node e, const struct index *i, const struct index *j,
                       const struct config *c, bool gathers);

#endif
