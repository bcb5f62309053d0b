/*
 * A model: a name, its defaults and a function that records its equations. To add one, copy
 * TEMPLATE.c, write the equations, and add a line to registry.c.
 */
#ifndef MODELS_MODEL_H
#define MODELS_MODEL_H

#include "graph/views.h"
#include "models/config.h"
#include "program/program.h"

/* What a model reads while it records. */
struct inputs {
    node x; /* (n, f) features, dense or sparse; matmul() and dropout() take both */
    int64_t nodes, features, classes;
    struct views *views;
    const void *context; /* of the caller's own build function, else NULL */
};

struct model_def {
    const char *name;  /* "gcn" */
    const char *title; /* "Graph convolutional network" */
    const char *paper; /* "Kipf and Welling, ICLR 2017" */
    const char *
        knobs; /* the parameters that it reads besides those of training: "layers hidden dropout" */
    bool unweighted;                    /* edge weights do not change its result */
    void (*defaults)(struct config *c); /* may be NULL */
    /* Records the model and returns its logits (n, classes). NULL: it is not a program; its
     * procedure (train/session.h) has the logits. */
    node (*build)(struct program *p, const struct inputs *in, const struct config *c);
    /* Records the model and returns its last layer's edge coefficients, one number per entry of a
     * view of the graph, larger for edges it trusts more. NULL: it has none. */
    node (*coefficients)(struct program *p, const struct inputs *in, const struct config *c);
};

/* All models that are programs, in the order of the paper's tables, then NULL. */
const struct model_def *const *model_list(void);

/* The same, followed by models that are not programs. */
const struct model_def *const *model_list_all(void);

/* CONSM_ENOTFOUND with the nearest name. */
consm_status model_find(const struct model_def **out, const char *name);

/* The table's defaults, then the model's own. */
void model_defaults(const struct model_def *model, struct config *c);

/* x normalised by --norm, or x itself. */
node with_norm(struct program *p, int64_t layer, node x, const struct config *c);

/* norm(z + b + h R) for a layer that made z from h: R with --residual; no norm in the last layer.
 */
node finish_layer(struct program *p, int64_t layer, node z, node h, const struct config *c);

/* A matrix of the graph, which the program holds; poisons the program if it cannot be built. */
const struct csr *graph_view(struct program *p, const struct inputs *in, enum view kind);

#endif
