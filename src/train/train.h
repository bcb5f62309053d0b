/* Trains one model on one problem: epochs, selection by validation, restoring the best parameters,
 * and one reading of the test labels at the end. A session holds everything that a training
 * procedure needs; models that alternate phases use the same pieces. */
#ifndef TRAIN_TRAIN_H
#define TRAIN_TRAIN_H

#include "graph/roles.h"
#include "models/model.h"

/* Features with rows scaled to sum 1, made by the first training that needs them and shared by all
 * that train on the same features (features.c). */
struct normalized_rows;
consm_status normalized_rows_new(struct normalized_rows **out);
void normalized_rows_free(struct normalized_rows *f); /* accepts NULL */

/* The data to learn from: a cleaned graph, features, labels, roles. Nothing is owned. */
struct problem {
    int64_t nodes, features;
    int32_t classes;
    const struct csr *graph;  /* undirected, no loops, no repeats */
    const struct csr *sparse; /* (n, f) features, or NULL: dense */
    const float *dense;       /* (n, f), if not sparse */
    const int32_t *label;     /* (n), -1 unknown */
    const uint8_t *role;      /* (n) of enum split_role */
    struct views *views;      /* of graph */
    const float *shift,
        *scale;          /* (f) standardisation of dense columns, if already known, or NULL */
    const uint64_t *key; /* (n) keys of node ids, or NULL: nodes have only numbers */
    struct normalized_rows
        *row_normalized; /* of sparse or dense; NULL: every session makes its own */
};

/* In a graph in parts: whether every process has the logits of node i (it has a role, or, if no
 * node trains, a label); and whether this one has them. */
bool problem_known(const struct problem *p, int64_t i);
bool problem_here(const struct problem *p, int64_t i);

/* The progress of a run. Returning true stops it with CONSM_ECANCEL. */
struct progress {
    uint64_t seed;
    int64_t epoch, epochs; /* finished, total; epoch 0: an update of a candidate backbone */
    double loss, val_acc, best_val; /* the last two by the run's metric */
    int64_t member, members;        /* of an ensemble: the run, from 1, and their number; else 0 */
    double fraction;                /* estimated fraction of the run's time */
    int64_t candidate, update;      /* at epoch 0: the candidate, from 1, and its update */
    const char *backbone;           /* the candidate's GNN */
    bool refit;                     /* training on all labels after model selection */
};
typedef bool (*progress_fn)(void *ctx, const struct progress *progress);

struct session;

/* Called between two epochs to save all that a session needs to continue later. */
typedef consm_status (*checkpoint_fn)(void *ctx, struct session *s);

/* Updates between the start of each phase and the parameters it kept: the warm-up or the only
 * phase, then rounds; 0: a round found nothing better. */
enum { TRAIN_MOST_LENGTHS = 65 };
struct train_lengths {
    int64_t count; /* phases up to that of the kept parameters; 0: none is over */
    int64_t begun; /* steps when the current phase started */
    int64_t updates[TRAIN_MOST_LENGTHS];
};

struct train_options {
    const struct model_def *model;
    struct config config;
    const char *device; /* of backend_open, for train_once; NULL: the CPU */
    uint64_t seed;
    progress_fn progress; /* may be NULL */
    void *progress_ctx;
    int32_t positive;    /* 1 + the class of average precision; 0: the rarest */
    const void *context; /* for the model's build function: inputs.context */
    bool eval_only;      /* only logits will be requested: no labels, no training program */
    bool parts_only; /* with it: only logits of parts of the graph (session_part_logits), so that
                        nothing is compiled or prepared for the whole */
    const float *shift, *scale; /* (f) standardisation of a trained model */
    const float
        *taught; /* (taughts, TAUGHT_COLUMNS) of session_taught, for an evaluation; or NULL */
    int64_t taughts;
    const float *forest; /* (forest_nodes, FOREST_COLUMNS) of session_forest, for an evaluation */
    int64_t forest_nodes;
    /* Replaces drawn parameters by others; may be NULL. */
    consm_status (*begin)(const void *ctx, struct params *params);
    const void *begin_ctx;
    int64_t most_params; /* fail if the model needs more numbers; 0: no limit */
    /* Called with every candidate backbone that ConSM trained to the end, with its best parameters;
     * may be NULL. With it no candidate is dropped early. */
    consm_status (*offer)(void *ctx, struct session *trained);
    void *offer_ctx;
    /* To repeat a run on more labels (train_repeat): its lengths, and its trust weights
     * (TRUST_NUMBERS), or NULL. */
    const struct train_lengths *lengths;
    const float *trust;
    const int32_t *vote; /* (n) of session_votes, for the same */
    const bool *given; /* (CONFIG_ROWS) parameters that the user set: no candidate backbone changes
                          them; NULL: none */
    int64_t checkpoint_every; /* epochs, or updates of candidates, between two checkpoints; 0: only
                                 when cancelled */
    bool checkpoint_end;      /* one more when training ends, because something else follows */
    checkpoint_fn checkpoint; /* may be NULL */
    void *checkpoint_ctx;
    checkpoint_fn take_up; /* restores the comparison of candidates from the checkpoint of a resumed
                              run; NULL: a new run. With the same context. */
};

