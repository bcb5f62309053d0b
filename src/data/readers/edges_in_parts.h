/*
 * Reads a large edge list in parts: each process reads every P-th block of the file and sends the
 * edges to the owners of their ends. No process has more than the rows of its own nodes.
 */
#ifndef DATA_READERS_EDGES_IN_PARTS_H
#define DATA_READERS_EDGES_IN_PARTS_H

#include "data/readers/edge_text.h"

/* If the nodes are not known yet, ids becomes the list of those that the edges name, after those in
 * ids->names: the same on every process as edge_text_read() makes from the whole file. Then fills
 * d->edges, d->partition and d->rows: the cleaned graph as csr_from_edges() makes it from the whole
 * list (CSR_UNDIRECTED | CSR_DROP_LOOPS), of which this process gets a range of rows, balanced by
 * the lines that name a node. partition: the processes and their swap, still without rows; all of
 * them call this and report the same faults. */
consm_status edges_in_parts_read(struct dataset *d, const struct partition *partition,
                                 struct node_ids *ids, struct wanted *wanted,
                                 const struct text_file *file);

#endif
