/* Graphs whose rows are divided among processes: a matrix with some of the rows, the owners of the
 * others, and the position of an edge's reverse entry, which its owner sends. */
#include "graph/partition.h"

#include <stdlib.h>
#include <string.h>

consm_status partition_csr(struct csr **out, const struct partition *partition, int64_t rows,
                           int64_t cols, int64_t nnz, bool weighted)
{
    consm_status st = CONSM_OK;
    struct csr *b;
    *out = NULL;
    if (!partition)
        return csr_new(out, rows, cols, nnz, weighted);
    TRY(ZNEW(b, 1));
    b->rows = rows;
    b->cols = cols;
    b->nnz = nnz;
    b->partition = partition;
    TRY(ZNEW(b->start, rows + 1));
    b->col = mem_sparse_alloc((size_t)nnz, sizeof *b->col);
    b->val = weighted ? mem_sparse_alloc((size_t)nnz, sizeof *b->val) : NULL;
    if (!b->col || (weighted && !b->val))
        TRY(CONSM_ENOMEM);
    *out = b;
    return CONSM_OK;
done:
    csr_free(b);
    return st;
}

/* ---- who has a row ---- */

int partition_owner(const struct partition *partition, int64_t row)
{
    int low = 0, high = partition->parts - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (partition->cut[middle + 1] <= row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- the other direction of an edge ---- */

struct entry_record {
    int32_t row, col;
    int64_t entry;
};

/* Lists entry (r, c) as number k for the owner of c, which needs it for its entry (c, r). */
static void list_entries(struct entry_record *record, int64_t *next, const struct csr *a)
{
    const struct partition *partition = a->partition;
    for (int64_t r = partition->low; r < partition->high; r++)
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
            if (!partition_here(partition, a->col[k]))
                record[next[partition_owner(partition, a->col[k])]++] =
                    (struct entry_record){a->col[k], (int32_t)r, k};
}

/* send (parts+1): entries whose other end belongs to each process. */
static void count_outside(int64_t *send, const struct csr *a)
{
    const struct partition *partition = a->partition;
    for (int64_t k = a->start[partition->low]; k < a->start[partition->high]; k++)
        if (!partition_here(partition, a->col[k]))
            send[partition_owner(partition, a->col[k]) + 1]++;
    for (int p = 0; p < partition->parts; p++)
        send[p + 1] += send[p];
}

/* Sets t_entry of the entry (row, col) to k. */
static consm_status note_entry(struct csr *a, int64_t row, int32_t col, int64_t k)
{
    int64_t at = csr_find(a, row, col);
    if (at < 0)
        return status_fail(CONSM_EFORMAT, "the edge from %lld to %d exists in one direction only",
                           (long long)row, col);
    a->t_entry[at] = k;
    return CONSM_OK;
}

consm_status partition_entries(struct csr *a)
{
    consm_status st = CONSM_OK;
    const struct partition *partition = a->partition;
    struct entry_record *record = NULL, *came;
    void *received = NULL;
    int64_t *send = NULL, *next, *got, places = partition->parts + 1;
    TRY(ZNEW(send, 3 * places));
    next = send + places;
    got = next + places;
    count_outside(send, a);
    memcpy(next, send, (size_t)places * sizeof *send);
    TRY(NEW(record, send[partition->parts] + 1));
    list_entries(record, next, a);
    a->t_entry = mem_sparse_alloc((size_t)a->nnz, sizeof *a->t_entry);
    if (!a->t_entry)
        TRY(CONSM_ENOMEM);
    TRY(partition->swap(&received, got, record, send, sizeof *record));
    came = received;
    for (int64_t i = 0; i < got[partition->parts]; i++)
        TRY(note_entry(a, came[i].row, came[i].col, came[i].entry));
    for (int64_t r = partition->low; r < partition->high; r++)
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
            if (partition_here(partition, a->col[k]))
                TRY(note_entry(a, a->col[k], (int32_t)r, k));
done:
    if (st < 0) {
        mem_sparse_free(a->t_entry);
        a->t_entry = NULL;
    }
    mem_free(send);
    mem_free(record);
    mem_free(received);
    return st;
}
