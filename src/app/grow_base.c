/* Builds a new base for a growing graph after many changes. That takes time for the whole graph, so
 * a separate thread does it. Readers and writers continue meanwhile; their changes are applied to
 * the new base when it is ready. */
#include "app/growing.h"

#include <string.h>

/* While a base is built, a writer waits once this many times the usual number of changes are made:
 * every write copies the table of changes. */
enum { MOST_BEHIND = 4 };

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

/* Gives `anew`, whose base holds the version `from`, what `now` has beyond it. */
static consm_status carry_over(struct version *anew, const struct version *from,
                               const struct version *now, struct consm_graph *g)
{
    consm_status st = CONSM_OK;
    struct change *to;
    for (int64_t i = 0; i < now->slots; i++) {
        int32_t number = now->table[i].node;
        if (number < 0)
            continue;
        struct change c = later(now->table[i], version_change(from, number));
        if (number < from->nodes && !c.row && !c.place && !c.labelled)
            continue;
        c.chunk -= (int32_t)from->chunks;
        c.home -= (int32_t)from->chunks;
        TRY(version_touch(&to, anew, number));
        *to = c;
    }
    anew->number = now->number;
    anew->nodes = now->nodes;
    anew->edges = now->edges;
    TRY(version_share_after(anew, from, now, g));
done:
    return st;
}

consm_status base_build(struct consm_graph *g, const struct version *from)
{
    consm_status st = CONSM_OK;
    struct consm_dataset *whole;
    struct version *anew = NULL;
    TRY(version_dataset(&whole, from));
    TRY(version_of(&anew, whole));
    pthread_mutex_lock(&g->writing);
    st = carry_over(anew, from, g->now, g);
    if (st == CONSM_OK) {
        pthread_mutex_lock(&g->lock);
        struct version *old = g->now;
        g->now = anew;
        anew = old;
        pthread_mutex_unlock(&g->lock);
    }
    pthread_mutex_unlock(&g->writing);
done:
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
    int64_t changes = v->changes;
    bool joins = version_joins(v);
    version_release(g, v);
    if (changes <= g->most || !joins)
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
    else if (changes > MOST_BEHIND * g->most)
        base_wait(g);
}
