/* Text files about nodes: nodes.csv with ids, labels, splits and feature columns; a file of labels
 * only. Class names are sorted (numbers by value, other texts by bytes), so the order of rows does
 * not matter. */
#ifndef DATA_READERS_NODE_TEXT_H
#define DATA_READERS_NODE_TEXT_H

#include "data/readers/node_ids.h"
#include "data/table/cells.h"
#include "data/wanted.h"
#include "io/csv.h"

/* The classes so far, or the fixed list of a dataset.json. All zero is empty. */
struct classes {
    struct names names;
    bool fixed;
};

/* The index of the label in that column of the current row; -1 if empty. */
consm_status classes_read(int32_t *out, struct classes *classes, const struct csv *c, int column);

/* Sorts the classes, unless fixed, and gives d its classes, class_name and final labels; until then
 * d->label holds list positions. */
consm_status classes_settle(struct dataset *d, const struct classes *classes);

/* Parses train, val, test, none or nothing, and similar words; false for anything else. */
bool role_of_text(uint8_t *out, const char *text, size_t length);

/* Whether this is the name of a column of labels. */
bool column_is_label(const struct csv *c, int column);

/* Reads nodes.csv: fills ids (complete), d->nodes, label (list positions), role, and features if
 * there are columns for them; with features false, only the number of those columns. Nodes that
 * only the edges name (NULL: not asked) follow as empty rows. */
consm_status node_text_read(struct dataset *d, struct node_ids *ids, struct classes *classes,
                            struct wanted *wanted, const struct text_file *file, bool features,
                            const struct text_file *edges);

/* For a nodes.csv that was read so, with that many nodes: the cells of rows low … high-1. */
consm_status node_text_cells(struct cells *out, struct wanted *wanted, const struct text_file *file,
                             int64_t nodes, int64_t low, int64_t high);

/* How the rows of a file name their nodes. */
enum row_naming { ROWS_IN_ORDER, ROWS_WITH_IDS };

/* Labels only: "id label" rows, or one label per line in node order (a blank line: unknown); with
 * more columns, the user's choices. */
consm_status label_text_naming(enum row_naming *out, struct wanted *wanted,
                               const struct text_file *file);
/* Adds the ids of a file of ROWS_WITH_IDS to ids->names. */
consm_status label_text_ids(struct node_ids *ids, struct wanted *wanted,
                            const struct text_file *file);
/* The rows of a file of ROWS_IN_ORDER. */
consm_status label_text_rows(int64_t *rows, struct wanted *wanted, const struct text_file *file);
/* Fills d->label (allocated) for the nodes of ids. */
consm_status label_text_read(struct dataset *d, const struct node_ids *ids, struct classes *classes,
                             struct wanted *wanted, const struct text_file *file);

#endif
