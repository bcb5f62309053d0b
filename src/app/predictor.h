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

/* A dataset as the model sees it. */
struct eye {
    int owners;                    /* under the predictor's lock */
    struct consm_dataset *dataset; /* held */
    const struct prepared *prepared;
    struct matched features;
    struct problem problem;
};

struct version;

struct consm_predictor {
    const struct consm_model *model;
    struct consm_dataset *dataset; /* held */
    const struct prepared *prepared;
    struct matched features;
    struct problem problem; /* the whole graph */
    struct backend *backend;
    int threads;
    int64_t parts;
    struct part *part;         /* (parts) */
    double largest;            /* share of the nodes */
    struct consm_graph *graph; /* that grows, or NULL: the dataset is all … */
    bool rows_do;              /* … and whether its rows are all the model needs of it */

    pthread_mutex_t lock; /* of what follows */
    float *whole;         /* (n, c) logits of all nodes, made when first needed, then only read */
    struct eye **eye;     /* (eyes) on a growing graph: its base, then chunks */
    int64_t eyes;
    size_t eye_room;
    struct consm_predictor *inner; /* on a dataset of a version, where that is needed … */
    uint64_t inner_number;         /* … and which */
};

/* Logits (count, c) of nodes, which may repeat; each must be a node of the graph. Several threads
 * may ask at once. */
consm_status predictor_logits(float *out, struct consm_predictor *p, const int32_t *number,
                              int64_t count);

/* ---- predictor_live.c: questions about a version of a growing graph ---- */

/* The problem on the nodes of a ball, and what it is made of. */
struct scene {
    struct ball ball;
    struct views *views;
    struct csr *sparse;
    float *dense;
    struct problem problem;
};

/* Makes the problem of a scene whose ball, views and features are there. */
consm_status scene_pose(struct scene *s, const struct consm_predictor *p);

/* Cuts a scene out of a version. s->ball.too_large: nothing else was made. */
consm_status live_scene(struct scene *s, struct consm_predictor *p, const struct version *v,
                        const struct part *part, const int32_t *number, int64_t count);
/* What live_scene keeps from one question to the next. */
void live_forget(struct consm_predictor *p);

/* The logits by an ordinary dataset of the version. */
consm_status live_whole(float *out, struct consm_predictor *p, const struct version *v,
                        const int32_t *number, int64_t count);

/* Logits as above, of a version of the predictor's graph. */
consm_status predictor_logits_at(float *out, struct consm_predictor *p, const struct version *v,
                                 const int32_t *number, int64_t count);

/* From which share of the graph's nodes on a question is answered by predicting all of them, once,
 * and looking up; a quarter unless told. For tests, before the first question. */
void predictor_set_largest(struct consm_predictor *p, double share);

/* Whether that has happened. */
bool predictor_is_whole(struct consm_predictor *p);

#endif
