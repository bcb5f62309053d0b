/* Collects two-hop sets, exact or sampled. */
#include "base/order.h"
#include "match/pooling.h"

#include "base/rng.h"
#include <stdlib.h>
#include <string.h>

consm_status walk_new(struct walk *w, int64_t nodes)
{
    consm_status st = CONSM_OK;
    *w = (struct walk){0};
    TRY(ZNEW(w->mark, nodes));
    TRY(NEW(w->found, nodes + 1));
done:
    if (st < 0)
        walk_free(w);
    return st;
}

void walk_free(struct walk *w)
{
    mem_free(w->mark);
    mem_free(w->found);
    *w = (struct walk){0};
}

/* Adds kept neighbours that this walk has not met. Each is written but only counted if new, because
 * such a branch cannot be predicted. */
static void visit_neighbours(struct walk *w, const struct csr *graph, const uint8_t *keep,
                             int32_t node)
{
    int64_t count = w->count, round = w->round, *mark = w->mark;
    int32_t *found = w->found;
    const int32_t *col = graph->col;
    for (int64_t k = graph->start[node], end = graph->start[node + 1]; k < end; k++) {
        int32_t v = col[k];
        int64_t before = mark[v];
        found[count] = v;
        count += keep[k] & (before != round);
        mark[v] = keep[k] ? round : before;
    }
    w->count = count;
}

/* Draws cap members by a partial shuffle; the node itself, which comes first, always stays. */
static void sample(struct walk *w, int64_t cap, uint64_t seed, int32_t node)
{
    struct rng r;
    rng_init(&r, seed, (uint64_t)node);
    for (int64_t i = 1; i < cap; i++) {
        int64_t j = i + (int64_t)rng_below(&r, (uint64_t)(w->count - i));
        int32_t swap = w->found[i];
        w->found[i] = w->found[j];
        w->found[j] = swap;
    }
    w->count = cap;
}

bool walk_two_hops(struct walk *w, const struct csr *graph, const uint8_t *keep, int32_t node,
                   int64_t cap, uint64_t seed)
{
    w->mark[node] = ++w->round;
    w->found[0] = node;
    w->count = 1;
    visit_neighbours(w, graph, keep, node);
    int64_t direct = w->count;
    for (int64_t i = 1; i < direct; i++)
        visit_neighbours(w, graph, keep, w->found[i]);
    if (cap <= 0 || w->count <= cap)
        return false;
    sample(w, cap, seed, node);
    return true;
}

consm_status subgraphs_collect(struct subgraphs *s, struct walk *walk, const struct csr *graph,
                               const uint8_t *keep, const int32_t *node, int64_t count, int64_t cap,
                               uint64_t seed)
{
    consm_status st = CONSM_OK;
    int64_t used = 0;
    if (!s->start)
        TRY(ZNEW(s->start, count + 1));
    s->count = count;
    s->sampled = 0;
    for (int64_t i = 0; i < count; i++) {
        s->start[i + 1] = used;
        if (!partition_here(graph->partition, node[i]))
            continue;
        s->sampled += walk_two_hops(walk, graph, keep, node[i], cap, seed);
        TRY(GROW(s->member, used, s->capacity, walk->count));
        memcpy(s->member + used, walk->found, (size_t)walk->count * sizeof *s->member);
        qsort(s->member + used, (size_t)walk->count, sizeof *s->member, order_int32);
        used += walk->count;
        s->start[i + 1] = used;
    }
done:
    return st;
}

void subgraphs_free(struct subgraphs *s)
{
    mem_free(s->start);
    mem_free(s->member);
    *s = (struct subgraphs){0};
}
