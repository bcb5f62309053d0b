/* Metrics of predictions, each in [0, 1], larger is better. Everything is summed in the order of
 * the rows. No allocation. */
#ifndef STATS_SCORE_H
#define STATS_SCORE_H

#include "base/alloc.h"
#include "base/threads.h"

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
    uint64_t *item, *spare; /* (rows), for ROC-AUC with keys (lanes, rows) */
    int64_t *count;         /* (3, classes) */
    /* For ROC-AUC of more than two classes, or NULL: slower. */
    uint32_t *key;     /* (classes, rows) log-odds as integers of the same order */
    double *area;      /* (classes) */
    struct team *team; /* NULL: the caller alone */
    int lanes;         /* threads of the team that rank classes, at least 1 */
};

/* 0 without rows. */
double score_rows(enum score_metric metric, const struct scored_rows *x,
                  const struct score_room *room);

/* The class with the largest logit, of equal ones the first. */
int32_t score_largest(const float *row, int32_t classes);

/* -log softmax(row)[label] */
double score_surprise(const float *row, int32_t classes, int32_t label);

#endif
