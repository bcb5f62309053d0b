/* Logits of one node with something removed, computed on what the model reads for that node only
 * (app/predictor.h). Which edges carry messages stays as it is in the whole graph: a model that
 * leaves out edges would otherwise choose them again for every question. */
#ifndef APP_OCCLUDE_PART_H
#define APP_OCCLUDE_PART_H

#include "app/objects.h"

/* What is removed, by numbers of the whole graph; -1: nothing of that kind. */
struct gap {
    int32_t left, right; /* the edge between them */
    int32_t neighbour;   /* all its edges */
    int64_t feature;     /* column that is 0, or its mean, everywhere */
};

/* Whether the predictor's model reads a limited part of the graph, by its rows alone. */
bool gap_possible(const struct consm_predictor *p);
/* How many steps it reads, at most. */
int64_t gap_reach(const struct consm_predictor *p);

/* row (c): logits of the centre; gap may be NULL. mean (features) replaces a dense feature. */
consm_status gap_logits(float *row, struct consm_predictor *p, int32_t centre,
                        const struct gap *gap, const float *mean);

#endif
