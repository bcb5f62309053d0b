/*
 * Every model against the reference values of plain PyTorch: logits, loss, all gradients and the
 * losses of ten optimiser steps, at one, two and four layers, on a graph with isolated nodes, a hub
 * and edge weights. Two threads, so that shares are exercised too. THREADED
 */
#include <math.h>

#include "reference.h"

#include "cpu/backend.h"
#include "models/ptdnet.h"

enum { THREADS = 2 };
static const double TOLERANCE = 1e-5;

/* The reference graph as the library holds it. */
struct scene {
    struct ref_graph reference;
    struct csr *graph, *x;
    struct views *views;
    struct index *labelled;
    struct team *team;
};

/* kept (edges), or NULL: edges with 0 there are left out. */
static void scene_open(struct scene *s, const double *kept)
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
    OK(team_new(&s->team, THREADS));
}

static void scene_close(struct scene *s)
{
    team_free(s->team);
    index_free(s->labelled);
    views_free(s->views);
    csr_free(s->x);
    csr_free(s->graph);
    ref_graph_free(&s->reference);
}

static struct inputs scene_inputs(struct scene *s, struct program *p)
{
    return (struct inputs){.x = sparse(p, s->x),
                           .nodes = s->reference.nodes,
                           .features = s->reference.features,
                           .classes = s->reference.classes,
                           .views = s->views};
}

/* The entry's configuration on top of the model's defaults, without any dropout. */
static struct config entry_config(const struct model_def *model, const json_t *entry)
{
    struct config c;
    const char *key;
    json_t *value;
    char text[32];
    model_defaults(model, &c);
    c.dropout = c.attention_dropout = c.edge_dropout = 0;
    json_object_foreach(ref_get(entry, "config"), key, value)
    {
        const struct config_row *row = config_find(key);
        if (!row)
            continue;
        snprintf(text, sizeof text, "%.17g", json_number_value(value));
        if (row->kind == CONFIG_WORD)
            snprintf(text, sizeof text, "%s", json_integer_value(value) ? "yes" : "no");
        OK(config_set(&c, key, text));
    }
    return c;
}

/* ---- comparing ----------------------------------------------------------------------------------
 */

/* Every difference is small beside the largest number of the tensor. */
static void assert_tensor(const char *what, const float *mine, const json_t *expected)
{
    struct ref_tensor t = ref_read(expected);
    double largest = 1e-2; /* tensors below are zero but for rounding */
    for (int64_t k = 0; k < t.rows * t.cols; k++)
        largest = fmax(largest, fabs(t.value[k]));
    for (int64_t k = 0; k < t.rows * t.cols; k++)
        if (!(fabs(mine[k] - t.value[k]) <= TOLERANCE * largest))
            fail_msg("%s[%lld] is %.9g, expected %.9g (largest %.3g)", what, (long long)k,
                     (double)mine[k], t.value[k], largest);
    mem_free(t.value);
}

static void set_parameters(struct params *params, const json_t *entry)
{
    const json_t *known = ref_get(entry, "parameters");
    for (int i = 0; i < params->count; i++) {
        const struct parameter *item = &params->item[i];
        if (!item->trained)
            continue;
        struct ref_tensor t = ref_read(ref_get(known, item->name));
        assert_int_equal(t.rows * t.cols, item->rows * item->cols);
        for (int64_t k = 0; k < t.rows * t.cols; k++)
            params->value[item->offset + k] = (float)t.value[k];
        mem_free(t.value);
    }
}

static void assert_gradients(const char *model, const struct params *params, const json_t *entry)
{
    const json_t *known = ref_get(entry, "gradients");
    int compared = 0;
    char what[96];
    for (int i = 0; i < params->count; i++) {
        const struct parameter *item = &params->item[i];
        if (!item->trained)
            continue;
        snprintf(what, sizeof what, "%s: gradient of %s", model, item->name);
        assert_tensor(what, params->grad + item->offset, ref_get(known, item->name));
        compared++;
    }
    assert_int_equal(compared, json_object_size(known));
}

/* A compiled training program over its own parameters, set to the entry's. */
struct trial {
    struct params *params;
    struct program *program;
    node logits, loss;
};

static void trial_begin(struct trial *t)
{
    OK(params_new(&t->params));
    OK(program_new(&t->program, t->params, true));
}

