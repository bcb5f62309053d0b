/* Data in parts: the owners of the graph's rows, before any program exists, and arrays of which
 * every rank has its own rows. Programs read such an array like any value that ranks have computed:
 * the rows of others are fetched. */
#include "mpi/inside.h"

#include <limits.h>
#include <string.h>

static consm_status partition_settle(int64_t rows, const int64_t *cut)
{
    struct axis a = {.rows = rows, .cut = (int64_t *)(uintptr_t)cut}, **last = &world.settled;
    while (cut && *last)
        last = &(*last)->next;
    if (cut)
        return axis_copy(last, &a);
    axes_free(world.settled);
    world.settled = NULL;
    return CONSM_OK;
}

static consm_status partition_gather(void *array, size_t bytes)
{
    const struct axis *a = world.settled;
    int size = world.ranks.size, *count = world.count, *first = count + size;
    MPI_Datatype row;
    MPI_Request here;
    for (int p = 0; p < size; p++) {
        first[p] = (int)a->cut[p];
        count[p] = (int)(a->cut[p + 1] - a->cut[p]);
    }
    MPI_Type_contiguous((int)bytes, MPI_BYTE, &row);
    MPI_Type_commit(&row);
    MPI_Iallgatherv(MPI_IN_PLACE, 0, row, array, count, first, row, world.comm, &here);
    wait_all(&here, 1);
    MPI_Type_free(&row);
    return CONSM_OK;
}

static uint64_t partition_total(uint64_t mine)
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

static consm_status partition_swap(void **out, int64_t *got, const void *record,
                                   const int64_t *send, size_t bytes)
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
    if (partition_total(!fits || !as_ints(theirs, from, got)) > 0)
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

static consm_status partition_want(const int32_t *row, int64_t count)
{
    world.wanted.row = row;
    world.wanted.count = count;
    return CONSM_OK;
}

/* count, first: the number of wanted rows of each rank, and their start among all. */
static void count_wanted(int *count, int *first, const struct axis *axis)
{
    const struct wanted *w = &world.wanted;
    int64_t k = 0;
    for (int p = 0; p < world.ranks.size; p++) {
        first[p] = (int)k;
        while (k < w->count && w->row[k] < axis->cut[p + 1])
            k++;
        count[p] = (int)k - first[p];
    }
}

consm_status partition_download(float *to, const float *from, const struct axis *axis, int64_t cols)
{
    struct wanted *w = &world.wanted;
    int size = world.ranks.size, me = world.ranks.rank, *count = world.count, *first = count + size;
    size_t row = (size_t)cols * sizeof(float), bytes = (size_t)w->count * row;
    int64_t low = axis_low(axis), rows = axis_high(axis) - low;
    MPI_Datatype type = row_type(cols);
    MPI_Request here;
    if (bytes > w->room) {
        world.os->free(w->packed);
        w->packed = world.os->zalloc(1, bytes);
        w->room = w->packed ? bytes : 0;
        if (!w->packed)
            return CONSM_ENOMEM;
    }
    count_wanted(count, first, axis);
    for (int64_t k = first[me]; k < first[me] + count[me]; k++)
        memcpy(w->packed + k * cols, from + w->row[k] * cols, row);
    world.sent += count[me] * cols * (int64_t)sizeof(float) * (size - 1);
    MPI_Iallgatherv(MPI_IN_PLACE, 0, type, w->packed, count, first, type, world.comm, &here);
    wait_all(&here, 1);
    memcpy(to + low * cols, from + low * cols, (size_t)rows * row);
    for (int64_t k = 0; k < w->count; k++)
        memcpy(to + w->row[k] * cols, w->packed + k * cols, row);
    return CONSM_OK;
}

void partition_join(struct ranks *ranks)
{
    ranks->want = partition_want;
    ranks->swap = partition_swap;
    ranks->settle = partition_settle;
    ranks->gather = partition_gather;
    ranks->total = partition_total;
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

bool partition_index(const struct index *index)
{
    return !index || index->fixed || world.settled;
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
