/* Builds a new base for a growing graph after many changes. That takes time for the whole graph, so
 * a separate thread does it. Readers and writers continue meanwhile; their changes are applied to
 * the new base when it is ready. */
#include "app/growing.h"

#include <string.h>

/* A writer waits for the base only if the changes keep this many times the memory after which one
 * is built: without that limit a fast writer could fill the memory. */
enum { MOST_BEHIND = 16 };

/* What of a change of `now` is not yet in a base built from an older version, where the node's
 * change was `old` (NULL: none). Rows of edges, once made, stay where they are. */
static struct change later(struct change now, const struct change *old)
{
    if (!old)
        return now;
    if (old->row && now.edges.col == old->edges.col && now.edges.count == old->edges.count)
        now.row = false;
    if (old->place && now.chunk == old->chunk && now.at == old->at)
        now.place = false;
    if (old->labelled && now.label == old->label)
        now.labelled = false;
    return now;
}

struct carried {
    struct version *anew;
    const struct version *from; /* what anew holds already */
    const struct consm_dataset *kept;
};

/* Rows are copied, because the memory of the older changes is freed with them. */
static consm_status copy_row(struct change *to, struct delta *c, const struct csr_row *row)
{
    size_t bytes = (size_t)row->count * sizeof *row->col;
    int32_t *col = delta_room(c, bytes);
    float *val = row->val ? delta_room(c, bytes) : NULL;
    if (!col || (row->val && !val))
        return CONSM_ENOMEM;
    if (row->count > 0)
        memcpy(col, row->col, bytes);
    if (val && row->count > 0)
        memcpy(val, row->val, bytes);
    to->edges = (struct csr_row){col, val, row->count};
    to->row = true;
    return CONSM_OK;
}

static consm_status keep(struct carried *to, const struct consm_dataset *chunk)
{
    consm_status st = CONSM_OK;
    if (chunk != to->kept)
        st = delta_keep(&to->anew->changed, dataset_hold((struct consm_dataset *)chunk));
    to->kept = chunk;
    return st;
}

static consm_status carry(void *ctx, const struct change *now)
{
    consm_status st = CONSM_OK;
    struct carried *to = ctx;
    struct delta *changed = &to->anew->changed;
    const struct change c = later(*now, version_change(to->from, now->node));
    bool added = now->node >= to->from->nodes;
    struct change *at;
    if (!added && !c.row && !c.place && !c.labelled)
        return CONSM_OK;
    TRY(delta_touch(&at, changed, now->node));
    if (c.row)
        TRY(copy_row(at, changed, &c.edges));
    if (added) {
        TRY(keep(to, c.home));
        at->home = c.home;
        at->seat = c.seat;
    }
    if (c.place) {
        TRY(keep(to, c.chunk));
        at->place = true;
        at->chunk = c.chunk;
        at->at = c.at;
    }
    if (c.labelled) {
        at->labelled = true;
        at->label = c.label;
    }
done:
    return st;
}

/* Gives `anew`, which holds the version `from`, what `now` has beyond it. */
static consm_status carry_over(struct version *anew, const struct version *from,
                               const struct version *now)
{
    struct carried to = {.anew = anew, .from = from};
    consm_status st = delta_each(&now->changed, &from->changed, carry, &to);
    anew->number = now->number;
    anew->nodes = now->nodes;
    anew->edges = now->edges;
    anew->tables = now->tables;
    return st;
}

/* What changed until the base was ready is carried over first; a writer waits only while the rest
 * is. */
consm_status base_build(struct consm_graph *g, const struct version *from)
{
    consm_status st = CONSM_OK;
    struct consm_dataset *whole;
    struct version *anew = NULL, *then = NULL;
    TRY(version_dataset(&whole, from));
    TRY(version_of(&anew, whole));
    then = version_hold(g);
    TRY(carry_over(anew, from, then));
    pthread_mutex_lock(&g->writing);
    st = carry_over(anew, then, g->now);
    if (st == CONSM_OK) {
        pthread_mutex_lock(&g->lock);
        struct version *old = g->now;
        g->now = anew;
        anew = old;
        pthread_mutex_unlock(&g->lock);
    }
    pthread_mutex_unlock(&g->writing);
done:
    version_release(g, then);
    version_release(g, anew);
    return st;
}

/* Without memory the graph keeps its base, and a later write tries again. */
static void *build(void *ctx)
{
    struct consm_graph *g = ctx;
    struct version *from = version_hold(g);
    base_build(g, from);
    version_release(g, from);
    pthread_mutex_lock(&g->lock);
    g->building = false;
    pthread_cond_broadcast(&g->built);
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

void base_wait(struct consm_graph *g)
{
    pthread_mutex_lock(&g->lock);
    while (g->building)
        pthread_cond_wait(&g->built, &g->lock);
    bool join = g->to_join;
    pthread_t builder = g->builder;
    g->to_join = false;
    pthread_mutex_unlock(&g->lock);
    if (join)
        pthread_join(builder, NULL);
}

void base_renew(struct consm_graph *g)
{
    struct version *v = version_hold(g);
    size_t bytes = delta_bytes(&v->changed);
    bool pays = version_joins(v) && (v->changed.count > g->most || bytes > g->most_bytes);
    version_release(g, v);
    if (!pays)
        return;
    pthread_mutex_lock(&g->lock);
    bool begin = !g->building;
    bool join = begin && g->to_join;
    pthread_t last = g->builder;
    if (begin)
        g->building = true;
    if (begin && g->aside) {
        g->to_join = pthread_create(&g->builder, NULL, build, g) == 0;
        g->building = g->to_join;
    }
    pthread_mutex_unlock(&g->lock);
    if (join)
        pthread_join(last, NULL); /* it is over */
    if (begin && !g->aside)
        build(g);
    else if (bytes / MOST_BEHIND > g->most_bytes)
        base_wait(g);
}
