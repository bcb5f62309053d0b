/* Changes edges of a growing graph. Both directions of every edge are sorted by row, and every row
 * that changes is written anew. Time depends on these rows, not on the graph. */
#include "app/growing.h"
#include "base/given.h"

#include <math.h>
#include <string.h>

/* One direction of an edge to change: the entry of one row. */
struct half {
    int32_t row, col;
    int32_t line; /* in the caller's list; the last repeat counts */
    float weight;
};

/* The halves of one row. */
struct stretch {
    int64_t from, count;
    struct csr_row old;
};

static consm_status check_edge(const struct version *v, int64_t from, int64_t to, int64_t k)
{
    if (from < 0 || from >= v->nodes || to < 0 || to >= v->nodes)
        return status_fail(CONSM_ENOTFOUND,
                           "edge %lld joins nodes %lld and %lld: expected 0 to %lld", (long long)k,
                           (long long)from, (long long)to, (long long)v->nodes - 1);
    if (from == to)
        return status_fail(CONSM_EINVAL, "edge %lld joins node %lld to itself", (long long)k,
                           (long long)from);
    return CONSM_OK;
}

/* Sorts by rows, then columns, by digits of 8 bits; halves of the same entry keep their order.
 * spare (count). Returns the one of the two that holds the result. */
static struct half *sort_halves(struct half *list, struct half *spare, int64_t count, int64_t nodes)
{
    for (int field = 0; field < 2; field++)
        for (int shift = 0; ((nodes - 1) >> shift) != 0; shift += 8) {
            int64_t at[257] = {0};
            for (int64_t k = 0; k < count; k++)
                at[((field ? list[k].row : list[k].col) >> shift & 255) + 1]++;
            for (int d = 1; d < 256; d++)
                at[d] += at[d - 1];
            for (int64_t k = 0; k < count; k++)
                spare[at[(field ? list[k].row : list[k].col) >> shift & 255]++] = list[k];
            struct half *sorted = spare;
            spare = list;
            list = sorted;
        }
    return list;
}

/* Both directions of every edge, by rows and columns, only the last repeat; *halves (*count) is in
 * *memory, which the caller frees. */
static consm_status list_halves(struct half **memory, struct half **halves, int64_t *count,
                                const struct version *v, const int64_t *from, const int64_t *to,
                                const float *weight, int64_t edges)
{
    consm_status st = CONSM_OK;
    int64_t kept = 0;
    if (edges > INT32_MAX)
        return status_fail(CONSM_EINVAL, "%lld edges: expected at most %d", (long long)edges,
                           INT32_MAX);
    TRY(NEW(*memory, 4 * edges + 1));
    struct half *list = *memory;
    for (int64_t k = 0; k < edges; k++) {
        float w = weight ? weight[k] : 1;
        TRY(check_edge(v, from[k], to[k], k));
        if (!isfinite(w))
            TRY(status_fail(CONSM_EINVAL, "the weight of edge %lld is not finite", (long long)k));
        list[2 * k] = (struct half){(int32_t)from[k], (int32_t)to[k], (int32_t)k, w};
        list[2 * k + 1] = (struct half){(int32_t)to[k], (int32_t)from[k], (int32_t)k, w};
    }
    list = sort_halves(list, list + 2 * edges, 2 * edges, v->nodes);
    for (int64_t k = 0; k < 2 * edges; k++) {
        bool same =
            k + 1 < 2 * edges && list[k].row == list[k + 1].row && list[k].col == list[k + 1].col;
        if (!same)
            list[kept++] = list[k];
    }
    *count = kept;
    *halves = list;
done:
    return st;
}

/* A row with entries inserted (or given a new weight) or removed; returns its length. *found: how
 * many of the halves existed. */
static int64_t merge(int32_t *col, float *val, const struct stretch *s, const struct half *half,
                     bool remove, int64_t *found)
{
    const struct csr_row *old = &s->old;
    int64_t at = 0, i = 0;
    *found = 0;
    for (int64_t k = 0; k <= s->count; k++) {
        int32_t next = k < s->count ? half[k].col : INT32_MAX; /* no node has this number */
        for (; i < old->count && old->col[i] < next; i++, at++) {
            col[at] = old->col[i];
            if (val)
                val[at] = old->val[i];
        }
        if (k == s->count)
            break;
        bool exists = i < old->count && old->col[i] == next;
        i += exists;
        *found += exists;
        if (remove)
            continue;
        col[at] = next;
        if (val)
            val[at] = half[k].weight;
        at++;
    }
    return at;
}

