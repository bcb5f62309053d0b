/* Views of a graph whose rows are spread over processes: each makes the rows of its partition. What
 * normalising needs of the other rows is one number each, which all send all; where an edge's other
 * direction is stored, its owner says; neighbours' neighbours are rows that are sent for. */
#include "graph/partition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of the partition, each with its diagonal entry when loops is set; sums[r] is what is in row
 * r.
 */
static void copy_rows(struct csr *b, const struct csr *a, bool loops, double *sum)
{
    const struct partition *partition = a->partition;
    for (int64_t r = partition->low; r < partition->high; r++) {
        int64_t at = b->start[r];
        bool pending = loops;
        double all = 0;
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++, at++) {
            if (pending && a->col[k] > r) {
                pending = false;
                b->col[at] = (int32_t)r;
                b->val[at++] = 1;
                all += 1;
            }
            b->col[at] = a->col[k];
            b->val[at] = a->val ? a->val[k] : 1;
            all += b->val[at];
        }
        if (pending) {
            b->col[at] = (int32_t)r;
            b->val[at] = 1;
            all += 1;
        }
        sum[r] = all;
    }
}

consm_status partition_csr(struct csr **out, const struct partition *partition, int64_t rows,
                           int64_t cols, int64_t nnz, bool weighted)
{
    consm_status st = CONSM_OK;
    struct csr *b;
    *out = NULL;
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

/* The matrix before normalising, and (rows) the sums of the partition's rows. */
static consm_status copy_share(struct csr **out, const struct csr *a, bool loops, double *sum)
{
    consm_status st = CONSM_OK;
    struct csr *b;
    *out = NULL;
    TRY(partition_csr(&b, a->partition, a->rows, a->rows, a->nnz + (loops ? a->rows : 0), true));
    for (int64_t r = 0; r <= a->rows; r++)
        b->start[r] = a->start[r] + (loops ? r : 0);
    copy_rows(b, a, loops, sum);
    b->t = b;
    *out = b;
done:
    return st;
}

consm_status partition_loops(struct csr **out, const struct csr *a)
{
    consm_status st = CONSM_OK;
    double *sum = NULL;
    TRY(NEW(sum, a->rows));
    TRY(copy_share(out, a, true, sum));
done:
    mem_free(sum);
    return st;
}

/* Weights times factors in double round differently from the two ends: the transpose of a weighted
 * matrix has values of its own. */
static consm_status new_transpose(struct csr *b)
{
    consm_status st = CONSM_OK;
    struct csr *t;
    TRY(ZNEW(t, 1));
    *t = *b;
    t->borrowed = true;
    t->t = NULL;
    b->t = t;
    t->val = mem_sparse_alloc((size_t)b->nnz, sizeof *t->val);
    if (!t->val)
        TRY(CONSM_ENOMEM);
done:
    return st;
}

static consm_status add_transpose(struct csr *b, const double *scale)
{
    consm_status st = CONSM_OK;
    TRY(new_transpose(b));
    struct csr *t = b->t;
    for (int64_t r = b->partition->low; r < b->partition->high; r++)
        for (int64_t k = b->start[r]; k < b->start[r + 1]; k++)
            t->val[k] = (float)(scale[b->col[k]] * b->val[k] * scale[r]);
done:
    return st;
}

consm_status partition_normalize(struct csr **out, const struct csr *a, bool loops)
{
    consm_status st = CONSM_OK;
    struct csr *b = NULL;
    double *scale = NULL;
    *out = NULL;
    TRY(NEW(scale, a->rows));
    TRY(copy_share(&b, a, loops, scale));
    for (int64_t r = a->partition->low; r < a->partition->high; r++)
        scale[r] = scale[r] > 0 ? 1 / sqrt(scale[r]) : 0;
    TRY(a->partition->gather(scale, sizeof *scale));
    if (a->val)
        TRY(add_transpose(b, scale));
    csr_scale_ends(b, scale, a->partition->low, a->partition->high);
    *out = b;
    b = NULL;
done:
    mem_free(scale);
    csr_free(b);
    return st;
}

consm_status partition_mean(struct csr **out, const struct csr *a)
{
    consm_status st = CONSM_OK;
    const struct partition *partition = a->partition;
    struct csr *b = NULL;
    double *sum = NULL;
    int64_t lonely = 0;
    *out = NULL;
    for (int64_t r = 0; r < a->rows; r++)
        lonely += a->start[r] == a->start[r + 1];
    TRY(partition_csr(&b, partition, a->rows, a->rows, a->nnz + lonely, true));
    TRY(new_transpose(b));
    for (int64_t r = 0; r < a->rows; r++)
        b->start[r + 1] =
            b->start[r] + (a->start[r] < a->start[r + 1] ? a->start[r + 1] - a->start[r] : 1);
    TRY(NEW(sum, a->rows));
    for (int64_t r = partition->low; r < partition->high; r++) {
        int64_t at = b->start[r];
        b->col[at] = (int32_t)r; /* of one without neighbours, whose mean is its own */
        b->val[at] = 1;
        sum[r] = a->start[r] == a->start[r + 1];
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++, at++) {
            b->col[at] = a->col[k];
            b->val[at] = a->val ? a->val[k] : 1;
            sum[r] += b->val[at];
        }
    }
    TRY(partition->gather(sum, sizeof *sum));
    for (int64_t r = partition->low; r < partition->high; r++)
        for (int64_t k = b->start[r]; k < b->start[r + 1]; k++) {
            double of_column = sum[b->col[k]], weight = (double)b->val[k];
            b->t->val[k] = of_column != 0 ? (float)(weight / of_column) : 0;
            b->val[k] = sum[r] != 0 ? (float)(weight / sum[r]) : 0;
        }
    *out = b;
    b = NULL;
done:
    mem_free(sum);
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

static bool is_here(const struct partition *partition, int64_t row)
{
    return row >= partition->low && row < partition->high;
}

/* ---- the other direction of an edge ---- */

struct entry_record {
    int32_t row, col;
    int64_t entry;
};

/* Entry (r, c) of the partition is number k, which the owner of c wants to know of its entry (c,
 * r). */
static void list_entries(struct entry_record *record, int64_t *next, const struct csr *a)
{
    const struct partition *partition = a->partition;
    for (int64_t r = partition->low; r < partition->high; r++)
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
            if (!is_here(partition, a->col[k]))
                record[next[partition_owner(partition, a->col[k])]++] =
                    (struct entry_record){a->col[k], (int32_t)r, k};
}

/* send (parts+1): how many entries have their other end with each process. */
static void count_outside(int64_t *send, const struct csr *a)
{
    const struct partition *partition = a->partition;
    for (int64_t k = a->start[partition->low]; k < a->start[partition->high]; k++)
        if (!is_here(partition, a->col[k]))
            send[partition_owner(partition, a->col[k]) + 1]++;
    for (int p = 0; p < partition->parts; p++)
        send[p + 1] += send[p];
}

/* t_entry of the entry (row, col) becomes number k. */
static consm_status note_entry(struct csr *a, int64_t row, int32_t col, int64_t k)
{
    int64_t at = csr_find(a, row, col);
    if (at < 0)
        return status_fail(CONSM_EFORMAT, "an edge from %lld to %d in one direction only",
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
            if (is_here(partition, a->col[k]))
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
