/*
 * How good predictions are, beyond accuracy: per class, against chance, and as probabilities. And
 * temperature scaling, which makes probabilities mean what they say (Guo et al., ICML 2017).
 */
#ifndef TRAIN_METRICS_H
#define TRAIN_METRICS_H

#include "stats/rank.h"

/* A class that is said where its probability reaches a threshold, and nowhere else. */
struct decision {
    bool made; /* false: the most probable class is said */
    int32_t positive;
    double threshold;
    double precision, recall; /* on validation, with it */
    bool reached;             /* what was asked for was to be had */
    int64_t folds, positives; /* by folds over all labels, of which so many are of the class; 0: by
                               * validation */
};

/* The class that is said of a node with these probabilities (c). */
int32_t metrics_decide(const float *probability, int32_t classes, const struct decision *d);

enum { METRICS_FOREIGN = -2 };

/* Predicted class probabilities and the truth, for the nodes whose role is `which`. */
struct predicted {
    const float *probability; /* (n, c) rows sum to 1 */
    const int32_t *label;     /* (n), -1 unknown: not measured; METRICS_FOREIGN: of a class that is
                               * none of these, so that whatever is said of the node is wrong */
    const uint8_t *role;      /* (n) of enum split_role */
    uint8_t which;
    int64_t nodes;
    int32_t classes;
    const struct decision *decision; /* may be NULL: the most probable class is said */
};

/* One entry of the confusion matrix that is not 0; there are no more of them than nodes, however
 * many classes there are. */
struct confusion_cell {
    int32_t truth, said;
    int64_t count;
};

/* What was measured; callers of the library see the first member. */
struct metrics {
    struct consm_metrics all;
    struct consm_class_metrics *of; /* (c) */
    struct confusion_cell *cell;    /* (cells) by true class, then by predicted class */
    int64_t cells;
    struct metrics_curve *curve; /* (c), or NULL when there are more than METRICS_CURVES */
};

enum { METRICS_CURVES = 20, METRICS_TOPS = 7 };

/* A class against the rest, as curves and as lists of the first k. */
struct metrics_curve {
    int64_t points, tops;
    struct consm_curve_point point[RANK_POINTS];
    struct consm_top top[METRICS_TOPS];
};

/* Time O(n c log n), for the areas under the curves. */
consm_status metrics_measure(struct metrics *out, const struct predicted *p);
void metrics_free(struct metrics *m); /* one that was never measured, all zero, is fine */

/* The threshold of a class on the nodes in question: the lowest with a precision, the highest with
 * a recall, or (both 0) that of the best F1. Where none has the precision, that of the highest. */
consm_status metrics_threshold(struct decision *out, const struct predicted *p, int32_t positive,
                               double precision, double recall);

/* probability (n, c) = softmax(logits / temperature), row by row. May work in place. */
void metrics_softmax(float *probability, const float *logits, double temperature, int64_t nodes,
                     int32_t classes);

/* Mean of -log softmax(logits / temperature)[label] over the rows in question; p->probability
 * holds the logits. */
double metrics_nll(const struct predicted *p, double temperature);

/* The temperature of least metrics_nll + (log T)² / 2n, between 0.05 and 20; 1 when there is
 * nothing to fit. The second term stands for one vague opinion that T is about 1: without it a
 * small validation set that is all right would make every prediction certain. */
double metrics_temperature(const struct predicted *p);

#endif
