/* Views of a graph whose rows are spread over processes: each makes the rows of its share. What
 * normalising needs of the other rows is one number each, which all send all. */
#include "graph/csr.h"

#include <math.h>

/* Rows of the share, each with its diagonal entry when loops is set; sums[r] is what is in row r.
 */
static void copy_rows(struct csr *b, const struct csr *a, bool loops, double *sum)
{
    const struct row_share *share = a->share;
    for (int64_t r = share->low; r < share->high; r++) {
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

/* The matrix before normalising, and (rows) the sums of the share's rows. */
static consm_status copy_share(struct csr **out, const struct csr *a, bool loops, double *sum)
{
    consm_status st = CONSM_OK;
    struct csr *b;
    *out = NULL;
    TRY(ZNEW(b, 1));
    b->rows = b->cols = a->rows;
    b->nnz = a->nnz + (loops ? a->rows : 0);
    b->share = a->share;
    TRY(NEW(b->start, a->rows + 1));
    for (int64_t r = 0; r <= a->rows; r++)
        b->start[r] = a->start[r] + (loops ? r : 0);
    b->col = mem_sparse_alloc((size_t)b->nnz, sizeof *b->col);
    b->val = mem_sparse_alloc((size_t)b->nnz, sizeof *b->val);
    if (!b->col || !b->val)
        TRY(CONSM_ENOMEM);
    copy_rows(b, a, loops, sum);
    b->t = b;
    *out = b;
    return CONSM_OK;
done:
    csr_free(b);
    return st;
}

consm_status csr_share_loops(struct csr **out, const struct csr *a)
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
static consm_status add_transpose(struct csr *b, const double *scale)
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
    for (int64_t r = b->share->low; r < b->share->high; r++)
        for (int64_t k = b->start[r]; k < b->start[r + 1]; k++)
            t->val[k] = (float)(scale[b->col[k]] * b->val[k] * scale[r]);
done:
    return st;
}

consm_status csr_share_normalize(struct csr **out, const struct csr *a, bool loops)
{
    consm_status st = CONSM_OK;
    struct csr *b = NULL;
    double *scale = NULL;
    *out = NULL;
    TRY(NEW(scale, a->rows));
    TRY(copy_share(&b, a, loops, scale));
    for (int64_t r = a->share->low; r < a->share->high; r++)
        scale[r] = scale[r] > 0 ? 1 / sqrt(scale[r]) : 0;
    TRY(a->share->gather(scale, sizeof *scale));
    if (a->val)
        TRY(add_transpose(b, scale));
    for (int64_t r = a->share->low; r < a->share->high; r++)
        for (int64_t k = b->start[r]; k < b->start[r + 1]; k++)
            b->val[k] = (float)(scale[r] * b->val[k] * scale[b->col[k]]);
    *out = b;
    b = NULL;
done:
    mem_free(scale);
    csr_free(b);
    return st;
}
