/*
 * Boosted trees as they lie in memory and in model files: (nodes, FOREST_COLUMNS) floats, one tree
 * behind the other (program/boost.h), those of a round in the order of classes. A forest may come
 * from a file, and is checked before anything is looked up in it.
 */
#ifndef TRAIN_FOREST_H
#define TRAIN_FOREST_H

#include "program/boost.h"

struct forest {
    const float *node; /* (nodes, FOREST_COLUMNS) */
    int64_t nodes;
    int64_t trees, leaves;
    int64_t *root; /* (trees) */
};

/* Trees a round has: one for two classes, else one for each. */
int64_t forest_group(int32_t classes);

/* Finds the trees in numbers (nodes, FOREST_COLUMNS), which must stay. CONSM_EFORMAT with the first
 * node that is impossible: every question must have both answers behind it, ask for one of so many
 * columns, and every number be finite. */
consm_status forest_open(struct forest *out, const float *numbers, int64_t nodes, int64_t columns,
                         int32_t classes);
void forest_close(struct forest *f);

/* logits (classes) += what trees first … last-1 say of a row; place (columns of the forest): where
 * in the row a column stands, NULL: at its number. */
void forest_add(float *logits, const struct forest *f, int64_t first, int64_t last,
                const float *row, const int32_t *place, int32_t classes);

/* The columns that questions ask for, ascending; room for all. */
int64_t forest_columns(int64_t *column, const struct forest *f, int64_t columns);

/* The trees of a session, for a model file; none where it trains something else. */
struct session;
void session_forest(const float **numbers, int64_t *nodes, const struct session *s);

#endif
