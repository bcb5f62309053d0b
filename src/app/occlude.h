/* Predicts one node with something removed: an edge, all edges of a neighbour, or a feature. A
 * setting is the part of the graph that the model reads for that node. Most models say how far they
 * read (occlude_part.h). For the others it is found by trial: balls around the node grow until its
 * logits are those of the whole graph; if no small ball works, the whole graph is the setting. */

/*
 * ConSM may leave out edges and add pairs. Which ones is held as it is in the whole graph: chosen
 * again after every removal, an edge that is nearly left out would seem to depend on everything.
 */
#ifndef APP_OCCLUDE_H
#define APP_OCCLUDE_H

#include "app/objects.h"

struct setting {
    const struct consm_model *model;
    struct backend *backend;
    struct consm_predictor *predictor;
    bool by_part; /* gap_logits answers */
    bool held;    /* a part's edges are held */
    struct csr *
        *messages; /* (parts) edges that carry a part's messages, if they are held; else NULL */
    int64_t nodes, centre;
    int32_t *node;     /* (nodes) numbers in the whole graph, ascending */
    int32_t *distance; /* (nodes) steps from the centre, -1: out of its reach */
    bool whole;        /* the setting is the graph itself */

    int64_t edges;         /* undirected, each once */
    int32_t *left, *right; /* (edges) numbers in the setting, left < right */
    float *weight;         /* (edges), or NULL */

    struct csr *sparse; /* (nodes, features) with its own values, or NULL: dense */
    float *dense;       /* (nodes, features), if not sparse */
    const float *mean;  /* (features) replaces a removed dense feature */
    uint64_t *key;      /* (nodes) for structural features, else NULL */
};

/* What is removed; -1: nothing of that kind. */
struct occlusion {
    int64_t edge;      /* of the setting's edges */
    int64_t neighbour; /* node of the setting that loses all its edges */
    int64_t feature;   /* column removed from all nodes of the setting */
};

/* problem is the whole graph as the predictor's model sees it, key (n) of its nodes or NULL, mean
 * (features) or NULL without dense features. They, predictor and backend must outlive the setting.
 */
consm_status setting_open(struct setting *out, struct consm_predictor *predictor,
                          const struct problem *problem, struct backend *backend, int64_t centre,
                          const uint64_t *key, const float *mean);
void setting_close(struct setting *s);

/* probability (classes) of the centre, and *log_odds of a class (-1: the predicted one); without
 * NULL: nothing is removed. */
consm_status setting_probability(float *probability, double *log_odds, int32_t label,
                                 struct setting *s, const struct occlusion *without);

#endif
