/* A model and a graph, prepared for questions about a few nodes. A question costs time for what
 * these nodes read, not for the whole graph. The result is bit-identical to a prediction of the
 * whole graph. */
#ifndef APP_PREDICTOR_H
#define APP_PREDICTOR_H

#include "app/matched.h"

/* A plain model, or a member of an ensemble. */
struct part {
    const struct consm_model *model;
    struct session *session; /* NULL: trees, which have no program */
    int64_t reach;           /* -1: the whole graph */
    struct views *views;     /* of the edges that carry its messages */
};

/* A dataset's features as the model reads them. */
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
    struct consm_kept *kept;   /* the edges of companions that leave out some, or NULL */
    double largest;            /* share of the nodes: above it the whole graph is predicted */
    struct consm_graph *graph; /* a growing graph, or NULL: only the dataset */
    bool rows_do;              /* the model needs only rows of the edges that carry messages */
    bool settled;              /* it chose or weighed these edges, for this graph */

    pthread_mutex_t lock; /* protects what follows */
    float *whole;         /* (n, c) logits of all nodes, made on first use, then only read */
    struct eye **eye;     /* (eyes) of a growing graph: its base, then chunks */
    int64_t eyes;
    size_t eye_room;
    struct consm_predictor *inner; /* on a dataset of a version, if needed */
    uint64_t inner_number;         /* the number of that version */
    float *mean, *deviation;       /* (features) of the columns, made on first use */

    pthread_mutex_t trust_lock;
    struct edge_trust *trust; /* of all edges, made on first use, then only read */
};

/* Logits (count, c) of nodes, which may repeat; each must be a node of the graph. Several threads
 * may call it at once. */
consm_status predictor_logits(float *out, struct consm_predictor *p, const int32_t *number,
                              int64_t count);

/* Mean and deviation (features) of the dataset's columns over all nodes, measured once; they belong
 * to the predictor. The deviation of sparse columns is 0. */
consm_status predictor_moments(const float **mean, const float **deviation,
                               struct consm_predictor *p);

/* CONSM_ENOTFOUND unless all are nodes of the version (NULL: of the dataset). */
consm_status predictor_check(const struct consm_predictor *p, const struct version *v,
                             const int64_t *number, int64_t count);

/* ---- predict_edges.c: trust of some edges ---- */

/* Trust of edges of the predictor's dataset, in row order; repeats are one. The caller frees it
 * with edge_trust_free(). */
consm_status predictor_trust(struct edge_trust *out, struct consm_predictor *p, const int32_t *left,
                             const int32_t *right, int64_t count);
/* The same of all edges of some nodes, also of a growing graph. */
consm_status predictor_edges_of(struct edge_trust *out, struct consm_predictor *p,
                                const int64_t *number, int64_t count);

/* ---- predictor_live.c: questions about a version of a growing graph ---- */

/* The problem on the nodes of a ball, and its parts. */
struct scene {
    struct ball ball;
    struct views *views;
    struct csr *sparse;
    float *dense;
    struct problem problem;
};

void scene_free(struct scene *s);
/* Asks for a row (f) from memory, before it is read; only the start of a long one. */
static inline void fetch_row(const float *row, int64_t f)
{
    enum { LINE = 16, MOST = 256 };
    for (int64_t k = 0; k < f && k < MOST; k += LINE)
        __builtin_prefetch(row + k);
}

/* Copies the features of the ball's nodes from the problem of the whole graph. */
consm_status scene_features(struct scene *s, const struct problem *whole);
/* How many threads pay for a scene. */
int scene_threads(const struct consm_predictor *p, const struct scene *s);
/* Makes the problem of a scene with ball, views and features. */
consm_status scene_pose(struct scene *s, const struct consm_predictor *p);

/* Cuts a scene out of a version. s->ball.too_large: nothing else was made. */
consm_status live_scene(struct scene *s, struct consm_predictor *p, const struct version *v,
                        const struct part *part, const int32_t *number, int64_t count);
/* Frees what live_scene keeps between questions. */
void live_forget(struct consm_predictor *p);

/* The logits from an ordinary dataset of the version. */
consm_status live_whole(float *out, struct consm_predictor *p, const struct version *v,
                        const int32_t *number, int64_t count);

/* A predictor on an ordinary dataset of the version, until live_unlock(); one caller at a time. */
consm_status live_lock(struct consm_predictor **out, struct consm_predictor *p,
                       const struct version *v);
void live_unlock(struct consm_predictor *p);

/* Logits as above, for a version of the predictor's graph. */
consm_status predictor_logits_at(float *out, struct consm_predictor *p, const struct version *v,
                                 const int32_t *number, int64_t count);

/* Sets the share of the graph's nodes above which all nodes are predicted once; a quarter by
 * default. For tests, before the first question. */
void predictor_set_largest(struct consm_predictor *p, double share);

/* Whether all nodes were predicted. */
bool predictor_is_whole(struct consm_predictor *p);

#endif