/* The rows that change, with their current entries, and the entries to make room for. */
static consm_status list_rows(struct stretch **out, int64_t *count, int64_t *room,
                              const struct csr_rows *rows, const struct half *half, int64_t halves)
{
    consm_status st = CONSM_OK;
    enum { AHEAD = 32 };
    struct stretch *list;
    *count = 0;
    *room = halves;
    TRY(NEW(*out, halves + 1));
    list = *out;
    for (int64_t k = 0, end; k < halves; k = end) {
        if (k + AHEAD < halves && half[k + AHEAD].row < rows->base->rows)
            __builtin_prefetch(&rows->base->start[half[k + AHEAD].row]);
        for (end = k; end < halves && half[end].row == half[k].row;)
            end++;
        list[*count] = (struct stretch){k, end - k, csr_row(rows, half[k].row)};
        *room += list[(*count)++].old.count;
    }
done:
    return st;
}

static consm_status apply_halves(struct version *next, const struct half *half, int64_t halves,
                                 bool remove)
{
    consm_status st = CONSM_OK;
    enum { AHEAD = 8, LINE = 16 };
    const struct csr_rows rows = version_rows(next);
    int64_t count, room, found, change_of_entries = 0;
    bool weighted = rows.base->val != NULL;
    struct stretch *list = NULL;
    int32_t *col;
    struct change *c;
    TRY(list_rows(&list, &count, &room, &rows, half, halves));
    col = delta_room(&next->changed, sizeof *col * (size_t)((weighted ? 2 : 1) * room));
    if (!col)
        TRY(CONSM_ENOMEM);
    float *val = weighted ? (float *)(void *)(col + room) : NULL;
    for (int64_t k = 0; k < count; k++) {
        const struct stretch *s = &list[k];
        const int32_t *soon = k + AHEAD < count ? list[k + AHEAD].old.col : NULL;
        if (soon) {
            __builtin_prefetch(soon);
            __builtin_prefetch(soon + LINE);
        }
        int64_t length = merge(col, val, s, half + s->from, remove, &found);
        if (remove && found < s->count)
            TRY(status_fail(CONSM_ENOTFOUND, "node %d: only %lld of the %lld edges to remove exist",
                            half[s->from].row, (long long)found, (long long)s->count));
        change_of_entries += length - s->old.count;
        TRY(delta_touch(&c, &next->changed, half[s->from].row));
        c->row = true;
        c->edges = (struct csr_row){col, val, length};
        col += length;
        val = val ? val + length : NULL;
    }
    next->edges += change_of_entries / 2;
done:
    mem_free(list);
    return st;
}

struct edge_list {
    const int64_t *from, *to;
    const float *weight;
    int64_t count;
    bool remove;
};

static consm_status change_edges(void *ctx, struct version *next)
{
    consm_status st = CONSM_OK;
    const struct edge_list *l = ctx;
    struct half *memory = NULL, *half = NULL;
    int64_t halves = 0;
    if (l->count < 0)
        return status_fail(CONSM_EINVAL, "%lld edges: expected 0 or more", (long long)l->count);
    if (l->weight && !next->prepared->graph->val)
        return status_fail(CONSM_EINVAL,
                           "%s has edges without weights: new edges must not have weights",
                           next->base->data->name);
    TRY(list_halves(&memory, &half, &halves, next, l->from, l->to, l->weight, l->count));
    TRY(apply_halves(next, half, halves, l->remove));
done:
    mem_free(memory);
    return st;
}

consm_status consm_graph_add_edges(struct consm_graph *g, const int64_t *from, const int64_t *to,
                                   const float *weight, int64_t count)
{
    struct edge_list list = {from, to, weight, count, false};
    consm_status st = GIVEN(g, from, to);
    return st < 0 ? st : version_write(g, change_edges, &list);
}

consm_status consm_graph_remove_edges(struct consm_graph *g, const int64_t *from, const int64_t *to,
                                      int64_t count)
{
    struct edge_list list = {from, to, NULL, count, true};
    consm_status st = GIVEN(g, from, to);
    return st < 0 ? st : version_write(g, change_edges, &list);
}
