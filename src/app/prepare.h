/* Turns a dataset as stored into what models train on: the cleaned graph, its views, and a problem
 * per split. */
#ifndef APP_PREPARE_H
#define APP_PREPARE_H

#include "backends/ranks.h"
#include "data/dataset.h"
#include "train/train.h"

struct prepared {
    const struct dataset *data;
    const struct ranks *ranks;   /* that train on it together */
    struct csr *graph;           /* undirected, no loops, no repeats */
    struct partition *partition; /* of a graph in parts, or NULL */
    int64_t *cut;                /* the ranges of all ranks */
    struct csr *sparse;          /* of such a graph: its features with their transpose, or NULL */
    struct partition *columns;
    int64_t *column_cut; /* the transpose is divided by these columns */
    struct edge_facts facts;
    uint64_t *key; /* (n) of the nodes' ids */
    struct views *views;
    struct normalized_rows *row_normalized;
    float *structural; /* (n, STRUCTURAL_FEATURES) for sets without features, or NULL */
    float *measured;   /* (2, STRUCTURAL_FEATURES) its shift and scale, of a graph in parts */
};

/* The dataset must outlive the result. A set without labels is refused. */
consm_status prepare(struct prepared *out, const struct dataset *d);
/* The same without requiring labels, for predictions; of a graph that ranks train on together. */
consm_status prepare_graph(struct prepared *out, const struct dataset *d,
                           const struct ranks *ranks);
/* The same of a list without loops and repeats whose cleaned graph is known; takes ownership of
 * it, also on failure. */
consm_status prepare_with(struct prepared *out, const struct dataset *d, struct csr *graph);
void prepare_free(struct prepared *p);

/* Structural features of a prepared set, even if it has features of its own; (n,
 * STRUCTURAL_FEATURES), of a graph in parts the rows of the partition. */
consm_status prepare_structural(float **out, const struct prepared *p);
void prepare_structural_free(float *structural, const struct prepared *p);

/* The keys of node ids from which structural features are drawn; (n), the caller frees them. */
consm_status prepare_keys(uint64_t **out, const struct dataset *d);

/* Opens a backend whose programs its ranks divide. */
consm_status prepare_backend(struct backend **out, const struct prepared *p, const char *device,
                             int threads);

/* Whether an epoch is so short that threads would mostly wait for each other. */
bool prepare_is_small(const struct prepared *p, const struct config *c);

/* A folder of parts (data/readers/parts.h): this rank's rows, checked. */
consm_status prepare_parts(struct prepared *out, const struct dataset *d);

/* CONSM_EINVAL, naming the caller's feature, if a graph is in parts. */
consm_status prepare_whole(const struct prepared *p, const char *who);
consm_status dataset_whole(const struct consm_dataset *dataset, const char *who);

/* The problem of one split; role (n) must outlive it. */
struct problem prepare_problem(const struct prepared *p, const uint8_t *role);

#endif
