/* Metrics of predictions, each in [0, 1], larger is better. Everything is summed in the order of
 * the rows. No allocation. */
#ifndef STATS_SCORE_H
#define STATS_SCORE_H

#include "base/alloc.h"

enum score_metric {
    SCORE_ACCURACY,
    SCORE_MACRO_F1,
    SCORE_BALANCED_ACCURACY,
    SCORE_AVERAGE_PRECISION,
    SCORE_ROC_AUC,
    SCORE_LOG_LIKELIHOOD
};

/* What is scored: row k has the logits of row logit_row[k] and the label of row label_row[k]; NULL
 * means k. */
struct scored_rows {
    const float *logits; /* (…, classes) */
    const int32_t *label, *logit_row, *label_row;
    int64_t rows;
    int32_t classes, positive; /* positive: the class of average precision */
};

/* Scratch. */
struct score_room {
    uint64_t *item, *spare; /* (rows) */
    int64_t *count;         /* (3, classes) */
    struct odds_base *base; /* (rows) for ROC-AUC of more than two classes, or NULL: slower */
};

/* What a row's log-odds of every class need. With it, exp is taken once per class, not once per
 * pair of classes. */
struct odds_base {
    int32_t first; /* the class with the largest logit */
    double own;    /* its log-odds */
    /* That logit, and Σ_i exp(x_i - top). Without another class the sum loses no digits: the
     * largest term stays. */
    double top, sum;
};

/* 0 without rows. */
double score_rows(enum score_metric metric, const struct scored_rows *x,
                  const struct score_room *room);

/* The class with the largest logit, of equal ones the first. */
int32_t score_largest(const float *row, int32_t classes);

/* -log softmax(row)[label] */
double score_surprise(const float *row, int32_t classes, int32_t label);

#endif
