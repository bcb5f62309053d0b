/* Changes a growing graph. Every call checks all its arguments, makes the next version and
 * publishes it in one step; a failure changes nothing. */
#include "app/growing.h"
#include "base/given.h"
#include "data/table/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A new base is built when this many nodes changed, or this share of them if that is more; or when
 * the changes keep this much memory, or this share of the graph's. */
enum { MOST_CHANGES = 1 << 16, MOST_BYTES = 16 << 20 };
static const double MOST_SHARE = 1.0 / 16, MOST_MEMORY = 1.0 / 4;

/* Roughly the memory of a dataset's graph and features. */
static double bytes_of(const struct version *v)
{
    const struct csr *graph = v->prepared->graph;
    const struct dataset *d = v->base->data;
    double cells =
        d->sparse ? 2.0 * (double)d->sparse->nnz : (double)d->nodes * (double)d->features;
    return 4 * cells + (graph->val ? 8.0 : 4.0) * (double)graph->nnz + 8.0 * (double)d->nodes;
}

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
    g->most_bytes = (size_t)fmax(MOST_BYTES, MOST_MEMORY * bytes_of(g->now));
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
    if (count < 0)
        TRY(status_fail(CONSM_EINVAL, "%lld ids: expected 0 or more", (long long)count));
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
