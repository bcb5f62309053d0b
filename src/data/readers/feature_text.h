/* Feature tables as text: features.csv, or the feature columns of nodes.csv. Numbers are stored
 * densely, at most four bytes per byte of the file, and made sparse if mostly zero. Other cells
 * become features by a recipe (data/table/recipe.h), at most 50 per column. */
#ifndef DATA_READERS_FEATURE_TEXT_H
#define DATA_READERS_FEATURE_TEXT_H

#include "data/readers/node_ids.h"
#include "data/table/cells.h"
#include "data/wanted.h"
#include "io/csv.h"

/* Appends one feature cell of the current row; column is its position among the features. */
consm_status feature_cell_add(struct cells *cells, const struct csv *c, int field, int32_t column);

/* Reads a row for each node. If the header's first column is "id", or it has the user's id column,
 * ids assign the rows; then ids receives the list unless it is known. Otherwise rows are in node
 * order; if ids is not known, nodes are named by their row. */
consm_status feature_text_read(struct dataset *d, struct node_ids *ids, struct wanted *wanted,
                               const struct text_file *file);

/* The same in two steps, for some of the rows: first what the table says about the list of
 * nodes; then the cells of nodes low … high-1 of a known list, in order. */
consm_status feature_text_nodes(struct node_ids *ids, struct wanted *wanted,
                                const struct text_file *file);
consm_status feature_text_cells(struct cells *out, struct node_ids *ids, struct wanted *wanted,
                                const struct text_file *file, int64_t low, int64_t high);

/* Makes this file define the nodes: sets ids to rows 0 … count-1, or checks that a known list has
 * that length. */
consm_status feature_rows_match(struct node_ids *ids, int64_t rows, const char *name);

/* Whether this is the name of a column of node ids. */
bool column_is_id(const struct csv *c, int column);

#endif
