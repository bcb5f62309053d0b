/* Repeated cross-validation over all labels that a run may know, training and validation: each node
 * is predicted by a network that was trained without its label. */

/*
 * With few validation nodes this is more reliable than validation. It decides between close
 * candidates, shows how optimistic the best one's validation is, and gives a rare class
 * probabilities to choose a threshold from.
 */
#ifndef TRAIN_FOLDS_H
#define TRAIN_FOLDS_H

#include "train/session.h"

enum {
    FOLDS = 5,
    FOLDS_MOST_REPEATS = 2,
    FOLDS_FEW_NODES = 50,     /* fewer validation nodes are few */
    FOLDS_FEW_POSITIVES = 10, /* and fewer of the positive class */
    FOLDS_FEW_LABELS = 100,   /* fewer labels are divided twice */
    FOLDS_MOST_LABELS = 500,  /* with more labels, few validation nodes alone are not a reason */
    FOLDS_LEAST_LABELS = 10   /* with fewer there is nothing to divide */
};

struct folds {
    const struct problem *problem;
    struct judge judge;  /* with all labelled nodes and the run's metric */
    uint8_t *role;       /* (n) roles in the current fold */
    struct problem part; /* the problem with these roles */
    uint8_t *fold;       /* (repeats, labels) */
    float *logits;       /* (labels, c) of nodes that did not train, mean over repeats */
    float *once;         /* (labels, c) of one repeat */
    int repeats;
};

/* The progress of cross-validation, for checkpoints: the current fold, the score of finished
 * repeats, and the fold's network if it was started. All zero: at the start. once and logits of
 * struct folds belong to it. */
struct folds_course {
    int64_t repeat, fold;
    double score;
    struct snapshot at;
};

/* Whether the validation nodes hold too few of that class (-1: of the rarer of two) for one
 * comparison on them to be more than chance. */
bool folds_rare(const struct problem *p, int32_t positive);

/* Whether few nodes validate, so that folds are more reliable, or (anyway) whether there is enough
 * to divide. Few are ten of the positive class, with any number of labels; positive -1: the rarer
 * of two classes. Never for a graph in parts. */
bool folds_apply(const struct problem *problem, int32_t positive, bool anyway);

/* Divides the labels, class by class, by the seed; quick: once. */
consm_status folds_open(struct folds *f, const struct problem *problem, const struct judge *judge,
                        uint64_t seed, bool quick);
void folds_close(struct folds *f);

typedef consm_status (*folds_heard_fn)(void *ctx, struct session *network);

/* Trains a network with plain epochs for `updates` updates on each fold, and fills the logits.
 * score: the judge's metric, mean over repeats. Starts where the course is and advances it; NULL:
 * at the start. heard(ctx, network), if not NULL, is called after every update and may fail.
 * CONSM_ENUMERIC if a loss is not finite. */
consm_status folds_run(double *score, struct folds *f, const struct train_options *options,
                       int64_t updates, struct backend *backend, struct folds_course *course,
                       folds_heard_fn heard, void *ctx);

/* The standard error of a score on the judge's nodes, or on those of the positive class for ranking
 * metrics. */
double folds_error(double score, const struct judge *judge);

#endif
