/* The insides of the public objects, for the files of src/app, src/api and for the command. */
#ifndef APP_OBJECTS_H
#define APP_OBJECTS_H

#include <pthread.h>

#include "app/curve.h"
#include "app/prepare.h"
#include "app/roles.h"
#include "stats/conformal.h"
#include "train/edge_trust.h"
#include "train/ensemble.h"
#include "train/metrics.h"

struct names;
struct recipe;

struct consm_dataset {
    struct dataset *data;
    bool known;           /* by name; else it is somebody's own (app/defaults.h) */
    pthread_mutex_t lock; /* for what follows: made when first needed, then only read */
    bool ready;
    struct prepared prepared;
    struct names *ids;           /* numbers of nodes by id, or NULL; of nodes that have ids */
    int owners;                  /* who may still use it, under the lock; the last one frees it */
    struct consm_dataset *graph; /* the one whose graph this shares (relabel.c), or NULL */
    struct consm_dataset *whole; /* the one of whose edges this has a choice (clean.c), or NULL */
    struct consm_open_options reading; /* room for what consm_dataset_arrays lends */
};

/* A public dataset around one that is open; takes it over, also on failure. */
consm_status dataset_wrap(struct consm_dataset **out, struct dataset *data);

/* One owner more. */
struct consm_dataset *dataset_hold(struct consm_dataset *dataset);
/* Frees what a dataset that shares a graph has of its own (relabel.c). */
void relabelled_free(struct consm_dataset *dataset);
/* The same of one with a choice of edges (clean.c). */
void cleaned_free(struct consm_dataset *dataset);

/* The dataset with its graph cleaned; any thread may ask. */
consm_status dataset_prepared(const struct prepared **out, const struct consm_dataset *dataset);

/* A model of the caller's own: the build function and what it is told. */
struct custom {
    consm_build_fn build; /* NULL: a model of the registry */
    void *ctx;
};

struct consm_options {
    const struct model_def *model; /* a registered one, or own */
    struct model_def own;
    char own_name[48];
    struct custom custom;
    struct config config;
    bool given[CONFIG_ROWS]; /* the parameters that were set by name */
    uint64_t seed;
    int64_t ensemble; /* runs to combine; 0 and 1: a plain model */
    int member_jobs;  /* of them side by side; 0: one after another */
    int threads;
    char device[16]; /* "": the CPU */
    char *split;
    struct split_options split_options;
    char *positive;      /* name of the class that average precision speaks of, or NULL */
    char *threshold_for; /* name of the class with a decision threshold of its own, or NULL … */
    double at_precision, at_recall; /* … chosen for this on validation; both 0: for the best F1 */
    consm_progress_fn progress;
    void *progress_ctx;
    char *checkpoint; /* a path, or NULL */
    int64_t checkpoint_every;
    bool resume;
    const struct consm_model *from; /* the model that training begins with, or NULL */
};

struct model_tensor {
    char name[48];
    int64_t rows, cols;
    float *value; /* (rows, cols) */
};

/* How an ensemble came about; runs 0: nobody asked for one. */
struct ensemble_facts {
    int64_t runs, pool, picked; /* trained; members there were; members taken */
    enum ensemble_rule rule;
};

struct consm_model {
    const struct model_def *def; /* a registered one, or own */
    struct model_def own;
    char own_name[48];
    struct custom custom;
    struct config config; /* as it was in the end, "auto" replaced by what was found */

    char *dataset, *split, *version;
    char data_sha256[65];
    int32_t classes;
    char **class_name;  /* (c), or NULL: "0", "1", … */
    int32_t class_kind; /* of enum consm_class_kind */
    int64_t features;
    char **feature_name;    /* (f), or NULL */
    struct recipe *recipe;  /* how a table's columns become them, or NULL */
    struct choices choices; /* how its data was to be read */
    bool structural;

    int64_t tensors;
    size_t tensor_room;
    struct model_tensor *tensor;
    double temperature, ece_before;
    double doubt;             /* share of "all classes alike" in every probability */
    int32_t positive;         /* 1 + the class its metric speaks of; 0: all */
    struct decision decision; /* made: a class has a threshold */
    struct train_result result;
    int64_t count[4], held_out; /* nodes by role */
    struct metrics metrics[4];  /* by role; 0 is unused */

    /* Nodes it learned from (learned.h): hashes of their ids, ascending; none in models of before.
     */
    uint64_t *learned;
    int64_t learned_count;
    bool learned_named; /* nodes had ids of their own, not only numbers */

    struct {
        int64_t labels, updates; /* trained on, for how long; 0 labels: it was not refitted */
    } refit;
    int32_t *vote; /* (n) of session_votes, for a refit; no file holds it */

