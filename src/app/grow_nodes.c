/* Adds nodes, and sets features and labels of existing ones. The rows of a call are a small
 * dataset, a chunk, so that names and recipes apply to them as to any dataset. */
#include "app/growing.h"
#include "base/given.h"
#include "base/sized.h"
#include "data/table/names.h"

#include <string.h>

/* Makes the caller's rows a chunk of the next version, which owns *made. */
static consm_status take_rows(const struct consm_dataset **made, struct version *next,
                              const struct consm_arrays *rows, int64_t least, int64_t most)
{
    consm_status st = CONSM_OK;
    const struct dataset *base = next->base->data;
    struct consm_arrays given = {.size = sizeof given};
    struct consm_dataset *chunk;
    TRY(sized_take(&given, sizeof given, rows, SIZED_UP_TO(struct consm_arrays, feature_name)));
    if (given.edges != 0)
        return status_fail(CONSM_EINVAL,
                           "the new nodes have %lld edges: expected 0; use consm_graph_add_edges()",
                           (long long)given.edges);
    if (given.nodes < least || given.nodes > most)
        return status_fail(CONSM_EINVAL, "%lld rows: expected %lld to %lld", (long long)given.nodes,
                           (long long)least, (long long)most);
    given.size = sizeof given;
    given.classes = base->classes;
    given.class_name = NULL;
    given.borrow = 0;
    TRY(consm_dataset_from_arrays(&chunk, &given));
    *made = chunk;
    TRY(delta_keep(&next->changed, chunk));
    next->tables = next->tables || chunk->data->recipe;
    if (given.columns != 0 && !base->recipe)
        return status_fail(CONSM_EINVAL, "%s is not a table: expected features, not columns",
                           base->name);
    if (given.columns == 0 && chunk->data->features != base->features)
        return status_fail(CONSM_EINVAL, "the rows have %lld features: expected %lld, as in %s",
                           (long long)chunk->data->features, (long long)base->features, base->name);
done:
    return st;
}

/* ---- new nodes ----------------------------------------------------------- */

/* New ids must differ from all others. */
static consm_status check_ids(struct consm_graph *g, const struct version *v,
                              const struct dataset *chunk)
{
    const struct dataset *base = v->base->data;
    if (!base->node_id != !chunk->node_id)
        return status_fail(CONSM_EINVAL, "the nodes of %s have %s: expected the same for new nodes",
                           base->name, base->node_id ? "ids" : "no ids");
    for (int64_t i = 0; chunk->node_id && i < chunk->nodes; i++)
        if (version_find(g, v, chunk->node_id[i]) >= 0)
            return status_fail(CONSM_EINVAL, "node \"%.80s\" exists already", chunk->node_id[i]);
    return CONSM_OK;
}

static consm_status note_ids(struct consm_graph *g, const struct dataset *chunk, int64_t first)
{
    consm_status st = CONSM_OK;
    int64_t index;
    pthread_mutex_lock(&g->lock);
    for (int64_t i = 0; chunk->node_id && i < chunk->nodes; i++) {
        TRY(GROW(g->number, g->added->count, g->room, 1));
        TRY(names_add(&index, g->added, chunk->node_id[i], strlen(chunk->node_id[i])));
        g->number[index] = first + i;
    }
done:
    pthread_mutex_unlock(&g->lock);
    return st;
}

struct node_rows {
    struct consm_graph *graph;
    const struct consm_arrays *rows;
    const int64_t *number; /* (rows) the nodes whose features they are; NULL: new nodes */
    int64_t first;         /* of the new nodes */
};

static consm_status add_nodes(void *ctx, struct version *next)
{
    consm_status st = CONSM_OK;
    struct node_rows *n = ctx;
    const struct consm_dataset *chunk;
    struct change *c;
    n->first = next->nodes;
    TRY(take_rows(&chunk, next, n->rows, 1, INT32_MAX - next->nodes));
    TRY(check_ids(n->graph, next, chunk->data));
    for (int64_t i = 0; i < chunk->data->nodes; i++) {
        TRY(delta_touch(&c, &next->changed, n->first + i));
        c->row = c->place = c->labelled = true;
        c->chunk = c->home = chunk;
        c->at = c->seat = (int32_t)i;
        c->label = chunk->data->label[i];
    }
    next->nodes += chunk->data->nodes;
    TRY(note_ids(n->graph, chunk->data, n->first));
done:
    return st;
}

consm_status consm_graph_add_nodes(struct consm_graph *g, const struct consm_arrays *rows,
                                   int64_t *first)
{
    consm_status st = CONSM_OK;
    struct node_rows added = {.graph = g, .rows = rows};
    TRY(GIVEN(g, rows));
    TRY(version_write(g, add_nodes, &added));
    if (first)
        *first = added.first;
done:
    return st;
}

/* ---- what is new of nodes ------------------------------------------------ */

static consm_status check_node(const struct version *v, int64_t number)
{
    if (number >= 0 && number < v->nodes)
        return CONSM_OK;
    return status_fail(CONSM_ENOTFOUND, "%s has no node number %lld: expected 0 to %lld",
                       v->base->data->name, (long long)number, (long long)v->nodes - 1);
}

static consm_status set_features(void *ctx, struct version *next)
{
    consm_status st = CONSM_OK;
    const struct node_rows *n = ctx;
    const struct consm_dataset *chunk;
    struct change *c;
    TRY(take_rows(&chunk, next, n->rows, 1, INT32_MAX));
    for (int64_t i = 0; i < chunk->data->nodes; i++) {
        TRY(check_node(next, n->number[i]));
        TRY(delta_touch(&c, &next->changed, n->number[i]));
        c->place = true;
        c->chunk = chunk;
        c->at = (int32_t)i;
    }
done:
    return st;
}

consm_status consm_graph_set_features(struct consm_graph *g, const int64_t *number,
                                      const struct consm_arrays *rows)
{
    struct node_rows set = {.graph = g, .rows = rows, .number = number};
    consm_status st = GIVEN(g, number, rows);
    return st < 0 ? st : version_write(g, set_features, &set);
}

struct label_list {
    const int64_t *number;
    const int32_t *label;
    int64_t count;
};

static consm_status set_labels(void *ctx, struct version *next)
{
    consm_status st = CONSM_OK;
    const struct label_list *l = ctx;
    int32_t classes = next->base->data->classes;
    struct change *c;
    for (int64_t i = 0; i < l->count; i++) {
        TRY(check_node(next, l->number[i]));
        if (l->label[i] >= classes)
            TRY(status_fail(CONSM_EINVAL, "label %lld is %d: expected -1 to %d", (long long)i,
                            l->label[i], classes - 1));
        TRY(delta_touch(&c, &next->changed, l->number[i]));
        c->labelled = true;
        c->label = l->label[i] < 0 ? -1 : l->label[i];
    }
done:
    return st;
}

consm_status consm_graph_set_labels(struct consm_graph *g, const int64_t *number,
                                    const int32_t *label, int64_t count)
{
    struct label_list list = {number, label, count};
    consm_status st = GIVEN(g, number, label);
    if (st == CONSM_OK && count < 0)
        st = status_fail(CONSM_EINVAL, "%lld labels: expected 0 or more", (long long)count);
    return st < 0 ? st : version_write(g, set_labels, &list);
}
