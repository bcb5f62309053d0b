/* Putting edges into a graph, and taking edges out of it again. */
#include "study/plant.h"

#include "base/alloc.h"
#include "base/rng.h"
#include <math.h>

enum { STREAM_PLANT = 83, TRIES = 200 };

/* ---- drawing --------------------------------------------------------------------------------- */

/* A set of pairs of nodes by open addressing: a pair is left·n + right + 1, an empty place 0. */
struct pairs {
    uint64_t *slot;
    uint64_t mask;
};

static consm_status pairs_new(struct pairs *out, int64_t most)
{
    uint64_t size = 16;
    while (size < 3 * (uint64_t)most)
        size *= 2;
    out->mask = size - 1;
    return ZNEW(out->slot, size);
}

/* Whether the pair is new. */
static bool pairs_add(struct pairs *p, uint64_t pair)
{
    uint64_t at = (pair * 0x9e3779b97f4a7c15u >> 20) & p->mask;
    while (p->slot[at] != 0 && p->slot[at] != pair)
        at = (at + 1) & p->mask;
    bool fresh = p->slot[at] == 0;
    p->slot[at] = pair;
    return fresh;
}

/* Fills left and right (want) with pairs that the graph does not join. */
static consm_status draw(int32_t *left, int32_t *right, int64_t want, const struct csr *graph,
                         const int32_t *label, const struct study_run *run)
{
    consm_status st = CONSM_OK;
    struct pairs seen = {0};
    struct rng rng;
    uint64_t n = (uint64_t)graph->rows;
    bool between = run->plant == PLANT_BETWEEN;
    int64_t found = 0;
    rng_init(&rng, run->seed, (uint64_t)(STREAM_PLANT + (int)run->plant));
    TRY(pairs_new(&seen, want));
    for (int64_t tries = 0; found < want && tries < TRIES * (want + 10); tries++) {
        uint64_t i = rng_below(&rng, n), j = rng_below(&rng, n);
        if (i > j) {
            uint64_t swap = i;
            i = j;
            j = swap;
        }
        bool different = label[i] >= 0 && label[j] >= 0 && label[i] != label[j];
        if (i == j || (between && !different) || csr_find(graph, (int64_t)i, (int32_t)j) >= 0 ||
            !pairs_add(&seen, i * n + j + 1))
            continue;
        left[found] = (int32_t)i;
        right[found++] = (int32_t)j;
    }
    if (found < want)
        TRY(status_fail(CONSM_EINVAL, "no room for %lld more edges among %lld nodes",
                        (long long)want, (long long)graph->rows));
done:
    mem_free(seen.slot);
    return st;
}

/* The clean graph and the drawn edges, which weigh 1. */
static consm_status plant_drawn(struct csr **out, const struct csr *graph, const int32_t *label,
                                const struct study_run *run)
{
    consm_status st = CONSM_OK;
    struct edges *own = NULL;
    int32_t *left = NULL, *right = NULL;
    float *weight = NULL;
    TRY(edges_new(&own, graph));
    int64_t want = (int64_t)llround(run->rate * (double)own->count), all = own->count + want;
    TRY(NEW(left, all));
    TRY(NEW(right, all));
    if (graph->val)
        TRY(NEW(weight, all));
    for (int64_t e = 0; e < own->count; e++) {
        left[e] = own->left[e];
        right[e] = own->right[e];
    }
    for (int64_t e = 0; weight && e < all; e++)
        weight[e] = e < own->count ? graph->val[own->entry[e]] : 1;
    TRY(draw(left + own->count, right + own->count, want, graph, label, run));
    TRY(csr_from_edges(out, graph->rows, graph->cols, all, left, right, weight, CSR_UNDIRECTED,
                       NULL));
done:
    mem_free(left);
    mem_free(right);
    mem_free(weight);
    edges_free(own);
    return st;
}

/* ---- the data on another graph --------------------------------------------------------------- */

/* Takes the graph over. Features that come from the structure come from this one. */
static consm_status put_on(struct prepared *out, const struct dataset *data, struct csr *graph)
{
    consm_status st = CONSM_OK;
    *out = (struct prepared){.data = data, .graph = graph};
    TRY(csr_transpose(graph));
    TRY(views_new(&out->views, graph));
    if (data->features == 0)
        TRY(prepare_structural(&out->structural, out));
done:
    if (st < 0)
        prepare_free(out);
    return st;
}

/* A graph's own copy: the pattern of a published one, which has no weights. */
static consm_status copy_graph(struct csr **out, const struct csr *attack, int64_t nodes)
{
    consm_status st = CONSM_OK;
    struct edges *edges = NULL;
    if (attack->rows != nodes)
        return status_fail(CONSM_EINVAL, "the attacked graph has %lld nodes, the set %lld",
                           (long long)attack->rows, (long long)nodes);
    TRY(edges_new(&edges, attack));
    TRY(csr_from_edges(out, nodes, nodes, edges->count, edges->left, edges->right, NULL,
                       CSR_UNDIRECTED, NULL));
done:
    edges_free(edges);
    return st;
}

consm_status planted_new(struct planted *out, const struct task_input *in)
{
    consm_status st = CONSM_OK;
    const struct prepared *clean = in->prepared;
    struct csr *graph = NULL;
    *out = (struct planted){0};
    if (in->attack)
        TRY(copy_graph(&graph, in->attack, clean->data->nodes));
    else
        TRY(plant_drawn(&graph, clean->graph, clean->data->label, in->run));
    TRY(put_on(&out->prepared, clean->data, graph));
    TRY(edges_new(&out->edges, graph));
    TRY(NEW(out->injected, out->edges->count));
    for (int64_t e = 0; e < out->edges->count; e++) {
        out->injected[e] = csr_find(clean->graph, out->edges->left[e], out->edges->right[e]) < 0;
        out->count += out->injected[e];
    }
done:
    if (st < 0)
        planted_free(out);
    return st;
}

void planted_free(struct planted *p)
{
    prepare_free(&p->prepared);
    edges_free(p->edges);
    mem_free(p->injected);
    *p = (struct planted){0};
}

consm_status planted_left(struct prepared *out, const struct planted *p, const uint8_t *kept)
{
    consm_status st = CONSM_OK;
    const struct csr *graph = p->prepared.graph;
    struct csr *left_over = NULL;
    int32_t *left = NULL, *right = NULL;
    float *weight = NULL;
    int64_t count = 0;
    *out = (struct prepared){0};
    TRY(NEW(left, p->edges->count));
    TRY(NEW(right, p->edges->count));
    if (graph->val)
        TRY(NEW(weight, p->edges->count));
    for (int64_t e = 0; e < p->edges->count; e++) {
        if (!kept[e])
            continue;
        left[count] = p->edges->left[e];
        right[count] = p->edges->right[e];
        if (weight)
            weight[count] = graph->val[p->edges->entry[e]];
        count++;
    }
    TRY(csr_from_edges(&left_over, graph->rows, graph->cols, count, left, right, weight,
                       CSR_UNDIRECTED, NULL));
    TRY(put_on(out, p->prepared.data, left_over));
done:
    mem_free(left);
    mem_free(right);
    mem_free(weight);
    return st;
}
