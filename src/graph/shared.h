/* Matrices whose rows are spread over processes (struct row_share): what is beside the views of a
 * graph (csr.h), and what the processes tell each other. Of sparse features a process has the rows
 * of its nodes; the transpose is spread by columns. */
#ifndef GRAPH_SHARED_H
#define GRAPH_SHARED_H

#include "graph/csr.h"

/* A matrix with room for the entries of the share's rows; start zeroed, val NULL unless weighted.
 */
consm_status csr_share_new(struct csr **out, const struct row_share *share, int64_t rows,
                           int64_t cols, int64_t nnz, bool weighted);

/* D^-1 A of a symmetric matrix, a node without neighbours being its own, with its transpose. */
consm_status csr_share_mean(struct csr **out, const struct csr *a);

/* Rows of others that this process reads on the host. Arrays are addressed as a whole, by the rows'
 * numbers. */
struct row_halo {
    const struct row_share *share;
    int64_t *asks, *gives; /* (parts+1) of process p the rows ask[asks[p]] … are wanted here … */
    int32_t *ask, *give;   /* … and give[gives[p]] … there */
};

/* wanted (rows): which are; those that are here need not be. All processes call these together. */
consm_status row_halo_new(struct row_halo **out, const struct row_share *share,
                          const uint8_t *wanted);
void row_halo_free(struct row_halo *h);

/* Fills these rows of an array with so many bytes a row, or an entry. */
consm_status row_halo_fetch(const struct row_halo *h, void *array, size_t bytes);
consm_status row_halo_fetch_entries(const struct row_halo *h, void *array, const int64_t *start,
                                    size_t bytes);

/* Everybody's records of so many bytes to all, in the order of processes; *out (*count), the
 * caller's to free. */
consm_status row_share_all(void **out, int64_t *count, const struct row_share *share,
                           const void *record, int64_t mine, size_t bytes);

/* The rows that the share's entries name; the pattern with the rows of the share and these. */
consm_status csr_share_neighbours(struct row_halo **out, const struct csr *a);
consm_status csr_share_near(struct csr **out, const struct csr *a, const struct row_halo *h);

/* Which process has a row. */
int csr_share_owner(const struct row_share *share, int64_t row);

/* How many entries a column has among all processes, as a running sum; start (cols+1). */
consm_status csr_share_columns(int64_t *start, const struct csr *a);

/* Makes the transpose, of which this process gets the rows of a share of the columns, and where its
 * entries are stored. */
consm_status csr_share_turn(struct csr *a, const struct row_share *columns);

/* The same where each process knows how long its own rows are: start[r+1] is the length of row r of
 * the share, and 0 elsewhere. start (rows+1) becomes the matrix's, also where this fails. */
consm_status csr_share_of_lengths(struct csr **out, const struct row_share *share, int64_t *start,
                                  int64_t rows, int64_t cols, bool weighted);

/* Adds up an array of all processes, element by element: each has the sums. Like the two below it
 * needs of a share only the processes and their swap. */
consm_status share_sum(int64_t *sum, int64_t count, const struct row_share *share);

/* Running sums in the order of the rows, whoever has them: process `turn` has added its own and
 * hands them on to the next; the last one tells all. To be called for every turn. */
consm_status share_hand_on(double *sum, int64_t count, const struct row_share *share, int turn);

/* What one process has to complain of all of them say: CONSM_OK when each calls it with that, else
 * the status and message of the failure at the smallest place, by which several are ordered. */
consm_status share_status(const struct row_share *share, consm_status mine, int64_t place);

/* Bytes of each process to all: *out has them one behind the other, those of process p from got[p]
 * to got[p+1]-1 (parts+1); the caller's to free. */
consm_status share_tell(void **out, int64_t *got, const void *bytes, int64_t count,
                        const struct row_share *share);

/* Whether all processes have the same text; else all of them say who has `what` other than the
 * first. */
consm_status share_same(const struct row_share *share, const char *what, const char *text);

/* csr_row_normalize(), for the rows of the share; without a transpose. */
consm_status csr_share_row_normalize(struct csr **out, const struct csr *a);

#endif
