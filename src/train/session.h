/* The inside of a training session, for the files of src/train. */
#ifndef TRAIN_SESSION_H
#define TRAIN_SESSION_H

#include "graph/edges.h"
#include "nn/learner.h"
#include "program/course.h"
#include "train/choice.h"
#include "train/judge.h"
#include "train/trail.h"

/* Epochs that were run at once and are handed out one by one; see ahead.c. */
struct ahead {
    struct course *course[2]; /* of the lesson, and of the plain one; NULL: not possible */
    struct index *rows;       /* validation nodes */
    struct keep_record record;
    int64_t taken;    /* of the record */
    int64_t promised; /* epochs that will be taken, whatever they say */
    double seconds;   /* of one, in the last run; 0: there was none */
    bool stop;        /* the progress callback asked for it meanwhile */
};

struct session {
    const struct problem *problem;
    struct train_options options;
    struct backend *backend;

    struct csr *row_normalized; /* own copies of normalised features, or NULL */
    float *dense_normalized;
    float *in_parts;      /* the same array where only a share of its rows is here, or NULL */
    float *shift, *scale; /* (f) of standardised columns, or NULL */

    struct learner learner;
    char what[64];       /* the model's loss, for messages */
    struct lesson plain; /* its lesson without the procedure's extra loss */
    bool without_extra;  /* steps take that one */
    node logits;         /* of learner.eval */
    int32_t *known; /* (knowns) of a graph in parts, the nodes whose logits every rank reads, or
                       NULL: all */
    int64_t knowns;
    struct index *labelled;
    float *row_weight;     /* (labelled) weight of each row in the loss, or NULL */
    const int32_t *target; /* (n) the classes the loss reads: the problem's, or a procedure's own */
    struct judge judge;    /* what every choice goes by */
    int64_t validation;    /* nodes that validate; with none the last epoch counts as the best */

    struct ahead ahead;
    struct train_lengths lengths; /* of this run, so far */

    double deadline;                /* of the clock; 0: none */
    double *train_time, *eval_time; /* (epochs) seconds */
    int64_t timed, time_room;

    const struct procedure
        *procedure; /* of models with a training procedure of their own, or NULL */
    void *own;      /* what that procedure keeps */
    struct candidate_choice
        *choice;        /* among candidate networks, where the procedure makes one, or NULL */
    struct trail trail; /* what was finished after the rounds, for checkpoints */
};

/* How a model that is not trained by plain epochs joins a session. Any member may be NULL. */
struct procedure {
    const char *model;
    bool phases;  /* fit has several, which end by themselves (struct train_lengths) */
    bool resumes; /* fit goes on from what a checkpoint restored */
    bool parts;   /* it knows graphs of which every rank has a share */
    consm_status (*memory)(struct session *s, memory_fn see, void *ctx); /* of session_memory */
    /* The part of it that the sizes of the rest depend on: it comes first. */
    consm_status (*place)(struct session *s, memory_fn see, void *ctx);
    /* Brings s->trail up to date, before a checkpoint is written. */
    consm_status (*note)(struct session *s);
    bool (*sound)(const struct session *s); /* whether memory read from a file is possible */
    /* Takes s->choice from its place; false: impossible. NULL: there is no choice. */
    bool (*take_choice)(struct session *s);
    consm_status (*open)(struct session *s);   /* makes s->own, before the programs are recorded */
    consm_status (*loaded)(struct session *s); /* after a saved model's parameters came in */
    /* What is minimised, from the supervised loss and the predictions it was taken of. */
    node (*loss)(struct session *s, struct program *p, node supervised, node predictions);
    bool plain_phase; /* some steps take the supervised loss alone (s->without_extra) */
    /* Of a model that is no program (model_def.build is NULL), all three: its logits (n, c) as an
     * input of the evaluation program; an epoch; and the best epoch back, at the end. */
    node (*logits)(struct session *s, struct program *p);
    consm_status (*step)(struct session *s, double *loss);
    consm_status (*restore)(struct session *s);
    consm_status (*fit)(struct session *s, struct train_result *result); /* instead of epochs */
    double (*fraction)(const struct session *s); /* of the time fit() takes; NULL: by epochs */
    void (*close)(struct session *s);            /* frees s->own */
    /* One coefficient per undirected edge after training; NULL: see model_def.coefficients. */
    consm_status (*coefficients)(struct session *s, float *w, const struct edges *edges);
};

