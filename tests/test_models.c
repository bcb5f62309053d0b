/* Every model against the reference values of plain PyTorch: logits, loss, all gradients and the
 * losses of ten optimiser steps, at one, two and four layers, on a graph with isolated nodes, a hub
 * and edge weights. Two threads, so that shares are tested too. THREADED */
#include <math.h>

#include "reference_scene.h"

#include "models/grand.h"
#include "models/ptdnet.h"
#include "train/agreement.h"
#include "train/propagation.h"
#include "train/supervised.h"

static const double TOLERANCE = 1e-5;

/* ---- comparing ----------------------------------------------------------- */

/* Every difference is small compared with the largest number of the tensor. */
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

static void assert_gradients(const char *model, struct params *params, const json_t *entry)
{
    const json_t *known = ref_get(entry, "gradients");
    int compared = 0;
    char what[96];
    for (int i = 0; i < params->count; i++) {
        const struct parameter *item = &params->item[i];
        if (!item->trained)
            continue;
        snprintf(what, sizeof what, "%s: gradient of %s", model, item->name);
        assert_tensor(what, param_grads(params) + item->offset, ref_get(known, item->name));
        compared++;
    }
    assert_int_equal(compared, json_object_size(known));
}

/* A compiled training program over its own parameters, set to the entry's. */
struct attempt {
    struct params *params;
    struct program *program;
    node logits, loss;
};

static void trial_begin(struct attempt *t)
{
    OK(params_new(&t->params));
    OK(program_new(&t->program, t->params, true));
}

static void trial_compile(struct attempt *t, struct scene *s, const json_t *entry)
{
    program_keep(t->program, t->logits);
    t->loss = program_minimize(t->program, t->loss);
    OK(program_compile(t->program, s->backend));
    OK(params_init(t->params, 1));
    set_parameters(t->params, entry);
}

static void trial_end(struct attempt *t)
{
    program_free(t->program);
    params_free(t->params);
}

/* Logits, loss, gradients, then ten steps of Adam. */
static void trial_compare(struct attempt *t, struct scene *s, const char *model,
                          const json_t *entry)
{
    struct program *optimiser;
    struct step step = {1, 0};
    struct adam_options adam = {s->reference.learning_rate, 0.9, 0.999, 1e-8,
                                s->reference.weight_decay};
    OK(program_new(&optimiser, t->params, true));
    program_optimize(optimiser, &adam);
    OK(program_compile(optimiser, s->backend));
    OK(program_run(t->program, &step));
    assert_tensor(model, value_of(t->program, t->logits), ref_get(entry, "logits"));
    assert_near(value_of(t->program, t->loss)[0], json_number_value(ref_get(entry, "loss")),
                TOLERANCE);
    assert_gradients(model, t->params, entry);
    for (int64_t k = 1; k <= REF_STEPS; k++) {
        OK(program_run(optimiser, &(struct step){1, (uint64_t)k - 1}));
        OK(program_run(t->program, &step));
        double expected =
            json_number_value(json_array_get(ref_get(entry, "losses"), (size_t)k - 1));
        if (fabs(value_of(t->program, t->loss)[0] - expected) > TOLERANCE * expected)
            fail_msg("%s: loss %.9g after step %lld, expected %.9g", model,
                     (double)value_of(t->program, t->loss)[0], (long long)k, expected);
    }
    program_free(optimiser);
}

/* ---- models with the plain loss ------------------------------------------ */

