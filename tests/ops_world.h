/* The data for testing operations: values, targets, indices and one sparse pattern. The pattern is
 * a view (graph/views.h) of one of several graphs, so that every operation sees weighted and
 * directed edges, asymmetric weights, a hub, loops, isolated nodes and no edge at all. */
#ifndef TESTS_OPS_WORLD_H
#define TESTS_OPS_WORLD_H

#include "check.h"

#include "base/rng.h"
#include "graph/views.h"
#include "program/program.h"

enum graph_kind {
    GRAPH_DIRECTED, /* a chain and a fan, weighted, one direction only; the last node is isolated */
    GRAPH_PLAIN,    /* the same both ways, without weights                                      */
    GRAPH_WEIGHTED, /* the same both ways, one weight an edge                                   */
    GRAPH_LOPSIDED, /* both directions with different weights: the pattern is symmetric, the matrix
                       is not */
    GRAPH_HUB,      /* all edges meet in node 0, both ways, with a loop there                   */
    GRAPH_EMPTY,    /* no edge                                                                  */
    GRAPH_KINDS
};

static const char *const graph_name[GRAPH_KINDS] = {"directed", "plain", "weighted",
                                                    "lopsided", "hub",   "empty"};
static const char *const view_name[VIEW_COUNT] = {"adjacency", "loops", "gcn", "symmetric",
                                                  "two-hop"};

/* A world: n nodes, f columns, a view of a graph. */
struct spot {
    int64_t n, f;
    enum graph_kind graph;
    enum view view;
};

struct world {
    int64_t n, f;
    struct csr *graph;
    struct views *views;
    const struct csr *s; /* (n, n) */
    struct index *index, *other, *groups, *labelled;
    int32_t *label;
    int64_t *
        number; /* (n) its nodes' numbers in a larger whole: partly consecutive, partly with gaps */
    float *target, *weight, *row_weight;
    float *point;         /* (5, f) */
    float *chosen;        /* (nnz) 1 or 0 */
    struct csr *repeated; /* some case's, and what of it counts: 1 or 0 */
    float *member;
    node x, y; /* parameters (n, f) */
};

static inline float random_in(struct rng *r, double low, double high)
{
    return (float)(low + (high - low) * rng_uniform(r));
}

/* A chain, and a fan from node 0; the last node is isolated. A hub is the fan to all nodes. */
static inline void world_graph(struct world *w, enum graph_kind kind, struct rng *r)
{
    int32_t *from, *to;
    float *weight;
    int64_t m = 0;
    OK(NEW(from, 4 * w->n));
    OK(NEW(to, 4 * w->n));
    OK(NEW(weight, 4 * w->n));
    for (int64_t i = 0; kind != GRAPH_HUB && kind != GRAPH_EMPTY && i + 1 < w->n - 1; i++) {
        from[m] = (int32_t)i, to[m++] = (int32_t)(i + 1);
        from[m] = 0, to[m++] = (int32_t)(i + 1);
    }
    for (int64_t i = 0; kind == GRAPH_HUB && i < w->n; i++)
        from[m] = 0, to[m++] = (int32_t)i;
    for (int64_t k = m; kind == GRAPH_LOPSIDED && k > 0; k--)
        from[m] = to[k - 1], to[m++] = from[k - 1];
    for (int64_t k = 0; k < m; k++)
        weight[k] = random_in(r, 0.5, 2);
    bool both_ways = kind == GRAPH_PLAIN || kind == GRAPH_WEIGHTED || kind == GRAPH_HUB;
    OK(csr_from_edges(&w->graph, w->n, w->n, m, from, to, kind == GRAPH_PLAIN ? NULL : weight,
                      both_ways ? CSR_UNDIRECTED : CSR_DIRECTED, NULL));
    mem_free(from);
    mem_free(to);
    mem_free(weight);
}

static inline void world_index(struct index **out, int64_t count, int64_t targets, int64_t used,
                               struct rng *r)
{
    OK(index_new(out, count, targets));
    for (int64_t k = 0; k < count; k++)
        (*out)->row[k] = (int32_t)rng_below(r, (uint64_t)used);
    OK(index_set(*out, (*out)->row));
}

static inline void world_make(struct world *w, struct spot at)
{
    struct rng r;
    int64_t n = at.n, f = at.f, labelled = n > 2 ? n / 2 : 1;
    *w = (struct world){.n = n, .f = f};
    rng_init(&r, 5, (uint64_t)(n * 100 + f));
    world_graph(w, at.graph, &r);
    OK(views_new(&w->views, w->graph));
    w->s = views_get(w->views, at.view);
    assert_non_null(w->s);
    world_index(&w->index, 2 * n + 1, n, n, &r);
    world_index(&w->other, 2 * n + 1, n, n, &r);
    world_index(&w->groups, n, 4, 3, &r); /* the last group stays empty */
    OK(index_new(&w->labelled, labelled, n));
    for (int64_t k = 0; k < labelled; k++)
        w->labelled->row[k] = (int32_t)(n - 1 - k);
    OK(index_set(w->labelled, w->labelled->row));
    OK(NEW(w->label, n));
    OK(NEW(w->number, n));
    OK(NEW(w->target, n * f));
    OK(NEW(w->weight, n * f));
    OK(NEW(w->row_weight, labelled));
    OK(NEW(w->point, 5 * f));
    OK(NEW(w->chosen, w->s->nnz));
    for (int64_t k = 0; k < w->s->nnz; k++)
        w->chosen[k] = k % 5 == 2 ? 0 : 1;
    for (int64_t i = 0; i < n; i++) {
        w->label[i] = (int32_t)rng_below(&r, (uint64_t)f);
        w->number[i] = 5 + i + i / 3 * 7;
    }
    for (int64_t k = 0; k < n * f; k++) {
        w->target[k] = random_in(&r, 0, 1);
        w->weight[k] = random_in(&r, 0.2, 2);
    }
    for (int64_t k = 0; k < labelled; k++)
        w->row_weight[k] = random_in(&r, 0.5, 2);
    for (int64_t k = 0; k < 5 * f; k++)
        w->point[k] = random_in(&r, 0, 1);
}

static inline void world_free(struct world *w)
{
    views_free(w->views);
    csr_free(w->graph);
    index_free(w->index);
    index_free(w->other);
    index_free(w->groups);
    index_free(w->labelled);
    mem_free(w->label);
    mem_free(w->number);
    mem_free(w->target);
    mem_free(w->weight);
    mem_free(w->row_weight);
    mem_free(w->point);
    mem_free(w->chosen);
    csr_free(w->repeated);
    mem_free(w->member);
}

/* Values a little away from the kinks of relu, abs and clamp, where differences are meaningless.
 * Running statistics, which start at 0 and 1, are changed too. */
static inline void spread_values(const struct params *params, float *values)
{
    struct rng r;
    rng_init(&r, 11, 0);
    for (int i = 0; i < params->count; i++)
        for (int64_t k = 0; k < params->item[i].rows * params->item[i].cols; k++) {
            float *value = &values[params->item[i].offset + k];
            *value = random_in(&r, 0.1, 1.2) * (rng_u32(&r) & 1 ? 1.0f : -1.0f);
            if ((*value > -0.55f && *value < -0.45f) || (*value > 0.65f && *value < 0.75f))
                *value = random_in(&r, 0.8, 1.2);
            if (!params->item[i].trained && *value < 0)
                *value = -*value; /* a variance is positive */
        }
}

#endif
