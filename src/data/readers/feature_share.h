/*
 * Features of a share of the nodes: each of several processes keeps the rows of its own (d->share)
 * and passes over the others'. How the columns of a table become features they find out together.
 */
#ifndef DATA_READERS_FEATURE_SHARE_H
#define DATA_READERS_FEATURE_SHARE_H

#include "data/readers/node_ids.h"
#include "data/table/recipe.h"
#include "data/wanted.h"

/* What a file of features says of the list of nodes, as feature_file_read() does. */
consm_status feature_share_nodes(struct node_ids *ids, struct wanted *wanted,
                                 const struct text_file *file);

/* Gives d the features of its share, from that file or, where it is not there, from the columns of
 * nodes.csv, and what dense ones are standardised by. All processes call it. */
consm_status feature_share_read(struct dataset *d, struct node_ids *ids, struct wanted *wanted,
                                const struct text_file *features, const struct text_file *nodes);

/* The features that a recipe makes of the cells of a share's nodes, (nodes, features) of sparse
 * memory. All processes call it. */
consm_status feature_share_apply(float **out, const struct recipe *r, const struct cells *c,
                                 int64_t nodes, const struct partition *partition,
                                 const char *file);

/* Means and 1/deviations of the columns of x (n, f), of which each process has its share of the
 * rows; sum (f) zeros, then the sums: as columns_measure() has them of all. All processes call it.
 */
consm_status feature_share_measure(float *shift, float *scale, double *sum, const float *x,
                                   int64_t n, int64_t f, const struct partition *partition);

#endif
