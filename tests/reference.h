/* Reads the reference values of tests/reference: one graph, and per model a file of entries with
 * configuration, inputs, parameters, logits, loss, gradients and the losses of ten Adam steps. The
 * Python programs beside the files made them. A fault in a file fails the test. */
#ifndef TESTS_REFERENCE_H
#define TESTS_REFERENCE_H

#include <jansson.h>

#include "base/alloc.h"
#include "check.h"

/* A vector of k numbers is one row of k. */
struct ref_tensor {
    int64_t rows, cols;
    double *value; /* (rows, cols) */
};

struct ref_graph {
    int64_t nodes, features, classes, edges, labelled;
    double learning_rate, weight_decay;
    int32_t *from, *to; /* (edges) each undirected edge once, from < to */
    double *weight;     /* (edges) */
    double *x;          /* (nodes, features) */
    int32_t *label;     /* (nodes) */
    int32_t *train;     /* (labelled) */
};

enum { REF_STEPS = 10 };

static inline json_t *ref_get(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!value)
        fail_msg("reference file: no key \"%s\"", key);
    return value;
}

static inline json_t *ref_open(const char *name)
{
    char path[512];
    json_error_t fault;
    snprintf(path, sizeof path, "%s/reference/%s.json", TESTS_DIR, name);
    json_t *root = json_load_file(path, 0, &fault);
    if (!root)
        fail_msg("%s: line %d: %s", path, fault.line, fault.text);
    return root;
}

/* {"shape":[…],"values":[…]}; the caller frees value with mem_free. */
static inline struct ref_tensor ref_read(const json_t *tensor)
{
    const json_t *shape = ref_get(tensor, "shape"), *values = ref_get(tensor, "values");
    size_t axes = json_array_size(shape);
    struct ref_tensor t = {1, 1, NULL};
    assert_in_range(axes, 1, 2);
    t.cols = json_integer_value(json_array_get(shape, axes - 1));
    if (axes == 2)
        t.rows = json_integer_value(json_array_get(shape, 0));
    assert_int_equal(json_array_size(values), t.rows * t.cols);
    OK(NEW(t.value, t.rows * t.cols));
    for (int64_t k = 0; k < t.rows * t.cols; k++)
        t.value[k] = json_number_value(json_array_get(values, (size_t)k));
    return t;
}

/* entry[group][name], group being "parameters", "gradients", "inputs" or "outputs". */
static inline struct ref_tensor ref_named(const json_t *entry, const char *group, const char *name)
{
    return ref_read(ref_get(ref_get(entry, group), name));
}

/* A number of the entry's configuration. */
static inline double ref_config(const json_t *entry, const char *key)
{
    return json_number_value(ref_get(ref_get(entry, "config"), key));
}

/* The same as 32-bit integers or floats, for the library. */
static inline int32_t *ref_integers(struct ref_tensor t)
{
    int32_t *out;
    OK(NEW(out, t.rows * t.cols));
    for (int64_t k = 0; k < t.rows * t.cols; k++)
        out[k] = (int32_t)t.value[k];
    return out;
}

static inline float *ref_floats(struct ref_tensor t)
{
    float *out;
    OK(NEW(out, t.rows * t.cols));
    for (int64_t k = 0; k < t.rows * t.cols; k++)
        out[k] = (float)t.value[k];
    return out;
}

static inline int32_t *ref_graph_integers(const json_t *root, const char *key, int64_t *count)
{
    struct ref_tensor t = ref_read(ref_get(root, key));
    int32_t *out = ref_integers(t);
    *count = t.rows * t.cols;
    mem_free(t.value);
    return out;
}

static inline struct ref_graph ref_graph_read(void)
{
    json_t *root = ref_open("graph");
    struct ref_graph g = {0};
    int64_t count;
    g.nodes = json_integer_value(ref_get(root, "nodes"));
    g.features = json_integer_value(ref_get(root, "features"));
    g.classes = json_integer_value(ref_get(root, "classes"));
    g.learning_rate = json_number_value(ref_get(root, "learning_rate"));
    g.weight_decay = json_number_value(ref_get(root, "weight_decay"));
    int32_t *ends = ref_graph_integers(root, "edges", &count);
    g.edges = count / 2;
    OK(NEW(g.from, g.edges));
    OK(NEW(g.to, g.edges));
    for (int64_t e = 0; e < g.edges; e++) {
        g.from[e] = ends[2 * e];
        g.to[e] = ends[2 * e + 1];
    }
    mem_free(ends);
    g.weight = ref_read(ref_get(root, "weights")).value;
    g.x = ref_read(ref_get(root, "x")).value;
    g.label = ref_graph_integers(root, "labels", &count);
    assert_int_equal(count, g.nodes);
    g.train = ref_graph_integers(root, "train", &g.labelled);
    json_decref(root);
    return g;
}

static inline void ref_graph_free(struct ref_graph *g)
{
    mem_free(g->from);
    mem_free(g->to);
    mem_free(g->weight);
    mem_free(g->x);
    mem_free(g->label);
    mem_free(g->train);
}

#endif
