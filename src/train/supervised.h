/* Predictions during training. Most models predict once; one that predicts S times (GRAND) returns
 * its predictions side by side, (n, S·classes). */
#ifndef TRAIN_SUPERVISED_H
#define TRAIN_SUPERVISED_H

#include "program/program.h"

/* The mean over the S predictions of nll() with these labels. */
node supervised_loss(struct program *p, node predictions, int64_t classes,
                     const struct index *labelled, const int32_t *label, const float *weight);

/* (n, classes): the mean of the S predictions' logits, for other losses. */
node mean_prediction(struct program *p, node predictions, int64_t classes);

#endif