    struct conformal sets;    /* coverage 0: none */
    double *class_threshold;  /* (c) where coverage holds class by class, or NULL */
    double least_covered;     /* of the classes that test nodes have; NAN: not known … */
    int32_t least_class;      /* … and which */
    double covered, set_size; /* of the test nodes' sets; NAN without test nodes */
    /* An ensemble has members instead of tensors; members know their definition, configuration,
     * seed, temperature and tensors, and no more. */
    int64_t members; /* 0: a plain model */
    struct consm_model **member;
    char backbone[160];     /* of ConSM and of ensembles, for people (model_name_backbone) */
    int64_t picks, trained; /* of a member: its votes, its trained numbers */
    struct ensemble_facts ensemble;
    struct train_curve curve; /* how it learned; none in models of before */
};

/* One training run. */
struct training_request {
    const struct prepared *prepared;
    const struct roles *roles;
    struct train_options options;
    struct custom custom;
    int64_t ensemble; /* runs to combine, with seeds of their own; 0 and 1: a plain model */
    int jobs;         /* of them side by side */
    int threads;
    int32_t threshold_for;          /* 1 + the class that gets a threshold; 0: none … */
    double at_precision, at_recall; /* … and for what */
    const char *checkpoint; /* where the run is written down every options.checkpoint_every epochs
                             * and when it is cancelled, or NULL */
    bool resume;            /* go on from there */
    struct trail *trail;    /* of the session, for what is trained after it; or NULL */
    struct train_curve *curve; /* what was heard so far, for checkpoints; or NULL */
};

/* Trains; prediction (may be NULL) receives what the model says of the same graph. */
consm_status model_train(struct consm_model **out, struct consm_prediction **prediction,
                         const struct training_request *request);

/* What came of one run. */
struct trained_run {
    struct train_result result;
    struct ensemble_facts ensemble; /* runs 0: it was none */
    struct roles roles;
    struct consm_model *model;           /* where it was to be kept, and … */
    struct consm_prediction *prediction; /* … what it says of the graph it was trained on */
};

/* Runs the options on a dataset, what is left open as src/app/defaults.h says. Without keep only
 * roles and result are made. Several threads may run copies of the same options side by side. */
consm_status run_by_options(struct trained_run *out, bool keep, const struct consm_dataset *dataset,
                            const struct consm_options *o);
void run_free(struct trained_run *r);

/* Who would train, validate and test. */
consm_status options_roles(struct roles *out, const struct consm_dataset *dataset,
                           const struct consm_options *o);

/* What every choice would go by, and the class it speaks of (-1: all). CONSM_EINVAL when the
 * options name a class that is not there. */
consm_status options_metric(enum config_metric *metric, int32_t *positive,
                            const struct consm_dataset *dataset, const struct roles *roles,
                            const struct consm_options *o);

/* Fills in what is left to defaults, for whoever wants to see or write it down. */
consm_status options_resolve(struct consm_options *o, const struct consm_dataset *dataset);

/* Whether such a run can be interrupted; CONSM_EINVAL with the reason when not. */
consm_status options_can_stop(const struct consm_options *o);

/* A session that evaluates a plain model on a problem. The problem must outlive it. */
consm_status model_session(struct session **out, const struct consm_model *model,
                           const struct problem *problem, struct backend *backend);
/* The same for session_part_logits alone, which takes no memory for the whole graph unless the
 * model has to settle which of its edges count. */
consm_status model_part_session(struct session **out, const struct consm_model *model,
                                const struct problem *problem, struct backend *backend);

/* The model's features found in a dataset, then use() on the problem they make. */
typedef consm_status (*model_use_fn)(void *ctx, const struct consm_model *model,
                                     const struct problem *problem, struct backend *backend);
consm_status model_on_dataset(const struct consm_model *model, const struct consm_dataset *dataset,
                              int threads, model_use_fn use, void *ctx);
consm_status model_on_device(const struct consm_model *model, const struct consm_dataset *dataset,
                             const char *device, int threads, model_use_fn use, void *ctx);

/* ---- ensemble.c: what plain models and ensembles answer alike ---- */

/* A session of the model, or of each member in turn, for use(). */
typedef consm_status (*model_part_fn)(void *ctx, const struct consm_model *part, struct session *s);
consm_status model_each_session(const struct consm_model *model, const struct problem *problem,
                                struct backend *backend, model_part_fn use, void *ctx);

/* Logits (n, c), the caller's to free; of an ensemble the logarithm of its mean probabilities. */
consm_status model_logits(float **out, const struct consm_model *model,
                          const struct problem *problem, struct backend *backend);

/* How an ensemble comes to them, node by node: what a member says joins the mean (c), probability
 * (c) being room to work in; then logits (count) of the finished means. */
void model_mix(double *mean, float *probability, const struct consm_model *model,
               const struct consm_model *part, const float *logits, int32_t classes);
void model_mixed(float *logits, const double *mean, int64_t count);

/* Trust in the edges of the problem's graph; of an ensemble the mean of what its ConSM members say,
 * or else the agreement of its mean probabilities. */
