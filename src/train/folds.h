/*
 * Repeated folds over all labels that a run may know, those that train and those that validate:
 * each node is predicted by a network that was trained without its label. Where few nodes validate,
 * that says more than they do: it decides between candidates whose validation hardly differs, it
 * says how much the best one's validation flatters, and it gives a rare class probabilities to
 * choose a threshold from.
 */
#ifndef TRAIN_FOLDS_H
#define TRAIN_FOLDS_H

#include "train/session.h"

enum {
    FOLDS = 5,
    FOLDS_MOST_REPEATS = 2,
    FOLDS_FEW_NODES = 50,     /* fewer validation nodes are few, … */
    FOLDS_FEW_POSITIVES = 10, /* … and fewer of the class that is looked for */
    FOLDS_FEW_LABELS = 100,   /* fewer labels are divided twice */
    FOLDS_MOST_LABELS = 500,  /* with more labels few validation nodes alone are no reason */
    FOLDS_LEAST_LABELS = 10   /* with fewer there is nothing to divide */
};

struct folds {
    const struct problem *problem;
    struct judge judge;  /* with all labelled nodes and the run's metric */
    uint8_t *role;       /* (n) of the fold at hand … */
    struct problem part; /* … and the problem with it */
    uint8_t *fold;       /* (repeats, labels) */
    float *logits;       /* (labels, c) of nodes that did not train, mean over repeats */
    float *once;         /* (labels, c) of one repeat */
    int repeats;
};

/* How far folds are, for checkpoints: the fold at hand, the score of the repeats that are over, and
 * the network of the fold if it was begun. All zero: at the beginning. once and logits of struct
 * folds belong to it. */
struct folds_course {
    int64_t repeat, fold;
    double score;
    struct snapshot at;
};

/* Whether so few nodes validate that folds say more, or anyway: whether there is enough to divide.
 * Few are ten of the positive class, however many labels there are; positive -1: of the rarer of
 * two classes. Never of a graph in parts. */
bool folds_apply(const struct problem *problem, int32_t positive, bool anyway);

/* Divides the labels, class by class, by the seed; quick: once. */
consm_status folds_open(struct folds *f, const struct problem *problem, const struct judge *judge,
                        uint64_t seed, bool quick);
void folds_close(struct folds *f);

typedef consm_status (*folds_heard_fn)(void *ctx, struct session *network);

/* Trains a network of plain epochs for so many updates on each part, and fills the logits. score:
 * by the judge's metric, mean over repeats. Begins where the course is, and moves it on; NULL: at
 * the beginning. heard(ctx, network), if it is not NULL, is called after every update and may fail.
 * CONSM_ENUMERIC when a loss is not finite. */
consm_status folds_run(double *score, struct folds *f, const struct train_options *options,
                       int64_t updates, struct backend *backend, struct folds_course *course,
                       folds_heard_fn heard, void *ctx);

/* The standard error of a score on so many nodes, or of so many nodes of the class that ranks. */
double folds_error(double score, const struct judge *judge);

#endif
