/* Controls of ConSM: they follow its run, use its choices, differ only in the loss, and wait for
 * missing runs; and the parts of a verdict. THREADED */
#include "check.h"

#include <math.h>
#include <unistd.h>

#include "report/report_inside.h"
#include "report/table_inside.h"
#include "stats/stats.h"
#include "study/controls.h"
#include "study/grid.h"
#include "study/task.h"

static char path[64];

static struct study_options small_study(json_t **json, int64_t seeds, const char *graph)
{
    struct study_options o;
    *json = json_pack("{s:[s], s:[s,s], s:i, s:s, s:i, s:{s:s, s:s, s:s, s:s, s:s}}", "datasets",
                      graph, "models", "gcn", "consm", "seeds", (int)seeds, "split", "random",
                      "per_class", 6, "set", "warmup", "6", "rounds", "2", "gnn_steps", "4",
                      "match_steps", "2", "hidden", "8");
    OK(options_read(&o, *json));
    return o;
}

static int64_t plan_and_run(const struct study_view *v)
{
    struct plan plan = {0};
    struct study_sets sets = {0};
    int64_t before = runs_count(v->runs);
    OK(study_find("accuracy")->plan(&plan, v));
    OK(execute_plan(v->runs, &plan, &sets, &(struct execute_options){.jobs = 2, .threads = 1}));
    plan_free(&plan);
    sets_free(&sets);
    return runs_count(v->runs) - before;
}

/* The updates of the ConSM run that another run of the same seed controls. */
static double consm_updates(const struct study_view *v, const json_t *control)
{
    for (int64_t i = 0; i < runs_count(v->runs); i++) {
        const json_t *run = runs_get(v->runs, i), *id = json_object_get(run, "config");
        const json_t *parameters = json_object_get(id, "parameters");
        const char *backbone = json_string_value(json_object_get(parameters, "backbone"));
        const char *profile = json_string_value(json_object_get(parameters, "profile"));
        if (json_object_get(run, "chosen") && strcmp(backbone, "auto") == 0 &&
            strcmp(profile, "default") == 0 &&
            task_value(id, "seed") == task_value(control, "seed"))
            return task_value(run, "epochs");
    }
    return -1;
}

/* A GAM run's accuracy on the nodes of a role. */
static double gam_accuracy(const struct study_view *v, double lambda, int64_t seed,
                           const char *name)
{
    for (int64_t i = 0; i < runs_count(v->runs); i++) {
        const json_t *run = runs_get(v->runs, i), *id = json_object_get(run, "config");
        const json_t *parameters = json_object_get(id, "parameters");
        const char *loss = json_string_value(json_object_get(parameters, "propagation"));
        if (strcmp(loss, "gam") == 0 && task_value(id, "seed") == (double)seed &&
            task_value(parameters, "lambda") == lambda)
            return task_value(run, name);
    }
    return (double)NAN;
}

/* One λ for all seeds by their mean validation; with three runs, one for every seed. */
static void assert_weights(const struct study_view *v, int64_t seeds)
{
    static const double lambda[] = {1, 5, 20};
    struct study_cell once, thrice;
    double best_mean = -1, one = 0;
    OK(controls_cell(&once, v, v->options->dataset[0], CONTROL_GAM));
    OK(controls_cell(&thrice, v, v->options->dataset[0], CONTROL_GAM_THRICE));
    for (int k = 0; k < 3; k++) {
        double sum = 0;
        for (int64_t seed = 0; seed < seeds; seed++)
            sum += gam_accuracy(v, lambda[k], seed, "val_acc");
        if (sum > best_mean) {
            best_mean = sum;
            one = lambda[k];
        }
    }
    for (int64_t seed = 0; seed < seeds; seed++) {
        double best = -1, own = 0;
        for (int k = 0; k < 3; k++)
            if (gam_accuracy(v, lambda[k], seed, "val_acc") > best) {
                best = gam_accuracy(v, lambda[k], seed, "val_acc");
                own = lambda[k];
            }
        assert_near(once.value[seed], gam_accuracy(v, one, seed, "test_acc"), 0);
        assert_near(thrice.value[seed], gam_accuracy(v, own, seed, "test_acc"), 0);
    }
}

/* The printed p values are Holm's of the five paired tests. */
static void assert_printed_p(const struct study_view *v)
{
    const struct study_options *o = v->options;
    const struct model_def *model;
    struct report *r;
    struct study_run run;
    struct study_cell consm, cell;
    double raw[CONTROLS], p[CONTROLS];
    int found = 0;
    OK(model_find(&model, "consm"));
    OK(options_run(&run, o, TASK_TRAIN, o->dataset[0], model));
    OK(view_cell(&consm, v, &run, o->seeds, "test_acc"));
    for (enum control c = 0; c < CONTROLS; c++) {
        OK(controls_cell(&cell, v, o->dataset[0], c));
        OK(view_compare(&raw[c], &consm, &cell));
    }
    OK(stats_holm(p, raw, CONTROLS));
    assert_true(memcmp(p, raw, sizeof p) != 0);
    OK(report_new(&r, "controls"));
    OK(controls_render(r, v));
    for (size_t i = 0; i < r->items; i++) {
        const struct table *t = r->item[i].table;
        if (!t || strcmp(t->name, "accuracy-controls-tests") != 0)
            continue;
        assert_int_equal(t->rows, CONTROLS);
        for (int64_t row = 0; row < t->rows; row++)
            assert_near(table_at(t, row, 6)->value, p[row], 1e-12);
        found++;
    }
    assert_int_equal(found, 1);
    report_free(r);
}

