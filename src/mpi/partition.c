/* Data in parts: the owners of the graph's rows, before any program exists, and arrays of which
 * every rank has its own rows. Programs read such an array like any value that ranks have computed:
 * the rows of others are fetched. */
#include "mpi/inside.h"

#include <limits.h>
#include <string.h>

static consm_status gather(const int64_t *cut, void *array, size_t bytes)
{
    int size = world.ranks.size, *count = world.count, *first = count + size;
    MPI_Datatype row;
    MPI_Request here;
    for (int p = 0; p < size; p++) {
        first[p] = (int)cut[p];
        count[p] = (int)(cut[p + 1] - cut[p]);
    }
    MPI_Type_contiguous((int)bytes, MPI_BYTE, &row);
    MPI_Type_commit(&row);
    MPI_Iallgatherv(MPI_IN_PLACE, 0, row, array, count, first, row, world.comm, &here);
    wait_all(&here, 1);
    MPI_Type_free(&row);
    return CONSM_OK;
}

static uint64_t total(uint64_t mine)
{
    uint64_t all;
    MPI_Request here;
    MPI_Iallreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, world.comm, &here);
    wait_all(&here, 1);
    return all;
}

/* Converts counts and starts of each rank's records to MPI's int. */
static bool as_ints(int *count, int *first, const int64_t *at)
{
    for (int p = 0; p < world.ranks.size; p++) {
        if (at[p + 1] > INT_MAX)
            return false;
        first[p] = (int)at[p];
        count[p] = (int)(at[p + 1] - at[p]);
    }
    return true;
}

static consm_status swap(void **out, int64_t *got, const void *record, const int64_t *send,
                         size_t bytes)
{
    consm_status st = CONSM_OK;
    int size = world.ranks.size;
    size_t places = (size_t)size;
    int *count = world.os->zalloc(4 * places, sizeof *count), *first, *theirs, *from;
    MPI_Datatype type;
    MPI_Request here;
    *out = NULL;
    if (!count)
        return CONSM_ENOMEM;
    first = count + size;
    theirs = first + size;
    from = theirs + size;
    bool fits = as_ints(count, first, send);
    MPI_Ialltoall(count, 1, MPI_INT, theirs, 1, MPI_INT, world.comm, &here);
    wait_all(&here, 1);
    got[0] = 0;
    for (int p = 0; p < size; p++)
        got[p + 1] = got[p] + theirs[p];
    if (total(!fits || !as_ints(theirs, from, got)) > 0)
        TRY(world.os->fail(CONSM_ELIMIT,
                           "a rank has more than 2^31 records for the others: use more ranks"));
    *out = world.os->zalloc((size_t)got[size] + 1, bytes);
    if (!*out)
        TRY(CONSM_ENOMEM);
    MPI_Type_contiguous((int)bytes, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Ialltoallv(record, count, first, type, *out, theirs, from, type, world.comm, &here);
    wait_all(&here, 1);
    MPI_Type_free(&type);
done:
    world.os->free(count);
    return st;
}

/* counts, first: the number of rows of the list that each rank has, and their start in it. */
static void count_rows(int *counts, int *first, const struct axis *axis, const int32_t *row,
                       int64_t count)
{
    int64_t k = 0;
    for (int p = 0; p < world.ranks.size; p++) {
        first[p] = (int)k;
        while (k < count && row[k] < axis->cut[p + 1])
            k++;
        counts[p] = (int)k - first[p];
    }
}

consm_status partition_download(struct divided *d, float *to, const float *from,
                                const struct value *v, const int32_t *row, int64_t count)
{
    int size = world.ranks.size, me = world.ranks.rank, *counts = world.count,
        *first = counts + size;
    size_t bytes = (size_t)v->cols * sizeof(float), all = (size_t)count * bytes;
    int64_t low = axis_low(v->axis), rows = axis_high(v->axis) - low;
    MPI_Datatype type = row_type(v->cols);
    MPI_Request here;
    if (all > d->room) {
        world.os->free(d->packed);
        d->packed = world.os->zalloc(1, all);
        d->room = d->packed ? all : 0;
        if (!d->packed)
            return CONSM_ENOMEM;
    }
    count_rows(counts, first, v->axis, row, count);
    for (int64_t k = first[me]; k < first[me] + counts[me]; k++)
        memcpy(d->packed + k * v->cols, from + row[k] * v->cols, bytes);
    world.sent += counts[me] * v->cols * (int64_t)sizeof(float) * (size - 1);
    MPI_Iallgatherv(MPI_IN_PLACE, 0, type, d->packed, counts, first, type, world.comm, &here);
    wait_all(&here, 1);
    memcpy(to + low * v->cols, from + low * v->cols, (size_t)rows * bytes);
    for (int64_t k = 0; k < count; k++)
        memcpy(to + row[k] * v->cols, d->packed + k * v->cols, bytes);
    return CONSM_OK;
}

void partition_join(struct ranks *ranks)
{
    ranks->swap = swap;
    ranks->gather = gather;
    ranks->total = total;
}

consm_status partition_leaves(struct compiled *c)
{
    const struct planned *plan = c->plan;
    c->leaf_value = world.os->zalloc((size_t)plan->leaves + 1, sizeof *c->leaf_value);
    for (int32_t i = 0; c->leaf_value && i < plan->leaves; i++) {
        const struct leaf *leaf = &plan->leaf[i];
        if (!leaf->partition)
            continue;
        int64_t rows = leaf->partition->cut[leaf->partition->parts];
        c->leaf_value[i] = (struct value){.rows = rows,
                                          .cols = rows > 0 ? leaf->count / rows : 0,
                                          .axis = axis_find(c->owner, rows),
                                          .once = leaf->constant};
    }
    return c->leaf_value ? CONSM_OK : CONSM_ENOMEM;
}

bool partition_index(const struct divided *d, const struct index *index)
{
    return !index || index->fixed || d->in_parts;
}

consm_status partition_allow(const struct instr *in)
{
    const struct partition *partition = in->attr.csr ? in->attr.csr->partition : NULL;
    if (!partition || partition->high - partition->low == in->attr.csr->rows)
        return CONSM_OK;
    return world.os->fail(CONSM_EINVAL, "this model reads all edges at once, but the graph is in "
                                        "parts: omit --in-parts, or train on graph.safetensors "
                                        "from its folder");
}
