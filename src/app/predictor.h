/*
 * A model and a graph held ready for questions about a few nodes. A question costs what these nodes
 * read, not what the graph has; the bits are those of a prediction of the whole graph.
 */
#ifndef APP_PREDICTOR_H
#define APP_PREDICTOR_H

#include "app/matched.h"

/* A plain model, or a member of an ensemble. */
struct part {
    const struct consm_model *model;
    struct session *session; /* NULL: trees, which have no program */
    int64_t reach;           /* -1: the whole graph */
    struct views *views;     /* of the edges that its messages take */
};

struct consm_predictor {
    const struct consm_model *model;
    struct consm_dataset *dataset; /* held */
    const struct prepared *prepared;
    struct matched features;
    struct problem problem; /* the whole graph */
    struct backend *backend;
    int threads;
    int64_t parts;
    struct part *part; /* (parts) */
    double largest;    /* share of the nodes */

    pthread_mutex_t lock; /* of what follows */
    float *whole;         /* (n, c) logits of all nodes, made when first needed, then only read */
};

/* Logits (count, c) of nodes, which may repeat; each must be a node of the graph. Several threads
 * may ask at once. */
consm_status predictor_logits(float *out, struct consm_predictor *p, const int32_t *number,
                              int64_t count);

/* From which share of the graph's nodes on a question is answered by predicting all of them, once,
 * and looking up; a quarter unless told. For tests, before the first question. */
void predictor_set_largest(struct consm_predictor *p, double share);

/* Whether that has happened. */
bool predictor_is_whole(struct consm_predictor *p);

#endif
