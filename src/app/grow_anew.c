/* Builds an ordinary dataset from a version of a growing graph. */
#include "app/growing.h"
#include "data/split.h"
#include "data/table/recipe.h"

#include <string.h>

/* The arrays of all rows, gathered from the base and the chunks; and the graph, whose rows are in
 * order already: making it from the list of edges would take most of the time. */
struct gathered {
    struct csr *graph;
    int32_t *from, *to, *label;
    float *weight, *dense;
    const char **id;
};

static void gathered_free(struct gathered *g)
{
    csr_free(g->graph);
    mem_free(g->from);
    mem_free(g->to);
    mem_free(g->label);
    mem_free(g->weight);
    mem_free(g->dense);
    mem_free(g->id);
}

static consm_status gather_edges(struct gathered *g, const struct version *v)
{
    consm_status st = CONSM_OK;
    const struct csr_rows rows = version_rows(v);
    const bool weighted = rows.base->val != NULL; /* then every changed row has weights, too */
    int64_t count = 0;
    TRY(NEW(g->from, v->edges + 1));
    TRY(NEW(g->to, v->edges + 1));
    if (weighted)
        TRY(NEW(g->weight, v->edges + 1));
    TRY(csr_new(&g->graph, v->nodes, v->nodes, 2 * v->edges, weighted));
    for (int64_t i = 0; i < v->nodes; i++) {
        const struct csr_row row = csr_row(&rows, i);
        int64_t at = g->graph->start[i];
        g->graph->start[i + 1] = at + row.count;
        if (row.count > 0)
            memcpy(g->graph->col + at, row.col, (size_t)row.count * sizeof *row.col);
        if (row.count > 0 && weighted)
            memcpy(g->graph->val + at, row.val, (size_t)row.count * sizeof *row.val);
        for (int64_t k = 0; k < row.count; k++) {
            if (row.col[k] < i)
                continue;
            g->from[count] = (int32_t)i;
            g->to[count] = row.col[k];
            if (weighted)
                g->weight[count] = row.val[k];
            count++;
        }
    }
done:
    return st;
}

/* A row of a dataset's features, (f). */
static void copy_row(float *out, const struct dataset *d, int64_t row)
{
    size_t bytes = (size_t)d->features * sizeof *out;
    if (d->dense) {
        memcpy(out, d->dense + row * d->features, bytes);
        return;
    }
    memset(out, 0, bytes);
    for (int64_t e = d->sparse->start[row]; e < d->sparse->start[row + 1]; e++)
        out[d->sparse->col[e]] = d->sparse->val ? d->sparse->val[e] : 1;
}

static consm_status gather_nodes(struct gathered *g, const struct version *v)
{
    consm_status st = CONSM_OK;
    const struct dataset *base = v->base->data;
    int64_t f = base->features;
    TRY(NEW(g->label, v->nodes));
    if (f > 0)
        TRY(NEW(g->dense, v->nodes * f));
    if (base->node_id)
        TRY(NEW(g->id, v->nodes));
    for (int64_t i = 0; i < v->nodes; i++) {
        const struct change *found = version_change(v, i);
        int64_t row;
        const struct dataset *d = version_place(&row, v, i)->data;
        if (f > 0)
            copy_row(g->dense + i * f, d, row);
        g->label[i] = found && found->labelled ? found->label : base->label[i];
        if (g->id)
            g->id[i] = version_id(v, i, NULL); /* in a graph with ids every node has one */
    }
done:
    return st;
}

bool version_joins(const struct version *v)
{
    return !v->tables && !(v->base->data->cells && v->changed.count > 0);
}

/* What the arrays do not say. Added nodes have no role in the splits. */
static consm_status keep_facts(struct dataset *to, const struct dataset *base)
{
    consm_status st = CONSM_OK;
    to->class_kind = base->class_kind;
    TRY(choices_copy(&to->choices, (const char *const *)base->choices.text));
    if (base->recipe)
        TRY(recipe_copy(&to->recipe, base->recipe));
    if (base->splits > 0)
        TRY(ZNEW(to->role, base->splits * to->nodes));
    for (int64_t k = 0; k < base->splits; k++)
        memcpy(to->role + k * to->nodes, base->role + k * base->nodes, (size_t)base->nodes);
    for (int64_t i = 0; i < base->splits * to->nodes; i++)
        if (to->label[i % to->nodes] < 0)
            to->role[i] = SPLIT_NONE;
    to->splits = base->splits;
done:
    return st;
}

consm_status version_dataset(struct consm_dataset **out, const struct version *v)
{
    consm_status st = CONSM_OK;
    const struct dataset *base = v->base->data;
    struct gathered g = {0};
    struct consm_dataset *made = NULL;
    *out = NULL;
    if (v->changed.count == 0) {
        *out = dataset_hold(v->base);
        return CONSM_OK;
    }
    if (!version_joins(v))
        return status_fail(CONSM_EINVAL,
                           "%s is a table with texts or dates: new rows can be predicted, but not "
                           "added to it; add them to the source table and open it again",
                           base->name);
    TRY(gather_edges(&g, v));
    TRY(gather_nodes(&g, v));
    struct consm_arrays a = {.size = sizeof a,
                             .name = base->name,
                             .nodes = v->nodes,
                             .edges = v->edges,
                             .features = base->features,
                             .classes = base->classes,
                             .from = g.from,
                             .to = g.to,
                             .weight = g.weight,
                             .feature = g.dense,
                             .label = g.label,
                             .node_id = g.id,
                             .class_name = (const char *const *)base->class_name,
                             .feature_name = (const char *const *)base->feature_name};
    TRY(consm_dataset_from_arrays(&made, &a));
    TRY(keep_facts(made->data, base));
    st = prepare_with(&made->prepared, made->data, g.graph);
    g.graph = NULL;
    TRY(st);
    made->ready = true;
    *out = made;
    made = NULL;
done:
    consm_dataset_free(made);
    gathered_free(&g);
    return st;
}
