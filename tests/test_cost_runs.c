/* Runs that measure costs: each in a process of its own, with the peaks of its stages; its errors
 * and a stop reach the caller. */
#include "folder.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "data/generate/generate.h"
#include "study/execute.h"
#include "study/task.h"

#include <errno.h>
#include <math.h>
#include <sys/wait.h>

static struct study_run cost_of(const char *model_name, const char *dataset)
{
    const struct model_def *model;
    OK(model_find(&model, model_name));
    struct study_run run = plan_run(TASK_COST, dataset, model, "random");
    run.split_options.per_class = 5;
    run.config.epochs = 6;
    run.config.warmup = 4;
    run.config.rounds = 1;
    run.config.gnn_steps = 2;
    run.config.match_steps = 2;
    return run;
}

/* Executes the run alone and returns what it recorded, to be freed. */
static consm_status execute_beside(json_t **out, const struct study_run *run,
                                   const struct execute_options *o, const struct study_sets *sets)
{
    struct plan plan = {0};
    struct runs *runs;
    const json_t *record;
    OK(plan_add(&plan, run));
    OK(runs_open(&runs, in_folder("runs"), RUNS_APPEND));
    consm_status st = execute_plan(runs, &plan, sets, o);
    OK(execute_find(&record, runs, run, NULL));
    *out = record ? json_deep_copy(record) : NULL;
    runs_close(runs);
    plan_free(&plan);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
    assert_int_equal(errno, ECHILD);
    return st;
}

static consm_status execute(json_t **out, const struct study_run *run,
                            const struct execute_options *o)
{
    return execute_beside(out, run, o, &(struct study_sets){0});
}

static const struct execute_options one = {.jobs = 1, .threads = 1};

/* 400,000 numbers a feature: 100 MB, and the caller's peak stays what it was. */
static void memory_is_that_of_the_run(void **state)
{
    (void)state;
    json_t *large, *small;
    double before = clock_peak_rss_mb();
    struct study_run run = cost_of("mlp", "csbm:nodes=400000,degree=1,features=64");
    run.config.hidden = 4;
    OK(execute(&large, &run, &one));
    assert_true(clock_peak_rss_mb() < before + 30);
    assert_true(task_value(large, "peak_mb") > before + 90);
    assert_true(task_value(large, "data_mb") + task_value(large, "train_mb") <=
                task_value(large, "peak_mb") + 1e-9);
    run = cost_of("mlp", "csbm:nodes=80,features=6");
    OK(execute(&small, &run, &one));
    assert_true(task_value(small, "peak_mb") < before + 30);
    json_decref(large);
    json_decref(small);
}

/* A data set of 100 MB that the caller has open does not count, and stays open. */
static void data_of_other_runs_does_not_count(void **state)
{
    (void)state;
    json_t *record;
    struct study_sets sets = {0};
    struct study_run run = cost_of("mlp", "csbm:nodes=80,features=6");
    double before = clock_peak_rss_mb();
    OK(ZNEW(sets.set, 1));
    OK(ZNEW(sets.set[0].name, 4));
    sets.count = sets.capacity = 1;
    memcpy(sets.set[0].name, "big", 3);
    OK(generate_named(&sets.set[0].data, "csbm:nodes=400000,degree=1,features=64"));
    assert_true(clock_peak_rss_mb() > before + 90);
    OK(execute_beside(&record, &run, &one, &sets));
    /* AddressSanitizer keeps what is freed. */
    assert_true(UNDER_ASAN || task_value(record, "peak_mb") < before + 40);
    assert_true(sets.set[0].data->nodes == 400000 && sets.set[0].data->dense[64 * 399999] != 0);
    json_decref(record);
    sets_free(&sets);
}

/* Only a comparison of backbones has a peak of its own; the larger of the two is the run's. */
static void stages_have_their_peaks(void **state)
{
    (void)state;
    json_t *consm, *named, *gcn;
    const char *dataset = "csbm:nodes=600,degree=6,features=8,homophily=0.7";
    struct study_run run = cost_of("consm", dataset);
    OK(execute(&consm, &run, &one));
    OK(config_set(&run.config, "backbone", "gcn"));
    OK(config_set(&run.config, "normalize_features", "none"));
    OK(execute(&named, &run, &one));
    run = cost_of("gcn", dataset);
    OK(execute(&gcn, &run, &one));
    double race = task_value(consm, "race_mb"), rounds = task_value(consm, "rounds_mb");
    assert_true(race > task_value(consm, "data_mb") && rounds > task_value(consm, "data_mb"));
    assert_true(task_value(consm, "peak_mb") >= fmax(race, rounds));
    assert_true(race > task_value(named, "peak_mb")); /* large candidates */
    assert_true(isnan(task_value(named, "race_mb")) && isnan(task_value(gcn, "race_mb")));
    assert_true(task_value(gcn, "rounds_mb") <= task_value(gcn, "peak_mb"));
    json_decref(consm);
    json_decref(named);
    json_decref(gcn);
}

static void an_error_reaches_the_caller(void **state)
{
    (void)state;
    json_t *record;
    struct study_run run = cost_of("gat", "csbm:nodes=80,features=6");
    run.config.layers = 2;
    run.config.hidden = 10;
    run.config.heads = 8;
    FAILS(execute(&record, &run, &one), CONSM_EPROGRAM, "expected a multiple of the 8 heads");
    assert_null(record);
}

/* Said a second after the run began, while it trains. */
static bool after_a_second(void *ctx)
{
    double *begin = ctx;
    if (*begin == 0)
        *begin = clock_seconds();
    return clock_seconds() > *begin + 1;
}

static void a_stop_ends_the_run(void **state)
{
    (void)state;
    json_t *record;
    double begin = 0;
    struct study_run run = cost_of("gcn", "csbm:nodes=20000,features=64");
    run.config.epochs = 1000000;
    FAILS(execute(&record, &run,
                  &(struct execute_options){
                      .jobs = 1, .threads = 1, .stop = after_a_second, .ctx = &begin}),
          CONSM_ECANCEL, "stopped");
    assert_null(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_is_that_of_the_run, fresh, clean),
        cmocka_unit_test_setup_teardown(data_of_other_runs_does_not_count, fresh, clean),
        cmocka_unit_test_setup_teardown(stages_have_their_peaks, fresh, clean),
        cmocka_unit_test_setup_teardown(an_error_reaches_the_caller, fresh, clean),
        cmocka_unit_test_setup_teardown(a_stop_ends_the_run, fresh, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
