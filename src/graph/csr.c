/* Building and searching CSR matrices, by counting sorts: O(rows + entries). */
#include "graph/csr.h"

#include "graph/partition.h"
#include <stdatomic.h>
#include <string.h>

consm_status csr_new(struct csr **out, int64_t rows, int64_t cols, int64_t nnz, bool weighted)
{
    consm_status st = CONSM_OK;
    static atomic_uint_fast64_t made;
    struct csr *a;
    *out = NULL;
    if (rows < 0 || cols < 0 || nnz < 0 || rows >= INT32_MAX || cols >= INT32_MAX)
        return status_fail(
            CONSM_ELIMIT,
            "a sparse matrix of %lld x %lld with %lld entries is too large or negative",
            (long long)rows, (long long)cols, (long long)nnz);
    TRY(ZNEW(a, 1));
    a->rows = rows;
    a->cols = cols;
    a->nnz = nnz;
    a->serial = 1 + atomic_fetch_add(&made, 1);
    TRY(ZNEW(a->start, rows + 1));
    TRY(NEW(a->col, nnz));
    if (weighted)
        TRY(NEW(a->val, nnz));
    *out = a;
    return CONSM_OK;
done:
    csr_free(a);
    return st;
}

void csr_touch(struct csr *a)
{
    a->version++;
}

void csr_drop_transpose(struct csr *a)
{
    if (a->t && a->t != a && a->t->borrowed) /* it owns only its values */
        mem_sparse_free(a->t->val);
    if (a->t != a)
        csr_free(a->t);
    a->t = NULL;
    partition_room_free(a->partition, a->t_entry);
    a->t_entry = NULL;
}

void csr_free(struct csr *a)
{
    if (!a)
        return;
    csr_drop_transpose(a);
    if (!a->borrowed) {
        mem_free(a->start);
        partition_room_free(a->partition, a->col);
        partition_room_free(a->partition, a->val);
    }
    mem_free(a);
}

/* Turns counts in start[1…rows] into offsets. */
static void counts_to_offsets(int64_t *start, int64_t rows)
{
    for (int64_t r = 0; r < rows; r++)
        start[r + 1] += start[r];
}

/* The weight of entries k … end-1, which are repeats of one place. They are in list order in the
 * row and in its mirror, so that both get the same bits. */
static float merge_weights(const struct csr *a, int64_t k, int64_t end, unsigned policy)
{
    double sum = 0;
    float plain = 0;
    if (!(policy & (CSR_SUM_REPEATS | CSR_MEAN_REPEATS)))
        return a->val[k];
    for (int64_t i = k; i < end; i++) {
        sum += (double)a->val[i];
        plain += a->val[i];
    }
    return policy & CSR_MEAN_REPEATS ? (float)(sum / (double)(end - k)) : plain;
}

/* Removes repeats inside each row; rows are sorted, and entries of one column are in list order.
 * Returns the number of removed entries; *differ: places with more than one weight. */
static int64_t merge_repeats(struct csr *a, unsigned policy, int64_t *differ)
{
    int64_t out = 0;
    *differ = 0;
    for (int64_t r = 0; r < a->rows; r++) {
        int64_t from = a->start[r], to = a->start[r + 1];
        a->start[r] = out;
        for (int64_t k = from, end; k < to; k = end) {
            bool same = true;
            for (end = k + 1; end < to && a->col[end] == a->col[k]; end++)
                same &= !a->val || a->val[end] == a->val[k];
            *differ += !same;
            a->col[out] = a->col[k];
            if (a->val)
                a->val[out] = end == k + 1 ? a->val[k] : merge_weights(a, k, end, policy);
            out++;
        }
    }
    int64_t removed = a->nnz - out;
    a->start[a->rows] = out;
    a->nnz = out;
    return removed;
}

/* An undirected list has 2·count entries: each edge, followed by its reverse. */
struct edge_list {
    bool undirected;
    const int32_t *from, *to;
    const float *weight;
    bool drop_loops;
};

static bool edge_at(const struct edge_list *list, int64_t k, int32_t *row, int32_t *col,
                    float *weight)
{
    bool back = list->undirected && k % 2 == 1;
    int64_t e = list->undirected ? k / 2 : k;
    *row = back ? list->to[e] : list->from[e];
    *col = back ? list->from[e] : list->to[e];
    *weight = list->weight ? list->weight[e] : 1;
    return !(*row == *col && (list->drop_loops || back));
}

/* Sorts the list into a by columns, then stably by rows: two counting sorts. */
static consm_status sort_edges(struct csr *a, const struct edge_list *list, int64_t length)
{
    consm_status st = CONSM_OK;
    int64_t *slot = NULL;
    int32_t *row = NULL, *col = NULL, r, c;
    float *val = NULL, w;
    int64_t kept = 0;
    TRY(ZNEW(slot, (a->rows > a->cols ? a->rows : a->cols) + 1));
    for (int64_t k = 0; k < length; k++)
        if (edge_at(list, k, &r, &c, &w)) {
            slot[c + 1]++;
            kept++;
        }
    counts_to_offsets(slot, a->cols);
    TRY(NEW(row, kept));
    TRY(NEW(col, kept));
    if (a->val)
        TRY(NEW(val, kept));
    for (int64_t k = 0; k < length; k++)
        if (edge_at(list, k, &r, &c, &w)) {
            int64_t at = slot[c]++;
            row[at] = r;
            col[at] = c;
            if (val)
                val[at] = w;
        }
    for (int64_t k = 0; k < kept; k++)
        a->start[row[k] + 1]++;
    counts_to_offsets(a->start, a->rows);
    memcpy(slot, a->start, (size_t)a->rows * sizeof *slot);
    for (int64_t k = 0; k < kept; k++) {
        int64_t at = slot[row[k]]++;
        a->col[at] = col[k];
        if (val)
            a->val[at] = val[k];
    }
    a->nnz = kept;
done:
    mem_free(slot);
    mem_free(row);
    mem_free(col);
    mem_free(val);
    return st;
}

