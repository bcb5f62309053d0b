/* Checks the reference files, by which every model is judged: shapes and names agree, losses follow
 * from logits, and MLP, GCN and DropEdge are recomputed here in the most naive way, dense and in
 * double precision, values and gradients. */
#include <math.h>

#include "reference.h"

enum { MAX_LAYERS = 4 };

static const char *const models[] = {"mlp",   "gcn",    "dropedge", "deep",        "gat",
                                     "gin",   "appnp",  "gcnii",    "gam",         "h2gcn",
                                     "fagcn", "ptdnet", "grand",    "propagation", "consm"};

static struct ref_graph graph;

static int read_graph(void **state)
{
    (void)state;
    graph = ref_graph_read();
    return 0;
}

static int drop_graph(void **state)
{
    (void)state;
    ref_graph_free(&graph);
    return 0;
}

/* The graph has a hub, isolated nodes and a node without features. */
static void graph_is_as_promised(void **state)
{
    (void)state;
    int degree[64] = {0}, isolated = 0, hub = 0, bare = 0;
    assert_int_equal(graph.nodes, 24);
    for (int64_t e = 0; e < graph.edges; e++) {
        assert_true(graph.from[e] < graph.to[e] && graph.to[e] < graph.nodes);
        assert_true(graph.weight[e] > 0);
        degree[graph.from[e]]++;
        degree[graph.to[e]]++;
    }
    for (int64_t i = 0; i < graph.nodes; i++) {
        double sum = 0;
        for (int64_t k = 0; k < graph.features; k++)
            sum += graph.x[i * graph.features + k];
        isolated += degree[i] == 0;
        hub += degree[i] >= 12;
        bare += sum == 0;
        assert_in_range(graph.label[i], 0, graph.classes - 1);
    }
    assert_int_equal(isolated, 2);
    assert_true(hub >= 1 && bare >= 1);
    assert_int_equal(graph.labelled, 9);
}

/* -mean over labelled rows of log softmax(z)[label] */
static double mean_nll(const double *z)
{
    double total = 0;
    for (int64_t k = 0; k < graph.labelled; k++) {
        const double *row = z + graph.train[k] * graph.classes;
        double sum = 0;
        for (int64_t c = 0; c < graph.classes; c++)
            sum += exp(row[c]);
        total += log(sum) - row[graph.label[graph.train[k]]];
    }
    return total / (double)graph.labelled;
}

static void entry_is_consistent(const char *model, const json_t *entry)
{
    const char *name;
    json_t *value;
    json_t *gradients = ref_get(entry, "gradients");
    assert_int_equal(json_object_size(gradients), json_object_size(ref_get(entry, "parameters")));
    json_object_foreach(ref_get(entry, "parameters"), name, value)
    {
        struct ref_tensor start = ref_read(value), slope = ref_named(entry, "gradients", name);
        assert_int_equal(start.rows, slope.rows);
        assert_int_equal(start.cols, slope.cols);
        for (int64_t k = 0; k < start.rows * start.cols; k++) {
            assert_true(start.value[k] == rint(start.value[k] * 256) / 256);
            assert_true(isfinite(slope.value[k]));
        }
        mem_free(start.value);
        mem_free(slope.value);
    }
    const json_t *losses = ref_get(entry, "losses");
    double loss = json_number_value(ref_get(entry, "loss")), last = 0;
    assert_int_equal(json_array_size(losses), REF_STEPS);
    for (size_t k = 0; k < REF_STEPS; k++)
        last = json_number_value(json_array_get(losses, k));
    assert_true(last < loss);

    bool plain = strcmp(model, "gam") != 0 && strcmp(model, "ptdnet") != 0 &&
                 strcmp(model, "grand") != 0 && strcmp(model, "propagation") != 0 &&
                 strcmp(model, "consm") != 0;
    if (plain) {
        struct ref_tensor logits = ref_read(ref_get(entry, "logits"));
        assert_int_equal(logits.rows, graph.nodes);
        assert_int_equal(logits.cols, graph.classes);
        assert_near(mean_nll(logits.value), loss, 1e-8);
        mem_free(logits.value);
    }
}

static void files_are_consistent(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        json_t *root = ref_open(models[m]), *entries = ref_get(root, "entries");
        assert_string_equal(json_string_value(ref_get(root, "model")), models[m]);
        assert_true(json_array_size(entries) >= 3);
        for (size_t k = 0; k < json_array_size(entries); k++)
            entry_is_consistent(models[m], json_array_get(entries, k));
        json_decref(root);
    }
}

/* ---- the naive recomputation --------------------------------------------- */

