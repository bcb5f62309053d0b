/*
 * Predicts one node with something removed: an edge, all edges of a neighbour, or a feature. A
 * scene is the part of the graph that the model reads for that node. It is found by trial: balls
 * around the node grow until its logits are those of the whole graph; if no small ball works, the
 * whole graph is the scene.
 */
#ifndef APP_OCCLUDE_H
#define APP_OCCLUDE_H

#include "app/objects.h"

struct scene {
    const struct consm_model *model;
    struct backend *backend;
    int64_t nodes, centre;
    int32_t *node;     /* (nodes) numbers in the whole graph, ascending */
    int32_t *distance; /* (nodes) steps from the centre, -1: out of its reach */
    bool whole;        /* the scene is the graph itself */

    int64_t edges;         /* undirected, each once */
    int32_t *left, *right; /* (edges) numbers in the scene, left < right */
    float *weight;         /* (edges), or NULL */

    struct csr *sparse; /* (nodes, features) with its own values, or NULL: dense */
    float *dense;       /* (nodes, features), if not sparse */
    const float *mean;  /* (features) replaces a removed dense feature */
    uint64_t *key;      /* (nodes) for structural features, else NULL */
};

/* What is removed; -1: nothing of that kind. */
struct occlusion {
    int64_t edge;      /* of the scene's edges */
    int64_t neighbour; /* node of the scene that loses all its edges */
    int64_t feature;   /* column removed from all nodes of the scene */
};

/* problem is the whole graph as the model sees it, key (n) of its nodes or NULL, mean (features) or
 * NULL without dense features. They, model and backend must outlive the scene. */
consm_status scene_open(struct scene *out, const struct consm_model *model,
                        const struct problem *problem, struct backend *backend, int64_t centre,
                        const uint64_t *key, const float *mean);
void scene_close(struct scene *s);

/* probability (classes) of the centre, and *log_odds of a class (-1: the predicted one); without
 * NULL: nothing is removed. */
consm_status scene_probability(float *probability, double *log_odds, int32_t label, struct scene *s,
                               const struct occlusion *without);

#endif
