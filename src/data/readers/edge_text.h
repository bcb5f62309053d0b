/*
 * Edges as text: source, target and optionally a weight on each line, with or without a header. Ids
 * are looked up in a known list of nodes, or make the list.
 */
#ifndef DATA_READERS_EDGE_TEXT_H
#define DATA_READERS_EDGE_TEXT_H

#include "data/readers/node_ids.h"
#include "data/wanted.h"

/* Fills d->edges, from, to, weight. With ids->expected set the nodes are known: an unknown id is an
 * error, or with wanted->unknown = UNKNOWN_DROP its edge is left out. Otherwise ids (which may
 * already hold names) becomes the complete list: numbers ascending, other texts by first
 * appearance. */
consm_status edge_text_read(struct dataset *d, struct node_ids *ids, struct wanted *wanted,
                            const struct text_file *file);

/* Adds the ids of the edges to a list of nodes, and reports how many were new. */
consm_status edge_text_add_nodes(struct names *names, struct wanted *wanted,
                                 const struct text_file *file);

/* The same block by block, for processes that divide a file: about a megabyte each, cut at line
 * ends. The nodes are known when edges are read. A quoted text across such a cut is an error; only
 * then is a cut not the end of a row. */
enum { EDGE_BLOCK = 1 << 20 };
struct edge_reader;
struct edge_block {
    int64_t count;
    const int32_t *from, *to; /* (count), until the next block is read */
    const float *weight;      /* (count), or NULL */
};
consm_status edge_blocks_new(struct edge_reader **out, struct node_ids *ids, struct wanted *wanted,
                             const struct text_file *file);
void edge_blocks_free(struct edge_reader *r);
int64_t edge_blocks_count(const struct edge_reader *r);
bool edge_blocks_weighted(const struct edge_reader *r);
/* Messages name lines of the file. */
consm_status edge_blocks_read(struct edge_block *out, struct edge_reader *r, int64_t block);
/* Only the ids in a block, added to out->names in order of appearance. */
consm_status edge_blocks_names(struct node_ids *out, struct edge_reader *r, int64_t block);
/* The column of the weights, for d->taken. */
void edge_blocks_about(struct dataset *d, const struct edge_reader *r);

#endif
