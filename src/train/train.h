/*
 * Training one model on one problem: epochs, selection by validation, the best parameters restored,
 * the test set read once, at the end. A session holds everything a training procedure needs;
 * models that alternate phases drive the same pieces themselves.
 */
#ifndef TRAIN_TRAIN_H
#define TRAIN_TRAIN_H

#include "graph/roles.h"
#include "models/model.h"

/* What is to be learned: a cleaned graph, features, labels, roles. Nothing here is owned. */
struct problem {
    int64_t nodes, features;
    int32_t classes;
    const struct csr *graph;    /* undirected, no loops, no repeats */
    const struct csr *sparse;   /* (n, f) features, or NULL … */
    const float *dense;         /* … then these */
    const int32_t *label;       /* (n), -1 unknown */
    const uint8_t *role;        /* (n) of enum split_role */
    struct views *views;        /* of graph */
    const float *shift, *scale; /* (f) what dense columns are standardised by, where that is known
                                   already, or NULL */
    const uint64_t *key;        /* (n) of what nodes are called, or NULL: they have numbers alone */
};

/* Whether every process has the logits of node i, where the graph is in parts: it has a role, or,
 * where nobody trains, a label; and whether this one has them. */
bool problem_known(const struct problem *p, int64_t i);
bool problem_here(const struct problem *p, int64_t i);

/* How far a run is; returning true asks it to stop with CONSM_ECANCEL. */
struct progress {
    uint64_t seed;
    int64_t epoch, epochs; /* finished, in all; epoch 0: an update of a candidate backbone */
    double loss, val_acc, best_val; /* the last two by the run's metric */
    int64_t member, members;        /* of an ensemble: which run, from 1, of how many; else 0 */
    double fraction;                /* of the time the run takes, as far as can be told */
    int64_t candidate, update;      /* epoch 0: which candidate, from 1, and its update … */
    const char *backbone;           /* … and its GNN */
    bool refit;                     /* the run trains on all labels, what it chose is settled */
};
typedef bool (*progress_fn)(void *ctx, const struct progress *progress);

struct session;

/* Called between two epochs to write down all that a session needs to go on later. */
typedef consm_status (*checkpoint_fn)(void *ctx, struct session *s);

/* How many updates lie between the beginning of each phase of a run and the parameters it kept: the
 * warm-up or the only phase, then rounds; 0: a round found nothing better. */
enum { TRAIN_MOST_LENGTHS = 65 };
struct train_lengths {
    int64_t count; /* phases up to the one that the kept parameters are of; 0: none is over */
    int64_t begun; /* steps taken when the present phase began */
    int64_t updates[TRAIN_MOST_LENGTHS];
};

struct train_options {
    const struct model_def *model;
    struct config config;
    const char *device; /* of backend_open, for train_once; NULL: the CPU */
    uint64_t seed;
    progress_fn progress; /* may be NULL */
    void *progress_ctx;
    int32_t positive;    /* 1 + the class average precision speaks of; 0: the rarest */
    const void *context; /* for the model's build function: inputs.context */
    bool eval_only;  /* the session will only be asked for logits: no labels, no training program */
    bool parts_only; /* with it: only for those of parts of the graph (session_part_logits), so that
                      * nothing is compiled or prepared for the whole */
    const float *shift, *scale; /* (f) for standardised features as a trained model knows them */
    const float
        *taught; /* (taughts, TAUGHT_COLUMNS) of session_taught, for an evaluation; or NULL */
    int64_t taughts;
    const float *forest; /* (forest_nodes, FOREST_COLUMNS) of session_forest, for an evaluation */
    int64_t forest_nodes;
    /* Puts other parameters in place of those that were drawn; may be NULL. */
    consm_status (*begin)(const void *ctx, struct params *params);
    const void *begin_ctx;
    int64_t most_params; /* fail when the model wants more numbers; 0: no limit */
    /* Called with every candidate backbone that ConSM trained to the end, its best parameters in
     * place; may be NULL. With it no candidate is given up early. */
    consm_status (*offer)(void *ctx, struct session *trained);
    void *offer_ctx;
    /* To repeat a run on more labels (train_repeat): its lengths, and the weights of trust scores
     * (TRUST_NUMBERS) that it found, or NULL. */
    const struct train_lengths *lengths;
    const float *trust;
    const int32_t *vote; /* (n) of session_votes, then */
    const bool *given; /* (CONFIG_ROWS) parameters that a person set: no candidate backbone changes
                        * them; NULL: none */
    int64_t checkpoint_every; /* epochs, or updates of candidates, between two checkpoints; 0: only
                               * when cancelled */
    bool checkpoint_end;      /* one more when training ends: something else follows */
    checkpoint_fn checkpoint; /* may be NULL */
    void *checkpoint_ctx;
    checkpoint_fn take_up; /* fills a choice among candidates from the checkpoint that the run goes
                            * on from; NULL: it begins. With the same context. */
};

/* What ConSM's matching module knows: areas under the ROC curve of "one class" over pairs it
 * learned from, pairs with a node that was held out, and edges whose labels a run may know; NaN
 * where nothing was measured. */
