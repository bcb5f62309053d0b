/*
 * A plain folder or an edge list of which each process keeps the rows of its nodes, with
 * their features. All processes have the names, labels and splits of all nodes.
 */
#ifndef DATA_READERS_PLAIN_IN_PARTS_H
#define DATA_READERS_PLAIN_IN_PARTS_H

#include "data/readers/node_text.h"
#include "data/readers/plain.h"

/* path: the existing files of struct plain_files, else NULL. Fills d->rows and d->partition instead
 * of the list of edges; everything else, including the hash, is that of the whole. */
consm_status plain_in_parts_load(struct dataset **out, const char *name,
                                 char *const path[PLAIN_FILES], struct reading_options *reading);

/* From plain.c: labels may fix the number of nodes, or have their own ids; names, labels and
 * classes of known nodes. */
consm_status plain_labels_nodes(struct node_ids *ids, struct wanted *wanted,
                                const struct text_file *file);
consm_status plain_give_nodes(struct dataset *d, const struct plain_files *f, struct node_ids *ids,
                              struct classes *classes);

#endif
