/* Breadth-first search with marks that never need clearing. */
#include "graph/khop.h"

#include <string.h>

struct khop {
    int64_t nodes;
    uint32_t question;   /* number of the current question */
    uint32_t *mark;      /* (n) last question that reached the node */
    int32_t *list, *aux; /* (n) the set; space to sort it in */
};

consm_status khop_new(struct khop **out, int64_t nodes)
{
    consm_status st = CONSM_OK;
    struct khop *k;
    *out = NULL;
    TRY(ZNEW(k, 1));
    k->nodes = nodes;
    TRY(ZNEW(k->mark, nodes));
    TRY(NEW(k->list, nodes));
    TRY(NEW(k->aux, nodes));
    *out = k;
    return CONSM_OK;
done:
    khop_free(k);
    return st;
}

void khop_free(struct khop *k)
{
    if (!k)
        return;
    mem_free(k->mark);
    mem_free(k->list);
    mem_free(k->aux);
    mem_free(k);
}

enum { RUN = 16 };

static void sort_runs(int32_t *a, int64_t count)
{
    for (int64_t begin = 0; begin < count; begin += RUN) {
        int64_t end = begin + RUN < count ? begin + RUN : count;
        for (int64_t i = begin + 1; i < end; i++) {
            int32_t item = a[i];
            int64_t j = i;
            for (; j > begin && a[j - 1] > item; j--)
                a[j] = a[j - 1];
            a[j] = item;
        }
    }
}

/* Merge sort of k->list; the result is k->list again, the two buffers change places. */
static void sort_list(struct khop *k, int64_t count)
{
    sort_runs(k->list, count);
    for (int64_t width = RUN; width < count; width *= 2) {
        const int32_t *from = k->list;
        int32_t *to = k->aux;
        for (int64_t begin = 0; begin < count; begin += 2 * width) {
            int64_t middle = begin + width < count ? begin + width : count;
            int64_t end = middle + width < count ? middle + width : count;
            int64_t a = begin, b = middle;
            for (int64_t i = begin; i < end; i++)
                to[i] = b == end || (a < middle && from[a] < from[b]) ? from[a++] : from[b++];
        }
        k->aux = k->list;
        k->list = to;
    }
}

/* Adds the neighbours of `at` that this question has not reached yet; returns the new count. */
static int64_t add_neighbours(struct khop *k, const struct csr *g, const uint8_t *keep, int32_t at,
                              int64_t count)
{
    for (int64_t e = g->start[at]; e < g->start[at + 1]; e++) {
        int32_t next = g->col[e];
        if ((keep && !keep[e]) || k->mark[next] == k->question)
            continue;
        k->mark[next] = k->question;
        k->list[count++] = next;
    }
    return count;
}

int64_t khop_collect(const int32_t **set, struct khop *k, const struct csr *g, const uint8_t *keep,
                     int32_t node, int hops)
{
    int64_t count = 0, looked = 0;
    if (++k->question == 0) { /* after 2^32 questions the numbers begin again */
        memset(k->mark, 0, (size_t)k->nodes * sizeof *k->mark);
        k->question = 1;
    }
    k->mark[node] = k->question;
    if (hops > 0)
        count = add_neighbours(k, g, keep, node, 0);
    for (int hop = 1; hop < hops; hop++)
        for (int64_t reached = count; looked < reached; looked++)
            count = add_neighbours(k, g, keep, k->list[looked], count);
    sort_list(k, count);
    *set = k->list;
    return count;
}

/* Copies a sorted set into a row, with the node itself in its place when asked for. */
static void put_row(int32_t *row, const int32_t *set, int64_t count, int32_t self, bool with_self)
{
    int64_t below = 0;
    if (!with_self) {
        memcpy(row, set, (size_t)count * sizeof *row);
        return;
    }
    while (below < count && set[below] < self)
        below++;
    memcpy(row, set, (size_t)below * sizeof *row);
    row[below] = self;
    memcpy(row + below + 1, set + below, (size_t)(count - below) * sizeof *row);
}

consm_status khop_matrix(struct csr **out, const struct csr *g, const uint8_t *keep,
                         const int32_t *node, int64_t rows, int hops, bool with_self)
{
    consm_status st = CONSM_OK;
    struct khop *k = NULL;
    struct csr *a = NULL;
    size_t room = 0;
    int32_t *col = NULL;
    const int32_t *set;
    *out = NULL;
    TRY(khop_new(&k, g->rows));
    TRY(csr_new(&a, rows, g->cols, 0, false));
    for (int64_t r = 0; r < rows; r++) {
        int32_t self = node ? node[r] : (int32_t)r;
        int64_t count = khop_collect(&set, k, g, keep, self, hops), at = a->start[r];
        TRY(GROW(col, at, room, count + 1));
        put_row(col + at, set, count, self, with_self);
        a->start[r + 1] = at + count + with_self;
    }
    a->nnz = a->start[rows];
    if (col) {
        mem_free(a->col);
        a->col = col;
        col = NULL;
    }
    *out = a;
    a = NULL;
done:
    mem_free(col);
    khop_free(k);
    csr_free(a);
    return st;
}