struct match_quality {
    double learned_auc, held_auc, known_auc;
    bool at_chance; /* about held-out pairs: trust leaves it out */
};

/* What folds over all labels said of the chosen candidate; labels 0: they were not made. */
struct train_folds {
    int64_t labels, validating; /* nodes that were predicted so, nodes that validate */
    int64_t folds, repeats;
    double score, error; /* by the run's metric, and its standard error */
};

/* How far a candidate backbone came while ConSM chose: its updates and its best validation then. */
struct train_candidate {
    const char *model, *settings; /* of the program, for ever */
    int64_t updates;
    double val;     /* -1: its loss became infinite */
    int64_t number; /* from 1, as progress calls it */
    double fold;    /* by folds over all labels; -1: it was not compared so */
};
enum { TRAIN_MOST_CANDIDATES = 32 };

/* The chosen backbone once more, trained on the candidates' votes (train/consm/student.c). */
struct train_student {
    int64_t updates; /* 0: there was none */
    double val;
    bool taken; /* the run went on with it */
};

/* The arm that ConSM went on with (train/consm/arms.c). */
struct train_arm {
    bool known; /* it is ConSM's run */
    double lambda;
    bool all, guesses; /* all edges attract; sure predictions are labels */
    double entropy;    /* its weight in the loss */
    double dropped;    /* share of the edges that carry no messages … */
    double added;      /* … and how many pairs that are none do, by the number of edges */
};

/* What a run says of itself. Accuracies are fractions; times are medians per epoch. */
struct train_result {
    uint64_t seed;
    double val_acc, test_acc;
    double val_score; /* by the metric that chose */
    int64_t best_epoch, epochs;
    double train_ms, eval_ms, seconds;
    int64_t params;
    double loss;
    char device[16];            /* what it ran on: cpu, cuda:0 */
    struct match_quality match; /* of ConSM; else zero */
    double sent;                /* bytes that ranks sent each other, an epoch; 0: one process */
    struct train_lengths lengths;
    struct train_folds folds; /* of ConSM */
    int candidates;           /* that ConSM chose its backbone from, the chosen one first */
    struct train_candidate candidate[TRAIN_MOST_CANDIDATES];
    struct train_arm arm;
    struct train_student student;
};

/* By how much the chosen candidate is ahead of the next one, by folds where they compared both,
 * else by validation; *second is NULL, and 0 returned, where there was no other. Below 0: it was
 * chosen by something else, such as the loss. */
double train_margin(const struct train_candidate **second, bool *folds,
                    const struct train_result *result);

/* Records and compiles the model's programs and draws its parameters. The problem and the
 * backend must outlive the session. */
consm_status session_new(struct session **out, const struct problem *problem,
                         const struct train_options *options, struct backend *backend);
void session_free(struct session *s);

/* All of them. */
int64_t train_updates(const struct train_lengths *lengths);

/* Makes options those of a run that trains without validation for as long as the lengths say, with
 * everything that the configuration leaves open chosen before. Both must outlive it. */
void train_repeat(struct train_options *options, const struct train_lengths *lengths);

/* To be called after a saved model's parameters were put in place of the drawn ones. */
consm_status session_loaded(struct session *s);

/* Trains, restores the best parameters, reads the test set once. */
consm_status session_train(struct session *s, struct train_result *result);

/* Runs the evaluation program with the parameters as they are; logits (n, c), valid until the next
 * run. */
consm_status session_logits(const float **out, struct session *s);
struct params *session_params(struct session *s);

/* How many steps of the graph a node's logits look; -1: they need all nodes. *rows_do: the graph's
 * rows are all they need of it (views_of_rows). Of an evaluation, which gives up its program for
 * the whole graph: from then on parts alone can be asked for. */
consm_status session_reach(int64_t *out, bool *rows_do, struct session *s);

/* Logits (part->nodes, c) of a part of the session's graph, by the session's parameters;
 * part->views come from views_part(). Several threads may ask at once, each on a backend of its
 * own. */
consm_status session_part_logits(float *out, struct session *s, const struct problem *part,
                                 struct backend *backend);

/* The votes (n) that a student of ConSM's candidates learned from, -1: none; NULL: there is no
 * student. They are the session's. */
const int32_t *session_votes(const struct session *s);

/* One run on the device that the options name, with that many threads of the host. */
consm_status train_once(struct train_result *result, const struct problem *problem,
                        const struct train_options *options, int threads);

/* Calls run(ctx, number, threads) for number 0 … count-1, jobs of them side by side. A run depends
 * on its number alone, so the order in which they finish changes nothing. The first failure stops
 * those that have not begun and is returned. */
struct batch {
    int64_t count;
    int jobs, threads;
    consm_status (*run)(void *ctx, int64_t number, int threads);
    void *ctx;
};
consm_status train_batch(const struct batch *batch);

/* Share of the rows with that role whose largest logit is their label; 0 when there are none. */
double accuracy(const float *logits, const struct problem *problem, enum split_role role);

#endif
