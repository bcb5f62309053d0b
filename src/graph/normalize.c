/* The normalised adjacency matrices that graph convolutions multiply with. */
#include "graph/csr.h"

#include <math.h>

/* Copies a's rows, each with its diagonal entry added (or raised by one) when loops is set. */
static consm_status copy_with_loops(struct csr **out, const struct csr *a, bool loops)
{
    consm_status st = CONSM_OK;
    struct csr *b = NULL;
    int64_t at = 0;
    TRY(csr_new(&b, a->rows, a->cols, a->nnz + (loops ? a->rows : 0), true));
    for (int64_t r = 0; r < a->rows; r++) {
        bool pending = loops;
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++) {
            float weight = a->val ? a->val[k] : 1;
            if (pending && a->col[k] >= r) {
                pending = false;
                if (a->col[k] > r) {
                    b->col[at] = (int32_t)r;
                    b->val[at++] = 1;
                } else {
                    weight += 1;
                }
            }
            b->col[at] = a->col[k];
            b->val[at++] = weight;
        }
        if (pending) {
            b->col[at] = (int32_t)r;
            b->val[at++] = 1;
        }
        b->start[r + 1] = at;
    }
    b->nnz = at;
    *out = b;
    b = NULL;
done:
    csr_free(b);
    return st;
}

consm_status csr_add_loops(struct csr **out, const struct csr *a)
{
    return copy_with_loops(out, a, true);
}

void csr_scale_ends(struct csr *a, const double *scale, int64_t low, int64_t high)
{
    for (int64_t r = low; r < high; r++)
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
            a->val[k] = (float)(scale[r] * a->val[k] * scale[a->col[k]]);
}

consm_status csr_gcn_normalize(struct csr **out, const struct csr *a, bool loops)
{
    consm_status st = CONSM_OK;
    struct csr *b = NULL;
    double *scale = NULL;
    *out = NULL;
    if (a->rows != a->cols)
        return status_fail(CONSM_EINVAL,
                           "normalising needs a square matrix, this one is %lld x %lld",
                           (long long)a->rows, (long long)a->cols);
    TRY(copy_with_loops(&b, a, loops));
    TRY(NEW(scale, a->rows));
    csr_row_sums(scale, b);
    for (int64_t r = 0; r < a->rows; r++)
        scale[r] = scale[r] > 0 ? 1 / sqrt(scale[r]) : 0;
    csr_scale_ends(b, scale, 0, a->rows);
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
    double *sum = NULL;
    *out = NULL;
    TRY(copy_with_loops(out, a, false));
    TRY(NEW(sum, a->rows));
    csr_row_sums(sum, a);
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
            (*out)->val[k] = sum[r] != 0 ? (float)((*out)->val[k] / sum[r]) : 0;
done:
    mem_free(sum);
    if (st < 0) {
        csr_free(*out);
        *out = NULL;
    }
    return st;
}