static void trial_compile(struct trial *t, const json_t *entry)
{
    program_keep(t->program, t->logits);
    t->loss = program_minimize(t->program, t->loss);
    OK(program_compile(t->program, cpu_backend()));
    params_init(t->params, 1);
    set_parameters(t->params, entry);
}

static void trial_end(struct trial *t)
{
    program_free(t->program);
    params_free(t->params);
}

/* Logits, loss, gradients, then ten steps of Adam. */
static void trial_compare(struct trial *t, struct scene *s, const char *model, const json_t *entry)
{
    float *m, *v;
    struct step step = {1, 0};
    struct adam_options adam = {s->reference.learning_rate, 0.9, 0.999, 1e-8,
                                s->reference.weight_decay};
    OK(ZNEW(m, t->params->size));
    OK(ZNEW(v, t->params->size));
    program_run(t->program, s->team, &step);
    assert_tensor(model, program_value(t->program, t->logits), ref_get(entry, "logits"));
    assert_near(program_value(t->program, t->loss)[0], json_number_value(ref_get(entry, "loss")),
                TOLERANCE);
    assert_gradients(model, t->params, entry);
    for (int64_t k = 1; k <= REF_STEPS; k++) {
        cpu_adam(t->params, m, v, &adam, k, s->team);
        program_run(t->program, s->team, &step);
        double expected =
            json_number_value(json_array_get(ref_get(entry, "losses"), (size_t)k - 1));
        if (fabs(program_value(t->program, t->loss)[0] - expected) > TOLERANCE * expected)
            fail_msg("%s: loss %.9g after step %lld, expected %.9g", model,
                     (double)program_value(t->program, t->loss)[0], (long long)k, expected);
    }
    mem_free(m);
    mem_free(v);
}

/* ---- models with the plain loss -----------------------------------------------------------------
 */

static void plain_entry(const struct model_def *model, const json_t *entry)
{
    struct scene s;
    struct trial t;
    struct ref_tensor kept = {0};
    if (strcmp(model->name, "dropedge") == 0)
        kept = ref_named(entry, "inputs", "edge_kept");
    scene_open(&s, kept.value);
    trial_begin(&t);
    struct config c = entry_config(model, entry);
    struct inputs in = scene_inputs(&s, t.program);
    t.logits = model->build(t.program, &in, &c);
    t.loss = nll(t.program, t.logits, s.labelled, s.reference.label, NULL);
    trial_compile(&t, entry);
    trial_compare(&t, &s, model->name, entry);
    trial_end(&t);
    scene_close(&s);
    mem_free(kept.value);
}

static void plain_models_equal_the_reference(void **state)
{
    (void)state;
    static const char *const names[] = {"mlp",   "gcn",   "dropedge", "gat",  "gin",
                                        "appnp", "gcnii", "h2gcn",    "fagcn"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct model_def *model;
        json_t *root = ref_open(names[i]), *entries = ref_get(root, "entries");
        OK(model_find(&model, names[i]));
        for (size_t k = 0; k < json_array_size(entries); k++)
            plain_entry(model, json_array_get(entries, k));
        json_decref(root);
    }
}

/* ---- PTDNet: its draws come from the file -------------------------------------------------------
 */

static void ptdnet_entry(const json_t *entry)
{
    struct scene s;
    struct trial t;
    const struct model_def *model;
    struct ref_tensor noise = ref_named(entry, "inputs", "noise");
    float *floats = ref_floats(noise);
    node gate;
    scene_open(&s, NULL);
    OK(model_find(&model, "ptdnet"));
    trial_begin(&t);
    struct config c = entry_config(model, entry);
    struct inputs in = scene_inputs(&s, t.program);
    struct ptdnet_draws draws = {.noise = floats, .iterations = 200};
    t.logits = ptdnet_record(t.program, &in, &c, &draws, &gate);
    t.loss = nll(t.program, t.logits, s.labelled, s.reference.label, NULL);
    trial_compile(&t, entry);
    trial_compare(&t, &s, "ptdnet", entry);
    trial_end(&t);
    scene_close(&s);
    mem_free(floats);
    mem_free(noise.value);
}

static void ptdnet_equals_the_reference(void **state)
{
    (void)state;
    json_t *root = ref_open("ptdnet"), *entries = ref_get(root, "entries");
    for (size_t k = 0; k < json_array_size(entries); k++)
        ptdnet_entry(json_array_get(entries, k));
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_models_equal_the_reference),
        cmocka_unit_test(ptdnet_equals_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
