/* Internals of a training session, for the files of src/train. */
#ifndef TRAIN_SESSION_H
#define TRAIN_SESSION_H

#include "backends/ranks.h"
#include "graph/edges.h"
#include "nn/learner.h"
#include "program/course.h"
#include "train/choice.h"
#include "train/judge.h"
#include "train/trail.h"

/* Epochs that ran at once and are returned one by one; see ahead.c. */
struct ahead {
    struct course *course[2]; /* of the lesson, and of the plain one; NULL: impossible */
    struct index *rows;       /* of the logits: validation nodes, or all of s->validator */
    struct keep_record record;
    int64_t taken;    /* of the record */
    int64_t promised; /* epochs that will be taken in any case */
    double seconds;   /* of one epoch in the last run; 0: unknown */
    bool stop;        /* the progress callback asked to stop */
    bool opened;      /* it is known whether courses are possible */
};

/* The network for the validation nodes alone; see validate.c. */
struct validator {
    struct program *program; /* NULL: learner.eval serves */
    node logits;             /* (validation nodes, c) */
    struct index *rows;      /* those nodes */
    bool opened;             /* it is known whether it is worth it */
};

struct session {
    const struct problem *problem;
    struct train_options options;
    struct backend *backend;
    const struct ranks *ranks; /* that train together, those of the backend */

    struct csr *sparse_normalized; /* normalised features, or NULL */
    float *dense_normalized;
    bool shares_normalized;                       /* they are the problem's */
    const struct partition *normalized_partition; /* of its rows; its problem may be gone first */
    float *shift, *scale; /* (f) of standardised or scaled columns, or NULL */

    struct learner learner;
    char what[64];       /* the model's loss, for messages */
    struct lesson plain; /* its lesson without the procedure's extra loss */
    bool without_extra;  /* steps use that one */
    node logits;         /* of learner.eval */
    int32_t *known; /* (knowns) for a graph in parts, nodes whose logits every rank reads, or NULL:
                       all */
    int64_t knowns;
    struct index *labelled;
    float *row_weight; /* (labelled) weight of each row in the loss, or NULL */
    const int32_t
        *target; /* (n) the classes that the loss reads: the problem's, or a procedure's own */
    struct judge judge; /* the metric for model selection */
    int64_t validation; /* validation nodes; with none the last epoch counts as the best */

    struct validator validator;
    struct ahead ahead;
    struct train_lengths lengths; /* of this run, so far */

    double deadline;                /* clock time; 0: none */
    double *train_time, *eval_time; /* (epochs) seconds */
    int64_t timed, time_room;

    const struct procedure *procedure; /* of models with their own training procedure, or NULL */
    void *own;                         /* the procedure's state */
    struct candidate_choice *choice;   /* the comparison of candidate networks, or NULL */
    struct trail trail;                /* work finished after the rounds, for checkpoints */
};

/* How a model that is not trained by plain epochs joins a session. Any member may be NULL. */
struct procedure {
    const char *model;
    bool phases;  /* fit has several, which end by themselves (struct train_lengths) */
    bool resumes; /* fit continues from a restored checkpoint */
    bool parts;   /* it supports graphs in parts */
    consm_status (*memory)(struct session *s, memory_fn see, void *ctx); /* of session_memory */
    /* The first part of it, on which the sizes of the rest depend. */
    consm_status (*place)(struct session *s, memory_fn see, void *ctx);
    /* Updates s->trail before a checkpoint is written. */
    consm_status (*note)(struct session *s);
    bool (*sound)(const struct session *s); /* whether memory read from a file is valid */
    /* Takes s->choice from its place; false: invalid. NULL: there is no choice. */
    bool (*take_choice)(struct session *s);
    consm_status (*open)(struct session *s);   /* makes s->own, before the programs are recorded */
    consm_status (*loaded)(struct session *s); /* after a saved model's parameters were loaded */
    /* The loss to minimise, from the supervised loss and the predictions that it used. */
    node (*loss)(struct session *s, struct program *p, node supervised, node predictions);
    bool plain_phase; /* some steps use only the supervised loss (s->without_extra) */
    /* For a model that is not a program (model_def.build is NULL), all three: its logits (n, c) as
     * an input of the evaluation program; an epoch; and restoring the best epoch at the end. */
    node (*logits)(struct session *s, struct program *p);
    consm_status (*step)(struct session *s, double *loss);
    consm_status (*restore)(struct session *s);
    consm_status (*fit)(struct session *s, struct train_result *result); /* instead of epochs */
    double (*fraction)(const struct session *s); /* of fit()'s time; NULL: by epochs */
    void (*close)(struct session *s);            /* frees s->own */
    /* The session that predicts instead once it is trained (session_answers), and its number of
     * rounds; may return NULL. */
    struct session *(*predicts)(struct session *s, int64_t *rounds);
    /* Sessions that predict together with it (session_company); may return NULL. */
    const struct train_company *(*company)(const struct session *s);
    /* One coefficient per undirected edge after training; NULL: see model_def.coefficients. */
    consm_status (*coefficients)(struct session *s, float *w, const struct edges *edges);
};

