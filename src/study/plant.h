/*
 * Graphs with edges that do not belong there, each known: what a score of edges can be judged by
 * without asking whether the ends share a class. And two ways to tell such edges that learn nothing
 * of trust: the features' overlap, and GNNGuard's weights.
 */
#ifndef STUDY_PLANT_H
#define STUDY_PLANT_H

#include "graph/edges.h"
#include "study/task.h"
#include "train/session.h"

struct planted {
    struct prepared prepared; /* the data on the new graph; its graph and views are owned */
    struct edges *edges;
    uint8_t *injected; /* (edges) 1: not in the clean graph */
    int64_t count;     /* how many are */
    int64_t removed;   /* edges of the clean graph that are gone */
};

/* The run's graph. An attack of ours changes round(rate · edges) edges at most. Drawn edges are
 * distinct pairs of nodes without an edge; for one seed those of a smaller rate are among those of
 * a larger one. A published graph (in->attack) is taken as it is. CONSM_EINVAL when there are too
 * few pairs or other nodes. */
consm_status planted_new(struct planted *out, const struct task_input *in);
void planted_free(struct planted *p);

/* The data on a graph made of some of these edges: kept (edges) says which. Free with
 * prepare_free. */
consm_status planted_left(struct prepared *out, const struct planted *p, const uint8_t *kept);

/* The data on a graph that it takes over. Free with prepare_free. */
consm_status planted_on(struct prepared *out, const struct planted *p, struct csr *graph);

/* Trains the run's second GCN (run->again) on a graph. */
consm_status planted_again(struct train_result *out, const struct prepared *on,
                           const struct task_input *in, const uint8_t *role);

/* |i ∩ j| / |i ∪ j| of the features that are not zero (edges): what GCN-Jaccard drops by (Wu et
 * al., IJCAI 2019). 1 everywhere on dense features. */
void similarity_jaccard(float *out, const struct edges *edges, const struct problem *problem);

/* The cosine of two rows of x (edges); problem gives the graph. x (n, width), or NULL: the features
 * as stored. */
consm_status similarity_cosine(float *out, const struct edges *edges, const struct problem *problem,
                               const float *x, int64_t width, struct team *team);

/* GNNGuard's weights (Zhang and Zitnik, NeurIPS 2020, Eq. 2 and 3, with the threshold of their
 * program): in each layer s_ij = cos(h_i, h_j), 0 where it is below GUARD_LEAST;
 *   α_ij = s_ij / Σ_k s_ik · N_i / (N_i + 1),   N_i the number of neighbours with s_ik > 0.
 * out (edges) is the mean of both directions and all layers; pruned (edges) 1 where some layer has
 * s_ij = 0. cosine: (layers, edges). */
#define GUARD_LEAST 0.1f
consm_status similarity_guard(float *out, uint8_t *pruned, const float *cosine, int layers,
                              const struct edges *edges, int64_t nodes);

/* The same for a trained GCN of two layers or more: it reads the features for its first layer and
 * the GCN's first hidden layer for its second. cosine (edges), or NULL, becomes that of the
 * features.
 */
consm_status similarity_guard_of(float *out, uint8_t *pruned, float *cosine, struct session *s,
                                 const struct edges *edges);

#endif
