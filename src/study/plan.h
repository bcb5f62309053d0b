/*
 * A plan: the runs a study needs, each known in full before it begins. A run's identity (what is
 * trained on which bytes, with every parameter) is what it is stored and found by, so two studies
 * that need the same run share it, and an interrupted study goes on where it stopped.
 */
#ifndef STUDY_PLAN_H
#define STUDY_PLAN_H

#include <jansson.h>

#include "data/split.h"
#include "models/model.h"

enum study_task {
    TASK_TRAIN,  /* train; measure accuracy, and edge scores where the model has them          */
    TASK_CURVE,  /* the same, with accuracies along the way                                    */
    TASK_PRUNE,  /* train on a graph from which shares of both kinds of edges were removed     */
    TASK_COST,   /* a few epochs with nothing beside them: time and memory                     */
    TASK_FACTS,  /* no training: what the data is like                                         */
    TASK_PLANT,  /* train on a graph with edges put in; find them, drop them, train again      */
    TASK_COVER,  /* train, then measure prediction sets: how often they hold, how large        */
    TASK_ROBUST, /* train on an attacked graph; a GCN or ConSM also after cleaning it         */
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
    const char *device;           /* what it runs on, as backend_open knows it; NULL: the CPU */
    int64_t ensemble;             /* TASK_TRAIN: runs to combine; 0: a plain model */
    double same_kept, other_kept; /* TASK_PRUNE: shares of edges inside and between classes */
    enum study_plant plant;       /* TASK_PLANT, TASK_ROBUST: what is put in, … */
    double rate;                  /* … how many edges for one of the graph's own, … */
    const char *attack;           /* … the published graph's name, or NULL … */
    struct config again;          /* … and the GCN that is trained on what is left, or attacks */
    struct config attacker;       /* PLANT_TRUSTED_CONSM: the ConSM that the attacker trains */
    bool keep_graph; /* leave the graph with its edge scores as a file; not part of the identity */
};

struct plan {
    struct study_run *run;
    size_t count, capacity;
    char **name; /* the strings the runs point to, each once */
    size_t names, names_capacity;
};

void plan_free(struct plan *p); /* one that is all zero is fine */

/* Copies the run, strings too. */
consm_status plan_add(struct plan *p, const struct study_run *run);

/* The run with the seeds 0 … seeds-1. */
consm_status plan_add_seeds(struct plan *p, const struct study_run *run, int64_t seeds);

/* A run with everything at its default. */
struct study_run plan_run(enum study_task task, const char *dataset, const struct model_def *model,
                          const char *split);

/* The identity as JSON. hashes maps the names of datasets that come from files to the SHA-256 of
 * their bytes; generated sets are known by their names. The caller owns it. */
consm_status plan_identity(json_t **out, const struct study_run *run, const json_t *hashes);

/* All parameters of a configuration as a JSON object. */
consm_status plan_parameters(json_t **out, const struct config *c);

const char *plan_task_name(enum study_task task);
const char *plan_plant_name(enum study_plant plant);

/* How much work a run is, in arbitrary units, for the time left: edges and features times epochs.
 */
double plan_cost(const struct study_run *run, int64_t edges, int64_t feature_entries);

#endif
