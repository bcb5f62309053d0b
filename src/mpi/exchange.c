/* Rows that ranks need from each other: found once from the matrix or index of an operation, then
 * sent by persistent requests directly between their places in memory. */
#include "base/known.h"
#include "mpi/inside.h"

#include <string.h>

enum { ROW_TYPES = 64 };

/* ---- who needs what ---- */

/* Marks the rows of the source that rows [low, high) of the result read. */
static void mark_needs(uint8_t *needed, const struct halo *h, int64_t low, int64_t high)
{
    const struct csr *s = h->csr && h->transposed ? h->csr->t : h->csr;
    const struct index *index = h->index;
    KNOWN(s || (h->reads != READS_COLUMNS && h->reads != READS_ENTRIES));
    switch (h->reads) {
    case READS_COLUMNS:
        for (int64_t k = s->start[low]; k < s->start[high]; k++)
            needed[s->col[k]] = 1;
        break;
    case READS_ENTRIES:
        for (int64_t k = s->start[low]; k < s->start[high]; k++)
            needed[h->transposed ? h->csr->t_entry[k] : k] = 1;
        break;
    case READS_INDEXED:
    case READS_PAIRS:
        for (int64_t k = low; k < high; k++) {
            needed[index->row[k]] = 1;
            if (h->reads == READS_PAIRS)
                needed[h->other->row[k]] = 1;
        }
        break;
    case READS_ITEMS:
        for (int64_t k = index->start[low]; k < index->start[high]; k++)
            needed[index->item[k]] = 1;
        break;
    case READS_BLOCKS: sum_needs(needed, h, low, high); break;
    default: break;
    }
}

/* The rows to receive, by owner; own rows are here. */
static consm_status list_receives(struct halo *h)
{
    int64_t rows = h->from->rows, count = 0;
    int size = world.ranks.size, me = world.ranks.rank;
    uint8_t *needed = world.os->zalloc((size_t)rows + 1, 1);
    if (!needed)
        return CONSM_ENOMEM;
    mark_needs(needed, h, axis_low(h->to), axis_high(h->to));
    memset(needed + axis_low(h->from), 0, (size_t)(axis_high(h->from) - axis_low(h->from)));
    for (int64_t r = 0; r < rows; r++)
        count += needed[r];
    h->receive = world.os->zalloc((size_t)count + 1, sizeof *h->receive);
    count = 0;
    for (int p = 0; h->receive && p < size; p++) {
        h->receives[p] = (int)count;
        for (int64_t r = h->from->cut[p]; p != me && r < h->from->cut[p + 1]; r++)
            if (needed[r])
                h->receive[count++] = (int32_t)r;
    }
    h->receives[size] = (int)count;
    world.os->free(needed);
    return h->receive ? CONSM_OK : CONSM_ENOMEM;
}

/* What the others need from us, as they report it. */
static consm_status list_sends(struct halo *h)
{
    int size = world.ranks.size;
    int *count = world.os->zalloc(2 * (size_t)size, sizeof *count), *theirs = count + size;
    MPI_Request here;
    if (!count)
        return CONSM_ENOMEM;
    for (int p = 0; p < size; p++)
        count[p] = h->receives[p + 1] - h->receives[p];
    MPI_Ialltoall(count, 1, MPI_INT, theirs, 1, MPI_INT, world.comm, &here);
    wait_all(&here, 1);
    for (int p = 0; p < size; p++)
        h->sends[p + 1] = h->sends[p] + theirs[p];
    h->send = world.os->zalloc((size_t)h->sends[size] + 1, sizeof *h->send);
    if (h->send) {
        MPI_Ialltoallv(h->receive, count, h->receives, MPI_INT32_T, h->send, theirs, h->sends,
                       MPI_INT32_T, world.comm, &here);
        wait_all(&here, 1);
    }
    world.os->free(count);
    return h->send ? CONSM_OK : CONSM_ENOMEM;
}

static bool same_halo(const struct halo *a, const struct halo *b)
{
    return a->reads == b->reads && a->transposed == b->transposed && a->csr == b->csr &&
           a->index == b->index && a->other == b->other && a->from == b->from && a->to == b->to &&
           a->width == b->width;
}

bool halo_moves(const struct halo *h)
{
    return (h->csr && h->csr->changes) || (h->index && !h->index->fixed) ||
           (h->other && !h->other->fixed);
}

static uint64_t halo_version(const struct halo *h)
{
    return (h->csr ? h->csr->version : 0) + (h->index ? h->index->version : 0) +
           (h->other ? h->other->version : 0);
}

static consm_status find_rows(struct halo *h)
{
    consm_status st = CONSM_OK;
    world.os->free(h->send);
    world.os->free(h->receive);
    h->send = h->receive = NULL;
    TRY(list_receives(h));
    TRY(list_sends(h));
    h->seen = halo_version(h);
done:
    return st;
}

