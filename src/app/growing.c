/* Versions of a growing graph: sharing them, looking nodes up, making the next one. */
#include "app/growing.h"

#include "data/table/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ---------------------------------------------------------------- */

struct version *version_hold(struct consm_graph *g)
{
    pthread_mutex_lock(&g->lock);
    struct version *v = g->now;
    v->owners++;
    pthread_mutex_unlock(&g->lock);
    return v;
}

void version_release(struct consm_graph *g, struct version *v)
{
    if (!v)
        return;
    pthread_mutex_lock(&g->lock);
    bool last = --v->owners == 0;
    pthread_mutex_unlock(&g->lock);
    if (!last)
        return;
    consm_dataset_free(v->base);
    delta_free(&v->changed);
    mem_free(v);
}

consm_status version_of(struct version **out, struct consm_dataset *base)
{
    consm_status st = CONSM_OK;
    struct version *v = NULL;
    *out = NULL;
    TRY(ZNEW(v, 1));
    v->owners = 1;
    TRY(dataset_prepared(&v->prepared, base));
    TRY(prepare_whole(v->prepared, "a graph that grows"));
    TRY(delta_next(&v->changed, NULL));
    v->base = base;
    v->nodes = base->data->nodes;
    v->edges = v->prepared->graph->nnz / 2;
    *out = v;
    return CONSM_OK;
done:
    mem_free(v);
    consm_dataset_free(base);
    return st;
}

/* ---- looking up ---------------------------------------------------------- */

const struct change *version_change(const struct version *v, int64_t number)
{
    return delta_find(&v->changed, number);
}

static bool changed_row(const void *ctx, int64_t i, struct csr_row *out)
{
    const struct change *found = version_change(ctx, i);
    if (!found || !found->row)
        return false;
    *out = found->edges;
    return true;
}

struct csr_rows version_rows(const struct version *v)
{
    return (struct csr_rows){.base = v->prepared->graph, .changed = changed_row, .ctx = v};
}

const struct consm_dataset *version_place(int64_t *row, const struct version *v, int64_t number)
{
    const struct change *found = version_change(v, number);
    *row = found && found->place ? found->at : number;
    return found && found->place ? found->chunk : v->base;
}

const char *version_id(const struct version *v, int64_t number, char buffer[24])
{
    const struct change *found = version_change(v, number);
    if (number < v->base->data->nodes || !found)
        return dataset_node_id(v->base->data, number, buffer);
    if (found->home->data->node_id)
        return found->home->data->node_id[found->seat];
    snprintf(buffer, 24, "%lld", (long long)number);
    return buffer;
}

int64_t version_find(struct consm_graph *g, const struct version *v, const char *id)
{
    char *end, buffer[24];
    int64_t number = -1;
    if (g->added) {
        pthread_mutex_lock(&g->lock);
        int64_t at = names_find(g->added, id, strlen(id));
        number = at >= 0 ? g->number[at] : -1;
        pthread_mutex_unlock(&g->lock);
        if (at < 0)
            return consm_dataset_find(&number, v->base, &id, 1) == CONSM_OK ? number : -1;
    } else {
        number = strtoll(id, &end, 10);
    }
    bool there = number >= 0 && number < v->nodes;
    return there && strcmp(version_id(v, number, buffer), id) == 0 ? number : -1;
}

/* ---- the next one -------------------------------------------------------- */

/* Copies the current version. */
static consm_status version_next(struct version **out, struct consm_graph *g)
{
    consm_status st = CONSM_OK;
    const struct version *old = g->now; /* only writers change it */
    struct version *v = NULL;
    *out = NULL;
    TRY(NEW(v, 1));
    *v = (struct version){.owners = 1,
                          .number = old->number + 1,
                          .base = old->base,
                          .prepared = old->prepared,
                          .nodes = old->nodes,
                          .edges = old->edges,
                          .tables = old->tables};
    TRY(delta_next(&v->changed, &old->changed));
    dataset_hold(v->base);
    *out = v;
    v = NULL;
done:
    mem_free(v);
    return st;
}

consm_status version_write(struct consm_graph *g,
                           consm_status (*change)(void *ctx, struct version *next), void *ctx)
{
    consm_status st = CONSM_OK;
    struct version *next = NULL;
    pthread_mutex_lock(&g->writing);
    TRY(version_next(&next, g));
    TRY(change(ctx, next));
    pthread_mutex_lock(&g->lock);
    struct version *old = g->now;
    g->now = next;
    next = old;
    pthread_mutex_unlock(&g->lock);
done:
    version_release(g, next);
    pthread_mutex_unlock(&g->writing);
    if (st == CONSM_OK)
        base_renew(g);
    return st;
}
