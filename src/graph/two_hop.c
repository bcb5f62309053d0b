/* The strict two-hop graph, row by row: a mark per node says when it was last met. */
#include "graph/csr.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

/* Collects row r into found; mark[v] == r+1 means that v was met or is excluded. */
static int64_t collect_row(int32_t *found, int64_t *mark, const struct csr *a, int64_t r)
{
    int64_t count = 0;
    mark[r] = r + 1;
    for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
        mark[a->col[k]] = r + 1;
    for (int64_t k = a->start[r]; k < a->start[r + 1]; k++) {
        int64_t middle = a->col[k];
        for (int64_t l = a->start[middle]; l < a->start[middle + 1]; l++)
            if (mark[a->col[l]] != r + 1) {
                mark[a->col[l]] = r + 1;
                found[count++] = a->col[l];
            }
    }
    qsort(found, (size_t)count, sizeof *found, ascending);
    return count;
}

consm_status csr_strict_two_hop(struct csr **out, const struct csr *a)
{
    consm_status st = CONSM_OK;
    struct csr *b = NULL;
    int32_t *found = NULL;
    int64_t *mark = NULL;
    size_t capacity = 0;
    *out = NULL;
    TRY(NEW(found, a->rows));
    TRY(ZNEW(mark, a->rows));
    TRY(csr_new(&b, a->rows, a->cols, 0, false));
    for (int64_t r = 0; r < a->rows; r++) {
        int64_t count = collect_row(found, mark, a, r);
        TRY(GROW(b->col, b->nnz, capacity, count));
        for (int64_t i = 0; i < count; i++)
            b->col[b->nnz++] = found[i];
        b->start[r + 1] = b->nnz;
    }
    *out = b;
    b = NULL;
done:
    csr_free(b);
    mem_free(found);
    mem_free(mark);
    return st;
}
