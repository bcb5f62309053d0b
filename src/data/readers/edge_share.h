/*
 * A share of a large edge list: each of several processes reads every so-many-th block of the file
 * and sends the edges to the owners of their ends. Nobody has more than the rows of its own nodes.
 */
#ifndef DATA_READERS_EDGE_SHARE_H
#define DATA_READERS_EDGE_SHARE_H

#include "data/readers/edge_text.h"

/* Where nobody knows the nodes yet, ids becomes the list of those that the edges name, behind what
 * is in ids->names: what edge_text_read() makes of the whole file, for every process. Then
 * fills d->edges, d->share and d->rows: the cleaned graph as csr_from_edges() makes it of the whole
 * list (CSR_UNDIRECTED | CSR_DROP_LOOPS), of which this process gets a range of rows; who gets what
 * is balanced by the lines that name a node. crew: the processes and their swap; all of them call
 * this, and what is wrong with the file all of them say. */
consm_status edge_share_read(struct dataset *d, const struct partition *crew, struct node_ids *ids,
                             struct wanted *wanted, const struct text_file *file);

#endif
