/* Versions of a growing graph: sharing them, looking nodes up, making the next one. */
#include "app/growing.h"

#include "data/table/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };

/* ---- life ---------------------------------------------------------------- */

static void drop_shared(struct shared **list, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (--list[i]->owners == 0) {
            list[i]->release(list[i]->thing);
            mem_free(list[i]);
        }
    mem_free(list);
}

struct version *version_hold(struct consm_graph *g)
{
    pthread_mutex_lock(&g->lock);
    struct version *v = g->now;
    v->owners++;
    pthread_mutex_unlock(&g->lock);
    return v;
}

/* The last owner frees it under the lock, because others may share parts of it. */
void version_release(struct consm_graph *g, struct version *v)
{
    if (!v)
        return;
    pthread_mutex_lock(&g->lock);
    bool last = --v->owners == 0;
    if (last) {
        drop_shared(v->chunk, v->chunks);
        drop_shared(v->block, v->blocks);
    }
    pthread_mutex_unlock(&g->lock);
    if (!last)
        return;
    consm_dataset_free(v->base);
    mem_free(v->table);
    mem_free(v);
}

static consm_status table_new(struct version *v, int64_t slots)
{
    consm_status st = NEW(v->table, slots);
    v->slots = slots;
    for (int64_t i = 0; st == CONSM_OK && i < slots; i++)
        v->table[i].node = -1;
    return st;
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
    TRY(table_new(v, FIRST_SLOTS));
    v->base = base;
    v->nodes = base->data->nodes;
    v->edges = v->prepared->graph->nnz / 2;
    *out = v;
    return CONSM_OK;
done:
    if (v)
        mem_free(v->table);
    mem_free(v);
    consm_dataset_free(base);
    return st;
}

/* ---- looking up ---------------------------------------------------------- */

static int64_t slot_of(const struct version *v, int64_t number)
{
    uint64_t hash = (uint64_t)number * 0x9e3779b97f4a7c15u;
    int64_t at = (int64_t)(hash >> 32) & (v->slots - 1);
    while (v->table[at].node >= 0 && v->table[at].node != number)
        at = (at + 1) & (v->slots - 1);
    return at;
}

const struct change *version_change(const struct version *v, int64_t number)
{
    const struct change *found = &v->table[slot_of(v, number)];
    return found->node >= 0 ? found : NULL;
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
    return found && found->place ? v->chunk[found->chunk]->thing : v->base;
}

const char *version_id(const struct version *v, int64_t number, char buffer[24])
{
    const struct change *found = version_change(v, number);
    if (number < v->base->data->nodes || !found)
        return dataset_node_id(v->base->data, number, buffer);
    const struct consm_dataset *home = v->chunk[found->home]->thing;
    if (home->data->node_id)
        return home->data->node_id[found->seat];
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

static consm_status share_list(struct shared ***out, struct shared **list, int64_t count)
{
    consm_status st = NEW(*out, count + 1);
    if (st == CONSM_OK && count > 0)
        memcpy(*out, list, (size_t)count * sizeof **out);
    for (int64_t i = 0; st == CONSM_OK && i < count; i++)
        list[i]->owners++;
    return st;
}

/* Copies the current version. */
static consm_status version_next(struct version **out, struct consm_graph *g)
{
    consm_status st = CONSM_OK;
    const struct version *old = g->now; /* only writers change it */
    struct version *v = NULL;
    *out = NULL;
    TRY(ZNEW(v, 1));
    *v = (struct version){.owners = 1,
                          .number = old->number + 1,
                          .prepared = old->prepared,
                          .nodes = old->nodes,
                          .edges = old->edges,
                          .slots = old->slots,
                          .changes = old->changes};
    TRY(NEW(v->table, old->slots));
    memcpy(v->table, old->table, (size_t)old->slots * sizeof *v->table);
    v->base = dataset_hold(old->base);
    pthread_mutex_lock(&g->lock);
    st = share_list(&v->chunk, old->chunk, old->chunks);
    v->chunks = st == CONSM_OK ? old->chunks : 0;
    if (st == CONSM_OK)
        st = share_list(&v->block, old->block, old->blocks);
    v->blocks = st == CONSM_OK ? old->blocks : 0;
    pthread_mutex_unlock(&g->lock);
    TRY(st);
    *out = v;
    return CONSM_OK;
done:
    version_release(g, v);
    return st;
}

static consm_status grow_table(struct version *v)
{
    consm_status st = CONSM_OK;
    struct change *old = v->table;
    int64_t slots = v->slots;
    st = table_new(v, 2 * slots);
    if (st < 0) {
        v->table = old;
        v->slots = slots;
        return st;
    }
    for (int64_t i = 0; i < slots; i++)
        if (old[i].node >= 0)
            v->table[slot_of(v, old[i].node)] = old[i];
    mem_free(old);
    return CONSM_OK;
}

consm_status version_touch(struct change **out, struct version *v, int64_t number)
{
    consm_status st = CONSM_OK;
    if (2 * (v->changes + 1) > v->slots)
        TRY(grow_table(v));
    *out = &v->table[slot_of(v, number)];
    if ((*out)->node < 0) {
        **out = (struct change){.node = (int32_t)number};
        v->changes++;
    }
done:
    return st;
}

consm_status version_share(struct shared ***list, int64_t *count, void *thing,
                           void (*release)(void *thing))
{
    consm_status st = CONSM_OK;
    struct shared *made = NULL, **longer = NULL;
    TRY(NEW(made, 1));
    TRY(NEW(longer, *count + 1));
    if (*count > 0)
        memcpy(longer, *list, (size_t)*count * sizeof *longer);
    *made = (struct shared){1, thing, release};
    longer[(*count)++] = made;
    mem_free(*list);
    *list = longer;
    return CONSM_OK;
done:
    mem_free(made);
    release(thing);
    return st;
}

/* ---- publishing ---------------------------------------------------------- */

consm_status version_share_after(struct version *anew, const struct version *from,
                                 const struct version *now, struct consm_graph *g)
{
    int64_t chunks = now->chunks - from->chunks, blocks = now->blocks - from->blocks;
    pthread_mutex_lock(&g->lock);
    consm_status st = share_list(&anew->chunk, now->chunk + from->chunks, chunks);
    anew->chunks = st == CONSM_OK ? chunks : 0;
    if (st == CONSM_OK)
        st = share_list(&anew->block, now->block + from->blocks, blocks);
    anew->blocks = st == CONSM_OK ? blocks : 0;
    pthread_mutex_unlock(&g->lock);
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
