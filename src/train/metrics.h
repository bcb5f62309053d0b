/*
 * How good predictions are, beyond accuracy: per class, against chance, and as probabilities. And
 * temperature scaling, which makes probabilities mean what they say (Guo et al., ICML 2017).
 */
#ifndef TRAIN_METRICS_H
#define TRAIN_METRICS_H

#include "base/alloc.h"

/* Predicted class probabilities and the truth, for the nodes whose role is `which`. */
struct predicted {
    const float *probability; /* (n, c) rows sum to 1 */
    const int32_t *label;     /* (n), -1 unknown: not measured */
    const uint8_t *role;      /* (n) of enum split_role */
    uint8_t which;
    int64_t nodes;
    int32_t classes;
};

struct class_metrics {
    int64_t support, predicted;   /* nodes that are of the class, that are said to be */
    double precision, recall, f1; /* 0 where nothing was predicted or is there, as scikit-learn */
    double roc_auc;               /* this class against the rest; NAN when one side is empty */
};

struct metrics {
    int64_t nodes;   /* measured; all figures are NAN when 0 */
    int32_t classes; /* c */
    double accuracy;
    double macro_f1;          /* over the classes that occur, in truth or in prediction */
    double balanced_accuracy; /* mean recall of the classes that are there */
    double roc_auc;           /* mean over the classes for which it is defined */
    double nll;               /* mean of -log p(label) */
    double ece;               /* expected calibration error, 15 bins of equal width */
    struct class_metrics *of; /* (c) */
    int64_t *confusion;       /* (c, c) true class by predicted class */
};

/* Time O(n c log n), for the areas under the curves. */
consm_status metrics_measure(struct metrics *out, const struct predicted *p);
void metrics_free(struct metrics *m); /* one that was never measured, all zero, is fine */

/* probability (n, c) = softmax(logits / temperature), row by row. May work in place. */
void metrics_softmax(float *probability, const float *logits, double temperature, int64_t nodes,
                     int32_t classes);

/* Mean of -log softmax(logits / temperature)[label] over the rows in question; p->probability
 * holds the logits. */
double metrics_nll(const struct predicted *p, double temperature);

/* The temperature of least metrics_nll, between 0.05 and 20; 1 when there is nothing to fit. */
double metrics_temperature(const struct predicted *p);

#endif
