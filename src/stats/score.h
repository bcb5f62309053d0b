/* Metrics of predictions, each in [0, 1], larger is better. The same bits on any number of threads.
 * No allocation. */
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

/* Scratch for a metric, rows and classes; threads of the team at most. */
struct score_room {
    struct team *team; /* NULL: the caller alone */
    int threads;
    int64_t *count;        /* (threads, 3·classes) */
    int64_t *hits;         /* (classes) rows of each class */
    double *work;          /* (threads, odds_work) */
    double *term;          /* (rows) */
    float *score;          /* (ranked classes, rows) log-odds */
    float *hit, *spare;    /* (rows + PLACES_PAD·ranked classes) of each class's rows */
    uint32_t *first;       /* (PLACES_INTERVALS·rows + 2·ranked classes) */
    uint32_t *reach;       /* (threads of average precision, rows + 1) */
    struct places *places; /* (ranked classes) */
};

/* The bytes of the scratch, whose parts become those of room (memory NULL: only the bytes). */
int64_t score_room_lay(struct score_room *room, void *memory, enum score_metric metric,
                       int64_t rows, int32_t classes, int threads);

/* 0 without rows. */
double score_rows(enum score_metric metric, const struct scored_rows *x,
                  const struct score_room *room);

/* The mean of -log p(label); 0 without rows. */
double score_mean_surprise(const struct scored_rows *x, const struct score_room *room);

/* The class with the largest logit, of equal ones the first. */
int32_t score_largest(const float *row, int32_t classes);

/* -log softmax(row)[label] */
double score_surprise(const float *row, int32_t classes, int32_t label);

#endif
