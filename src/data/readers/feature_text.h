/*
 * Tables of numbers as text: features.csv, or the feature columns of nodes.csv. They are gathered
 * densely, at most four bytes for every byte of the file, and kept sparse when mostly zero.
 */
#ifndef DATA_READERS_FEATURE_TEXT_H
#define DATA_READERS_FEATURE_TEXT_H

#include "data/readers/node_ids.h"
#include "io/csv.h"

/* Rows of numbers on their way into a dataset. All zero is empty. */
struct feature_rows {
    float *value; /* (rows, columns) */
    size_t used, capacity;
};

/* Appends one field of the current row. */
consm_status feature_rows_add(struct feature_rows *rows, const struct csv *c, int column);
/* Gives them to d as its features; d->nodes is set. */
consm_status feature_rows_give(struct dataset *d, struct feature_rows *rows, int64_t columns);

/* A row for each node. A header whose first column is "id" says which row is whose; then ids
 * receives the list unless it is known. Without, rows are in node order, and when ids is not known
 * the nodes are called by their row. */
consm_status feature_text_read(struct dataset *d, struct node_ids *ids,
                               const struct text_file *file);

/* The list of the dataset's nodes is what this file says: sets ids to rows 0 … count-1, or checks
 * that a known list is as long. */
consm_status feature_rows_match(struct node_ids *ids, int64_t rows, const char *name);

/* Is that the name of a column of node ids? */
bool column_is_id(const struct csv *c, int column);

#endif