/* All memory that training carries from one epoch to the next, beside the numbers in the session
 * itself: calls see(ctx, name, data, bytes) for every block, in a fixed order; see may read or
 * write it. */
consm_status session_memory(struct session *s, memory_fn see, void *ctx);

/* The session's memory as it is now stays the base of all checkpoints: what follows is in its
 * trail. Writes one. */
consm_status session_fix_base(struct session *s);

/* The session's memory as blocks PREFIX… of its trail; and back, where found. CONSM_EFORMAT where
 * that is impossible. */
consm_status session_put_memory(struct session *s, const char *prefix);
consm_status session_take_memory(bool *found, struct session *s, const char *prefix);

/* The procedure of a model and its kind of propagation, or NULL; the list is in procedures.c. */
consm_status procedure_find(const struct procedure **out, const struct train_options *options);

/* Makes them (features.c), once, before the programs; frees them. */
consm_status session_prepare_features(struct session *s);
void session_free_features(struct session *s);

/* The features as the configuration wants them, in a program. */
node session_features(struct session *s, struct program *p);

/* What a model records from. */
struct inputs session_inputs(struct session *s, struct program *p);

/* Records the model; the logits come back. The program is the caller's. */
consm_status session_record(struct session *s, struct program **out, node *logits, bool training);

/* Records the evaluation program, in place of the one there is; the logits move. */
consm_status session_record_eval(struct session *s);

/* After s->problem's views or the model's configuration changed: programs over them and parameters
 * as drawn, which declare() adds the procedure's own to. features: they are prepared anew, too. */
consm_status session_rebuild(struct session *s, bool features,
                             consm_status (*declare)(struct session *s));

/* What the network's last weights read, (n, *width): a copy, the caller's to free. */
consm_status session_embedding(float **out, int64_t *width, struct session *s);

/* Says that numbers the programs read were rewritten where they are; NULL: any of them. */
void session_touch(struct session *s, const void *data);

/* Restores the best parameters, reads the test set once and fills the result; every fit ends so. */
consm_status session_finish(struct session *s, struct train_result *result, double seconds);

/* After every epoch: tells the progress callback, makes a checkpoint when one is due. CONSM_ECANCEL
 * (with a checkpoint made) when the callback wants to stop. */
consm_status session_report(struct session *s, const struct progress *progress);

/* A phase begins, from 0 on; it is over, and found better parameters or not. */
void session_phase_begin(struct session *s);
void session_phase_end(struct session *s, int64_t phase, bool better);

/* Updates of a phase: as configured, or those of the run that is repeated. */
int64_t session_phase_length(const struct session *s, int64_t phase, int64_t configured);

/* Training ends: a checkpoint, where something else follows. */
consm_status session_end(struct session *s);

/* Whether the time for training is up. Every loop takes one step at least. */
bool session_late(const struct session *s);

/* One optimiser step; CONSM_ENUMERIC when the loss is not finite. */
consm_status session_step(struct session *s, double *loss);

/* How good validation is now, by the run's metric; remembers parameters that are better than all
 * before. */
consm_status session_validate(double *score, struct session *s);

/* Says that so many calls of session_epoch follow, with nothing in between that reads or changes
 * parameters: a backend apart may then run them at once. Epochs that were run and not yet asked for
 * (session_ahead) make it an empty word. */
void session_promise(struct session *s, int64_t epochs);
bool session_ahead(const struct session *s);

/* The inside of that: opened when all programs are there, closed before they go. */
consm_status ahead_open(struct session *s);
void ahead_close(struct session *s);
bool ahead_possible(const struct session *s);
consm_status ahead_epoch(struct session *s, int64_t number, struct progress *progress);

/* CONSM_EINVAL, naming the difference, unless all ranks train on the same data with the same
 * options (agree.c). */
consm_status session_agree(const struct problem *problem, const struct train_options *options);

/* The same of what training begins with, drawn or read from a checkpoint. */
consm_status session_agree_start(struct session *s);

/* A step, then validation, both timed; fills what progress says of them. */
consm_status session_epoch(struct session *s, int64_t number, struct progress *progress);

#endif