/* The quality of ConSM's matching module: ROC-AUC of "one class" over pairs it learned from, pairs
 * with a held-out node, and edges whose labels a run may know; NaN if not measured. */
struct match_quality {
    double learned_auc, held_auc, known_auc;
    bool at_chance; /* on held-out pairs: trust leaves it out */
};

/* Cross-validation of the chosen candidate over all labels; labels 0: none. */
struct train_folds {
    int64_t labels, validating; /* nodes predicted by it, nodes that validate */
    int64_t folds, repeats;
    double score, error; /* by the run's metric, and its standard error */
};

/* How far a candidate backbone came while ConSM chose: its updates and its best validation. */
struct train_candidate {
    const char *model, *settings; /* static strings */
    int64_t updates;
    double val;     /* -1: its loss became infinite */
    int64_t number; /* from 1, as in progress */
    double fold;    /* in cross-validation over all labels; -1: none */
};
enum { TRAIN_MOST_CANDIDATES = 32 };

/* The chosen backbone trained again on the candidates' votes (train/consm/student.c). */
struct train_student {
    int64_t updates; /* 0: there was none */
    double val;
    bool taken; /* the run continued with it */
};

/* Boosted trees beside ConSM's candidates (train/consm/with_trees.c). */
struct train_trees {
    int64_t rounds; /* until their best validation; 0: they took no part */
    double val;
    bool taken;         /* the predictions are theirs */
    double network_val; /* validation of ConSM, or of the network that its student replaced: the
                         * better one */
};

/* Networks that predict together with ConSM, or with the trees that predict in its place
 * (train/consm/companions.c). */
enum { TRAIN_COMPANIONS = 9 };
struct train_companions {
    int count;          /* 0: there are none */
    int64_t votes, own; /* of all, of the leader: ConSM's own model, or the trees if taken */
    double alone;       /* the leader's validation score */
    struct {
        int64_t number, votes; /* of a candidate, from 1; trees come after the networks; 0: ConSM's
                                  own network before it left out edges */
        bool clean;            /* trained, and predicting, without distrusted edges */
    } of[TRAIN_COMPANIONS];
};

/* The arm that ConSM chose (train/consm/arms.c). */
struct train_arm {
    bool known; /* it is ConSM's run */
    double lambda;
    bool all, guesses; /* all edges attract; confident predictions are labels */
    double entropy;    /* its weight in the loss */
    double dropped;    /* share of edges without messages */
    double added;      /* added pairs with messages, relative to the number of edges */
};

/* The results of a run. Accuracies are fractions; times are medians per epoch. */
struct train_result {
    uint64_t seed;
    double val_acc, test_acc;
    double val_score; /* by the validation metric */
    int64_t best_epoch, epochs;
    double train_ms, eval_ms, seconds;
    int64_t params;
    double loss;
    char device[16];            /* what it ran on: cpu, cuda:0 */
    struct match_quality match; /* of ConSM; else zero */
    double sent;                /* bytes that ranks send each other per epoch; 0: one process */
    struct train_lengths lengths;
    struct train_folds folds; /* of ConSM */
    int candidates;           /* candidates for ConSM's backbone, the chosen one first */
    struct train_candidate candidate[TRAIN_MOST_CANDIDATES];
    struct train_arm arm;
    struct train_student student;
    struct train_trees trees;
    struct train_companions companions;
};