static void plain_entry(const struct model_def *model, const json_t *entry)
{
    struct scene s;
    struct attempt t;
    struct ref_tensor kept = {0};
    if (strcmp(model->name, "dropedge") == 0)
        kept = ref_named(entry, "inputs", "edge_kept");
    scene_open(&s, kept.value);
    trial_begin(&t);
    struct config c = entry_config(model, entry);
    struct inputs in = scene_inputs(&s, t.program);
    t.logits = model->build(t.program, &in, &c);
    t.loss = nll(t.program, t.logits, s.labelled, s.reference.label, NULL);
    trial_compile(&t, &s, entry);
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

/* GCN and GAT with residual connections and norms; each entry names its model. */
static void deep_models_equal_the_reference(void **state)
{
    (void)state;
    json_t *root = ref_open("deep"), *entries = ref_get(root, "entries");
    for (size_t k = 0; k < json_array_size(entries); k++) {
        const json_t *entry = json_array_get(entries, k);
        const struct model_def *model;
        OK(model_find(&model, json_string_value(ref_get(ref_get(entry, "config"), "model"))));
        plain_entry(model, entry);
    }
    json_decref(root);
}

/* ---- PTDNet: its draws come from the file -------------------------------- */

static void ptdnet_entry(const json_t *entry)
{
    struct scene s;
    struct attempt t;
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
    trial_compile(&t, &s, entry);
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

/* ---- GRAND: the dropped nodes come from the file ------------------------- */

/* In evaluation: the same parameters, nothing dropped. */
static void grand_evaluation(struct scene *s, struct attempt *t, const struct config *c,
                             const json_t *entry)
{
    struct program *p;
    struct step step = {1, 0};
    OK(program_new(&p, t->params, false));
    struct inputs in = scene_inputs(s, p);
    node logits = grand_record(p, &in, c, NULL);
    program_keep(p, logits);
    OK(program_compile(p, s->backend));
    OK(program_run(p, &step));
    assert_tensor("grand: evaluation", value_of(p, logits),
                  ref_get(ref_get(entry, "outputs"), "evaluation"));
    program_free(p);
}

/* Several predictions side by side: their loss is the mean of the losses, and other losses read the
 * mean of their logits. */
static void predictions_stand_side_by_side(void **state)
{
    (void)state;
    struct scene s;
    struct attempt t;
    float both[24 * 6];
    scene_open(&s, NULL);
    int64_t n = s.reference.nodes, k = s.reference.classes;
    trial_begin(&t);
    for (int64_t i = 0; i < n * 2 * k; i++)
        both[i] = (float)((i * 37) % 11) / 4;
    node x = input(t.program, both, n, 2 * k);
    node loss = supervised_loss(t.program, x, k, s.labelled, s.reference.label, NULL);
    node mean = mean_prediction(t.program, x, k);
    node first = nll(t.program, slice(t.program, x, 0, k), s.labelled, s.reference.label, NULL);
    node second = nll(t.program, slice(t.program, x, k, k), s.labelled, s.reference.label, NULL);
    node kept[] = {loss, mean, first, second};
    for (int i = 0; i < 4; i++)
        program_keep(t.program, kept[i]);
    OK(program_compile(t.program, s.backend));
    OK(program_run(t.program, &(struct step){1, 0}));
    float parts[2] = {value_of(t.program, first)[0], value_of(t.program, second)[0]};
    assert_true(parts[0] != parts[1]);
    assert_near(value_of(t.program, loss)[0], (parts[0] + parts[1]) / 2, 1e-6);
    for (int64_t i = 0; i < n * k; i++) {
        const float *row = both + i / k * 2 * k + i % k;
        assert_near(value_of(t.program, mean)[i], (row[0] + row[k]) / 2, 1e-6);
    }
    trial_end(&t);
    scene_close(&s);
}

static void grand_entry(const json_t *entry)
{
    struct scene s;
    struct attempt t;
    const struct model_def *model;
    struct ref_tensor kept = ref_named(entry, "inputs", "kept");
    float *floats = ref_floats(kept);
    scene_open(&s, NULL);
    OK(model_find(&model, "grand"));
    trial_begin(&t);
    struct config c = entry_config(model, entry);
    struct inputs in = scene_inputs(&s, t.program);
    t.logits = grand_record(t.program, &in, &c, floats);
    t.loss = supervised_loss(t.program, t.logits, in.classes, s.labelled, s.reference.label, NULL);
    trial_compile(&t, &s, entry);
    if (json_object_size(ref_get(entry, "outputs")) > 0)
        grand_evaluation(&s, &t, &c, entry);
    trial_compare(&t, &s, "grand", entry);
    trial_end(&t);
    scene_close(&s);
    mem_free(floats);
    mem_free(kept.value);
}

static void grand_equals_the_reference(void **state)
{
    (void)state;
    json_t *root = ref_open("grand"), *entries = ref_get(root, "entries");
    for (size_t k = 0; k < json_array_size(entries); k++)
        grand_entry(json_array_get(entries, k));
    json_decref(root);
}

/* ---- propagation losses on a GCN, with given weights --------------------- */

static void propagation_entry(const char *what, const json_t *entry)
{
    struct scene s;
    struct attempt t;
    const struct model_def *gcn;
    struct propagation *own;
    uint8_t labelled[24] = {0};
    scene_open(&s, NULL);
    OK(model_find(&gcn, "gcn"));
    trial_begin(&t);
    struct config c = entry_config(gcn, entry);
    struct inputs in = scene_inputs(&s, t.program);
    OK(propagation_new(&own, s.graph, c.propagation));
    for (int64_t k = 0; k < s.reference.labelled; k++)
        labelled[s.reference.train[k]] = 1;
    if (own->edges) {
        struct ref_tensor weights = ref_named(entry, "inputs", "edge_weights");
        float *w = ref_floats(weights);
        assert_int_equal(weights.cols, own->edges->count);
        for (int64_t e = 0; e < own->edges->count; e++) {
            assert_int_equal(own->edges->left[e], s.reference.from[e]);
            assert_int_equal(own->edges->right[e], s.reference.to[e]);
        }
        propagation_weigh(own, w, labelled, &c);
        mem_free(w);
        mem_free(weights.value);
    }
    t.logits = gcn->build(t.program, &in, &c);
    node plain = nll(t.program, t.logits, s.labelled, s.reference.label, NULL);
    t.loss = add(t.program, plain, propagation_loss(own, t.program, t.logits, &c));
    trial_compile(&t, &s, entry);
    trial_compare(&t, &s, what, entry);
    trial_end(&t);
    propagation_free(own);
    scene_close(&s);
}

static void propagation_equals_the_reference(void **state)
{
    (void)state;
    json_t *root = ref_open("propagation"), *entries = ref_get(root, "entries");
    for (size_t k = 0; k < json_array_size(entries); k++)
        propagation_entry("propagation", json_array_get(entries, k));
    json_decref(root);
}

/* ---- GAM: the agreement model on given pairs, the classifier on given weights ---- */

static void agreement_entry(const json_t *entry)
{
    struct scene s;
    struct attempt t;
    const struct model_def *gam;
    struct ref_tensor pairs = ref_named(entry, "inputs", "pairs");
    struct ref_tensor targets = ref_named(entry, "inputs", "targets");
    float *target = ref_floats(targets), weight[64];
    int32_t ends[2][64];
    struct index *left, *right, *from, *to;
    scene_open(&s, NULL);
    OK(model_find(&gam, "gam"));
    trial_begin(&t);
    struct config c = entry_config(gam, entry);
    for (int64_t k = 0; k < pairs.rows; k++) {
        ends[0][k] = (int32_t)pairs.value[2 * k];
        ends[1][k] = (int32_t)pairs.value[2 * k + 1];
        weight[k] = 1.0f / (float)pairs.rows;
    }
    OK(index_new(&left, pairs.rows, s.reference.nodes));
    OK(index_new(&right, pairs.rows, s.reference.nodes));
    OK(index_new(&from, s.reference.edges, s.reference.nodes));
    OK(index_new(&to, s.reference.edges, s.reference.nodes));
    OK(index_set(left, ends[0]));
    OK(index_set(right, ends[1]));
    OK(index_set(from, s.reference.from));
    OK(index_set(to, s.reference.to));
    node x = sparse(t.program, s.x);
    t.loss = bce(
        t.program,
        agreement_compare(t.program, agreement_encode(t.program, x, &c), left, right, &c, false),
        input(t.program, target, pairs.rows, 1), input(t.program, weight, pairs.rows, 1));
    t.logits =
        agreement_compare(t.program, agreement_encode(t.program, x, &c), from, to, &c, false);
    trial_compile(&t, &s, entry);
    trial_compare(&t, &s, "agreement", entry);
    trial_end(&t);
    index_free(left);
    index_free(right);
    index_free(from);
    index_free(to);
    mem_free(target);
    mem_free(targets.value);
    mem_free(pairs.value);
    scene_close(&s);
}

static void gam_equals_the_reference(void **state)
{
    (void)state;
    json_t *root = ref_open("gam"), *entries = ref_get(root, "entries");
    agreement_entry(json_array_get(entries, 0));
    for (size_t k = 1; k < json_array_size(entries); k++)
        propagation_entry("gam", json_array_get(entries, k));
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_models_equal_the_reference),
        cmocka_unit_test(deep_models_equal_the_reference),
        cmocka_unit_test(ptdnet_equals_the_reference),
        cmocka_unit_test(predictions_stand_side_by_side),
        cmocka_unit_test(grand_equals_the_reference),
        cmocka_unit_test(propagation_equals_the_reference),
        cmocka_unit_test(gam_equals_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
