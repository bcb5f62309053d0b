/* Nodes two steps apart in a graph whose rows are spread over processes: each process makes the
 * rows of its partition, from its own rows and those of its neighbours elsewhere, which are sent
 * for.
 */
#include "graph/partition.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

/* Row r into found; mark[v] == r+1 means that v was met or is excluded. */
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

/* All rows of the partition into a growing list; length (rows) of each. a has the neighbours' rows.
 */
static consm_status collect(int32_t **out, int64_t *length, const struct csr *a)
{
    consm_status st = CONSM_OK;
    int32_t *found = NULL;
    int64_t *mark = NULL, used = 0;
    size_t capacity = 0;
    TRY(NEW(found, a->rows));
    TRY(ZNEW(mark, a->rows));
    for (int64_t r = a->partition->low; r < a->partition->high; r++) {
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

consm_status partition_two_hop(struct csr **out, const struct csr *a)
{
    consm_status st = CONSM_OK;
    const struct partition *partition = a->partition;
    struct row_halo *halo = NULL;
    struct csr *near = NULL, *b = NULL;
    int64_t *length = NULL, entries = 0;
    int32_t *list = NULL;
    *out = NULL;
    TRY(partition_neighbours(&halo, a));
    TRY(partition_near(&near, a, halo));
    TRY(NEW(length, a->rows));
    TRY(collect(&list, length, near));
    TRY(partition->gather(length, sizeof *length));
    for (int64_t r = 0; r < a->rows; r++)
        entries += length[r];
    TRY(partition_csr(&b, partition, a->rows, a->rows, entries, false));
    for (int64_t r = 0; r < a->rows; r++)
        b->start[r + 1] = b->start[r] + length[r];
    int64_t first = b->start[partition->low];
    if (list)
        memcpy(b->col + first, list, (size_t)(b->start[partition->high] - first) * sizeof *list);
    *out = b;
    b = NULL;
done:
    csr_free(b);
    csr_free(near);
    row_halo_free(halo);
    mem_free(length);
    mem_free(list);
    return st;
}
