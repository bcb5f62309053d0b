/* The matching module (Algorithm 1): an encoder, a matching function M on pooled subgraphs, and a
 * class head on central nodes, trained on pairs of labelled nodes; then one coefficient per edge.
 * */

/*
 * The module shares nothing with the GNN it serves. Names follow the paper: h embeddings, r
 * reference points, S scores against them, h' pooled subgraphs, w edge coefficients.
 */
#ifndef MATCH_MATCHER_H
#define MATCH_MATCHER_H

#include "graph/edges.h"
#include "match/pooling.h"
#include "models/config.h"
#include "program/program.h"

/* The input of the module; nothing is owned. */
struct match_data {
    int64_t nodes, features, classes;
    const struct csr *graph;
    const struct edges *edges;
    const struct csr *sparse; /* features, or NULL: dense */
    const float *dense;       /* features, if not sparse */
    const int32_t *label;     /* (n) */
    const int32_t *train;     /* (labelled) nodes whose labels may be used */
    int64_t labelled;         /* 0: the module is loaded, not trained, and only scores */
};

struct matcher;

/* Parameters that it reads: match_width, match_hidden, match_layers, match_dropout, match_lr,
 * match_weight_decay, match_slope, match_ego, match_join, match_error, match_update, match_pairs,
 * match_refresh, transport, map, pool, prune_score, two_hop_cap. */
consm_status matcher_new(struct matcher **out, const struct match_data *data,
                         const struct config *config, uint64_t seed, struct backend *backend);
void matcher_free(struct matcher *m);

/* Chooses the kept edges: the top ⌊ζ|E|⌋ by S_i·S_j, or by the given scores (|E|) if not NULL.
 * Collects the subgraphs of the labelled nodes over them (Algorithm 1, lines 2 to 5). */
consm_status matcher_prune(struct matcher *m, double zeta, const float *score);

/* Takes `steps` optimiser steps on L_SM (Eq. sm_loss); 0: one per labelled node. loss (may be NULL)
 * receives the mean. */
consm_status matcher_train(struct matcher *m, int64_t steps, double *loss);

/* w (|E|): the coefficient of every edge, in [0, 1] and the same in both directions. */
consm_status matcher_score(struct matcher *m, float *w);

/* The same for any pairs of nodes, in two steps: pool the subgraphs of these nodes, each once (only
 * NULL: all), then w (count) of the pairs left[k], right[k]. */
consm_status matcher_pool(struct matcher *m, const int32_t *only, int64_t count);
consm_status matcher_match(struct matcher *m, float *w, const int32_t *left, const int32_t *right,
                           int64_t count);

/* All that scoring needs besides the graph and its features: the networks' weights and "references"
 * (c, match_width), which are not trained. */
struct params *matcher_params(struct matcher *m);

/* Adds all parameters of a module with that configuration to a store, with the prefix, not trained
 * there. A model file uses it to reserve room. */
consm_status matcher_declare(struct params *store, const char *prefix, const struct config *config,
                             int64_t features, int64_t classes);

/* Copies values between a module and a store that declares it. */
consm_status matcher_save(struct matcher *m, struct params *store, const char *prefix);
consm_status matcher_load(struct matcher *m, struct params *store, const char *prefix);

/* Blocks that training carries from round to round, for checkpoints: see(ctx, name, data, bytes)
 * for each. */
consm_status matcher_memory(struct matcher *m, memory_fn see, void *ctx);

/* Whether such memory, read from a file, is valid. */
bool matcher_sound(const struct matcher *m);

/* (n, classes) the class head's logits f(h) of every node, without dropout. */
consm_status matcher_head(const float **out, struct matcher *m);

/* The pieces that tests compare with a reference. */
consm_status matcher_embedding(const float **out,
                               struct matcher *m); /* (n, match_width), no dropout */

#endif
