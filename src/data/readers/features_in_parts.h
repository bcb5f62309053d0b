/*
 * Features of a graph in parts: each process keeps the rows of its own nodes (d->partition) and
 * skips the others. Together they learn how the columns of a table become features.
 */
#ifndef DATA_READERS_FEATURES_IN_PARTS_H
#define DATA_READERS_FEATURES_IN_PARTS_H

#include "data/readers/node_ids.h"
#include "data/table/recipe.h"
#include "data/wanted.h"

/* What a file of features says about the list of nodes, as in feature_file_read(). */
consm_status features_in_parts_nodes(struct node_ids *ids, struct wanted *wanted,
                                     const struct text_file *file);

/* Gives d the features of its nodes, from that file or, without it, from the columns of nodes.csv,
 * and the standardisation of dense ones. All processes call it. */
consm_status features_in_parts_read(struct dataset *d, struct node_ids *ids, struct wanted *wanted,
                                    const struct text_file *features,
                                    const struct text_file *nodes);

/* Applies a recipe to the cells of the own nodes: (nodes, features) of sparse memory. All
 * processes call it. */
consm_status features_in_parts_apply(float **out, const struct recipe *r, const struct cells *c,
                                     int64_t nodes, const struct partition *partition,
                                     const char *file);

/* Means and 1/deviations of the columns of x (n, f), of which each process has its rows; sum (f)
 * starts as zeros and becomes the sums, as in columns_measure() over all rows. All processes call
 * it. */
consm_status features_in_parts_measure(float *shift, float *scale, double *sum, const float *x,
                                       int64_t n, int64_t f, const struct partition *partition);

#endif
