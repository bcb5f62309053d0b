/*
 * Graphs with known planted edges, by which edge scores can be judged without class labels. And two
 * scores without learned trust: the features' overlap, and GNNGuard's weights.
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

/* The run's graph. Our own attacks change at most round(rate · edges) edges. Drawn edges are
 * distinct pairs of nodes without an edge; for one seed, a smaller rate gives a subset of a larger
 * one. A published graph (in->attack) is taken as it is. CONSM_EINVAL if there are too few pairs or
 * the nodes differ. */
consm_status planted_new(struct planted *out, const struct task_input *in);
void planted_free(struct planted *p);

/* The data on a graph with some of these edges: kept (edges). Free with prepare_free. */
consm_status planted_left(struct prepared *out, const struct planted *p, const uint8_t *kept);

/* The data on a graph, which it takes over. Free with prepare_free. */
consm_status planted_on(struct prepared *out, const struct planted *p, struct csr *graph);

/* Trains the run's second GCN (run->again) on a graph. */
consm_status planted_again(struct train_result *out, const struct prepared *on,
                           const struct task_input *in, const uint8_t *role);

/* |i ∩ j| / |i ∪ j| of the non-zero features (edges): the score of GCN-Jaccard (Wu et al., IJCAI
 * 2019). 1 everywhere on dense features. */
void similarity_jaccard(float *out, const struct edges *edges, const struct problem *problem);

/* The cosine of two rows of x (edges); problem gives the graph. x (n, width), or NULL: the features
 * as stored. */
consm_status similarity_cosine(float *out, const struct edges *edges, const struct problem *problem,
                               const float *x, int64_t width, struct team *team);

/* GNNGuard's weights (Zhang and Zitnik, NeurIPS 2020, Eq. 2 and 3, with the threshold of their
 * program): in each layer s_ij = cos(h_i, h_j), 0 if it is below GUARD_LEAST;
 *   α_ij = s_ij / Σ_k s_ik · N_i / (N_i + 1),   N_i the number of neighbours with s_ik > 0.
 * out (edges) is the mean of both directions and all layers; pruned (edges) is 1 if some layer has
 * s_ij = 0. cosine: (layers, edges). */
#define GUARD_LEAST 0.1f
consm_status similarity_guard(float *out, uint8_t *pruned, const float *cosine, int layers,
                              const struct edges *edges, int64_t nodes);

/* The same for a trained GCN with two or more layers: its first layer reads the features, its
 * second the GCN's first hidden layer. cosine (edges), or NULL, becomes that of the features. */
consm_status similarity_guard_of(float *out, uint8_t *pruned, float *cosine, struct session *s,
                                 const struct edges *edges);

#endif
