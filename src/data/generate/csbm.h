/* The two halves of the contextual stochastic block model: graph and features. */
#ifndef DATA_GENERATE_CSBM_H
#define DATA_GENERATE_CSBM_H

#include "data/generate/generate.h"

/* Independent streams of random numbers under one seed. */
enum { STREAM_LABELS = 1, STREAM_WEIGHTS, STREAM_EDGES, STREAM_MEANS, STREAM_ROWS = 16 };

/* Draws the features of labelled nodes. */
consm_status csbm_draw_features(struct dataset *d, const struct csbm_options *o);

#endif
