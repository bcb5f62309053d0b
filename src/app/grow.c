/* Changes a growing graph. Every call checks all its arguments, makes the next version and
 * publishes it in one step; a failure changes nothing. */
#include "app/growing.h"
#include "base/given.h"
#include "data/table/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A new base is built when this many nodes changed, or this share of them if that is more. */
enum { MOST_CHANGES = 1 << 16 };
static const double MOST_SHARE = 1.0 / 16;

/* ---- life ---------------------------------------------------------------- */

consm_status consm_graph_new(struct consm_graph **out, struct consm_dataset *dataset)
{
    consm_status st = CONSM_OK;
    struct consm_graph *g = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, dataset));
    TRY(ZNEW(g, 1));
    TRY(version_of(&g->now, dataset_hold(dataset)));
    pthread_mutex_init(&g->lock, NULL);
    pthread_mutex_init(&g->writing, NULL);
    pthread_cond_init(&g->built, NULL);
    g->aside = true;
    g->most = (int64_t)fmax(MOST_CHANGES, MOST_SHARE * (double)g->now->nodes);
    if (dataset->data->node_id && (st = ZNEW(g->added, 1)) < 0)
        consm_graph_free(g);
    else
        *out = g;
    return st;
done:
    mem_free(g);
    return st;
}

void consm_graph_free(struct consm_graph *g)
{
    if (!g)
        return;
    base_wait(g);
    version_release(g, g->now);
    pthread_cond_destroy(&g->built);
    pthread_mutex_destroy(&g->lock);
    pthread_mutex_destroy(&g->writing);
    if (g->added)
        names_free(g->added);
    mem_free(g->added);
    mem_free(g->number);
    mem_free(g);
}

/* ---- looking ------------------------------------------------------------- */

int64_t consm_graph_nodes(struct consm_graph *g)
{
    if (!g)
        return 0;
    struct version *v = version_hold(g);
    int64_t nodes = v->nodes;
    version_release(g, v);
    return nodes;
}

consm_status consm_graph_find(int64_t *number, struct consm_graph *g, const char *const *id,
                              int64_t count)
{
    consm_status st = CONSM_OK;
    struct version *v = NULL;
    TRY(GIVEN(number, g, id));
    v = version_hold(g);
    for (int64_t k = 0; k < count; k++) {
        TRY(GIVEN(id[k]));
        number[k] = version_find(g, v, id[k]);
        if (number[k] < 0)
            TRY(status_fail(CONSM_ENOTFOUND, "%s has no node \"%.80s\"", v->base->data->name,
                            id[k]));
    }
done:
    version_release(g, v);
    return st;
}

consm_status consm_graph_id(char *out, size_t room, struct consm_graph *g, int64_t number)
{
    consm_status st = CONSM_OK;
    struct version *v = NULL;
    char buffer[24];
    TRY(GIVEN(out, g));
    if (room < 1)
        TRY(status_fail(CONSM_EINVAL, "room is 0: expected space for an id"));
    v = version_hold(g);
    if (number < 0 || number >= v->nodes)
        TRY(status_fail(CONSM_ENOTFOUND, "node %lld does not exist: there are %lld nodes",
                        (long long)number, (long long)v->nodes));
    snprintf(out, room, "%s", version_id(v, number, buffer));
done:
    version_release(g, v);
    return st;
}

consm_status consm_graph_dataset(struct consm_dataset **out, struct consm_graph *g)
{
    consm_status st = CONSM_OK;
    struct version *v = NULL;
    struct consm_dataset *made = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, g));
    v = version_hold(g);
    TRY(version_dataset(&made, v));
done:
    version_release(g, v);
    if (st == CONSM_OK)
        *out = made;
    return st;
}

/* ---- edges --------------------------------------------------------------- */

/* One direction of an edge to change: the entry of one row. */
struct half {
    int32_t row, col;
    int64_t line; /* in the caller's list; the last repeat counts */
    float weight;
};

static int by_entry(const void *x, const void *y)
{
    const struct half *a = x, *b = y;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->col != b->col)
        return a->col < b->col ? -1 : 1;
    return a->line < b->line ? -1 : 1;
}

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

