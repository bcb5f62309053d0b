/* The validation metric for model selection: epoch, backbone, arm, round, member and seed. It is
 * computed from predictions for the validation nodes; larger is better; it is in [0, 1] for every
 * metric (for log-likelihood, the exponential of the mean). */
#ifndef TRAIN_JUDGE_H
#define TRAIN_JUDGE_H

#include "stats/score.h"
#include "train/train.h"

struct judge {
    enum config_metric metric; /* never METRIC_AUTO */
    int32_t positive;          /* the class of average precision */
    int32_t classes;
    int64_t rows;
    int32_t *node;  /* (rows) validation nodes with a label */
    int32_t *label; /* (rows) their classes */
    struct score_room room;
    char *scratch; /* of room */
};

/* Resolves METRIC_AUTO from the labels that a run may know: average precision of the rarer of two
 * classes with less than a tenth of the labels, macro-F1 if one of many classes has less than a
 * fifth of an even share, else accuracy. positive: -1, or the class that the user named; becomes
 * the class of average precision, -1 if that is not the metric. */
consm_status judge_choose(enum config_metric *metric, int32_t *positive,
                          const struct problem *problem);

/* Resolves METRIC_AUTO. CONSM_EINVAL if validation cannot measure it: average precision of a class
 * without validation nodes. */
consm_status judge_open(struct judge *j, const struct problem *problem, enum config_metric metric,
                        int32_t positive);

/* From now on this team computes (NULL: the caller alone). The bits are the same. */
consm_status judge_with_team(struct judge *j, struct team *team);
void judge_close(struct judge *j);

/* logits (n, c), or only of the rows, (rows, c), if compact. 0 without rows. No allocation. */
double judge_score(const struct judge *j, const float *logits, bool compact);

/* The mean of -log p of the labels; logits as above. */
double judge_surprise(const struct judge *j, const float *logits, bool compact);

/* The metric's name in programs (OP_KEEP). */
enum score_metric judge_metric(const struct judge *j);

#endif
