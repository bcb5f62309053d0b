/*
 * The one number that every choice of a run goes by: which epoch, backbone, arm, round, member and
 * seed. It is computed from what is said of the validation nodes, larger is better, and it lies
 * in [0, 1] whatever the metric (of the log-likelihood it is the exponential of the mean).
 */
#ifndef TRAIN_JUDGE_H
#define TRAIN_JUDGE_H

#include "train/train.h"

struct judge {
    enum config_metric metric; /* never METRIC_AUTO */
    int32_t positive;          /* the class average precision speaks of */
    int32_t classes;
    int64_t rows;
    int32_t *node;          /* (rows) validation nodes with a label … */
    int32_t *label;         /* (rows) … and their classes */
    uint64_t *item, *spare; /* (rows) room to sort in */
    int64_t *count;         /* (3, classes) nodes of a class, said to be, both */
};

/* What METRIC_AUTO stands for, by the labels a run may know: average precision of the rarer of two
 * classes that has less than a tenth of the labels, macro-F1 where one of many has less than a
 * fifth of its even share, else accuracy. positive: -1, or the class the user named; becomes the
 * class that average precision speaks of, -1 when it is not the metric. */
consm_status judge_choose(enum config_metric *metric, int32_t *positive,
                          const struct problem *problem);

/* Resolves METRIC_AUTO. CONSM_EINVAL when the validation nodes cannot tell: average precision of a
 * class that none of them has. */
consm_status judge_open(struct judge *j, const struct problem *problem, enum config_metric metric,
                        int32_t positive);
void judge_close(struct judge *j);

/* logits (n, c), or of the rows alone, (rows, c), when compact. 0 without rows. No allocation. */
double judge_score(const struct judge *j, const float *logits, bool compact);

#endif
