/* The inside of a training session, for the files of src/train. */
#ifndef TRAIN_SESSION_H
#define TRAIN_SESSION_H

#include "train/train.h"

struct session {
    const struct problem *problem;
    struct train_options options;
    struct team *team;

    struct csr *row_normalized; /* own copies of normalised features, or NULL */
    float *dense_normalized;

    struct params *params;
    struct program *train, *eval;
    node loss, logits; /* of train, of eval */
    struct index *labelled;

    float *moment1, *moment2, *best; /* as large as params' blocks */
    int64_t steps;                   /* optimiser steps taken */
    double best_val;
    int64_t best_epoch;

    double *train_time, *eval_time; /* (epochs) seconds */
    int64_t timed;
};

/* One optimiser step; CONSM_ENUMERIC when the loss is not finite. */
consm_status session_step(struct session *s, double *loss);

/* Validation accuracy now; remembers parameters that are better than all before. */
double session_validate(struct session *s, int64_t epoch);

/* Back to the remembered parameters. */
void session_restore(struct session *s);

#endif
