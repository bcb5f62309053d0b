/* The normalised matrices of graph convolutions. For a graph in parts each process makes its own
 * rows; it needs one number for every other row, which all processes exchange. Such a matrix is
 * symmetric and has no loops; its transpose is made here. */
#include "graph/partition.h"

#include <math.h>

/* A matrix of a's shape with values and room for `entries` entries. */
static consm_status make(struct csr **out, const struct csr *a, int64_t entries)
{
    return partition_csr(out, a->partition, a->rows, a->cols, entries, true);
}

static void put(struct csr *b, int64_t *at, int64_t column, float value)
{
    b->col[*at] = (int32_t)column;
    b->val[(*at)++] = value;
}

/* Copies a's rows; with loops, adds each diagonal entry or raises it by one. */
static consm_status copy_with_loops(struct csr **out, const struct csr *a, bool loops)
{
    consm_status st = CONSM_OK;
    struct csr *b;
    TRY(make(out, a, a->nnz + (loops ? a->rows : 0)));
    b = *out;
    for (int64_t r = 0; r <= a->rows; r++)
        b->start[r] = a->start[r] + (loops ? r : 0);
    int64_t at = b->start[csr_low(a)];
    for (int64_t r = csr_low(a); r < csr_high(a); r++) {
        bool pending = loops;
        b->start[r] = at;
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++) {
            float weight = a->val ? a->val[k] : 1;
            if (pending && a->col[k] > r)
                put(b, &at, r, 1);
            else if (pending && a->col[k] == r)
                weight += 1;
            pending = pending && a->col[k] < r;
            put(b, &at, a->col[k], weight);
        }
        if (pending)
            put(b, &at, r, 1);
    }
    b->start[csr_high(a)] = at;
    if (!a->partition)
        b->nnz = at;
done:
    return st;
}

consm_status csr_add_loops(struct csr **out, const struct csr *a)
{
    consm_status st = CONSM_OK;
    *out = NULL;
    TRY(copy_with_loops(out, a, true));
    (*out)->symmetric = a->symmetric;
    if (a->partition)
        (*out)->t = *out;
done:
    return st;
}

static double row_sum(const struct csr *a, int64_t r)
{
    double sum = a->val ? 0 : (double)(a->start[r + 1] - a->start[r]);
    for (int64_t k = a->start[r]; a->val && k < a->start[r + 1]; k++)
        sum += a->val[k];
    return sum;
}

/* The transpose of a matrix in parts whose values differ between the two ends. */
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

/* Weights times factors in double round differently from the two ends. */
static consm_status scale_transpose(struct csr *b, const double *scale)
{
    consm_status st = CONSM_OK;
    TRY(new_transpose(b));
    for (int64_t r = csr_low(b); r < csr_high(b); r++)
        for (int64_t k = b->start[r]; k < b->start[r + 1]; k++)
            b->t->val[k] = (float)(scale[b->col[k]] * b->val[k] * scale[r]);
done:
    return st;
}

static void scale_ends(struct csr *a, const double *scale)
{
    for (int64_t r = csr_low(a); r < csr_high(a); r++)
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
            a->val[k] = (float)(scale[r] * a->val[k] * scale[a->col[k]]);
}

/* Sums over the row with its loop in place, in column order. Without weights the sum is a count:
 * the columns need not be read. */
double csr_gcn_factor(const struct csr_row *row, int64_t self, bool loops)
{
    bool pending = loops;
    double sum = row->val ? 0 : (double)row->count;
    for (int64_t k = 0; row->val && k < row->count; k++) {
        float weight = row->val[k];
        if (pending && row->col[k] > self)
            sum += 1;
        else if (pending && row->col[k] == self)
            weight += 1;
        pending = pending && row->col[k] < self;
        sum += weight;
    }
    sum += pending;
    return sum > 0 ? 1 / sqrt(sum) : 0;
}

consm_status csr_gcn_normalize_by(struct csr **out, const struct csr *a, bool loops,
                                  const double *factor)
{
    consm_status st = copy_with_loops(out, a, loops);
    if (st == CONSM_OK)
        scale_ends(*out, factor);
    return st;
}

consm_status csr_gcn_normalize(struct csr **out, const struct csr *a, bool loops)
{
    consm_status st = CONSM_OK;
    struct csr *b = NULL;
    double *scale = NULL;
    *out = NULL;
    if (a->rows != a->cols)
        return status_fail(CONSM_EINVAL,
                           "normalising needs a square matrix, but this one is %lld x %lld",
                           (long long)a->rows, (long long)a->cols);
    TRY(copy_with_loops(&b, a, loops));
    TRY(NEW(scale, a->rows));
    const struct csr_rows rows = {.base = a};
    for (int64_t r = csr_low(a); r < csr_high(a); r++) {
        const struct csr_row row = csr_row(&rows, r);
        scale[r] = csr_gcn_factor(&row, r, loops);
    }
    TRY(partition_gather(a->partition, scale, sizeof *scale));
    if (a->partition && a->val)
        TRY(scale_transpose(b, scale));
    else if (a->partition)
        b->t = b;
    scale_ends(b, scale);
    b->symmetric = a->symmetric && !a->val; /* weights round differently from the two ends */
    *out = b;
    b = NULL;
done:
    mem_free(scale);
    csr_free(b);
    return st;
}

consm_status csr_row_normalize(struct csr **out, const struct csr *a)
{
    consm_status st = CONSM_OK;
    *out = NULL;
    TRY(copy_with_loops(out, a, false));
    for (int64_t r = csr_low(a); r < csr_high(a); r++) {
        double sum = row_sum(a, r);
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
            (*out)->val[k] = sum != 0 ? (float)((*out)->val[k] / sum) : 0;
    }
done:
    return st;
}

consm_status csr_scale_columns(struct csr **out, const struct csr *a, const float *factor)
{
    consm_status st = CONSM_OK;
    *out = NULL;
    TRY(copy_with_loops(out, a, false));
    for (int64_t k = a->start[csr_low(a)]; k < a->start[csr_high(a)]; k++)
        (*out)->val[k] *= factor[a->col[k]];
done:
    return st;
}

consm_status csr_neighbour_mean(struct csr **out, const struct csr *a)
{
    consm_status st = CONSM_OK;
    struct csr *b = NULL;
    double *sum = NULL;
    int64_t lonely = 0;
    *out = NULL;
    for (int64_t r = 0; r < a->rows; r++)
        lonely += a->start[r] == a->start[r + 1];
    TRY(make(&b, a, a->nnz + lonely));
    for (int64_t r = 0; r < a->rows; r++)
        b->start[r + 1] =
            b->start[r] + (a->start[r] < a->start[r + 1] ? a->start[r + 1] - a->start[r] : 1);
    TRY(NEW(sum, a->rows));
    for (int64_t r = csr_low(a); r < csr_high(a); r++) {
        int64_t at = b->start[r];
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
            put(b, &at, a->col[k], a->val ? a->val[k] : 1);
        if (a->start[r] == a->start[r + 1])
            put(b, &at, r, 1);
        sum[r] = row_sum(b, r);
    }
    TRY(partition_gather(a->partition, sum, sizeof *sum));
    if (a->partition)
        TRY(new_transpose(b));
    for (int64_t r = csr_low(a); r < csr_high(a); r++)
        for (int64_t k = b->start[r]; k < b->start[r + 1]; k++) {
            double of_column = sum[b->col[k]], weight = (double)b->val[k];
            if (a->partition)
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
