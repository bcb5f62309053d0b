/* Batch norm in training and evaluation. A GIN with batch norm is trained for ten steps; the
 * losses, the running statistics and the evaluation with them equal PyTorch's F.batch_norm
 * (tests/reference/batch_norm_reference.py). Two threads, so that shares are tested too. THREADED
 */
#include <math.h>

#include "reference_scene.h"

static const double TOLERANCE = 2e-5; /* of the largest number of a tensor, after ten steps */

static void assert_output(const char *what, const float *mine, const json_t *entry)
{
    struct ref_tensor t = ref_named(entry, "outputs", what);
    double largest = 1e-2;
    for (int64_t k = 0; k < t.rows * t.cols; k++)
        largest = fmax(largest, fabs(t.value[k]));
    for (int64_t k = 0; k < t.rows * t.cols; k++)
        if (!(fabs(mine[k] - t.value[k]) <= TOLERANCE * largest))
            fail_msg("%s[%lld] is %.9g, expected %.9g (largest %.3g)", what, (long long)k,
                     (double)mine[k], t.value[k], largest);
    mem_free(t.value);
}

/* Ten steps from the entry's parameters, losses compared on the way. */
static void train(struct program *p, node loss, const json_t *entry)
{
    for (int64_t k = 1; k <= REF_STEPS; k++) {
        OK(program_run(p, &(struct step){1, (uint64_t)k - 1}));
        assert_near(value_of(p, loss)[0],
                    json_number_value(json_array_get(ref_get(entry, "losses"), (size_t)k - 1)),
                    TOLERANCE);
    }
}

static void check_entry(const json_t *entry)
{
    struct scene s;
    struct params *params;
    struct program *training, *evaluation;
    const struct model_def *model;
    OK(model_find(&model, "gin"));
    scene_open(&s, NULL);
    struct config c = entry_config(model, entry);
    OK(params_new(&params));
    OK(program_new(&training, params, true));
    OK(program_new(&evaluation, params, false));
    struct inputs in = scene_inputs(&s, training), same = scene_inputs(&s, evaluation);
    node loss = nll(training, model->build(training, &in, &c), s.labelled, s.reference.label, NULL);
    loss = program_minimize(training, loss);
    program_optimize(training, &(struct adam_options){s.reference.learning_rate, 0.9, 0.999, 1e-8,
                                                      s.reference.weight_decay});
    node logits = model->build(evaluation, &same, &c);
    program_keep(evaluation, logits);
    OK(program_compile(training, s.backend));
    OK(program_compile(evaluation, s.backend));
    OK(params_init(params, 1));
    set_parameters(params, entry);
    train(training, loss, entry);
    for (int i = 0; i < params->count; i++)
        if (!params->item[i].trained)
            assert_output(params->item[i].name, param_values(params) + params->item[i].offset,
                          entry);
    OK(program_run(evaluation, &(struct step){1, 0}));
    assert_output("evaluated", value_of(evaluation, logits), entry);
    program_free(training);
    program_free(evaluation);
    params_free(params);
    scene_close(&s);
}

static void evaluation_after_training_equals_the_reference(void **state)
{
    (void)state;
    json_t *root = ref_open("batch_norm"), *entries = ref_get(root, "entries");
    for (size_t k = 0; k < json_array_size(entries); k++)
        check_entry(json_array_get(entries, k));
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluation_after_training_equals_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
