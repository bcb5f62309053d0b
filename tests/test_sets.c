/* Prediction sets through the public interface: they hold the truth as often as requested, are the
 * same after saving and loading, report if nothing can be guaranteed, and depend on the calibration
 * labels only through the threshold. */
#include "check.h"

#include <math.h>
#include <unistd.h>

#include "app/objects.h"
#include "app/roles.h"
#include "data/generate/generate.h"
#include "study/task.h"

static struct consm_model *trained(struct consm_dataset *data, const char *coverage, int seed)
{
    struct consm_options *options;
    struct consm_model *model;
    char number[16];
    snprintf(number, sizeof number, "%d", seed);
    OK(consm_options_new(&options, "gcn"));
    OK(consm_options_set(options, "split", "random"));
    OK(consm_options_set(options, "per_class", "4"));
    OK(consm_options_set(options, "epochs", "30"));
    OK(consm_options_set(options, "hidden", "8"));
    OK(consm_options_set(options, "threads", "1"));
    OK(consm_options_set(options, "seed", number));
    OK(consm_options_set(options, "coverage", coverage));
    OK(consm_train(&model, data, options));
    consm_options_free(options);
    return model;
}

static void they_hold_as_often_as_asked_for(void **state)
{
    (void)state;
    enum { SEEDS = 40 };
    struct consm_dataset *data;
    struct consm_model_info info = {.size = sizeof info};
    double covered = 0, size = 0;
    OK(consm_dataset_open(&data, "csbm:nodes=400,features=6,signal=1,homophily=0.7,degree=4",
                          NULL));
    for (int seed = 0; seed < SEEDS; seed++) {
        struct consm_model *model = trained(data, "0.8", seed);
        OK(consm_model_info(&info, model));
        assert_near(info.coverage, 0.8, 0);
        assert_true(info.promised);
        assert_int_equal(info.calibrated, 96); /* of 192, a half of 400 - 16 */
        assert_int_equal(info.validated, 96);
        covered += info.covered / SEEDS;
        size += info.set_size / SEEDS;
        consm_model_free(model);
    }
    /* One run spreads by 0.05: sqrt(0.8·0.2/97 + 0.8·0.2/192); the mean of 40 by 0.008. */
    assert_true(covered > 0.8 - 0.02);
    assert_true(size > 1 && size < 3.5); /* of 4 classes: sets say something */
    consm_dataset_free(data);
}

static void saved_sets_are_the_same(void **state)
{
    (void)state;
    char path[64];
    struct consm_dataset *data;
    struct consm_model *loaded;
    struct consm_prediction *one, *two;
    struct consm_model_info info = {.size = sizeof info};
    int64_t classes = 0;
    snprintf(path, sizeof path, "/tmp/consm-sets-%ld.safetensors", (long)getpid());
    OK(consm_dataset_open(&data, "csbm:nodes=200,features=6,homophily=0.8", NULL));
    struct consm_model *model = trained(data, "0.9", 3);
    OK(consm_predict(&one, model, data, 1));
    OK(consm_model_save(model, path));
    OK(consm_model_load(&loaded, path));
    OK(consm_predict(&two, loaded, data, 1));
    assert_non_null(one->in_set);
    assert_memory_equal(one->in_set, two->in_set, (size_t)(one->nodes * one->classes));
    for (int64_t i = 0; i < one->nodes; i++) {
        int64_t held = 0;
        for (int32_t k = 0; k < one->classes; k++)
            held += one->in_set[i * one->classes + k];
        assert_true(held >= 1);
        classes += held;
    }
    assert_true(classes < one->nodes * one->classes);
    OK(consm_model_info(&info, loaded));
    assert_near(info.coverage, 0.9, 0);
    assert_true(isfinite(info.covered) && info.promised && info.calibrated > 9);
    consm_prediction_free(one);
    consm_prediction_free(two);
    consm_model_free(model);
    consm_model_free(loaded);
    model = trained(data, "0", 3);
    OK(consm_predict(&one, model, data, 1));
    assert_null(one->in_set); /* not requested */
    consm_prediction_free(one);
    consm_model_free(model);
    consm_dataset_free(data);
    unlink(path);
}

static void too_few_labels_promise_nothing(void **state)
{
    (void)state;
    struct consm_dataset *data;
    struct consm_model_info info = {.size = sizeof info};
    struct consm_prediction *p;
    OK(consm_dataset_open(&data, "karate", NULL));
    struct consm_model *model = trained(data, "0.95", 0);
    OK(consm_model_info(&info, model));
    assert_false(info.promised);
    assert_in_range(info.calibrated, 1, 18);
    OK(consm_predict(&p, model, data, 1));
    for (int64_t i = 0; i < p->nodes * p->classes; i++)
        assert_true(p->in_set[i]);
    consm_prediction_free(p);
    consm_model_free(model);
    consm_dataset_free(data);
}

