/* The internals of the public objects, for src/app and src/api. */
#ifndef APP_OBJECTS_H
#define APP_OBJECTS_H

#include <pthread.h>

#include "app/curve.h"
#include "app/run.h"
#include "stats/conformal.h"
#include "train/edge_trust.h"
#include "train/metrics.h"

struct names;
struct recipe;

struct consm_dataset {
    struct dataset *data;
    const struct ranks *ranks; /* that train on it together */
    bool known;                /* opened by name; else a user's own graph (app/defaults.h) */
    pthread_mutex_t lock;      /* protects what follows: made on first use, then only read */
    bool ready;
    struct prepared prepared;
    struct names *ids;           /* node numbers by id, or NULL without ids */
    int owners;                  /* number of owners, under the lock; the last one frees it */
    struct consm_dataset *graph; /* the dataset whose graph this shares (relabel.c), or NULL */
    struct consm_dataset
        *whole; /* the dataset of whose edges this has a selection (clean.c), or NULL */
    struct consm_open_options reading; /* storage for consm_dataset_arrays */
};

/* A public dataset around an open one; takes ownership, also on failure. */
consm_status dataset_wrap(struct consm_dataset **out, struct dataset *data);

/* Adds an owner. */
struct consm_dataset *dataset_hold(struct consm_dataset *dataset);
/* Frees the own parts of a dataset that shares a graph (relabel.c). */
void relabelled_free(struct consm_dataset *dataset);
/* The same for a dataset with a selection of edges (clean.c). */
void cleaned_free(struct consm_dataset *dataset);

/* A model of the caller's own: the build function and its context. */
struct custom {
    consm_build_fn build; /* NULL: a registered model */
    void *ctx;
};

/* What consm_inputs.inside points to. */
struct custom_inside {
    const struct inputs *in;
    const struct config *config;
};

struct consm_options {
    const struct model_def *model; /* a registered one, or own */
    struct model_def own;
    char own_name[48];
    struct custom custom;
    struct config config;
    bool given[CONFIG_ROWS]; /* parameters that were set by name */
    uint64_t seed;
    int64_t ensemble; /* runs to combine; 0 and 1: a plain model */
    int member_jobs;  /* how many of them side by side; 0: one after another */
    int threads;
    char device[16]; /* "": the CPU */
    char *split;
    struct split_options split_options;
    char *positive;      /* name of the class of average precision, or NULL */
    char *threshold_for; /* name of the class with a decision threshold, or NULL */
    double at_precision,
        at_recall; /* target of that threshold on validation; both 0: the best F1 */
    consm_progress_fn progress;
    void *progress_ctx;
    char *checkpoint; /* a path, or NULL */
    int64_t checkpoint_every;
    bool resume;
    const struct consm_model *from; /* the model that training starts from, or NULL */
};

/* Replaces one of the texts of the options by a copy. */
consm_status options_set_text(char **to, const char *text);

struct model_tensor {
    char name[48];
    int64_t rows, cols;
    float *value; /* (rows, cols) */
};

struct consm_model {
    const struct model_def *def; /* a registered one, or own */
    struct model_def own;
    char own_name[48];
    struct custom custom;
    struct config config; /* final values, "auto" replaced by the choice */

    char *dataset, *split, *version;
    char data_sha256[65];
    int32_t classes;
    char **class_name;  /* (c), or NULL: "0", "1", … */
    int32_t class_kind; /* of enum consm_class_kind */
    int64_t features;
    char **feature_name;    /* (f), or NULL */
    struct recipe *recipe;  /* how a table's columns become features, or NULL */
    struct choices choices; /* how its data was read */
    bool structural;

    int64_t tensors;
    size_t tensor_room;
    struct model_tensor *tensor;
    double temperature, ece_before;
    double doubt;             /* how far probabilities are shrunk towards uniform */
    int32_t positive;         /* 1 + the class of its metric; 0: all */
    struct decision decision; /* made: a class has a threshold */
    struct train_result result;
    int64_t count[4], held_out; /* nodes by role */
    struct metrics metrics[4];  /* by role; 0 is unused */

    /* Nodes that it learned from (learned.h): sorted hashes of their ids; none in older models. */
    uint64_t *learned;
    int64_t learned_count;
    bool learned_named; /* nodes had ids, not only numbers */

    struct {
        int64_t labels, updates; /* of a refit; 0 labels: none */
    } refit;
    int32_t *vote; /* (n) votes of session_votes, for a refit; not stored in files */

