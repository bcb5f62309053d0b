/*
 * Edges as text: source, target and perhaps a weight on each line, with or without a header. The
 * ids are looked up in a known list of nodes, or make the list themselves.
 */
#ifndef DATA_READERS_EDGE_TEXT_H
#define DATA_READERS_EDGE_TEXT_H

#include "data/readers/node_ids.h"
#include "data/wanted.h"

/* Fills d->edges, from, to, weight. With ids->expected set the nodes are known and a foreign id is
 * an error; else ids (which may already hold names) becomes the complete list: numbers ascending,
 * other texts in the order of their first appearance. */
consm_status edge_text_read(struct dataset *d, struct node_ids *ids, struct wanted *wanted,
                            const struct text_file *file);

#endif
