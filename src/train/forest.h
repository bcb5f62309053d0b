/* Boosted trees as stored in memory and in model files: (nodes, FOREST_COLUMNS) floats, one tree
 * after the other (program/boost.h), those of a round in class order. A forest may come from a
 * file, so it is checked before use. */
#ifndef TRAIN_FOREST_H
#define TRAIN_FOREST_H

#include "models/model.h"
#include "program/boost.h"

struct forest {
    const float *node; /* (nodes, FOREST_COLUMNS) */
    int64_t nodes;
    int64_t trees, leaves;
    int64_t *root; /* (trees) */
};

/* Trees per round: one for two classes, else one per class. */
int64_t forest_group(int32_t classes);

/* Finds the trees in numbers (nodes, FOREST_COLUMNS), which must stay valid. CONSM_EFORMAT names
 * the first impossible node: every question must have both answers after it and ask for an existing
 * column, and every number must be finite. */
consm_status forest_open(struct forest *out, const float *numbers, int64_t nodes, int64_t columns,
                         int32_t classes);
void forest_close(struct forest *f);

/* Adds the outputs of trees first … last-1 for a row to logits (classes). place (columns of the
 * forest): the position of a column in the row; NULL: its number. */
void forest_add(float *logits, const struct forest *f, int64_t first, int64_t last,
                const float *row, const int32_t *place, int32_t classes);

/* The columns that questions ask for, ascending; column has room for all. */
int64_t forest_columns(int64_t *column, const struct forest *f, int64_t columns);

/* The trees of a session, for a model file; none for other models. */
struct session;
void session_forest(const float **numbers, int64_t *nodes, const struct session *s);

/* Makes a configuration for trees beside another model: their defaults, and what that one's says of
 * trees, of the metric and of class weights. */
consm_status trees_beside(const struct model_def **model, struct config *out,
                          const struct config *from);

#endif
