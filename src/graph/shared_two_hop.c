/* Nodes two steps apart in a graph whose rows are spread over processes: each process makes the
 * rows of its share, from its own rows and those of its neighbours elsewhere, which are sent for.
 */
#include "graph/shared.h"

#include <stdlib.h>
#include <string.h>

/* Rows of neighbours: row r is at col + at[r], or with the matrix itself (at[r] < 0). */
struct border {
    int64_t *at;  /* (rows) */
    int32_t *col; /* one row behind the other, as they came */
};

enum { NOT_HERE = -1, WANTED = -2 };

/* Which rows elsewhere the share's entries name, in order, so those of a process together. */
static consm_status list_wanted(int32_t **out, int64_t *send, struct border *b, const struct csr *a)
{
    consm_status st = CONSM_OK;
    const struct row_share *share = a->share;
    int64_t count = 0;
    for (int64_t r = 0; r < a->rows; r++)
        b->at[r] = NOT_HERE;
    for (int64_t k = a->start[share->low]; k < a->start[share->high]; k++) {
        int32_t c = a->col[k];
        if ((c >= share->low && c < share->high) || b->at[c] == WANTED)
            continue;
        b->at[c] = WANTED;
        count++;
    }
    TRY(NEW(*out, count + 1));
    count = 0;
    for (int p = 0; p < share->parts; p++) {
        send[p] = count;
        for (int64_t r = share->cut[p]; r < share->cut[p + 1]; r++)
            if (b->at[r] == WANTED)
                (*out)[count++] = (int32_t)r;
    }
    send[share->parts] = count;
done:
    return st;
}

/* The columns of the rows that others asked for, one behind the other. send (parts+1). */
static consm_status answer(int32_t **out, int64_t *send, const struct csr *a, const int32_t *asked,
                           const int64_t *from)
{
    consm_status st = CONSM_OK;
    int parts = a->share->parts;
    int64_t total = 0;
    for (int64_t i = 0; i < from[parts]; i++)
        total += a->start[asked[i] + 1] - a->start[asked[i]];
    TRY(NEW(*out, total + 1));
    total = 0;
    for (int p = 0; p < parts; p++) {
        send[p] = total;
        for (int64_t i = from[p]; i < from[p + 1]; i++) {
            int64_t first = a->start[asked[i]], length = a->start[asked[i] + 1] - first;
            memcpy(*out + total, a->col + first, (size_t)length * sizeof **out);
            total += length;
        }
    }
    send[parts] = total;
done:
    return st;
}

static consm_status fetch_border(struct border *b, const struct csr *a)
{
    consm_status st = CONSM_OK;
    const struct row_share *share = a->share;
    int64_t *send = NULL, *asked_at, *back, *got, places = share->parts + 1, at = 0;
    int32_t *wanted = NULL, *reply = NULL;
    void *asked = NULL, *came = NULL;
    TRY(NEW(b->at, a->rows));
    TRY(ZNEW(send, 4 * places));
    asked_at = send + places;
    back = asked_at + places;
    got = back + places;
    TRY(list_wanted(&wanted, send, b, a));
    TRY(share->swap(&asked, asked_at, wanted, send, sizeof *wanted));
    TRY(answer(&reply, back, a, asked, asked_at));
    TRY(share->swap(&came, got, reply, back, sizeof *reply));
    b->col = came;
    for (int64_t i = 0; i < send[share->parts]; i++) {
        b->at[wanted[i]] = at;
        at += a->start[wanted[i] + 1] - a->start[wanted[i]];
    }
done:
    mem_free(send);
    mem_free(wanted);
    mem_free(reply);
    mem_free(asked);
    return st;
}

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

/* Row r into found; mark[v] == r+1 means that v was met or is excluded. */
static int64_t collect_row(int32_t *found, int64_t *mark, const struct csr *a,
                           const struct border *b, int64_t r)
{
    int64_t count = 0;
    mark[r] = r + 1;
    for (int64_t k = a->start[r]; k < a->start[r + 1]; k++)
        mark[a->col[k]] = r + 1;
    for (int64_t k = a->start[r]; k < a->start[r + 1]; k++) {
        int64_t middle = a->col[k], length = a->start[middle + 1] - a->start[middle];
        const int32_t *col = b->at[middle] < 0 ? a->col + a->start[middle] : b->col + b->at[middle];
        for (int64_t l = 0; l < length; l++)
            if (mark[col[l]] != r + 1) {
                mark[col[l]] = r + 1;
                found[count++] = col[l];
            }
    }
    qsort(found, (size_t)count, sizeof *found, ascending);
    return count;
}

/* All rows of the share into a growing list; length (rows) of each. */
static consm_status collect(int32_t **out, int64_t *length, const struct csr *a,
                            const struct border *b)
{
    consm_status st = CONSM_OK;
    int32_t *found = NULL;
    int64_t *mark = NULL, used = 0;
    size_t capacity = 0;
    TRY(NEW(found, a->rows));
    TRY(ZNEW(mark, a->rows));
    for (int64_t r = a->share->low; r < a->share->high; r++) {
        length[r] = collect_row(found, mark, a, b, r);
        TRY(GROW(*out, used, capacity, length[r] + 1));
        memcpy(*out + used, found, (size_t)length[r] * sizeof *found);
        used += length[r];
    }
done:
    mem_free(found);
    mem_free(mark);
    return st;
}

consm_status csr_share_two_hop(struct csr **out, const struct csr *a)
{
    consm_status st = CONSM_OK;
    const struct row_share *share = a->share;
    struct border border = {0};
    struct csr *b = NULL;
    int64_t *length = NULL, entries = 0;
    int32_t *list = NULL;
    *out = NULL;
    TRY(fetch_border(&border, a));
    TRY(NEW(length, a->rows));
    TRY(collect(&list, length, a, &border));
    TRY(share->gather(length, sizeof *length));
    for (int64_t r = 0; r < a->rows; r++)
        entries += length[r];
    TRY(csr_share_new(&b, share, a->rows, a->rows, entries, false));
    for (int64_t r = 0; r < a->rows; r++)
        b->start[r + 1] = b->start[r] + length[r];
    int64_t first = b->start[share->low];
    if (list)
        memcpy(b->col + first, list, (size_t)(b->start[share->high] - first) * sizeof *list);
    *out = b;
    b = NULL;
done:
    csr_free(b);
    mem_free(border.at);
    mem_free(border.col);
    mem_free(length);
    mem_free(list);
    return st;
}
