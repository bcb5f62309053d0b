/*
 * Quality of predictions beyond accuracy: per class, against chance, and as probabilities. And
 * temperature scaling, which calibrates probabilities (Guo et al., ICML 2017).
 */
#ifndef TRAIN_METRICS_H
#define TRAIN_METRICS_H

#include "stats/rank.h"

/* A class that is predicted exactly if its probability reaches a threshold. */
struct decision {
    bool made; /* false: the most probable class is predicted */
    int32_t positive;
    double threshold;
    double precision, recall; /* on validation, with the threshold */
    bool reached;             /* the request was reached */
    int64_t folds, positives; /* by cross-validation over all labels: its folds, and labels of the
                                 class; 0: by validation */
};

/* The predicted class of a node with these probabilities (c). */
int32_t metrics_decide(const float *probability, int32_t classes, const struct decision *d);

enum { METRICS_FOREIGN = -2 };

struct team;

/* Predicted class probabilities and the truth, for the nodes whose role is `which`. */
struct predicted {
    const float *probability; /* (n, c) rows sum to 1 */
    const int32_t *label; /* (n), -1 unknown: not measured; METRICS_FOREIGN: of an unknown class, so
                             that every prediction is wrong */
    const uint8_t *role;  /* (n) of enum split_role */
    uint8_t which;
    int64_t nodes;
    int32_t classes;
    const struct decision *decision; /* may be NULL: the most probable class is predicted */
};

/* A non-zero entry of the confusion matrix; at most one per node, however many classes there are.
 */
struct confusion_cell {
    int32_t truth, said;
    int64_t count;
};

/* The measured figures; callers of the library see the first member. */
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

/* Replaces the calibration error by NAN if fewer than METRICS_FEW nodes were measured: it would be
 * chance. */
enum { METRICS_FEW = 20 };
void metrics_hide_ece(struct metrics *m);
void metrics_free(struct metrics *m); /* accepts one that was never measured (all zero) */

/* The threshold of a class on the given nodes: the lowest with a precision, the highest with a
 * recall, or (both 0) the one with the best F1. If none reaches the precision, the one with the
 * highest. */
consm_status metrics_threshold(struct decision *out, const struct predicted *p, int32_t positive,
                               double precision, double recall);

/* probability (n, c) = softmax(logits / temperature), row by row. May work in place. */
void metrics_softmax(float *probability, const float *logits, double temperature, int64_t nodes,
                     int32_t classes);

/* Mean of -log softmax(logits / temperature)[label] over the given rows; p->probability holds the
 * logits. */
double metrics_nll(const struct predicted *p, double temperature);

/* The temperature with the least metrics_nll + (log T)² / 2n, between 0.05 and 20; 1 if there is
 * nothing to fit. The second term is a weak prior that T is about 1: without it a small,
 * all-correct validation set would make every prediction certain. */
double metrics_temperature(const struct predicted *p);

/* The same with a team's threads; term (n) is scratch. */
double metrics_temperature_by(const struct predicted *p, struct team *team, double *term);

#endif