static void they_get_what_consm_chose(void **state)
{
    (void)state;
    json_t *json;
    struct study_options o = small_study(&json, 2, "csbm:nodes=120,features=8,homophily=0.8");
    struct study_view v = {.options = &o};
    struct study_cell cell;
    int consm = 0, same = 0, losses = 0;
    OK(runs_open(&v.runs, path, RUNS_APPEND));
    OK(controls_cell(&cell, &v, o.dataset[0], CONTROL_GAM));
    assert_int_equal(cell.n, 0);                /* nothing to follow yet */
    assert_int_equal(plan_and_run(&v), 2 * 2);  /* GCN and ConSM */
    assert_int_equal(plan_and_run(&v), 2 * 10); /* λ = 0, and three λ for each of three losses */
    assert_int_equal(plan_and_run(&v), 0);
    for (int64_t i = 0; i < runs_count(v.runs); i++) {
        const json_t *run = runs_get(v.runs, i), *id = json_object_get(run, "config");
        const json_t *parameters = json_object_get(id, "parameters");
        const char *model = json_string_value(json_object_get(id, "model"));
        const char *loss = json_string_value(json_object_get(parameters, "propagation"));
        consm += json_object_get(run, "chosen") != NULL;
        if (json_object_get(run, "chosen"))
            assert_string_not_equal(
                json_string_value(json_object_get(json_object_get(run, "chosen"), "backbone")),
                "auto");
        if (strcmp(model, "consm") == 0)
            same += task_value(parameters, "lambda") == 0;
        else if (strcmp(loss, "none") != 0) {
            losses++; /* of its backbone's name, with as many updates */
            assert_string_equal(json_string_value(json_object_get(parameters, "backbone")), model);
            assert_near(task_value(parameters, "epochs"), consm_updates(&v, id), 0);
            assert_near(task_value(parameters, "rounds"),
                        fmax(ceil((consm_updates(&v, id) - 6) / 4), 1), 0);
            assert_near(task_value(parameters, "round_patience"), 0, 0);
        }
    }
    assert_int_equal(consm, 2 + 2); /* λ = 0 is a ConSM run, too */
    assert_int_equal(same, 2);
    assert_int_equal(losses, 18);
    for (enum control c = 0; c < CONTROLS; c++) {
        OK(controls_cell(&cell, &v, o.dataset[0], c));
        assert_int_equal(cell.n, 2);
        assert_true(cell.mean > 0 && cell.mean <= 1);
    }
    assert_weights(&v, 2);
    runs_close(v.runs);
    options_free(&o);
    json_decref(json);
    unlink(path);
}

static void printed_p_are_holms(void **state)
{
    (void)state;
    json_t *json;
    struct study_options o =
        small_study(&json, 6, "csbm:nodes=90,features=8,homophily=0.3,signal=0.4");
    struct study_view v = {.options = &o};
    OK(runs_open(&v.runs, path, RUNS_APPEND));
    plan_and_run(&v);
    plan_and_run(&v);
    assert_printed_p(&v);
    runs_close(v.runs);
    options_free(&o);
    json_decref(json);
    unlink(path);
}

static struct study_cell cell_of(int64_t n, double base, double step)
{
    struct study_cell cell = {.seeds = n};
    for (int64_t i = 0; i < n; i++)
        cell.value[i] = base + step * (double)(i * i);
    view_summarise(&cell);
    return cell;
}

static void verdicts_are_paired_tests(void **state)
{
    (void)state;
    struct study_cell low = cell_of(10, 0.5, 0.001), high = cell_of(10, 0.51, 0.0011);
    struct study_cell few[2] = {cell_of(4, 0.5, 0.001), cell_of(4, 0.9, 0.0011)};
    struct study_cell three[3] = {low, high, low};
    double p, family[3];
    bool above;
    int best;
    OK(view_above(&above, &p, &high, &low));
    assert_true(above && p < 0.01);
    OK(view_above(&above, &p, &low, &high));
    assert_false(above); /* differs, but it is the smaller */
    OK(view_above(&above, &p, &few[1], &few[0]));
    assert_false(above); /* forty points, but four pairs show nothing */
    assert_near(p, 0.125, 1e-12);
    OK(view_against_best(&best, family, three, 3, false));
    assert_int_equal(best, 1);
    assert_near(family[0], 2 * (2.0 / 1024), 1e-12); /* two tests, Holm */
    assert_true(isnan(family[1]) && view_ahead_of_all(family, best, 3));
    OK(view_against_best(&best, family, three, 3, true));
    assert_int_equal(best, 0);
    assert_false(view_ahead_of_all(family, best, 3)); /* the third is its equal */
    three[1].value[0] = (double)NAN;
    view_summarise(&three[1]);
    assert_int_equal(three[1].n, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_get_what_consm_chose),
        cmocka_unit_test(printed_p_are_holms),
        cmocka_unit_test(verdicts_are_paired_tests),
    };
    snprintf(path, sizeof path, "/tmp/consm-controls-%ld", (long)getpid());
    if (UNDER_TSAN) /* the others run the same jobs side by side, or none */
        cmocka_set_test_filter("they_get_*");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
