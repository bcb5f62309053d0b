/* Lists the undirected edges of a graph. */
#include "graph/edges.h"

#include "base/order.h"
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

struct marking {
    uint8_t *entry;
    const struct csr *graph;
    const struct edges *e;
    bool (*takes)(const void *ctx, int64_t k);
    const void *ctx;
    int64_t *next;
};

/* The first row of a share of the entries. */
static int64_t share_of_rows(const struct csr *g, int64_t share, int64_t shares)
{
    const int64_t entry = g->nnz / shares * share;
    int64_t low = 0, high = g->rows;
    if (share == shares)
        return g->rows;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (g->start[middle] < entry)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Rows whose entries stay in a core's cache while they are marked. */
enum { BLOCK = 1 << 16 };

/* Marks the entries before the diagonal: found as in edge_walk_step(), from the edges whose right
 * end is one of the rows. */
static void mark_backs(const struct marking *q, int64_t low, int64_t high)
{
    const struct edges *e = q->e;
    const int32_t *col = q->graph->col;
    for (int64_t k = 0; k < e->count && e->left[k] < high; k++) {
        const int32_t right = e->right[k];
        if (right < low || right >= high)
            continue;
        int64_t at = q->next[right];
        while (col[at] < e->left[k])
            at++;
        q->entry[at] = q->takes(q->ctx, k);
        q->next[right] = at + 1;
    }
}

/* Marks the entries of its rows; those after the diagonal are edges of the list in order. */
static void marking_worker(void *arg, struct worker who)
{
    const struct marking *q = arg;
    const struct csr *g = q->graph;
    const struct edges *e = q->e;
    const int64_t low = share_of_rows(g, who.id, who.size);
    const int64_t high = share_of_rows(g, who.id + 1, who.size);
    int64_t k = order_first(e->left, 0, e->count, low);
    for (int64_t r = low; r < high; r++) {
        q->next[r] = g->start[r];
        for (int64_t at = g->start[r]; at < g->start[r + 1]; at++)
            q->entry[at] = g->col[at] > r && q->takes(q->ctx, k++);
    }
    for (int64_t r = low; r < high; r += BLOCK)
        mark_backs(q, r, high < r + BLOCK ? high : r + BLOCK);
}

void edges_mark(uint8_t *entry, const struct csr *graph, const struct edges *e,
                bool (*takes)(const void *ctx, int64_t k), const void *ctx, int64_t *next,
                struct team *team)
{
    struct marking q = {entry, graph, e, takes, ctx, next};
    team_run_or_alone(team, marking_worker, &q);
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

static bool is_left(const void *ctx, int64_t k)
{
    return !((const uint8_t *)ctx)[k];
}

static bool is_any(const void *ctx, int64_t k)
{
    (void)ctx, (void)k;
    return true;
}

struct dropping {
    struct csr *a;
    const struct csr *graph;
    const uint8_t *stays; /* (nnz of graph) */
};

static void counting_worker(void *arg, struct worker who)
{
    const struct dropping *q = arg;
    const int64_t high = share_of_rows(q->graph, who.id + 1, who.size);
    for (int64_t r = share_of_rows(q->graph, who.id, who.size); r < high; r++) {
        int64_t count = 0;
        for (int64_t k = q->graph->start[r]; k < q->graph->start[r + 1]; k++)
            count += q->stays[k];
        q->a->start[r + 1] = count;
    }
}

static void dropping_worker(void *arg, struct worker who)
{
    const struct dropping *q = arg;
    const int64_t low = share_of_rows(q->graph, who.id, who.size);
    const int64_t high = share_of_rows(q->graph, who.id + 1, who.size);
    int64_t at = q->a->start[low];
    for (int64_t k = q->graph->start[low]; k < q->graph->start[high]; k++)
        if (q->stays[k]) {
            q->a->col[at] = q->graph->col[k];
            if (q->a->val)
                q->a->val[at] = q->graph->val[k];
            at++;
        }
}

/* The graph without some of its edges: its entries in their order, which are sorted. */
static consm_status drop(struct csr **out, const struct csr *graph, const struct edges *e,
                         const uint8_t *dropped, struct team *team)
{
    consm_status st = CONSM_OK;
    struct csr *a = NULL;
    uint8_t *stays = NULL;
    int64_t *next = NULL, count = 0;
    TRY(NEW(stays, graph->nnz + 1));
    TRY(NEW(next, graph->rows));
    edges_mark(stays, graph, e, dropped ? is_left : is_any, dropped, next, team);
    for (int64_t k = 0; k < e->count; k++)
        count += !dropped || !dropped[k];
    TRY(csr_new(&a, graph->rows, graph->cols, 2 * count, graph->val != NULL));
    struct dropping q = {a, graph, stays};
    team_run_or_alone(team, counting_worker, &q);
    for (int64_t r = 0; r < a->rows; r++)
        a->start[r + 1] += a->start[r];
    team_run_or_alone(team, dropping_worker, &q);
    a->symmetric = graph->symmetric;
    *out = a;
done:
    mem_free(stays);
    mem_free(next);
    return st;
}

consm_status edges_changed(struct csr **out, const struct csr *graph, const struct edges *e,
                           const uint8_t *dropped, int64_t more, const int32_t *left,
                           const int32_t *right, float weight, struct team *team)
{
    consm_status st = CONSM_OK;
    int32_t *from = NULL, *to = NULL;
    float *value = NULL;
    int64_t count = 0, room = e->count + more + 1;
    *out = NULL;
    if (more == 0)
        return drop(out, graph, e, dropped, team);
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
