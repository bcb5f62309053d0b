/*
 * Edges as text: source, target and perhaps a weight on each line, with or without a header. The
 * ids are looked up in a known list of nodes, or make the list themselves.
 */
#ifndef DATA_READERS_EDGE_TEXT_H
#define DATA_READERS_EDGE_TEXT_H

#include "data/readers/node_ids.h"
#include "data/wanted.h"

/* Fills d->edges, from, to, weight. With ids->expected set the nodes are known and a foreign id is
 * an error, or with wanted->unknown = UNKNOWN_DROP its edge is left out; else ids (which may
 * already hold names) becomes the complete list: numbers ascending, other texts in the order of
 * their first appearance. */
consm_status edge_text_read(struct dataset *d, struct node_ids *ids, struct wanted *wanted,
                            const struct text_file *file);

/* Adds the ids that the edges name to a list of nodes, and says how many were not there. */
consm_status edge_text_add_nodes(struct names *names, struct wanted *wanted,
                                 const struct text_file *file);

/* The same block by block, for readers that share a file's lines: about a megabyte each, cut at
 * line ends, whoever reads them. The nodes are known when edges are read. A text in quotes that
 * goes over such a cut is an error: then, and only then, a cut is no end of a row. */
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
/* Only the ids that occur in a block, added to out->names in the order in which they do. */
consm_status edge_blocks_names(struct node_ids *out, struct edge_reader *r, int64_t block);
/* Which column the weights come from, for d->taken. */
void edge_blocks_about(struct dataset *d, const struct edge_reader *r);

#endif
