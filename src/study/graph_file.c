/* Writes scored graphs, and reads them back with every array checked. */
#include "study/graph_file.h"
#include "stats/score.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"

/* ---- writing ------------------------------------------------------------- */

/* The smallest score of the kept edges: the threshold. */
static double threshold(const struct edge_trust *t)
{
    double least = 1;
    for (int64_t e = 0; e < t->edges->count; e++)
        if (t->kept[e] && t->score[e] < least)
            least = (double)t->score[e];
    return least;
}

static int add_edges(json_t *to, const struct edge_trust *t)
{
    json_t *left = json_array(), *right = json_array(), *score = json_array();
    int fault = 0;
    for (int64_t e = 0; e < t->edges->count; e++)
        fault |= json_array_append_new(left, json_integer(t->edges->left[e])) |
                 json_array_append_new(right, json_integer(t->edges->right[e])) |
                 json_array_append_new(score, json_real(round(1e4 * (double)t->score[e]) / 1e4));
    return fault | json_object_set_new(to, "left", left) | json_object_set_new(to, "right", right) |
           json_object_set_new(to, "score", score);
}

static int add_nodes(json_t *to, const struct dataset *d, const struct problem *problem,
                     const float *logits)
{
    json_t *label = json_array(), *predicted = json_array(), *role = json_array();
    json_t *name = d->node_id ? json_array() : NULL, *class_name = json_array();
    char buffer[24];
    int fault = 0;
    for (int64_t i = 0; i < d->nodes; i++) {
        int32_t best = score_largest(logits + i * d->classes, d->classes);
        fault |= json_array_append_new(label, json_integer(problem->label[i])) |
                 json_array_append_new(predicted, json_integer(best)) |
                 json_array_append_new(role, json_integer(problem->role[i]));
        if (name) /* a name that is not UTF-8 is shown as its number */
            if (json_array_append_new(name, json_string(d->node_id[i])) != 0)
                fault |= json_array_append_new(name, json_integer(i));
    }
    for (int32_t k = 0; k < d->classes; k++)
        if (json_array_append_new(class_name, json_string(dataset_class_name(d, k, buffer))) != 0)
            fault |= json_array_append_new(class_name, json_integer(k));
    if (name)
        fault |= json_object_set_new(to, "node_name", name);
    return fault | json_object_set_new(to, "label", label) |
           json_object_set_new(to, "predicted", predicted) | json_object_set_new(to, "role", role) |
           json_object_set_new(to, "class_name", class_name);
}

consm_status graph_file_write(const char *path, const struct dataset *d, const struct edge_trust *t,
                              const struct problem *problem, const float *logits)
{
    consm_status st = CONSM_OK;
    char *text = NULL;
    struct file_writer *file = NULL;
    json_t *all = json_pack("{s:s, s:I, s:f, s:f}", "name", d->name, "nodes", (json_int_t)d->nodes,
                            "zeta", t->zeta, "threshold", threshold(t));
    if (!all || add_edges(all, t) || add_nodes(all, d, problem, logits) ||
        !(text = json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(6))))
        TRY(status_fail(CONSM_ENOMEM, "%s: out of memory for the graph", path));
    TRY(file_create(&file, path));
    TRY(file_write(file, text, strlen(text)));
    TRY(file_commit(file));
done:
    file_close(file);
    free(text);
    json_decref(all);
    return st;
}

/* ---- reading ------------------------------------------------------------- */

struct graph_file {
    json_t *json;
    struct graph_view view;
    int64_t *start;
    int32_t *col, *label, *predicted;
    float *score;
    uint8_t *role;
    const char **node_name, **class_name;
};

const struct graph_view *graph_file_view(const struct graph_file *g)
{
    return &g->view;
}

void graph_file_free(struct graph_file *g)
{
    if (!g)
        return;
    mem_free(g->start);
    mem_free(g->col);
    mem_free(g->score);
    mem_free(g->label);
    mem_free(g->predicted);
    mem_free(g->role);
    mem_free(g->node_name);
    mem_free(g->class_name);
    json_decref(g->json);
    mem_free(g);
}

static const json_t *array_of(const struct graph_file *g, const char *name, size_t size)
{
    const json_t *array = json_object_get(g->json, name);
    return json_is_array(array) && json_array_size(array) == size ? array : NULL;
}

/* Whether all entries are whole numbers from low to below high. */
static bool in_range(const json_t *array, int64_t low, int64_t high)
{
    for (size_t i = 0; array && i < json_array_size(array); i++) {
        const json_t *value = json_array_get(array, i);
        if (!json_is_integer(value) || json_integer_value(value) < low ||
            json_integer_value(value) >= high)
            return false;
    }
    return array != NULL;
}

