/* Sparse features of nodes whose rows are spread over processes (struct row_share). A process has
 * the rows of its nodes; the transpose is spread by columns. */
#ifndef GRAPH_SHARED_H
#define GRAPH_SHARED_H

#include "graph/csr.h"

/* Which process has a row. */
int csr_share_owner(const struct row_share *share, int64_t row);

/* How many entries a column has among all processes, as a running sum; start (cols+1). */
consm_status csr_share_columns(int64_t *start, const struct csr *a);

/* Makes the transpose, of which this process gets the rows of a share of the columns, and where its
 * entries are stored. */
consm_status csr_share_turn(struct csr *a, const struct row_share *columns);

/* csr_row_normalize(), for the rows of the share; without a transpose. */
consm_status csr_share_row_normalize(struct csr **out, const struct csr *a);

#endif