/* All memory that training carries from one epoch to the next, besides the numbers in the session
 * itself: calls see(ctx, name, data, bytes) for every block, in a fixed order; see may read or
 * write it. */
consm_status session_memory(struct session *s, memory_fn see, void *ctx);

/* Makes the session's current memory the base of all checkpoints; later work goes into its trail.
 * Writes a checkpoint. */
consm_status session_fix_base(struct session *s);

/* Copies the session's memory to blocks PREFIX… of its trail; and back, if found. CONSM_EFORMAT if
 * that is impossible. */
consm_status session_put_memory(struct session *s, const char *prefix);
consm_status session_take_memory(bool *found, struct session *s, const char *prefix);

/* The procedure of a model and its kind of propagation, or NULL; the list is in procedures.c. */
consm_status procedure_find(const struct procedure **out, const struct train_options *options);

/* Prepares features (features.c), once, before the programs; and frees them. */
consm_status session_prepare_features(struct session *s);
void session_free_features(struct session *s);

/* The features as configured, in a program. */
node session_features(struct session *s, struct program *p);

/* The inputs that a model records from. */
struct inputs session_inputs(struct session *s, struct program *p);

/* Records the model and returns the logits. The caller owns the program. */
consm_status session_record(struct session *s, struct program **out, node *logits, bool training);

/* Records the evaluation program again; the logits move. */
consm_status session_record_eval(struct session *s);

/* After s->problem's views or the model's configuration changed: makes programs and draws
 * parameters; declare() adds the procedure's own. features: prepares them anew, too. */
consm_status session_rebuild(struct session *s, bool features,
                             consm_status (*declare)(struct session *s));

/* Frees the programs, which take most of a session's memory; and makes them again, with the same
 * parameters, if they are missing. */
void session_drop_programs(struct session *s);
consm_status session_need_programs(struct session *s);

/* The input of the network's last layer, (n, *width): a copy that the caller frees. */
consm_status session_embedding(float **out, int64_t *width, struct session *s);

/* Tells programs that numbers they read were rewritten in place; NULL: any of them. */
void session_touch(struct session *s, const void *data);

/* Restores the best parameters, reads the test labels once and fills the result; every fit ends so.
 */
consm_status session_finish(struct session *s, struct train_result *result, double seconds);

/* After every epoch: calls the progress callback and makes a checkpoint when one is due.
 * CONSM_ECANCEL (after a checkpoint) if the callback wants to stop. */
consm_status session_report(struct session *s, const struct progress *progress);

/* A phase starts, from 0 on; it ends, with better parameters or not. */
void session_phase_begin(struct session *s);
void session_phase_end(struct session *s, int64_t phase, bool better);

/* Updates of a phase: as configured, or those of the repeated run. */
int64_t session_phase_length(const struct session *s, int64_t phase, int64_t configured);

/* Training ends: writes a checkpoint if something else follows. */
consm_status session_end(struct session *s);

/* Whether the time for training is up. Every loop takes at least one step. */
bool session_late(const struct session *s);

/* One optimiser step; CONSM_ENUMERIC if the loss is not finite. */
consm_status session_step(struct session *s, double *loss);

/* The current validation metric; stores the parameters if they are the best so far. */
consm_status session_validate(double *score, struct session *s);

/* Promises that `epochs` calls of session_epoch follow, with nothing in between that reads or
 * changes parameters: a far backend may then run them at once. Has no effect while epochs that
 * already ran are pending (session_ahead). */
void session_promise(struct session *s, int64_t epochs);
bool session_ahead(const struct session *s);

/* Makes s->validator if it has less to compute than learner.eval; and frees it. */
consm_status validator_open(struct session *s);
void validator_close(struct session *s);

/* Its internals: a lesson's course is opened by its first epoch, because a session that only takes
 * steps has no use for it; closed before its programs are freed. */
consm_status ahead_open(struct session *s);
void ahead_close(struct session *s);
bool ahead_possible(const struct session *s);
consm_status ahead_epoch(struct session *s, int64_t number, struct progress *progress);

/* CONSM_EINVAL, naming the difference, unless all ranks train on the same data with the same
 * options (agree.c). */
consm_status session_agree(const struct problem *problem, const struct train_options *options,
                           const struct ranks *ranks);

/* The same for the initial parameters, drawn or read from a checkpoint. */
consm_status session_agree_start(struct session *s);

/* A step, then validation, both timed; fills the progress. */
consm_status session_epoch(struct session *s, int64_t number, struct progress *progress);

#endif
