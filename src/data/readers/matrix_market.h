/*
 * Adjacency matrices in the Matrix Market exchange format (Boisvert, Pozo and Remington 1996):
 * "%%MatrixMarket matrix coordinate real|integer|pattern general|symmetric", a size line, then
 * one entry a line, counted from 1.
 */
#ifndef DATA_READERS_MATRIX_MARKET_H
#define DATA_READERS_MATRIX_MARKET_H

#include "data/dataset.h"
#include "io/token.h"

/* Does it begin like such a file? */
bool matrix_market_is(const struct text_file *file);

/* Fills d->nodes, edges, from, to, weight (none for pattern) and directed (general). An entry of a
 * symmetric file is one edge. */
consm_status matrix_market_read(struct dataset *d, const struct text_file *file);

#endif
