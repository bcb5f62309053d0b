/* The reference graph in the library's form, with a reference entry's configuration and parameters.
 * Uses two threads, so that shares are tested too. */
#ifndef TESTS_REFERENCE_SCENE_H
#define TESTS_REFERENCE_SCENE_H

#include "programs.h"
#include "reference.h"

#include "models/model.h"

enum { REF_THREADS = 2 };

struct scene {
    struct ref_graph reference;
    struct csr *graph, *x;
    struct views *views;
    struct index *labelled;
    struct backend *backend;
};

/* kept (edges), or NULL: edges with 0 there are left out. */
static inline void scene_open(struct scene *s, const double *kept)
{
    s->reference = ref_graph_read();
    struct ref_graph *g = &s->reference;
    int32_t from[64], to[64];
    float weight[64], x[24 * 11];
    int64_t m = 0;
    for (int64_t e = 0; e < g->edges; e++)
        if (!kept || kept[e] != 0) {
            from[m] = g->from[e];
            to[m] = g->to[e];
            weight[m++] = (float)g->weight[e];
        }
    for (int64_t k = 0; k < g->nodes * g->features; k++)
        x[k] = (float)g->x[k];
    OK(csr_from_edges(&s->graph, g->nodes, g->nodes, m, from, to, weight, CSR_UNDIRECTED, NULL));
    OK(csr_from_dense(&s->x, x, g->nodes, g->features));
    OK(views_new(&s->views, s->graph));
    OK(index_new(&s->labelled, g->labelled, g->nodes));
    OK(index_set(s->labelled, g->train));
    OK(backend_open(&s->backend, NULL, REF_THREADS));
}

static inline void scene_close(struct scene *s)
{
    backend_close(s->backend);
    index_free(s->labelled);
    views_free(s->views);
    csr_free(s->x);
    csr_free(s->graph);
    ref_graph_free(&s->reference);
}

static inline struct inputs scene_inputs(struct scene *s, struct program *p)
{
    return (struct inputs){.x = sparse(p, s->x),
                           .nodes = s->reference.nodes,
                           .features = s->reference.features,
                           .classes = s->reference.classes,
                           .views = s->views};
}

/* The entry's configuration on top of the model's defaults, without any dropout. */
static inline struct config entry_config(const struct model_def *model, const json_t *entry)
{
    struct config c;
    const char *key;
    json_t *value;
    char text[32];
    model_defaults(model, &c);
    c.dropout = c.input_dropout = c.attention_dropout = c.edge_dropout = c.match_dropout = 0;
    json_object_foreach(ref_get(entry, "config"), key, value)
    {
        const struct config_row *row = config_find(key);
        if (!row)
            continue;
        snprintf(text, sizeof text, "%.17g", json_number_value(value));
        if (json_is_string(value))
            snprintf(text, sizeof text, "%s", json_string_value(value));
        else if (row->kind == CONFIG_WORD)
            snprintf(text, sizeof text, "%s", json_integer_value(value) ? "yes" : "no");
        OK(config_set(&c, key, text));
    }
    return c;
}

static inline void set_parameters(struct params *params, const json_t *entry)
{
    const json_t *known = ref_get(entry, "parameters");
    float *values = param_values(params);
    for (int i = 0; i < params->count; i++) {
        const struct parameter *item = &params->item[i];
        if (!item->trained)
            continue;
        struct ref_tensor t = ref_read(ref_get(known, item->name));
        assert_int_equal(t.rows * t.cols, item->rows * item->cols);
        for (int64_t k = 0; k < t.rows * t.cols; k++)
            values[item->offset + k] = (float)t.value[k];
        mem_free(t.value);
    }
}

#endif
