/* The strict two-hop graph, row by row, with a mark per node. For a graph in parts each process
 * makes its own rows, from these and from rows of neighbours elsewhere, which it fetches. */
#include "base/order.h"
#include "graph/partition.h"

#include <stdlib.h>
#include <string.h>

/* Collects row r into found; mark[v] == r+1: v was found already or is excluded. */
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
    qsort(found, (size_t)count, sizeof *found, order_int32);
    return count;
}

/* Collects the rows that are here into a growing list; length (rows) of each. */
static consm_status collect(int32_t **out, int64_t *length, const struct csr *a)
{
    consm_status st = CONSM_OK;
    int32_t *found = NULL;
    int64_t *mark = NULL, used = 0;
    size_t capacity = 0;
    TRY(NEW(found, a->rows));
    TRY(ZNEW(mark, a->rows));
    for (int64_t r = csr_low(a); r < csr_high(a); r++) {
        length[r] = collect_row(found, mark, a, r);
        TRY(GROW(*out, used, capacity, length[r] + 1));
        memcpy(*out + used, found, (size_t)length[r] * sizeof *found);
        used += length[r];
    }
done:
    mem_free(found);
    mem_free(mark);
    return st;
}

/* A pattern with rows of these lengths; the list holds those that are here. Takes the list over if
 * it is complete. */
static consm_status pattern(struct csr **out, const struct csr *a, const int64_t *length,
                            int32_t **list)
{
    consm_status st = CONSM_OK;
    int64_t entries = 0;
    for (int64_t r = 0; r < a->rows; r++)
        entries += length[r];
    if (a->partition)
        TRY(partition_csr(out, a->partition, a->rows, a->rows, entries, false));
    else
        TRY(csr_new(out, a->rows, a->cols, 0, false));
    struct csr *b = *out;
    for (int64_t r = 0; r < a->rows; r++)
        b->start[r + 1] = b->start[r] + length[r];
    if (!a->partition) {
        mem_free(b->col);
        b->col = *list;
        b->nnz = entries;
        *list = NULL;
    } else if (*list) {
        int64_t first = b->start[csr_low(a)], last = b->start[csr_high(a)];
        memcpy(b->col + first, *list, (size_t)(last - first) * sizeof **list);
    }
done:
    return st;
}

consm_status csr_strict_two_hop(struct csr **out, const struct csr *a)
{
    consm_status st = CONSM_OK;
    struct row_halo *halo = NULL;
    struct csr *near = NULL;
    int64_t *length = NULL;
    int32_t *list = NULL;
    *out = NULL;
    if (a->partition) {
        TRY(partition_neighbours(&halo, a));
        TRY(partition_near(&near, a, halo));
    }
    TRY(NEW(length, a->rows));
    TRY(collect(&list, length, near ? near : a));
    TRY(partition_gather(a->partition, length, sizeof *length));
    TRY(pattern(out, a, length, &list));
done:
    csr_free(near);
    row_halo_free(halo);
    mem_free(length);
    mem_free(list);
    return st;
}
