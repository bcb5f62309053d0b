/* Lists the undirected edges of a graph. */
#include "graph/edges.h"

#include <string.h>

static void list_in_parts(struct edges *e, const struct csr *graph)
{
    for (int64_t r = graph->partition->low; r < graph->partition->high; r++)
        for (int64_t k = graph->start[r]; k < graph->start[r + 1]; k++) {
            e->left[e->count] = (int32_t)r;
            e->right[e->count++] = graph->col[k];
        }
}

consm_status edges_new(struct edges **out, const struct csr *graph)
{
    consm_status st = CONSM_OK;
    struct edges *e = NULL;
    const struct partition *partition = graph->partition;
    int64_t most = 1 + (partition ? graph->start[partition->high] - graph->start[partition->low]
                                  : graph->nnz / 2);
    *out = NULL;
    TRY(ZNEW(e, 1));
    TRY(NEW(e->left, most));
    TRY(NEW(e->right, most));
    e->partition = partition;
    e->all = graph->nnz / 2;
    if (partition)
        list_in_parts(e, graph);
    for (int64_t r = 0; !partition && r < graph->rows; r++)
        for (int64_t k = graph->start[r]; k < graph->start[r + 1]; k++) {
            if (graph->col[k] <= r)
                continue;
            if (csr_find(graph, graph->col[k], (int32_t)r) < 0)
                TRY(status_fail(CONSM_EINVAL,
                                "the edge from %lld to %d exists in one direction only",
                                (long long)r, graph->col[k]));
            e->left[e->count] = (int32_t)r;
            e->right[e->count++] = graph->col[k];
        }
    *out = e;
    e = NULL;
done:
    edges_free(e);
    return st;
}

void edges_free(struct edges *e)
{
    if (!e)
        return;
    mem_free(e->left);
    mem_free(e->right);
    mem_free(e);
}

float edges_weight(const struct edges *e, const struct csr *graph, int64_t k)
{
    return graph->val ? graph->val[csr_find(graph, e->left[k], e->right[k])] : 1;
}

void edge_walk_begin(struct edge_walk *w, const struct csr *graph, int64_t *next)
{
    *w = (struct edge_walk){.graph = graph, .next = next};
    w->row = csr_low(graph);
    w->there = w->back = graph->start[w->row] - 1;
    memcpy(next, graph->start, (size_t)graph->rows * sizeof *next);
}

/* Rows come in ascending order, so the reverses of their entries do, too, in every row. */
void edge_walk_step(struct edge_walk *w)
{
    const struct csr *g = w->graph;
    if (g->partition) {
        w->there = ++w->back;
        return;
    }
    do {
        w->there++;
        while (w->there == g->start[w->row + 1])
            w->row++;
    } while (g->col[w->there] <= w->row);
    int64_t *next = &w->next[g->col[w->there]];
    while (g->col[*next] < w->row)
        ++*next;
    w->back = (*next)++;
}

int64_t pair_find(const int32_t *left, const int32_t *right, int64_t count, int32_t a, int32_t b)
{
    int32_t first = a < b ? a : b, second = a < b ? b : a;
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        bool before = left[middle] != first ? left[middle] < first : right[middle] < second;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low < count && left[low] == first && right[low] == second ? low : -1;
}

/* The graph without some of its edges: its entries in their order, which are sorted. */
static consm_status drop(struct csr **out, const struct csr *graph, const struct edges *e,
                         const uint8_t *dropped)
{
    consm_status st = CONSM_OK;
    struct csr *a = NULL;
    uint8_t *stays = NULL;
    int64_t *next = NULL, count = 0, at = 0;
    struct edge_walk walk;
    TRY(ZNEW(stays, graph->nnz + 1));
    TRY(NEW(next, graph->rows));
    edge_walk_begin(&walk, graph, next);
    for (int64_t k = 0; k < e->count; k++) {
        edge_walk_step(&walk);
        if (!dropped || !dropped[k]) {
            stays[walk.there] = stays[walk.back] = 1;
            count++;
        }
    }
    TRY(csr_new(&a, graph->rows, graph->cols, 2 * count, graph->val != NULL));
    for (int64_t r = 0; r < graph->rows; r++) {
        for (int64_t k = graph->start[r]; k < graph->start[r + 1]; k++)
            if (stays[k]) {
                a->col[at] = graph->col[k];
                if (a->val)
                    a->val[at] = graph->val[k];
                at++;
            }
        a->start[r + 1] = at;
    }
    a->symmetric = graph->symmetric;
    *out = a;
done:
    mem_free(stays);
    mem_free(next);
    return st;
}

consm_status edges_changed(struct csr **out, const struct csr *graph, const struct edges *e,
                           const uint8_t *dropped, int64_t more, const int32_t *left,
                           const int32_t *right, float weight)
{
    consm_status st = CONSM_OK;
    int32_t *from = NULL, *to = NULL;
    float *value = NULL;
    int64_t count = 0, room = e->count + more + 1;
    *out = NULL;
    if (more == 0)
        return drop(out, graph, e, dropped);
    TRY(NEW(from, room));
    TRY(NEW(to, room));
    if (graph->val)
        TRY(NEW(value, room));
    for (int64_t k = 0; k < e->count; k++) {
        if (dropped && dropped[k])
            continue;
        from[count] = e->left[k];
        to[count] = e->right[k];
        if (value)
            value[count] = edges_weight(e, graph, k);
        count++;
    }
    for (int64_t k = 0; k < more; k++) {
        from[count] = left[k];
        to[count] = right[k];
        if (value)
            value[count] = weight;
        count++;
    }
    TRY(csr_from_edges(out, graph->rows, graph->cols, count, from, to, value, CSR_UNDIRECTED,
                       NULL));
done:
    mem_free(from);
    mem_free(to);
    mem_free(value);
    return st;
}