    struct conformal sets;    /* coverage 0: none */
    double *class_threshold;  /* (c) for class-wise coverage, or NULL */
    double least_covered;     /* lowest coverage of a class on test nodes; NAN: unknown */
    int32_t least_class;      /* that class */
    double covered, set_size; /* of the test nodes' sets; NAN without test nodes */
    /* An ensemble has members instead of tensors. A member has only a definition, configuration,
     * seed, temperature and tensors. */
    int64_t members; /* 0: a plain model */
    struct consm_model **member;
    /* Boosted trees that predict in the place of a ConSM model, which then only scores edges; NULL:
     * it predicts itself. They have what a member has. */
    struct consm_model *trees;
    /* Candidates that predict together with a ConSM model, or with its trees. They have what a
     * member has. The votes and the temperature of its own predictions, or of its trees, among
     * them. */
    int64_t companions; /* 0: it predicts alone */
    struct consm_model **companion;
    int64_t own_votes;
    double own_temperature;
    char backbone[160];     /* of ConSM and of ensembles, as text (model_name_backbone) */
    int64_t picks, trained; /* of a member: its votes, its number of parameters */
    struct ensemble_facts ensemble;
    struct train_curve curve; /* the learning curve; none in older models */
};

/* One training run. */
struct training_request {
    const struct prepared *prepared;
    const struct roles *roles;
    struct train_options options;
    struct custom custom;
    int64_t ensemble; /* runs to combine, each with its own seed; 0 and 1: a plain model */
    int jobs;         /* how many of them side by side */
    int threads;
    int32_t threshold_for;          /* 1 + the class that gets a threshold; 0: none */
    double at_precision, at_recall; /* target of that threshold */
    const char *checkpoint;    /* file for a checkpoint every options.checkpoint_every epochs and on
                                  cancel, or NULL */
    bool resume;               /* continue from that file */
    struct session *session;   /* that was trained, for later training; or NULL */
    struct train_curve *curve; /* the curve so far, for checkpoints; or NULL */
};

/* Trains; prediction (may be NULL) receives the predictions for the same graph. */
consm_status model_train(struct consm_model **out, struct consm_prediction **prediction,
                         const struct training_request *request);

/* Finds the model's features in a dataset, then calls use() with the resulting problem. */
typedef consm_status (*model_use_fn)(void *ctx, const struct consm_model *model,
                                     const struct problem *problem, struct backend *backend);
consm_status model_on_dataset(const struct consm_model *model, const struct consm_dataset *dataset,
                              int threads, model_use_fn use, void *ctx);
consm_status model_on_device(const struct consm_model *model, const struct consm_dataset *dataset,
                             const char *device, int threads, model_use_fn use, void *ctx);

/* ---- model_session.c ---- */

/* The definition of a plain model's equations: for ConSM its backbone. */
const struct model_def *model_equations(const struct consm_model *m);

/* The model that predicts for a plain model or a member: its trees, or itself. */
const struct consm_model *model_predicts(const struct consm_model *m);

/* A session that evaluates a plain model on a problem. The problem must outlive it. */
consm_status model_session(struct session **out, const struct consm_model *model,
                           const struct problem *problem, struct backend *backend);
/* The same for session_part_logits only. It needs no memory for the whole graph, unless the model
 * must first decide which edges count. */
consm_status model_part_session(struct session **out, const struct consm_model *model,
                                const struct problem *problem, struct backend *backend);

/* The tensor of trust's weights for a model's answers (session_tell_answers), and its TRUST_NUMBERS
 * numbers; NULL: the model has none, so its trust is that of its own network. */
#define MODEL_ANSWERS_TRUST "answers.trust"
const float *model_answers_weights(const struct consm_model *m);
bool model_weighs_answers(const struct consm_model *m); /* it, or one of its members, has them */

/* CONSM_EFORMAT if the trees of a tree model are invalid. */
consm_status model_check_forest(const struct consm_model *m);

/* ---- ensemble.c: what plain models and ensembles answer alike ---- */

/* Calls use() with a session of the model, or of each member in turn. */
typedef consm_status (*model_part_fn)(void *ctx, const struct consm_model *part, struct session *s);
consm_status model_each_session(const struct consm_model *model, const struct problem *problem,
                                struct backend *backend, model_part_fn use, void *ctx);

/* Whether the predictions are a mean: of an ensemble's members, or of a ConSM model and its
 * companions. The number of models that predict, and one of them: the i-th member; the model
 * itself, then its companions. */
bool model_mixes(const struct consm_model *m);
int64_t model_parts(const struct consm_model *m);
const struct consm_model *model_part(const struct consm_model *m, int64_t i);

/* The trust below which edges carry no messages of a part; 0: all do. Only companions have it, all
 * the same (session_without); and that of a model's companions. */
double model_part_below(const struct consm_model *m, const struct consm_model *part);
double model_companions_below(const struct consm_model *m);

/* Logits (n, c), which the caller frees; of a mean the logarithm of its probabilities. */
consm_status model_logits(float **out, const struct consm_model *model,
                          const struct problem *problem, struct backend *backend);

/* The steps of a mean, node by node: add a part's logits to the mean (c), with probability
 * (c) as scratch; then turn the finished means into logits (count). */
