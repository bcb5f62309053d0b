/* Index lists and their inverse, by counting sort. */
#include "program/index.h"

#include <string.h>

/* row: NULL for rows of its own. */
static consm_status make(struct index **out, int32_t *row, int64_t count, int64_t targets)
{
    consm_status st = CONSM_OK;
    struct index *index;
    *out = NULL;
    if (count > INT32_MAX) /* of item */
        return status_fail(CONSM_ELIMIT, "an index of %lld entries: at most %d are possible",
                           (long long)count, INT32_MAX);
    TRY(ZNEW(index, 1));
    index->count = count;
    index->targets = targets;
    index->borrowed = row != NULL;
    index->row = row;
    if (!row)
        TRY(ZNEW(index->row, count));
    TRY(ZNEW(index->start, targets + 1));
    TRY(ZNEW(index->item, count));
    if (targets > 0)
        TRY(index_set(index, index->row));
    *out = index;
    return CONSM_OK;
done:
    index_free(index);
    return st;
}

consm_status index_new(struct index **out, int64_t count, int64_t targets)
{
    return make(out, NULL, count, targets);
}

consm_status index_of(struct index **out, int32_t *row, int64_t count, int64_t targets)
{
    return make(out, row, count, targets);
}

void index_free(struct index *index)
{
    if (!index)
        return;
    if (!index->borrowed)
        mem_free(index->row);
    mem_free(index->start);
    mem_free(index->item);
    mem_free(index);
}

consm_status index_set_rows(struct index *index, const int32_t *rows)
{
    if (index->borrowed && rows != index->row)
        return status_fail(CONSM_EPROGRAM, "the index is of rows that belong to someone else");
    for (int64_t k = 0; k < index->count; k++)
        if (rows[k] < 0 || rows[k] >= index->targets)
            return status_fail(CONSM_EINVAL, "index entry %lld is row %d: expected 0 to %lld",
                               (long long)k, rows[k], (long long)index->targets - 1);
    if (rows != index->row)
        memcpy(index->row, rows, (size_t)index->count * sizeof *rows);
    index->version++;
    return CONSM_OK;
}

consm_status index_set(struct index *index, const int32_t *rows)
{
    int64_t *start = index->start;
    consm_status st = index_set_rows(index, rows);
    if (st < 0)
        return st;
    memset(start, 0, (size_t)(index->targets + 1) * sizeof *start);
    for (int64_t k = 0; k < index->count; k++)
        start[rows[k] + 1]++;
    for (int64_t r = 0; r < index->targets; r++)
        start[r + 1] += start[r];
    for (int64_t k = 0; k < index->count; k++)
        index->item[start[index->row[k]]++] = (int32_t)k;
    for (int64_t r = index->targets; r > 0; r--)
        start[r] = start[r - 1];
    start[0] = 0;
    return CONSM_OK;
}
