/* Sparse features of nodes that are divided among processes. A process has the rows of its nodes.
 * The transpose, which gradients of weights use, is divided by columns, so that one process
 * computes a column's sum, in node order. */
#include "graph/partition.h"

#include <string.h>

/* Entry (row, col) of the matrix has number `entry` there. */
struct turned {
    int32_t row, col;
    int64_t entry;
    float value;
};

/* ---- how many entries a column has ---- */

consm_status partition_columns(int64_t *start, const struct csr *a)
{
    consm_status st = CONSM_OK;
    const struct partition *partition = a->partition;
    int64_t f = a->cols;
    memset(start, 0, (size_t)(f + 1) * sizeof *start);
    for (int64_t k = a->start[partition->low]; k < a->start[partition->high]; k++)
        start[a->col[k] + 1]++;
    TRY(partition_sum(start + 1, f, partition));
    for (int64_t c = 0; c < f; c++)
        start[c + 1] += start[c];
done:
    return st;
}

/* ---- the transpose ---- */

/* send (parts+1), record: the partition's entries by the process that owns their column. */
static consm_status list_turned(struct turned **out, int64_t *send, const struct csr *a,
                                const struct partition *columns)
{
    consm_status st = CONSM_OK;
    const struct partition *partition = a->partition;
    int64_t *next = NULL, parts = columns->parts;
    memset(send, 0, (size_t)(parts + 1) * sizeof *send);
    for (int64_t k = a->start[partition->low]; k < a->start[partition->high]; k++)
        send[partition_owner(columns, a->col[k]) + 1]++;
    for (int64_t p = 0; p < parts; p++)
        send[p + 1] += send[p];
    TRY(NEW(next, parts + 1));
    memcpy(next, send, (size_t)(parts + 1) * sizeof *next);
    TRY(NEW(*out, send[parts] + 1));
    for (int64_t r = partition->low; r < partition->high; r++)
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
            (*out)[next[partition_owner(columns, a->col[k])]++] = (struct turned){
                .row = (int32_t)r, .col = a->col[k], .entry = k, .value = a->val ? a->val[k] : 1};
done:
    mem_free(next);
    return st;
}

static consm_status make_room(struct csr *a, const struct partition *columns)
{
    consm_status st = CONSM_OK;
    struct csr *t;
    TRY(ZNEW(t, 1));
    a->t = t;
    t->rows = a->cols;
    t->cols = a->rows;
    t->nnz = a->nnz;
    t->partition = columns;
    TRY(NEW(t->start, t->rows + 1));
    t->col = mem_sparse_alloc((size_t)a->nnz, sizeof *t->col);
    t->val = a->val ? mem_sparse_alloc((size_t)a->nnz, sizeof *t->val) : NULL;
    a->t_entry = mem_sparse_alloc((size_t)a->nnz, sizeof *a->t_entry);
    if (!t->col || (a->val && !t->val) || !a->t_entry)
        TRY(CONSM_ENOMEM);
done:
    return st;
}

consm_status partition_turn(struct csr *a, const struct partition *columns)
{
    consm_status st = CONSM_OK;
    struct turned *record = NULL;
    const struct turned *came;
    int64_t *send = NULL, *got, *next = NULL, places = columns->parts + 1;
    void *received = NULL;
    TRY(make_room(a, columns));
    TRY(partition_columns(a->t->start, a));
    TRY(ZNEW(send, 2 * places));
    got = send + places;
    TRY(list_turned(&record, send, a, columns));
    TRY(a->partition->swap(&received, got, record, send, sizeof *record));
    came = received;
    TRY(NEW(next, a->cols + 1));
    memcpy(next, a->t->start, (size_t)(a->cols + 1) * sizeof *next);
    for (int64_t i = 0; i < got[columns->parts]; i++) { /* ordered by process, so by row */
        int64_t at = next[came[i].col]++;
        a->t->col[at] = came[i].row;
        a->t_entry[at] = came[i].entry;
        if (a->t->val)
            a->t->val[at] = came[i].value;
    }
done:
    if (st < 0)
        csr_drop_transpose(a);
    mem_free(send);
    mem_free(next);
    mem_free(record);
    mem_free(received);
    return st;
}

/* ---- rows of sum 1 ---- */
