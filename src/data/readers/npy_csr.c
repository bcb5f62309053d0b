/* Converts SciPy's indptr, indices, data to struct csr, with all checks. */
#include "data/readers/npy_csr.h"

static const int64_t free_columns = INT64_C(1) << 24;

static consm_status check_starts(const struct csr *a, const struct npy *indptr)
{
    if (a->start[0] != 0)
        return status_fail(CONSM_EFORMAT, "%s: element 0 is %lld: expected 0", indptr->label,
                           (long long)a->start[0]);
    for (int64_t r = 0; r < a->rows; r++)
        if (a->start[r + 1] < a->start[r])
            return status_fail(
                CONSM_EFORMAT,
                "%s: element %lld is %lld: expected at least %lld, the element before it",
                indptr->label, (long long)r + 1, (long long)a->start[r + 1],
                (long long)a->start[r]);
    return CONSM_OK;
}

consm_status npy_csr_entries(struct csr **out, const struct npy_csr *parts)
{
    consm_status st = CONSM_OK;
    struct csr *a = NULL;
    int64_t nnz = parts->indices.count;
    *out = NULL;
    TRY(npy_expect(&parts->indptr, 1, parts->rows + 1, -1));
    TRY(npy_expect(&parts->indices, 1, -1, -1));
    TRY(npy_expect(&parts->data, 1, nnz, -1));
    if (parts->cols > free_columns && parts->cols - free_columns > nnz)
        TRY(status_fail(CONSM_ELIMIT, "%s: %lld columns are too many for %lld entries",
                        parts->indices.label, (long long)parts->cols, (long long)nnz));
    TRY(csr_new(&a, parts->rows, parts->cols, nnz, true));
    TRY(npy_int64(a->start, &parts->indptr, 0, nnz));
    TRY(check_starts(a, &parts->indptr));
    TRY(npy_int32(a->col, &parts->indices, 0, parts->cols - 1));
    TRY(npy_floats(a->val, &parts->data, 0, nnz));
    a->nnz = a->start[a->rows]; /* SciPy may reserve room after the last row */
    *out = a;
    a = NULL;
done:
    csr_free(a);
    return st;
}

static bool ascending(const struct csr *a)
{
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t k = a->start[r] + 1; k < a->start[r + 1]; k++)
            if (a->col[k] <= a->col[k - 1])
                return false;
    return true;
}

consm_status npy_csr_matrix(struct csr **out, const struct npy_csr *parts)
{
    consm_status st = CONSM_OK;
    struct csr *a = NULL;
    int32_t *row = NULL;
    *out = NULL;
    TRY(npy_csr_entries(&a, parts));
    if (ascending(a)) {
        *out = a;
        return CONSM_OK;
    }
    TRY(NEW(row, a->nnz));
    csr_entry_rows(row, a);
    TRY(csr_from_edges(out, a->rows, a->cols, a->nnz, row, a->col, a->val, CSR_SUM_REPEATS, NULL));
done:
    mem_free(row);
    csr_free(a);
    return st;
}
