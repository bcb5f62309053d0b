/* Divides rows among parts of about equal weight, and measures what each part needs from others. */
#ifndef GRAPH_CUT_H
#define GRAPH_CUT_H

#include "graph/csr.h"

/* cut (parts+1): part p has rows cut[p] … cut[p+1]-1. weight (rows+1) is a running sum; NULL: the
 * number of rows. If parts have many rows, cuts are at multiples of 16. */
void cut_rows(int64_t *cut, const int64_t *weight, int64_t rows, int parts);

/* Moves each cut to the nearest row of `borders` (ascending), where few rows have neighbours on the
 * other side. It moves by at most a twentieth of a part's weight. */
void cut_snap(int64_t *cut, const int64_t *weight, int64_t rows, int parts, const int64_t *border,
              int64_t borders);

/* The size of a part. */
struct cut_size {
    int64_t rows, entries;
    int64_t outside; /* entries whose columns belong to other parts */
    int64_t halo;    /* columns of other parts, each counted once */
};

/* size (parts). A row weighs its entries plus one. */
consm_status cut_sizes(struct cut_size *size, const struct csr *graph, int parts);

#endif
