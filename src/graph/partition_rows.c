/* Rows of other processes that this process reads on the host. The list of rows is exchanged once,
 * their contents whenever they are new. */
#include "graph/partition.h"

#include <string.h>

void *partition_room(const struct partition *partition, int64_t count, size_t size)
{
    return partition ? mem_sparse_alloc((size_t)count, size) : mem_alloc((size_t)count, size);
}

void partition_room_free(const struct partition *partition, void *room)
{
    if (partition)
        mem_sparse_free(room);
    else
        mem_free(room);
}

void partition_copy(float *to, const float *from, const struct partition *partition, int64_t width)
{
    int64_t first = partition->low * width;
    memcpy(to + first, from + first, (size_t)(partition->high * width - first) * sizeof *to);
}

consm_status row_halo_new(struct row_halo **out, const struct partition *partition,
                          const uint8_t *wanted)
{
    consm_status st = CONSM_OK;
    struct row_halo *h;
    int64_t count = 0, rows = partition->cut[partition->parts];
    void *asked = NULL;
    *out = NULL;
    TRY(ZNEW(h, 1));
    h->partition = partition;
    TRY(ZNEW(h->asks, partition->parts + 1));
    TRY(ZNEW(h->gives, partition->parts + 1));
    for (int64_t r = 0; r < rows; r++)
        count += wanted[r] && (r < partition->low || r >= partition->high);
    TRY(NEW(h->ask, count + 1));
    count = 0;
    for (int p = 0; p < partition->parts; p++) {
        bool here = partition->cut[p] == partition->low && partition->cut[p + 1] == partition->high;
        for (int64_t r = partition->cut[p]; !here && r < partition->cut[p + 1]; r++)
            if (wanted[r])
                h->ask[count++] = (int32_t)r;
        h->asks[p + 1] = count;
    }
    TRY(partition->swap(&asked, h->gives, h->ask, h->asks, sizeof *h->ask));
    h->give = asked;
    *out = h;
    return CONSM_OK;
done:
    row_halo_free(h);
    return st;
}

void row_halo_free(struct row_halo *h)
{
    if (!h)
        return;
    mem_free(h->asks);
    mem_free(h->gives);
    mem_free(h->ask);
    mem_free(h->give);
    mem_free(h);
}

/* The position of row r in an array: one item per row, or the row's entries. */
struct stretch {
    const int64_t *start; /* (rows+1), or NULL: one per row */
    size_t bytes;
};

static size_t place_of(const struct stretch *s, int64_t row)
{
    return (size_t)(s->start ? s->start[row] : row) * s->bytes;
}

static size_t length_of(const struct stretch *s, int64_t row)
{
    return place_of(s, row + 1) - place_of(s, row);
}

/* Packs the items of the rows for each process; send (parts+1). */
static consm_status pack(char **out, int64_t *send, const struct row_halo *h, const char *array,
                         const struct stretch *s)
{
    consm_status st = CONSM_OK;
    size_t total = 0;
    for (int64_t i = 0; i < h->gives[h->partition->parts]; i++)
        total += length_of(s, h->give[i]);
    TRY(NEW(*out, total + 1));
    total = 0;
    for (int p = 0; p < h->partition->parts; p++) {
        for (int64_t i = h->gives[p]; i < h->gives[p + 1]; i++) {
            size_t length = length_of(s, h->give[i]);
            memcpy(*out + total, array + place_of(s, h->give[i]), length);
            total += length;
        }
        send[p + 1] = (int64_t)(total / s->bytes);
    }
done:
    return st;
}

static consm_status fetch(const struct row_halo *h, char *array, const struct stretch *s)
{
    consm_status st = CONSM_OK;
    int64_t *send = NULL, *got, parts = h->partition->parts;
    char *packed = NULL;
    void *came = NULL;
    size_t at = 0;
    TRY(ZNEW(send, 2 * (parts + 1)));
    got = send + parts + 1;
    TRY(pack(&packed, send, h, array, s));
    TRY(h->partition->swap(&came, got, packed, send, s->bytes));
    for (int64_t i = 0; i < h->asks[parts]; i++) {
        size_t length = length_of(s, h->ask[i]);
        memcpy(array + place_of(s, h->ask[i]), (const char *)came + at, length);
        at += length;
    }
done:
    mem_free(send);
    mem_free(packed);
    mem_free(came);
    return st;
}

consm_status row_halo_fetch(const struct row_halo *h, void *array, size_t bytes)
{
    return fetch(h, array, &(struct stretch){NULL, bytes});
}

consm_status row_halo_fetch_entries(const struct row_halo *h, void *array, const int64_t *start,
                                    size_t bytes)
{
    return fetch(h, array, &(struct stretch){start, bytes});
}

consm_status row_halo_fill(const struct row_halo *h, float *to, const float *from, int64_t width)
{
    partition_copy(to, from, h->partition, width);
    return row_halo_fetch(h, to, (size_t)width * sizeof *to);
}

consm_status partition_all(void **out, int64_t *count, const struct partition *partition,
                           const void *record, int64_t mine, size_t bytes)
{
    consm_status st = CONSM_OK;
    int64_t *send = NULL, *got, parts = partition_parts(partition);
    char *copies = NULL;
    size_t length = (size_t)mine * bytes;
    *out = NULL;
    TRY(ZNEW(send, 2 * (parts + 1)));
    got = send + parts + 1;
    TRY(NEW(copies, (size_t)parts * length + 1));
    for (int64_t p = 0; p < parts; p++) {
        if (length > 0)
            memcpy(copies + (size_t)p * length, record, length);
        send[p + 1] = send[p] + mine;
    }
    if (partition) {
        TRY(partition->swap(out, got, copies, send, bytes));
        *count = got[parts];
    } else {
        *out = copies;
        *count = mine;
        copies = NULL;
    }
done:
    mem_free(send);
    mem_free(copies);
    return st;
}

/* ---- neighbours' rows ---- */

consm_status partition_neighbours(struct row_halo **out, const struct csr *a)
{
    consm_status st = CONSM_OK;
    uint8_t *wanted = NULL;
    *out = NULL;
    TRY(ZNEW(wanted, a->rows));
    for (int64_t k = a->start[a->partition->low]; k < a->start[a->partition->high]; k++)
        wanted[a->col[k]] = 1;
    TRY(row_halo_new(out, a->partition, wanted));
done:
    mem_free(wanted);
    return st;
}

consm_status partition_near(struct csr **out, const struct csr *a, const struct row_halo *h)
{
    consm_status st = CONSM_OK;
    struct csr *b = NULL;
    *out = NULL;
    TRY(partition_csr(&b, a->partition, a->rows, a->cols, a->nnz, false));
    memcpy(b->start, a->start, (size_t)(a->rows + 1) * sizeof *a->start);
    int64_t first = a->start[a->partition->low], count = a->start[a->partition->high] - first;
    memcpy(b->col + first, a->col + first, (size_t)count * sizeof *a->col);
    TRY(row_halo_fetch_entries(h, b->col, b->start, sizeof *b->col));
    *out = b;
    b = NULL;
done:
    csr_free(b);
    return st;
}
