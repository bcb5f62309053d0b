/* Matrices whose rows are spread over processes (struct partition): what is beside the views of a
 * graph (csr.h), and what the processes tell each other. Of sparse features a process has the rows
 * of its nodes; the transpose is spread by columns. */
#ifndef GRAPH_PARTITION_H
#define GRAPH_PARTITION_H

#include "graph/csr.h"

/* A matrix with room for the entries of the partition's rows; start zeroed, val NULL unless
 * weighted.
 */
consm_status partition_csr(struct csr **out, const struct partition *partition, int64_t rows,
                           int64_t cols, int64_t nnz, bool weighted);

/* Rows of others that this process reads on the host. Arrays are addressed as a whole, by the rows'
 * numbers. */
struct row_halo {
    const struct partition *partition;
    int64_t *asks, *gives; /* (parts+1) of process p the rows ask[asks[p]] … are wanted here … */
    int32_t *ask, *give;   /* … and give[gives[p]] … there */
};

/* wanted (rows): which are; those that are here need not be. All processes call these together. */
consm_status row_halo_new(struct row_halo **out, const struct partition *partition,
                          const uint8_t *wanted);
void row_halo_free(struct row_halo *h);

/* Fills these rows of an array with so many bytes a row, or an entry. */
consm_status row_halo_fetch(const struct row_halo *h, void *array, size_t bytes);
consm_status row_halo_fetch_entries(const struct row_halo *h, void *array, const int64_t *start,
                                    size_t bytes);

/* Everybody's records of so many bytes to all, in the order of processes; *out (*count), the
 * caller's to free. */
consm_status partition_all(void **out, int64_t *count, const struct partition *partition,
                           const void *record, int64_t mine, size_t bytes);

/* The rows that the partition's entries name; the pattern with the rows of the partition and these.
 */
consm_status partition_neighbours(struct row_halo **out, const struct csr *a);
consm_status partition_near(struct csr **out, const struct csr *a, const struct row_halo *h);

/* Which process has a row. */
int partition_owner(const struct partition *partition, int64_t row);

/* How many entries a column has among all processes, as a running sum; start (cols+1). */
consm_status partition_columns(int64_t *start, const struct csr *a);

/* Makes the transpose, of which this process gets the rows of a partition of the columns, and where
 * its entries are stored. */
consm_status partition_turn(struct csr *a, const struct partition *columns);

/* The same where each process knows how long its own rows are: start[r+1] is the length of row r of
 * the share, and 0 elsewhere. start (rows+1) becomes the matrix's, also where this fails. */
consm_status partition_of_lengths(struct csr **out, const struct partition *partition,
                                  int64_t *start, int64_t rows, int64_t cols, bool weighted);

/* Adds up an array of all processes, element by element: each has the sums. Like the two below it
 * needs of a partition only the processes and their swap. */
consm_status share_sum(int64_t *sum, int64_t count, const struct partition *partition);

/* Running sums in the order of the rows, whoever has them: process `turn` has added its own and
 * hands them on to the next; the last one tells all. To be called for every turn. */
consm_status share_hand_on(double *sum, int64_t count, const struct partition *partition, int turn);

/* What one process has to complain of all of them say: CONSM_OK when each calls it with that, else
 * the status and message of the failure at the smallest place, by which several are ordered. */
consm_status share_status(const struct partition *partition, consm_status mine, int64_t place);

/* Bytes of each process to all: *out has them one behind the other, those of process p from got[p]
 * to got[p+1]-1 (parts+1); the caller's to free. */
consm_status share_tell(void **out, int64_t *got, const void *bytes, int64_t count,
                        const struct partition *partition);

/* Whether all processes have the same text; else all of them say who has `what` other than the
 * first. */
consm_status share_same(const struct partition *partition, const char *what, const char *text);

#endif
