/* Pairs of labelled nodes that share a neighbour but no edge, for the fit of trust. Not in the
 * paper. */

/*
 * From every labelled node (at most MOST_SOURCES, drawn) two steps are walked over the graph, along
 * at most MOST_STEPS entries. A pair that two sources reach counts once. Reservoir sampling (Vitter
 * 1985, algorithm R) keeps MOST_PAIRS of all pairs, each with the same chance.
 */
#include "match/trust.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "graph/roles.h"
#include <stdlib.h>

enum { MOST_SOURCES = 4096, MOST_STEPS = 4096, MOST_PAIRS = 4096, STREAM = 0x70616972 };

struct walking {
    const struct csr *graph;
    const int32_t *label; /* (n) */
    const uint8_t *role;  /* (n) */
    uint8_t *source;      /* (n) 1: walked from */
    int32_t *seen;        /* (n) the last source that reached the node, or is its neighbour */
    struct rng rng;
    int32_t (*pair)[2]; /* (MOST_PAIRS) left < right */
    int64_t found;      /* all pairs so far, also those that were not kept */
};

static bool known(const struct walking *w, int32_t i)
{
    return w->label[i] >= 0 && (w->role[i] == SPLIT_TRAIN || w->role[i] == SPLIT_VAL);
}

/* Whether source i counts the pair: both labels are known, one of them validates, and j is not a
 * source that counts it itself. */
static bool counts(const struct walking *w, int32_t i, int32_t j)
{
    return known(w, j) && (w->role[i] == SPLIT_VAL || w->role[j] == SPLIT_VAL) &&
           (i < j || !w->source[j]);
}

static void keep(struct walking *w, int32_t i, int32_t j)
{
    int64_t at = w->found++;
    if (at >= MOST_PAIRS)
        at = (int64_t)rng_below(&w->rng, (uint64_t)w->found);
    if (at < MOST_PAIRS) {
        w->pair[at][0] = i < j ? i : j;
        w->pair[at][1] = i < j ? j : i;
    }
}

static void walk_from(struct walking *w, int32_t i)
{
    const struct csr *g = w->graph;
    int64_t steps = 0;
    w->seen[i] = i;
    for (int64_t k = g->start[i]; k < g->start[i + 1]; k++)
        w->seen[g->col[k]] = i;
    for (int64_t k = g->start[i]; k < g->start[i + 1]; k++)
        for (int64_t l = g->start[g->col[k]]; l < g->start[g->col[k] + 1]; l++) {
            int32_t j = g->col[l];
            if (++steps > MOST_STEPS)
                return;
            if (w->seen[j] == i)
                continue;
            w->seen[j] = i;
            if (counts(w, i, j))
                keep(w, i, j);
        }
}

/* Marks the labelled nodes, or MOST_SOURCES of them, each with the same chance. */
static void choose_sources(struct walking *w)
{
    int64_t left = 0, needed;
    for (int64_t i = 0; i < w->graph->rows; i++)
        left += known(w, (int32_t)i);
    needed = left < MOST_SOURCES ? left : MOST_SOURCES;
    for (int64_t i = 0; i < w->graph->rows && needed > 0; i++)
        if (known(w, (int32_t)i)) {
            w->source[i] = (int64_t)rng_below(&w->rng, (uint64_t)left) < needed;
            needed -= w->source[i];
            left--;
        }
}

static int in_row_order(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Sorted and as a list of edges. */
static consm_status list_pairs(struct edges **out, const struct walking *w)
{
    consm_status st = CONSM_OK;
    struct edges *e = NULL;
    int64_t count = w->found < MOST_PAIRS ? w->found : MOST_PAIRS;
    qsort(w->pair, (size_t)count, sizeof *w->pair, in_row_order);
    TRY(ZNEW(e, 1));
    e->count = e->all = count;
    TRY(NEW(e->left, count + 1));
    TRY(NEW(e->right, count + 1));
    for (int64_t k = 0; k < count; k++) {
        e->left[k] = w->pair[k][0];
        e->right[k] = w->pair[k][1];
    }
    *out = e;
    e = NULL;
done:
    edges_free(e);
    return st;
}

consm_status trust_pairs_new(struct edges **out, const struct csr *graph, const int32_t *label,
                             const uint8_t *role, uint64_t seed)
{
    consm_status st = CONSM_OK;
    struct walking w = {.graph = graph, .label = label, .role = role};
    *out = NULL;
    rng_init(&w.rng, seed, STREAM);
    TRY(ZNEW(w.source, graph->rows + 1));
    TRY(NEW(w.seen, graph->rows + 1));
    TRY(NEW(w.pair, MOST_PAIRS));
    for (int64_t i = 0; i < graph->rows; i++)
        w.seen[i] = -1;
    choose_sources(&w);
    for (int64_t i = 0; i < graph->rows; i++)
        if (w.source[i])
            walk_from(&w, (int32_t)i);
    TRY(list_pairs(out, &w));
done:
    mem_free(w.source);
    mem_free(w.seen);
    mem_free(w.pair);
    return st;
}