/* D^-1/2 (A + I) D^-1/2 as a dense (n,n) matrix; kept (edges) may be NULL. */
static double *dense_gcn_matrix(const double *kept)
{
    int64_t n = graph.nodes;
    double *a, degree[64] = {0};
    OK(ZNEW(a, n * n));
    for (int64_t e = 0; e < graph.edges; e++) {
        double w = kept ? kept[e] * graph.weight[e] : graph.weight[e];
        a[graph.from[e] * n + graph.to[e]] = a[graph.to[e] * n + graph.from[e]] = w;
    }
    for (int64_t i = 0; i < n; i++) {
        a[i * n + i] = 1;
        for (int64_t j = 0; j < n; j++)
            degree[i] += a[i * n + j];
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] /= sqrt(degree[i] * degree[j]);
    return a;
}

struct stack {
    int layers;
    struct ref_tensor w[MAX_LAYERS], b[MAX_LAYERS];
    const double *mix; /* (n,n), or NULL for an MLP */
};

/* out (n,c) = x (n,k) · y (k,c) */
static void multiply(double *out, const double *x, const double *y, int64_t n, int64_t k, int64_t c)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++) {
            double sum = 0;
            for (int64_t l = 0; l < k; l++)
                sum += x[i * k + l] * y[l * c + j];
            out[i * c + j] = sum;
        }
}

/* h = relu(mix · h · W + b), layer by layer; logits (n,c) */
static void stack_forward(double *logits, const struct stack *s)
{
    int64_t n = graph.nodes;
    double h[24 * 16], t[24 * 16];
    memcpy(h, graph.x, sizeof(double) * (size_t)(n * graph.features));
    for (int l = 0; l < s->layers; l++) {
        int64_t cols = s->w[l].cols;
        multiply(t, h, s->w[l].value, n, s->w[l].rows, cols);
        if (s->mix)
            multiply(h, s->mix, t, n, n, cols);
        else
            memcpy(h, t, sizeof t);
        for (int64_t k = 0; k < n * cols; k++) {
            h[k] += s->b[l].value[k % cols];
            if (l + 1 < s->layers && h[k] < 0)
                h[k] = 0;
        }
    }
    memcpy(logits, h, sizeof(double) * (size_t)(n * graph.classes));
}

/* Central differences of one parameter against the dumped gradient. */
static void slope_agrees(const struct stack *s, struct ref_tensor t, struct ref_tensor slope)
{
    double logits[24 * 3], step = 1e-6;
    for (int64_t k = 0; k < t.rows * t.cols; k++) {
        double start = t.value[k];
        t.value[k] = start + step;
        stack_forward(logits, s);
        double above = mean_nll(logits);
        t.value[k] = start - step;
        stack_forward(logits, s);
        t.value[k] = start;
        assert_near((above - mean_nll(logits)) / (2 * step), slope.value[k], 1e-7);
    }
}

static void stack_agrees(const json_t *entry, const double *mix)
{
    struct stack s = {.layers = (int)ref_config(entry, "layers"), .mix = mix};
    struct ref_tensor logits = ref_read(ref_get(entry, "logits"));
    double mine[24 * 3];
    char name[16];
    assert_in_range(s.layers, 1, MAX_LAYERS);
    for (int l = 0; l < s.layers; l++) {
        snprintf(name, sizeof name, "w%d", l + 1);
        s.w[l] = ref_named(entry, "parameters", name);
        name[0] = 'b';
        s.b[l] = ref_named(entry, "parameters", name);
    }
    stack_forward(mine, &s);
    for (int64_t k = 0; k < graph.nodes * graph.classes; k++)
        assert_near(mine[k], logits.value[k], 1e-8);
    for (int l = 0; l < s.layers; l++)
        for (int bias = 0; bias < 2; bias++) {
            snprintf(name, sizeof name, "%c%d", "wb"[bias], l + 1);
            struct ref_tensor slope = ref_named(entry, "gradients", name);
            slope_agrees(&s, bias ? s.b[l] : s.w[l], slope);
            mem_free(slope.value);
        }
    for (int l = 0; l < s.layers; l++) {
        mem_free(s.w[l].value);
        mem_free(s.b[l].value);
    }
    mem_free(logits.value);
}

static void naive_models_agree(void **state)
{
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        json_t *root = ref_open(models[m]), *entries = ref_get(root, "entries");
        for (size_t k = 0; k < json_array_size(entries); k++) {
            const json_t *entry = json_array_get(entries, k);
            struct ref_tensor kept = {0};
            double *mix = NULL;
            if (strcmp(models[m], "dropedge") == 0)
                kept = ref_named(entry, "inputs", "edge_kept");
            if (strcmp(models[m], "mlp") != 0)
                mix = dense_gcn_matrix(kept.value);
            stack_agrees(entry, mix);
            mem_free(kept.value);
            mem_free(mix);
        }
        json_decref(root);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graph_is_as_promised),
        cmocka_unit_test(files_are_consistent),
        cmocka_unit_test(naive_models_agree),
    };
    return cmocka_run_group_tests(tests, read_graph, drop_graph);
}