consm_status halo_follow(struct halo *h)
{
    return halo_moves(h) && h->seen != halo_version(h) ? find_rows(h) : CONSM_OK;
}

consm_status halo_of(struct halo **out, struct halo **known, const struct halo *wanted)
{
    consm_status st = CONSM_OK;
    size_t places = (size_t)world.ranks.size + 1;
    struct halo *h = *known;
    while (h && !same_halo(h, wanted))
        h = h->next;
    *out = h;
    if (h)
        return CONSM_OK;
    TRY(axis_travels(wanted->from));
    h = world.os->zalloc(1, sizeof *h);
    if (!h)
        return CONSM_ENOMEM;
    *h = *wanted;
    h->next = *known;
    *out = *known = h;
    h->sends = world.os->zalloc(places, sizeof *h->sends);
    h->receives = world.os->zalloc(places, sizeof *h->receives);
    if (!h->sends || !h->receives)
        TRY(CONSM_ENOMEM);
    TRY(find_rows(h));
done:
    return st;
}

void halos_free(struct halo *h)
{
    while (h) {
        struct halo *next = h->next;
        world.os->free(h->send);
        world.os->free(h->receive);
        world.os->free(h->sends);
        world.os->free(h->receives);
        world.os->free(h);
        h = next;
    }
}

/* ---- sending ---- */

MPI_Datatype row_type(int64_t cols)
{
    static struct {
        int64_t cols;
        MPI_Datatype type;
    } known[ROW_TYPES];
    static int count, next;
    for (int i = 0; i < count; i++)
        if (known[i].cols == cols)
            return known[i].type;
    int at = count < ROW_TYPES ? count++ : next++ % ROW_TYPES;
    if (known[at].cols)
        MPI_Type_free(&known[at].type);
    known[at].cols = cols;
    MPI_Type_contiguous((int)cols, MPI_FLOAT, &known[at].type);
    MPI_Type_commit(&known[at].type);
    return known[at].type;
}

/* The rows of a value that go to or come from one rank. */
static MPI_Datatype rows_type(const int32_t *list, int count, MPI_Datatype row)
{
    MPI_Datatype rows;
    MPI_Type_create_indexed_block(count, 1, list, row, &rows);
    MPI_Type_commit(&rows);
    return rows;
}

consm_status exchange_new(struct exchange *x, const struct halo *h, float *value, int64_t cols)
{
    int size = world.ranks.size;
    MPI_Datatype row = row_type(cols), rows;
    *x = (struct exchange){0};
    x->request = world.os->zalloc(2 * (size_t)size, sizeof *x->request);
    for (int p = 0; x->request && p < size; p++) {
        int count = h->receives[p + 1] - h->receives[p];
        if (count > 0) {
            rows = rows_type(h->receive + h->receives[p], count, row);
            MPI_Recv_init(value, 1, rows, p, 0, world.comm, &x->request[x->requests++]);
            MPI_Type_free(&rows);
        }
        count = h->sends[p + 1] - h->sends[p];
        if (count > 0) {
            rows = rows_type(h->send + h->sends[p], count, row);
            MPI_Send_init(value, 1, rows, p, 0, world.comm, &x->request[x->requests++]);
            MPI_Type_free(&rows);
            x->bytes += count * cols * (int64_t)sizeof(float);
        }
    }
    return x->request ? CONSM_OK : CONSM_ENOMEM;
}

void exchange_start(struct exchange *x)
{
    world.sent += x->bytes;
    MPI_Startall(x->requests, x->request);
}

void exchange_wait(struct exchange *x)
{
    wait_all(x->request, x->requests);
}

void exchange_free(struct exchange *x)
{
    for (int i = 0; i < x->requests; i++)
        MPI_Request_free(&x->request[i]);
    world.os->free(x->request);
}

void gather_rows(float *to, const float *from, const struct axis *axis, int64_t cols)
{
    int size = world.ranks.size, me = world.ranks.rank, *count = world.count, *first = count + size;
    MPI_Datatype row = row_type(cols);
    MPI_Request here;
    for (int p = 0; p < size; p++) {
        first[p] = (int)axis->cut[p];
        count[p] = (int)(axis->cut[p + 1] - axis->cut[p]);
    }
    world.sent += count[me] * cols * (int64_t)sizeof(float) * (size - 1);
    if (to == from)
        MPI_Iallgatherv(MPI_IN_PLACE, 0, row, to, count, first, row, world.comm, &here);
    else
        MPI_Iallgatherv(from + axis->cut[me] * cols, count[me], row, to, count, first, row,
                        world.comm, &here);
    wait_all(&here, 1);
}