/* The chosen candidate's lead over the next one, by cross-validation if both took part, else by
 * validation; without another one *second is NULL and the result 0. Negative: something else
 * decided, such as the loss. */
double train_margin(const struct train_candidate **second, bool *folds,
                    const struct train_result *result);

/* Records and compiles the model's programs and draws its parameters. The problem and the
 * backend must outlive the session. */
consm_status session_new(struct session **out, const struct problem *problem,
                         const struct train_options *options, struct backend *backend);
void session_free(struct session *s);

/* The sum of all lengths. */
int64_t train_updates(const struct train_lengths *lengths);

/* Sets options for a run that trains without validation for the given lengths, with all open
 * choices made before. Both must outlive it. */
void train_repeat(struct train_options *options, const struct train_lengths *lengths);

/* Call it after a saved model's parameters replaced the drawn ones. */
consm_status session_loaded(struct session *s);

/* Trains, restores the best parameters, reads the test labels once. */
consm_status session_train(struct session *s, struct train_result *result);

/* Runs the evaluation program with the current parameters; logits (n, c) are valid until the next
 * run. */
consm_status session_logits(const float **out, struct session *s);
struct params *session_params(struct session *s);

/* Predictions of a trained session, as session_logits: those of boosted trees if they predict in
 * ConSM's place, the mean of ConSM's and its companions' if it has some. */
consm_status session_answers(const float **out, struct session *s);

/* A session's companions: sessions for their parameters only, the votes and temperatures of the
 * session itself (first) and of each, and their mean prediction. NULL: it predicts alone. Those
 * whose configuration has drop_below predict without the edges in which ConSM has less trust. */
struct train_company {
    int count;
    struct session *member[TRAIN_COMPANIONS];
    int64_t votes[TRAIN_COMPANIONS + 1];
    double temperature[TRAIN_COMPANIONS + 1];
    float *logits; /* (n, c) */
};
const struct train_company *session_company(const struct session *s);

/* The problem of a ConSM session without the edges in which it has less trust than drop_below
 * (train/consm/kept.c). It holds views of its own; its features are the session's problem's. */
struct consm_kept;
consm_status session_without(struct consm_kept **out, struct session *s, double drop_below);
const struct problem *consm_kept_problem(const struct consm_kept *k);
void consm_kept_free(struct consm_kept *k);

/* These trees as a session for evaluation, and their rounds; NULL: there are none. */
struct session *session_trees(struct session *s, int64_t *rounds);

/* How many hops a node's logits read; -1: all nodes. *rows_do: they need only the graph's rows
 * (views_of_rows). For an evaluation, which gives up its program for the whole graph: from then on
 * only parts can be requested. */
consm_status session_reach(int64_t *out, bool *rows_do, struct session *s);

/* Logits (part->nodes, c) of a part of the session's graph, with the session's parameters;
 * part->views come from views_part(). Several threads may call it at once, each with its own
 * backend. */
consm_status session_part_logits(float *out, struct session *s, const struct problem *part,
                                 struct backend *backend);

/* The votes (n) that ConSM's student learned from, -1: none; NULL: no student. The session owns
 * them. */
const int32_t *session_votes(const struct session *s);

/* One run on the device in the options, with that many host threads. */
consm_status train_once(struct train_result *result, const struct problem *problem,
                        const struct train_options *options, int threads);

/* Calls run(ctx, number, threads) for number 0 … count-1, `jobs` of them side by side. A run
 * depends only on its number, so the order of finishing changes nothing. The first failure stops
 * those that have not started and is returned. */
struct batch {
    int64_t count;
    int jobs, threads;
    consm_status (*run)(void *ctx, int64_t number, int threads);
    void *ctx;
};
consm_status train_batch(const struct batch *batch);

/* Share of the rows with that role whose largest logit is their label; 0 if there are none. */
double accuracy(const float *logits, const struct problem *problem, enum split_role role);

#endif
