/* Rows among parts: ranges of rows that weigh about the same, and what each part needs of others.
 */
#ifndef GRAPH_CUT_H
#define GRAPH_CUT_H

#include "graph/csr.h"

/* cut (parts+1): part p has rows cut[p] … cut[p+1]-1. weight (rows+1) is a running sum, NULL: of
 * rows. Where a part has many rows the cuts are at multiples of 16. */
void cut_rows(int64_t *cut, const int64_t *weight, int64_t rows, int parts);

/* Moves cuts to the nearest of these rows (borders, ascending), where few rows have neighbours on
 * the other side, if that is not far: a twentieth of a part's weight at most. */
void cut_snap(int64_t *cut, const int64_t *weight, int64_t rows, int parts, const int64_t *border,
              int64_t borders);

/* What a part has. */
struct cut_size {
    int64_t rows, entries;
    int64_t outside; /* entries whose columns are others' */
    int64_t halo;    /* columns of others, each once */
};

/* share (parts); the graph's rows by their entries and one more. */
consm_status cut_sizes(struct cut_size *share, const struct csr *graph, int parts);

#endif