consm_status model_trust(struct edge_trust *out, const struct consm_model *model,
                         const struct problem *problem, struct backend *backend);

/* ---- ensemble_train.c ---- */

/* model_train for request->ensemble > 1. */
consm_status model_train_ensemble(struct consm_model **out, struct consm_prediction **prediction,
                                  const struct training_request *request);

/* ---- model.c: the steps of model_train ---- */

/* Writes down which GNN a finished model is made of. */
void model_name_backbone(struct consm_model *m);
/* Whether edge weights change what the model, or one of its members, computes. */
bool model_weighs(const struct consm_model *m);

/* The definition whose equations a plain model has: ConSM's are its backbone's. */
const struct model_def *model_equations(const struct consm_model *m);

/* Gives a model its definition; one of the caller's own is copied. */
void model_define(struct consm_model *m, const struct model_def *def, struct custom custom);
/* What an evaluation needs of a trained session: definition, configuration, seed, tensors. */
consm_status model_of_session(struct consm_model **out, struct session *s, struct custom custom);
/* The rest: facts about the data, calibration, figures of every role by logits (n, c). */
consm_status model_complete(struct consm_model *m, const struct training_request *request,
                            const struct problem *problem, const float *logits,
                            struct backend *backend);
/* Trains one run and lets use() have its session before it goes. */
typedef consm_status (*model_trained_fn)(void *ctx, struct session *s,
                                         const struct train_result *result);
consm_status model_run(const struct training_request *request, model_trained_fn use, void *ctx);

/* ---- evaluate.c ---- */

/* place (c of the data): the model's number of each class; -1: it knows none of that name. */
void model_match_classes(int32_t *place, const struct consm_model *m, const struct dataset *d);

/* Figures of a prediction against the labels of the dataset it was made for, on all labelled nodes,
 * on those that are new to the model, or on those it learned from; nodes 0: there are none. Nodes
 * of classes that the model does not know count as wrong. */
consm_status model_evaluate(struct metrics *out, const struct consm_model *m,
                            const struct consm_prediction *prediction, const struct dataset *d,
                            enum consm_which which);

/* ---- calibrate.c ---- */

/* probability (nodes, c) = what the model's logits (nodes, c) mean: temperature, then doubt. */
void model_probabilities(float *probability, const struct consm_model *m, const float *logits,
                         int64_t nodes);
/* log(p / (1 - p)) of a class by logits (classes), the model's temperature included. It is computed
 * from the logits, so that it still tells two probabilities apart that both round to 1; doubt is
 * left out, which would make them alike. */
double model_log_odds(const struct consm_model *m, const float *logit, int32_t label);
/* The same of every class, in a time that grows with their number; out (c). */
void model_all_log_odds(float *out, const struct consm_model *m, const float *logit);
/* Calibrates on validation, chooses the threshold there, then measures every role. */
consm_status model_measure(struct consm_model *m, const struct training_request *r,
                           const struct problem *problem, const float *logits,
                           struct backend *backend);
/* threshold.c: chooses the decision's threshold, by validation (its probabilities are measured) or
 * by folds. */
consm_status model_threshold(struct consm_model *m, const struct training_request *r,
                             const struct problem *problem, const struct predicted *validation,
                             struct backend *backend);
/* After a refit: the test nodes alone, with the calibration and the threshold that there are. */
consm_status model_measure_again(struct consm_model *m, const struct problem *problem,
                                 const float *logits);

/* What the model says of a problem, by logits (n, c). */
consm_status model_prediction(struct consm_prediction **out, const struct consm_model *model,
                              const struct problem *problem, const float *logits);

/* Labels, confidence and probabilities from logits (n, c); of a graph in parts the probabilities
 * of those nodes only that are problem_here(). */
consm_status prediction_new(struct consm_prediction **out, const float *logits,
                            const struct consm_model *model, const struct problem *problem);

/* Fits the model's prediction sets with the roles' calibrating labels, if coverage was asked for,
 * and measures them on the test nodes. logits (n, c) are the model's on the problem. */
consm_status model_fit_sets(struct consm_model *m, const struct problem *problem,
                            const struct roles *roles, const float *logits);
/* Gives a prediction its sets, if the model has them; problem is what it was made on. */
consm_status prediction_add_sets(struct consm_prediction *p, const struct consm_model *m,
                                 const struct problem *problem);

/* A model file in memory; name is for messages. */
consm_status model_read(struct consm_model **out, const char *name, const void *data, size_t size);

/* Every float the model's parameters must have, checked against what its equations ask for. */
consm_status model_check(const struct consm_model *model, const char *path);

/* CONSM_EFORMAT unless the trees are sound, of a model that is made of trees. */
consm_status model_check_forest(const struct consm_model *m);

/* The build function of models of the caller's own: calls the struct custom that is its context. */
node custom_build(struct program *p, const struct inputs *in, const struct config *c);

#endif