static consm_status check_ends(int64_t rows, int64_t cols, int64_t count, const int32_t *from,
                               const int32_t *to)
{
    for (int64_t e = 0; e < count; e++)
        if (from[e] < 0 || from[e] >= rows || to[e] < 0 || to[e] >= cols)
            return status_fail(CONSM_EINVAL,
                               "edge %lld joins %d and %d: expected nodes below %lld and %lld",
                               (long long)e, from[e], to[e], (long long)rows, (long long)cols);
    return CONSM_OK;
}

consm_status csr_from_edges(struct csr **out, int64_t rows, int64_t cols, int64_t count,
                            const int32_t *from, const int32_t *to, const float *weight,
                            unsigned policy, struct edge_facts *facts)
{
    consm_status st = CONSM_OK;
    struct csr *a = NULL;
    bool undirected = policy & CSR_UNDIRECTED;
    struct edge_list list = {undirected, from, to, weight, policy & CSR_DROP_LOOPS};
    int64_t length = undirected ? 2 * count : count, loops = 0, differ;
    *out = NULL;
    TRY(check_ends(rows, cols, count, from, to));
    TRY(csr_new(&a, rows, cols, length, weight != NULL));
    TRY(sort_edges(a, &list, length));
    a->symmetric = undirected;
    int64_t repeats = merge_repeats(a, policy, &differ);
    if (facts) {
        for (int64_t e = 0; e < count; e++)
            loops += from[e] == to[e];
        *facts = (struct edge_facts){.stored = count,
                                     .loops = loops,
                                     .repeats = undirected ? repeats / 2 : repeats,
                                     .differ = undirected ? differ / 2 : differ,
                                     .kept = a->nnz};
    }
    *out = a;
    a = NULL;
done:
    csr_free(a);
    return st;
}

consm_status csr_from_dense(struct csr **out, const float *dense, int64_t rows, int64_t cols)
{
    consm_status st = CONSM_OK;
    int64_t nnz = 0;
    struct csr *a = NULL;
    *out = NULL;
    for (int64_t k = 0; k < rows * cols; k++)
        nnz += dense[k] != 0;
    TRY(csr_new(&a, rows, cols, nnz, true));
    nnz = 0;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < cols; c++)
            if (dense[r * cols + c] != 0) {
                a->col[nnz] = (int32_t)c;
                a->val[nnz++] = dense[r * cols + c];
            }
        a->start[r + 1] = nnz;
    }
    *out = a;
    a = NULL;
done:
    csr_free(a);
    return st;
}

int64_t csr_find(const struct csr *a, int64_t row, int32_t col)
{
    int64_t low = a->start[row], high = a->start[row + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (a->col[middle] < col)
            low = middle + 1;
        else
            high = middle;
    }
    return low < a->start[row + 1] && a->col[low] == col ? low : -1;
}

void csr_entry_rows(int32_t *row, const struct csr *a)
{
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
            row[k] = (int32_t)r;
}

consm_status csr_submatrix(struct csr **out, const struct csr *a, const int32_t *keep_rows,
                           int64_t row_count, const int32_t *keep_cols, int64_t col_count)
{
    consm_status st = CONSM_OK;
    struct csr *sub = NULL;
    int32_t *new_col = NULL;
    int64_t nnz = 0;
    *out = NULL;
    if (!keep_rows)
        row_count = a->rows;
    if (!keep_cols)
        col_count = a->cols;
    TRY(NEW(new_col, a->cols));
    for (int64_t c = 0; c < a->cols; c++)
        new_col[c] = keep_cols ? -1 : (int32_t)c;
    for (int64_t i = 0; keep_cols && i < col_count; i++)
        new_col[keep_cols[i]] = (int32_t)i;
    for (int64_t i = 0; i < row_count; i++) {
        int64_t r = keep_rows ? keep_rows[i] : i;
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
            nnz += new_col[a->col[k]] >= 0;
    }
    TRY(csr_new(&sub, row_count, col_count, nnz, a->val != NULL));
    nnz = 0;
    for (int64_t i = 0; i < row_count; i++) {
        int64_t r = keep_rows ? keep_rows[i] : i;
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++) {
            if (new_col[a->col[k]] < 0)
                continue;
            sub->col[nnz] = new_col[a->col[k]];
            if (sub->val)
                sub->val[nnz] = a->val[k];
            nnz++;
        }
        sub->start[i + 1] = nnz;
    }
    *out = sub;
    sub = NULL;
done:
    mem_free(new_col);
    csr_free(sub);
    return st;
}