static consm_status read_edges(struct graph_file *g, const char *path)
{
    consm_status st = CONSM_OK;
    int64_t n = g->view.nodes, *next = NULL;
    size_t count = json_array_size(json_object_get(g->json, "left"));
    const json_t *end[2] = {array_of(g, "left", count), array_of(g, "right", count)};
    const json_t *score = array_of(g, "score", count);
    TRY(ZNEW(g->start, n + 1));
    TRY(NEW(next, n));
    TRY(NEW(g->col, 2 * count));
    TRY(NEW(g->score, 2 * count));
    if (!in_range(end[0], 0, n) || !in_range(end[1], 0, n) || !score)
        TRY(status_fail(CONSM_EFORMAT, "%s: the edges are damaged", path));
    for (size_t e = 0; e < 2 * count; e++)
        g->start[json_integer_value(json_array_get(end[e % 2], e / 2)) + 1]++;
    for (int64_t i = 0; i < n; i++)
        g->start[i + 1] += g->start[i];
    memcpy(next, g->start, (size_t)n * sizeof *next);
    for (size_t e = 0; e < 2 * count; e++) {
        int64_t from = json_integer_value(json_array_get(end[e % 2], e / 2));
        int64_t at = next[from]++;
        g->col[at] = (int32_t)json_integer_value(json_array_get(end[1 - e % 2], e / 2));
        g->score[at] = (float)json_number_value(json_array_get(score, e / 2));
    }
done:
    mem_free(next);
    return st;
}

static consm_status read_nodes(struct graph_file *g, const char *path)
{
    consm_status st = CONSM_OK;
    size_t n = (size_t)g->view.nodes;
    const json_t *names = json_object_get(g->json, "class_name");
    int64_t classes = (int64_t)json_array_size(names);
    const json_t *label = array_of(g, "label", n), *predicted = array_of(g, "predicted", n);
    const json_t *role = array_of(g, "role", n), *name = array_of(g, "node_name", n);
    if (!in_range(label, -1, classes) || !in_range(predicted, -1, classes) ||
        !in_range(role, 0, 4) || classes > INT32_MAX)
        TRY(status_fail(CONSM_EFORMAT, "%s: the nodes are damaged", path));
    TRY(NEW(g->label, n));
    TRY(NEW(g->predicted, n));
    TRY(NEW(g->role, n));
    TRY(NEW(g->class_name, classes));
    if (name)
        TRY(NEW(g->node_name, n));
    for (size_t i = 0; i < n; i++) {
        g->label[i] = (int32_t)json_integer_value(json_array_get(label, i));
        g->predicted[i] = (int32_t)json_integer_value(json_array_get(predicted, i));
        g->role[i] = (uint8_t)json_integer_value(json_array_get(role, i));
        const char *text = name ? json_string_value(json_array_get(name, i)) : NULL;
        if (name)
            g->node_name[i] = text ? text : "?";
    }
    for (int64_t k = 0; k < classes; k++) {
        const char *text = json_string_value(json_array_get(names, (size_t)k));
        g->class_name[k] = text ? text : "?";
    }
    g->view.classes = (int32_t)classes;
done:
    return st;
}

consm_status graph_file_read(struct graph_file **out, const char *path)
{
    consm_status st = CONSM_OK;
    struct file_map map;
    struct graph_file *g;
    json_error_t error;
    *out = NULL;
    TRY(ZNEW(g, 1));
    TRY(file_map(&map, path));
    g->json = json_loadb((const char *)map.data, map.size, 0, &error);
    size_t size = map.size;
    file_unmap(&map);
    if (!g->json)
        TRY(status_fail(CONSM_EFORMAT, "%s: line %d, column %d: %s", path, error.line, error.column,
                        error.text));
    const char *name = json_string_value(json_object_get(g->json, "name"));
    int64_t nodes = json_integer_value(json_object_get(g->json, "nodes"));
    /* Every node takes at least two bytes of the file. */
    if (!name || nodes < 1 || (size_t)nodes > size)
        TRY(status_fail(CONSM_EFORMAT, "%s: name or number of nodes is missing", path));
    g->view =
        (struct graph_view){.name = name,
                            .nodes = nodes,
                            .threshold = json_number_value(json_object_get(g->json, "threshold"))};
    TRY(read_edges(g, path));
    TRY(read_nodes(g, path));
    g->view.start = g->start;
    g->view.col = g->col;
    g->view.score = g->score;
    g->view.label = g->label;
    g->view.predicted = g->predicted;
    g->view.role = g->role;
    g->view.node_name = g->node_name;
    g->view.class_name = g->class_name;
    *out = g;
    return CONSM_OK;
done:
    graph_file_free(g);
    return st;
}