void model_mix(double *mean, float *probability, const struct consm_model *model,
               const struct consm_model *part, const float *logits, int32_t classes);
void model_mixed(float *logits, const double *mean, int64_t count);

/* A session of a plain model or a member for its trust, and the answers that this is about, which
 * the caller frees after it; NULL: those of the session. */
consm_status model_trust_session(struct session **out, float **answers,
                                 const struct consm_model *model, const struct problem *problem,
                                 struct backend *backend);

/* Trust of the edges of the problem's graph; of an ensemble the mean over its ConSM members, or
 * else the agreement of its mean probabilities. */
consm_status model_trust(struct edge_trust *out, const struct consm_model *model,
                         const struct problem *problem, struct backend *backend);

/* Whether trees train beside the candidates of such a ConSM run (train/consm/with_trees.c). */
bool options_race_trees(const struct model_def *model, const struct config *c);

/* ---- ensemble_train.c ---- */

/* model_train for request->ensemble > 1. */
consm_status model_train_ensemble(struct consm_model **out, struct consm_prediction **prediction,
                                  const struct training_request *request);

/* ---- model.c: the steps of model_train ---- */

/* Records which GNN a finished model consists of. */
void model_name_backbone(struct consm_model *m);
/* Whether edge weights change the result of the model or of one of its members. */
bool model_weighs(const struct consm_model *m);

/* Gives a model its definition; one of the caller's own is copied. */
void model_define(struct consm_model *m, const struct model_def *def, struct custom custom);
/* Copies what evaluation needs from a trained session: definition, configuration, seed, tensors;
 * also of trees that predict instead. */
consm_status model_of_session(struct consm_model **out, struct session *s, struct custom custom);
/* Adds the rest: facts about the data, calibration, metrics of every role from logits (n, c). */
consm_status model_complete(struct consm_model *m, const struct training_request *request,
                            const struct problem *problem, const float *logits,
                            struct backend *backend);
/* Trains one run and calls use() with its session before it is freed. */
typedef consm_status (*model_trained_fn)(void *ctx, struct session *s,
                                         const struct train_result *result);
consm_status model_run(const struct training_request *request, model_trained_fn use, void *ctx);

/* ---- evaluate.c ---- */

/* place (c of the data): the model's number of each class; -1: no class has that name. */
void model_match_classes(int32_t *place, const struct consm_model *m, const struct dataset *d);

/* ---- calibrate.c ---- */

/* probability (nodes, c) of the model's logits (nodes, c): temperature, then doubt. */
void model_probabilities(float *probability, const struct consm_model *m, const float *logits,
                         int64_t nodes);
/* log(p / (1 - p)) of a class from logits (classes), with the model's temperature. Computed from
 * logits, so that it distinguishes probabilities that both round to 1. Doubt is left out, because
 * it would make them equal. */
double model_log_odds(const struct consm_model *m, const float *logit, int32_t label);
/* The same for every class, in linear time; out (c). */
void model_all_log_odds(float *out, const struct consm_model *m, const float *logit);
/* Calibrates and chooses the threshold on validation, then measures every role. */
consm_status model_measure(struct consm_model *m, const struct training_request *r,
                           const struct problem *problem, const float *logits,
                           struct backend *backend);
/* threshold.c: chooses the decision threshold, on validation (its probabilities are measured) or by
 * cross-validation. */
consm_status model_threshold(struct consm_model *m, const struct training_request *r,
                             const struct problem *problem, const struct predicted *validation,
                             struct backend *backend);
/* After a refit: measures the test nodes only, with the existing calibration and threshold. */
consm_status model_measure_again(struct consm_model *m, const struct problem *problem,
                                 const float *logits);

/* Predictions for a problem from logits (n, c). */
consm_status model_prediction(struct consm_prediction **out, const struct consm_model *model,
                              const struct problem *problem, const float *logits);

/* If coverage was requested, fits the prediction sets with the calibration labels and measures them
 * on the test nodes. logits (n, c) are the model's on the problem. */
consm_status model_fit_sets(struct consm_model *m, const struct problem *problem,
                            const struct roles *roles, const float *logits);
/* Adds sets to a prediction for `problem`, if the model has them. */
consm_status prediction_add_sets(struct consm_prediction *p, const struct consm_model *m,
                                 const struct problem *problem);

/* A model file in memory; name is for messages. */
consm_status model_read(struct consm_model **out, const char *name, const void *data, size_t size);

/* Puts the file's name in front of a failure's message. */
consm_status model_in_file(consm_status st, const char *path);

/* Checks that the model's parameters are those of its equations. */
consm_status model_check(const struct consm_model *model, const char *path);

/* The build function of models of the caller's own: calls the struct custom in its context. */
node custom_build(struct program *p, const struct inputs *in, const struct config *c);

#endif
