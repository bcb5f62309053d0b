/*
 * A plain folder or an edge list of which each of several processes reads a share: the rows of some
 * of the nodes, with their features. What there is of all nodes (names, labels, splits) all have.
 */
#ifndef DATA_READERS_PLAIN_SHARE_H
#define DATA_READERS_PLAIN_SHARE_H

#include "data/readers/node_text.h"
#include "data/readers/plain.h"

/* path: those of struct plain_files that are there, else NULL. Fills d->rows and d->share instead
 * of the list of edges; all else, the hash too, is as of the whole. */
consm_status plain_share_load(struct dataset **out, const char *name, char *const path[PLAIN_FILES],
                              struct reading_options *reading);

/* Of plain.c, where the whole is read: labels may fix the number of nodes, or bring ids of their
 * own; names, labels and classes of nodes that are known. */
consm_status plain_labels_nodes(struct node_ids *ids, struct wanted *wanted,
                                const struct text_file *file);
consm_status plain_give_nodes(struct dataset *d, const struct plain_files *f, struct node_ids *ids,
                              struct classes *classes);

#endif
