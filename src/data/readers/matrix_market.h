/* Adjacency matrices in the Matrix Market exchange format (Boisvert, Pozo and Remington 1996):
 * "%%MatrixMarket matrix coordinate real|integer|pattern general|symmetric", a size line, then one
 * entry a line, counted from 1. */
#ifndef DATA_READERS_MATRIX_MARKET_H
#define DATA_READERS_MATRIX_MARKET_H

#include "data/readers/reader.h"

/* Whether it begins like such a file. */
bool matrix_market_is(const struct text_file *file);

/* Fills d->nodes, edges, from, to, weight (none for pattern) and directed (general). An entry of a
 * symmetric file is one edge. */
consm_status matrix_market_read(struct dataset *d, const struct text_file *file);

enum sniffed matrix_market_sniff(const struct probe *p);

/* The file's matrix as the edges of a set; labels and features may be NULL, as for an edge list. */
consm_status matrix_market_load(struct dataset **out, const char *path,
                                struct reading_options *reading);

#endif
