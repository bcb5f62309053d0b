/* Matrices whose rows are divided among processes (struct partition), and what the processes send
 * each other. Of sparse features a process has the rows of its nodes; the transpose is divided by
 * columns. */
#ifndef GRAPH_PARTITION_H
#define GRAPH_PARTITION_H

#include "graph/csr.h"

/* A matrix with room for the entries of the partition's rows, or of all rows without a partition;
 * start zeroed, val NULL unless weighted. */
consm_status partition_csr(struct csr **out, const struct partition *partition, int64_t rows,
                           int64_t cols, int64_t nnz, bool weighted);

/* Uninitialised memory for an array with items for every row: sparse memory (alloc.h) if a
 * partition fills only its own. */
void *partition_room(const struct partition *partition, int64_t count, size_t size);
void partition_room_free(const struct partition *partition, void *room);

/* Copies the partition's rows of an array (rows, width) to the same place in another. */
void partition_copy(float *to, const float *from, const struct partition *partition, int64_t width);

/* Rows of other processes that this process reads on the host. Arrays are indexed by global row
 * numbers. */
struct row_halo {
    const struct partition *partition;
    int64_t *asks, *gives; /* (parts+1) ranges of ask and give by process */
    int32_t *ask,
        *give; /* rows wanted here from each process; rows that each process wants from here */
};

/* wanted (rows) marks the rows; own rows may be left out. All processes call these together. */
consm_status row_halo_new(struct row_halo **out, const struct partition *partition,
                          const uint8_t *wanted);
void row_halo_free(struct row_halo *h);

/* Fetches these rows of an array; `bytes` per row, or per entry. */
consm_status row_halo_fetch(const struct row_halo *h, void *array, size_t bytes);
consm_status row_halo_fetch_entries(const struct row_halo *h, void *array, const int64_t *start,
                                    size_t bytes);
/* Copies the own rows of an array (rows, width), then fetches those of the halo. */
consm_status row_halo_fill(const struct row_halo *h, float *to, const float *from, int64_t width);

/* Sends every process's records of `bytes` each to all, in process order; the caller frees *out
 * (*count). Of a single process (NULL) it is a copy. */
consm_status partition_all(void **out, int64_t *count, const struct partition *partition,
                           const void *record, int64_t mine, size_t bytes);

/* The halo of rows that the partition's entries name; the pattern with the partition's rows and
 * these. */
consm_status partition_neighbours(struct row_halo **out, const struct csr *a);
consm_status partition_near(struct csr **out, const struct csr *a, const struct row_halo *h);

/* The process that owns a row. */
int partition_owner(const struct partition *partition, int64_t row);

/* Entries per column among all processes, as a running sum; start (cols+1). */
consm_status partition_columns(int64_t *start, const struct csr *a);

/* Makes the transpose, divided by a partition of the columns, and the positions of its entries. */
consm_status partition_turn(struct csr *a, const struct partition *columns);

/* As partition_csr(), if each process knows the lengths of its own rows: start[r+1] is the length
 * of row r of the partition, and 0 elsewhere. The matrix takes start (rows+1), also on failure. */
consm_status partition_of_lengths(struct csr **out, const struct partition *partition,
                                  int64_t *start, int64_t rows, int64_t cols, bool weighted);

/* Adds up an array over all processes, element by element; each gets the sums. Like the two below
 * it uses only the partition's processes and their swap. A single process (NULL) has the sums. */
consm_status partition_sum(int64_t *sum, int64_t count, const struct partition *partition);

/* Running sums in row order over all processes: process `turn` has added its own and passes them to
 * the next; the last sends them to all. Call it for every turn. A single process (NULL) has them.
 */
consm_status partition_hand_on(double *sum, int64_t count, const struct partition *partition,
                               int turn);

/* All processes report the same failure: CONSM_OK if every process passes that, else the status and
 * message of the failure with the smallest place. */
consm_status partition_status(const struct partition *partition, consm_status mine, int64_t place);

/* Sends bytes of each process to all. *out holds them in order, those of process p from got[p] to
 * got[p+1]-1 (parts+1); the caller frees it. */
consm_status partition_tell(void **out, int64_t *got, const void *bytes, int64_t count,
                            const struct partition *partition);

/* Checks that all processes have the same text; otherwise all fail and name the process whose
 * `what` differs from the first's. */
consm_status partition_same(const struct partition *partition, const char *what, const char *text);

#endif
