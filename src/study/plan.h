/* A plan: the runs of a study, each fully known before it starts. A run is stored and found by its
 * identity (the bytes of the data, the model and every parameter). So two studies that need the
 * same run share it, and an interrupted study continues. */
#ifndef STUDY_PLAN_H
#define STUDY_PLAN_H

#include <jansson.h>

#include "data/split.h"
#include "models/model.h"

enum study_task {
    TASK_TRAIN,  /* train; measure accuracy, and edge scores if the model has them */
    TASK_CURVE,  /* the same, with accuracies along the way                                    */
    TASK_PRUNE,  /* train on a graph from which shares of both kinds of edges were removed     */
    TASK_COST,   /* a few epochs alone on the machine: time and memory */
    TASK_FACTS,  /* no training: facts about the data */
    TASK_PLANT,  /* train on a graph with planted edges; find them, drop them, train again */
    TASK_COVER,  /* train, then measure prediction sets: how often they hold, how large        */
    TASK_ROBUST, /* train on an attacked graph; a GCN or ConSM also after cleaning it */
};

/* How a graph was attacked. */
enum study_plant {
    PLANT_RANDOM,        /* edges between any two nodes                                         */
    PLANT_BETWEEN,       /* edges between two nodes of different classes                        */
    PLANT_METATTACK,     /* a published graph (Zügner and Günnemann, ICLR 2019)                 */
    PLANT_NETTACK,       /* another one, aimed at single nodes (Zügner et al., KDD 2018)        */
    PLANT_DICE,          /* edges inside classes removed, edges between them added              */
    PLANT_PGD,           /* by a GCN's gradient                                                 */
    PLANT_TRUSTED_GCN,   /* by the same, only pairs that a GCN's agreement and the features trust */
    PLANT_TRUSTED_CONSM, /* by the same, only pairs that a trained ConSM trusts             */
    PLANT_NOTHING,       /* the clean graph                                                 */
    PLANTS
};

struct study_run {
    enum study_task task;
    const char *dataset; /* a name or a path */
    const char *split;
    struct split_options split_options;
    uint64_t seed;
    const struct model_def *model; /* NULL for facts */
    struct config config;
    const char *device;           /* the device, as for backend_open; NULL: the CPU */
    int64_t ensemble;             /* TASK_TRAIN: runs to combine; 0: a plain model */
    double same_kept, other_kept; /* TASK_PRUNE: shares of edges inside and between classes */
    enum study_plant plant;       /* TASK_PLANT, TASK_ROBUST: the attack */
    double rate;                  /* changed edges per edge of the graph */
    const char *attack;           /* the published graph's name, or NULL */
    struct config again;          /* the GCN that is trained on the remaining graph, or attacks */
    struct config attacker;       /* PLANT_TRUSTED_CONSM: the ConSM that the attacker trains */
    bool keep_graph; /* write the graph with its edge scores to a file; not part of the identity */
};

struct plan {
    struct study_run *run;
    size_t count, capacity;
    char **name; /* the strings the runs point to, each once */
    size_t names, names_capacity;
};

void plan_free(struct plan *p); /* accepts one that is all zero */

/* Copies the run, strings too. */
consm_status plan_add(struct plan *p, const struct study_run *run);

/* The run with the seeds 0 … seeds-1. */
consm_status plan_add_seeds(struct plan *p, const struct study_run *run, int64_t seeds);

/* A run with everything at its default. */
struct study_run plan_run(enum study_task task, const char *dataset, const struct model_def *model,
                          const char *split);

/* The identity as JSON. hashes maps the names of datasets from files to the SHA-256 of their bytes;
 * generated sets are identified by name. The caller owns it. */
consm_status plan_identity(json_t **out, const struct study_run *run, const json_t *hashes);

/* All parameters of a configuration as a JSON object. */
consm_status plan_parameters(json_t **out, const struct config *c);

const char *plan_task_name(enum study_task task);
const char *plan_plant_name(enum study_plant plant);

/* The work of a run in arbitrary units, for the remaining time: edges and features times epochs. */
double plan_cost(const struct study_run *run, int64_t edges, int64_t feature_entries);

#endif
