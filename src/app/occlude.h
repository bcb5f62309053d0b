/*
 * What a model says of one node when something is taken away: an edge, all edges of a neighbour, or
 * a feature. A scene is the part of the graph that the model reads for that node, found by trying:
 * balls around it grow until the node's probabilities are those of the whole graph, and where none
 * that is small does, the whole graph is the scene.
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

    struct csr *sparse; /* (nodes, features) with values of its own, or NULL … */
    float *dense;       /* … then these */
    const float *mean;  /* (features) what stands for a dense feature that is taken away */
    uint64_t *key;      /* (nodes) when features are made from the structure, else NULL */
};

/* What is not there; -1: nothing of the kind. */
struct occlusion {
    int64_t edge;      /* of the scene's edges */
    int64_t neighbour; /* node of the scene that loses all its edges */
    int64_t feature;   /* column that nobody in the scene has */
};

/* problem is the whole graph as the model knows it, key (n) of its nodes or NULL, mean (features)
 * or NULL without dense features; they, model and backend must outlive the scene. */
consm_status scene_open(struct scene *out, const struct consm_model *model,
                        const struct problem *problem, struct backend *backend, int64_t centre,
                        const uint64_t *key, const float *mean);
void scene_close(struct scene *s);

/* probability (classes) of the centre, and *log_odds of a class (-1: the one that is said); without
 * NULL: everything is there. */
consm_status scene_probability(float *probability, double *log_odds, int32_t label, struct scene *s,
                               const struct occlusion *without);

#endif