/* Both directions of every edge, by rows and columns, only the last repeat; *halves (*count). */
static consm_status list_halves(struct half **halves, int64_t *count, const struct version *v,
                                const int64_t *from, const int64_t *to, const float *weight,
                                int64_t edges)
{
    consm_status st = CONSM_OK;
    struct half *list = NULL;
    int64_t kept = 0;
    *halves = NULL;
    TRY(NEW(list, 2 * edges + 1));
    for (int64_t k = 0; k < edges; k++) {
        float w = weight ? weight[k] : 1;
        TRY(check_edge(v, from[k], to[k], k));
        if (!isfinite(w))
            TRY(status_fail(CONSM_EINVAL, "the weight of edge %lld is not finite", (long long)k));
        list[2 * k] = (struct half){(int32_t)from[k], (int32_t)to[k], k, w};
        list[2 * k + 1] = (struct half){(int32_t)to[k], (int32_t)from[k], k, w};
    }
    if (edges > 0)
        qsort(list, 2 * (size_t)edges, sizeof *list, by_entry);
    for (int64_t k = 0; k < 2 * edges; k++) {
        bool same =
            k + 1 < 2 * edges && list[k].row == list[k + 1].row && list[k].col == list[k + 1].col;
        if (!same)
            list[kept++] = list[k];
    }
    *count = kept;
    *halves = list;
    list = NULL;
done:
    mem_free(list);
    return st;
}

/* A row with entries inserted (or given a new weight) or removed; returns its length. halves
 * (count) are of this row. *found: how many of them existed. */
static int64_t merge(int32_t *col, float *val, const struct csr_row *old, const struct half *half,
                     int64_t count, bool remove, int64_t *found)
{
    int64_t at = 0, k = 0, i = 0;
    *found = 0;
    while (i < old->count || k < count) {
        bool mine = k < count && (i == old->count || half[k].col <= old->col[i]);
        bool theirs = i < old->count && (k == count || old->col[i] <= half[k].col);
        *found += mine && theirs;
        if (!(mine && remove)) {
            col[at] = mine ? half[k].col : old->col[i];
            if (val)
                val[at] = mine ? half[k].weight : old->val[i];
            at++;
        }
        k += mine;
        i += theirs;
    }
    return at;
}

/* Memory for the changed rows: all their old entries and all halves. */
static int64_t room_for(const struct csr_rows *rows, const struct half *half, int64_t count)
{
    int64_t room = count;
    for (int64_t k = 0; k < count; k++)
        if (k == 0 || half[k].row != half[k - 1].row)
            room += csr_row(rows, half[k].row).count;
    return room;
}

static consm_status apply_halves(struct version *next, const struct half *half, int64_t count,
                                 bool remove)
{
    consm_status st = CONSM_OK;
    const struct csr_rows rows = version_rows(next);
    int64_t room = room_for(&rows, half, count), change_of_entries = 0;
    bool weighted = rows.base->val != NULL;
    int32_t *col;
    struct change *c;
    TRY(NEW(col, (weighted ? 2 : 1) * room + 1));
    TRY(version_share(&next->block, &next->blocks, col, mem_free));
    float *val = weighted ? (float *)(void *)(col + room) : NULL;
    for (int64_t k = 0, end; k < count; k = end) {
        const struct csr_row old = csr_row(&rows, half[k].row);
        int64_t found;
        for (end = k; end < count && half[end].row == half[k].row;)
            end++;
        int64_t length = merge(col, val, &old, half + k, end - k, remove, &found);
        if (remove && found < end - k)
            TRY(status_fail(CONSM_ENOTFOUND, "node %d has only %lld of the %lld edges to remove",
                            half[k].row, (long long)found, (long long)(end - k)));
        change_of_entries += length - old.count;
        TRY(version_touch(&c, next, half[k].row));
        c->row = true;
        c->edges = (struct csr_row){col, val, length};
        col += length;
        val = val ? val + length : NULL;
    }
    next->edges += change_of_entries / 2;
done:
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
    struct half *half = NULL;
    int64_t halves;
    if (l->count < 0)
        return status_fail(CONSM_EINVAL, "%lld edges: expected 0 or more", (long long)l->count);
    if (l->weight && !next->prepared->graph->val)
        return status_fail(CONSM_EINVAL,
                           "%s has edges without weights: new edges must not have weights",
                           next->base->data->name);
    TRY(list_halves(&half, &halves, next, l->from, l->to, l->weight, l->count));
    TRY(apply_halves(next, half, halves, l->remove));
done:
    mem_free(half);
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
