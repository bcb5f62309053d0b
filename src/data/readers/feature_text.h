/*
 * Feature tables as text: features.csv, or the feature columns of nodes.csv. Numbers are gathered
 * densely, at most four bytes for every byte of the file, and kept sparse when mostly zero; what is
 * no number becomes features by a recipe (data/table/recipe.h), at most 50 for a column.
 */
#ifndef DATA_READERS_FEATURE_TEXT_H
#define DATA_READERS_FEATURE_TEXT_H

#include "data/readers/node_ids.h"
#include "data/table/cells.h"
#include "data/wanted.h"
#include "io/csv.h"

/* Appends one field of the current row, a feature's; column is its place among the features. */
consm_status feature_cell_add(struct cells *cells, const struct csv *c, int field, int32_t column);

/* A row for each node. A header whose first column is "id", or has the wanted column of ids, says
 * which row is whose; then ids receives the list unless it is known. Without, rows are in node
 * order, and when ids is not known the nodes are called by their row. */
consm_status feature_text_read(struct dataset *d, struct node_ids *ids, struct wanted *wanted,
                               const struct text_file *file);

/* The same in two steps, for a share of the rows: whatever the table says of the list of nodes, as
 * above; then the cells of nodes low … high-1 of a known list, in their order. */
consm_status feature_text_nodes(struct node_ids *ids, struct wanted *wanted,
                                const struct text_file *file);
consm_status feature_text_cells(struct cells *out, struct node_ids *ids, struct wanted *wanted,
                                const struct text_file *file, int64_t low, int64_t high);

/* The list of the dataset's nodes is what this file says: sets ids to rows 0 … count-1, or checks
 * that a known list is as long. */
consm_status feature_rows_match(struct node_ids *ids, int64_t rows, const char *name);

/* Is that the name of a column of node ids? */
bool column_is_id(const struct csv *c, int column);

#endif