/* Other labels on the calibrating nodes: the same parameters, another threshold. */
static void calibrating_labels_select_nothing(void **state)
{
    (void)state;
    struct dataset *d;
    struct prepared prepared;
    struct consm_model *model[2];
    OK(generate_named(&d, "csbm:nodes=300,features=6,homophily=0.8"));
    OK(prepare(&prepared, d));
    for (int k = 0; k < 2; k++) {
        struct roles roles;
        struct training_request request = {.prepared = &prepared, .roles = &roles, .threads = 1};
        OK(model_find(&request.options.model, "consm"));
        model_defaults(request.options.model, &request.options.config);
        OK(config_set(&request.options.config, "backbone", "gcn"));
        request.options.config.coverage = 0.9;
        request.options.config.warmup = 20;
        request.options.config.rounds = 2;
        request.options.config.gnn_steps = 5;
        request.options.config.match_steps = 5;
        OK(roles_make(&roles, d, "random", 0, NULL));
        int64_t validation = roles.count[SPLIT_VAL];
        OK(roles_set_aside(&roles, d->nodes, 0));
        assert_int_equal(roles.calibrating, validation / 2);
        assert_int_equal(roles.count[SPLIT_VAL], validation - validation / 2);
        for (int64_t i = 0; i < d->nodes; i++) {
            assert_true(!roles.calibrates[i] || roles.role[i] == SPLIT_NONE);
            if (k == 1 && roles.calibrates[i])
                d->label[i] = (d->label[i] + 1) % d->classes;
        }
        OK(model_train(&model[k], NULL, &request));
        roles_free(&roles);
    }
    assert_int_equal(model[0]->tensors, model[1]->tensors);
    for (int64_t i = 0; i < model[0]->tensors; i++) {
        const struct model_tensor *t = &model[0]->tensor[i];
        assert_memory_equal(t->value, model[1]->tensor[i].value,
                            (size_t)(t->rows * t->cols) * sizeof *t->value);
    }
    assert_near(model[0]->temperature, model[1]->temperature, 0);
    assert_near(model[0]->sets.smoothing, model[1]->sets.smoothing, 0);
    assert_true(model[1]->sets.threshold > model[0]->sets.threshold); /* wrong labels cost */
    consm_model_free(model[0]);
    consm_model_free(model[1]);
    prepare_free(&prepared);
    dataset_free(d);
}

/* Validation nodes choose the smoothing, not calibration nodes: both choices are made here, on
 * labels for which they differ. */
static void smoothing_owes_nothing_to_calibration(void **state)
{
    (void)state;
    struct dataset *d;
    struct prepared prepared;
    int differ = 0;
    OK(generate_named(&d, "csbm:nodes=300,classes=3,degree=6,features=6,homophily=0.8"));
    OK(prepare(&prepared, d));
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct roles roles;
        struct consm_model m = {.classes = d->classes, .temperature = 1};
        double of[2];
        OK(roles_make(&roles, d, "random", seed, NULL));
        OK(roles_set_aside(&roles, d->nodes, seed));
        struct problem problem = prepare_problem(&prepared, roles.role);
        size_t cells = (size_t)(d->nodes * d->classes);
        float *logits = calloc(cells, sizeof *logits), *p = calloc(cells, sizeof *p);
        uint8_t *selects = calloc((size_t)d->nodes, 1);
        uint32_t random = (uint32_t)seed;
        for (int64_t i = 0; i < d->nodes; i++) {
            for (int32_t k = 0; k < d->classes; k++) {
                random = random * 1664525u + 1013904223u;
                /* Calibrating nodes are known well, the others are better known by neighbours. */
                float noise = (float)(random >> 8) * 0x1p-24f * (roles.calibrates[i] ? 0.2f : 4);
                logits[i * d->classes + k] = noise + (d->label[i] == k ? 1.5f : 0);
            }
            selects[i] = roles.role[i] == SPLIT_VAL;
        }
        m.config.coverage = 0.9;
        m.result.seed = seed;
        OK(model_fit_sets(&m, &problem, &roles, logits));
        model_probabilities(p, &m, logits, d->nodes);
        struct conformal_data data = {.nodes = d->nodes,
                                      .classes = d->classes,
                                      .probability = p,
                                      .start = problem.graph->start,
                                      .col = problem.graph->col,
                                      .seed = seed,
                                      .key = problem.key};
        OK(conformal_choose(&of[0], &data, d->label, selects, 0.9));
        OK(conformal_choose(&of[1], &data, d->label, roles.calibrates, 0.9));
        assert_near(m.sets.smoothing, of[0], 0);
        differ += of[0] != of[1];
        free(logits);
        free(p);
        free(selects);
        roles_free(&roles);
    }
    assert_true(differ > 0); /* or this test shows nothing */
    prepare_free(&prepared);
    dataset_free(d);
}

static void the_study_measures_them(void **state)
{
    (void)state;
    struct dataset *d;
    struct prepared prepared;
    const struct model_def *gcn;
    json_t *result;
    OK(model_find(&gcn, "gcn"));
    struct study_run run =
        plan_run(TASK_COVER, "csbm:nodes=600,features=6,homophily=0.9", gcn, "random");
    OK(generate_named(&d, run.dataset));
    OK(prepare(&prepared, d));
    struct task_input in = {.run = &run, .prepared = &prepared, .threads = 1};
    OK(task_run(&result, &in));
    const json_t *plain = json_object_get(result, "plain"),
                 *way = json_object_get(result, "chosen");
    assert_near(task_value(plain, "share_90"), 0, 0);
    assert_near(task_value(json_object_get(result, "smooth"), "share_90"), 0.5, 0);
    assert_near(task_value(plain, "calibrated"), 130, 0); /* a quarter of 600 - 80 */
    assert_true(task_value(plain, "covered_95") > 0.88);
    assert_true(task_value(way, "covered_90") > 0.82);
    assert_true(task_value(plain, "size_80") <= task_value(plain, "size_95"));
    assert_true(task_value(way, "size_95") >= 1);
    json_decref(result);
    prepare_free(&prepared);
    dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_hold_as_often_as_asked_for),
        cmocka_unit_test(saved_sets_are_the_same),
        cmocka_unit_test(too_few_labels_promise_nothing),
        cmocka_unit_test(calibrating_labels_select_nothing),
        cmocka_unit_test(smoothing_owes_nothing_to_calibration),
        cmocka_unit_test(the_study_measures_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
