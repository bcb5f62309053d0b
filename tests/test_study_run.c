/* Studies in process: the same results on any number of workers, shared and interrupted runs,
 * correct pruning, graph files that survive damage, rendering without runs. THREADED */
#include "folder.h"

#include <math.h>
#include <stdatomic.h>

#include "graph/edges.h"
#include "study/graph_file.h"
#include "study/study.h"
#include "study/task.h"

static struct study_run small(enum study_task task, const char *name)
{
    const struct model_def *model = NULL;
    if (name)
        OK(model_find(&model, name));
    struct study_run run =
        plan_run(task, "csbm:nodes=80,features=6,homophily=0.7", model, "random");
    run.split_options.per_class = 5;
    run.config.epochs = 8;
    run.config.hidden = 8;
    run.config.warmup = 4;
    run.config.rounds = 2;
    run.config.gnn_steps = 3;
    run.config.match_steps = 2;
    if (name && strcmp(name, "consm") == 0)
        OK(config_set(&run.config, "backbone", "gcn"));
    return run;
}

static double figure(struct runs *runs, struct study_run run, uint64_t seed, const char *name)
{
    const json_t *record;
    run.seed = seed;
    OK(execute_find(&record, runs, &run, NULL));
    return record ? task_value(record, name) : (double)NAN;
}

static void any_number_of_workers_gives_the_same(void **state)
{
    (void)state;
    struct plan plan = {0};
    struct study_sets sets = {0};
    struct study_run gcn = small(TASK_TRAIN, "gcn"), consm = small(TASK_TRAIN, "consm");
    double seen[2][8];
    OK(plan_add_seeds(&plan, &gcn, 4));
    OK(plan_add_seeds(&plan, &consm, 3));
    OK(plan_add_seeds(&plan, &gcn, 2)); /* another study that needs some of the same runs */
    for (int k = 0; k < 2; k++) {
        struct runs *runs;
        OK(runs_open(&runs, in_folder(k ? "three" : "one"), RUNS_APPEND));
        OK(execute_plan(runs, &plan, &sets, &(struct execute_options){.jobs = k ? 3 : 1}));
        assert_int_equal(runs_count(runs), 7);
        for (uint64_t seed = 0; seed < 4; seed++)
            seen[k][seed] = figure(runs, gcn, seed, "test_acc");
        for (uint64_t seed = 0; seed < 3; seed++)
            seen[k][4 + seed] = figure(runs, consm, seed, "val_acc");
        runs_close(runs);
    }
    for (int i = 0; i < 7; i++)
        assert_near(seen[0][i], seen[1][i], 0);
    plan_free(&plan);
    sets_free(&sets);
}

/* A device's runs are identified by its name and stored beside the CPU's. */
static void devices_have_runs_of_their_own(void **state)
{
    (void)state;
    struct plan plan = {0};
    struct study_sets sets = {0};
    static const enum study_task tasks[] = {TASK_TRAIN, TASK_CURVE, TASK_PRUNE,
                                            TASK_COST,  TASK_PLANT, TASK_COVER};
    enum { TASKS = sizeof tasks / sizeof *tasks };
    struct runs *runs;
    struct study_run run[TASKS];
    const json_t *record;
    for (int i = 0; i < TASKS; i++) {
        run[i] = small(tasks[i], "gcn");
        run[i].rate = 0.1;
        run[i].again = run[i].config;
        OK(plan_add(&plan, &run[i]));
        run[i].device = "reference";
        OK(plan_add(&plan, &run[i]));
    }
    OK(runs_open(&runs, in_folder("runs"), RUNS_APPEND));
    OK(execute_plan(runs, &plan, &sets, &(struct execute_options){.jobs = 2}));
    assert_int_equal(runs_count(runs), 2 * TASKS);
    for (int i = 0; i < TASKS; i++)
        for (int k = 0; k < 2; k++) {
            run[i].device = k ? "reference" : NULL;
            OK(execute_find(&record, runs, &run[i], NULL));
            const char *device = json_string_value(json_object_get(record, "device"));
            assert_non_null(device);
            assert_string_equal(device, k ? "reference" : "cpu");
        }
    runs_close(runs);
    plan_free(&plan);
    sets_free(&sets);
}

struct stopper {
    int finished, after;
    atomic_bool stop;
};

static void count_finished(void *ctx, const struct execute_progress *p)
{
    struct stopper *s = ctx;
    assert_true(p->finished <= p->total && p->work <= p->work_total * (1 + 1e-9));
    if (++s->finished == s->after)
        atomic_store(&s->stop, true);
}

static bool is_stopped(void *ctx)
{
    return atomic_load(&((struct stopper *)ctx)->stop);
}

static void a_stopped_plan_goes_on(void **state)
{
    (void)state;
    struct plan plan = {0};
    struct study_sets sets = {0};
    struct study_run run = small(TASK_TRAIN, "mlp");
    struct stopper stopper = {.after = 3};
    struct execute_options o = {
        .jobs = 2, .done = count_finished, .stop = is_stopped, .ctx = &stopper};
    struct runs *runs;
    OK(plan_add_seeds(&plan, &run, 12));
    OK(runs_open(&runs, in_folder("runs"), RUNS_APPEND));
    FAILS(execute_plan(runs, &plan, &sets, &o), CONSM_ECANCEL, "stopped");
    int64_t kept = runs_count(runs);
    assert_in_range(kept, 3, 5); /* those that were all but finished may still come in */
    runs_close(runs);
    stopper = (struct stopper){.after = -1};
    OK(runs_open(&runs, in_folder("runs"), RUNS_APPEND));
    OK(execute_plan(runs, &plan, &sets, &o));
    assert_int_equal(runs_count(runs), 12);
    assert_int_equal(stopper.finished, 12 - kept);
    runs_close(runs);
    plan_free(&plan);
    sets_free(&sets);
}

static consm_status run_one(json_t **result, const struct study_run *run, const char *graph)
{
    struct dataset *d;
    struct prepared prepared;
    OK(data_open(&d, run->dataset, NULL));
    OK(prepare(&prepared, d));
    struct task_input in = {.run = run, .prepared = &prepared, .threads = 1, .graph_path = graph};
    consm_status st = task_run(result, &in);
    prepare_free(&prepared);
    dataset_free(d);
    return st;
}

static void pruning_removes_shares_of_each_kind(void **state)
{
    (void)state;
    json_t *result;
    struct study_run run = small(TASK_PRUNE, "gcn");
    /* 80 nodes of degree 10: 400 edges, 280 of them inside classes. */
    static const double kept[][3] = {
        {1, 1, 400}, {0, 1, 120}, {1, 0, 280}, {0.5, 0.25, 170}, {0, 0, 0}};
    for (int i = 0; i < 5; i++) {
        run.same_kept = kept[i][0];
        run.other_kept = kept[i][1];
        OK(run_one(&result, &run, NULL));
        assert_near(task_value(result, "edges"), kept[i][2], 0);
        json_decref(result);
    }
}

static void curves_have_a_point_per_round(void **state)
{
    (void)state;
    json_t *result;
    struct study_run run = small(TASK_CURVE, "consm");
    run.config.epochs = 1000; /* the rounds end it */
    run.config.round_patience = 0;
    run.config.lambda = 1; /* given, so that no round tries several */
    run.config.attract = ATTRACT_ZETA;
    run.config.drop_share = 0;
    OK(run_one(&result, &run, NULL));
    const json_t *val = json_object_get(result, "curve_val");
    const json_t *best = json_object_get(result, "curve_best_val");
    assert_int_equal(json_array_size(val), 3); /* after the warm-up, and after each round */
    assert_int_equal(json_array_size(json_object_get(result, "curve_test")), 3);
    assert_true(json_number_value(json_array_get(best, 2)) >=
                json_number_value(json_array_get(best, 0)));
    assert_near(json_number_value(json_array_get(best, 2)), task_value(result, "val_acc"), 0);
    json_decref(result);
}

static void the_curve_changes_nothing(void **state)
{
    (void)state;
    json_t *curve, *plain;
    struct study_run run = small(TASK_CURVE, "gcn");
    run.config.epochs = 20; /* a point every ten epochs */
    OK(run_one(&curve, &run, NULL));
    const json_t *epochs = json_object_get(curve, "curve_epoch");
    assert_int_equal(json_array_size(epochs), 2);
    assert_int_equal(json_integer_value(json_array_get(epochs, 0)), 10);
    assert_int_equal(json_integer_value(json_array_get(epochs, 1)), 20);
    run.task = TASK_TRAIN;
    OK(run_one(&plain, &run, NULL));
    assert_near(task_value(curve, "test_acc"), task_value(plain, "test_acc"), 0);
    json_decref(curve);
    json_decref(plain);
}

static void facts_are_those_of_the_graph(void **state)
{
    (void)state;
    json_t *result;
    struct study_run run = small(TASK_FACTS, NULL);
    OK(run_one(&result, &run, NULL));
    assert_near(task_value(result, "nodes"), 80, 0);
    assert_near(task_value(result, "edges"), 400, 0);
    assert_near(task_value(result, "homophily"), 0.7, 1e-9);
    assert_near(task_value(result, "train"), 20, 0);
    json_decref(result);
}

static void damage(const char *path, const char *from, const char *to)
{
    static char text[200000];
    FILE *file = fopen(path, "r");
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    char *at = strstr(text, from);
    assert_non_null(at);
    file = fopen(path, "w");
    fprintf(file, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    fclose(file);
}

/* Replaces the first entry of an array. */
static void damage_first(const char *path, const char *name)
{
    json_t *graph = json_load_file(path, 0, NULL);
    assert_int_equal(json_array_set_new(json_object_get(graph, name), 0, json_integer(-5)), 0);
    assert_int_equal(json_dump_file(graph, path, JSON_COMPACT), 0);
    json_decref(graph);
}

static void graphs_are_kept_and_damage_is_named(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s", in_folder("graph.json"));
    static const char *const bad[][3] = {
        {"\"left\":[", "\"left\":[80,", "edges are damaged"},
        {"\"right\":[", "\"right\":[-1,", "edges are damaged"},
        {"\"score\":[", "\"score\":[1,", "edges are damaged"},
        {"\"label\":[", "\"label\":[77,", "nodes are damaged"},
        {"\"role\":[", "\"role\":[9,", "nodes are damaged"},
        {"\"nodes\":80", "\"nodes\":9000000000000000", "number of nodes"},
        {"\"nodes\":80", "\"nodes\":79", "damaged"},
        {"{", "", "line 1"},
    };
    json_t *result;
    struct graph_file *g;
    struct study_run run = small(TASK_TRAIN, "consm");
    OK(run_one(&result, &run, path));
    assert_true(task_value(json_object_get(result, "coefficients"), "auc") >= 0);
    assert_near(task_value(json_object_get(result, "trust"), "chance"), 0.7, 1e-9);
    OK(graph_file_read(&g, path));
    const struct graph_view *view = graph_file_view(g);
    assert_int_equal(view->nodes, 80);
    assert_int_equal(view->start[80], 800);
    assert_int_equal(view->classes, 4);
    graph_file_free(g);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *again;
        OK(run_one(&again, &run, path));
        json_decref(again);
        damage(path, bad[i][0], bad[i][1]);
        FAILS(graph_file_read(&g, path), CONSM_EFORMAT, bad[i][2]);
        assert_null(g);
    }
    static const char *const array[] = {"left", "right", "label", "role"};
    for (int i = 0; i < 4; i++) {
        json_t *again;
        OK(run_one(&again, &run, path));
        json_decref(again);
        damage_first(path, array[i]);
        FAILS(graph_file_read(&g, path), CONSM_EFORMAT, "damaged");
    }
    FAILS(graph_file_read(&g, in_folder("missing")), CONSM_EIO, "missing");
    json_decref(result);
}

/* A folder without runs still gives a report: tables with gaps, no invented figure. */
static void every_study_renders_without_runs(void **state)
{
    (void)state;
    struct study_folder f;
    struct report *r;
    struct text page = {0};
    json_t *options =
        json_pack("{s:[s,s], s:[s,s], s:i, s:s, s:b, s:b}", "datasets", "karate", "csbm", "models",
                  "gcn", "consm", "seeds", 2, "split", "random", "chosen", 1, "quick", 1);
    OK(folder_open(&f, folder, RUNS_APPEND));
    FAILS(folder_report(&r, &f, "nothing", NULL), CONSM_ENOTFOUND, "contains no study");
    for (int i = 0; study_list()[i]; i++)
        OK(folder_enter(&f, study_list()[i]->name, options));
    OK(folder_enter(&f, "bench", options));
    OK(folder_save(&f));
    folder_close(&f);
    OK(folder_open(&f, folder, RUNS_READ));
    OK(folder_report(&r, &f, "nothing yet", NULL));
    OK(report_to_html(&page, r));
    assert_null(strstr(text_string(&page), ">nan"));
    text_free(&page);
    report_free(r);
    OK(folder_report(&r, &f, "one", "depth"));
    OK(report_to_html(&page, r));
    assert_non_null(strstr(text_string(&page), "Depth (RQ4)"));
    assert_null(strstr(text_string(&page), "Transport"));
    text_free(&page);
    report_free(r);
    folder_close(&f);
    json_decref(options);
}

static void studies_share_runs(void **state)
{
    (void)state;
    struct study_options o;
    struct plan one = {0}, both = {0};
    json_t *options = json_pack("{s:[s], s:[s,s], s:i, s:s}", "datasets", "csbm", "models", "gcn",
                                "gat", "seeds", 2, "split", "random");
    OK(options_read(&o, options));
    struct study_view v = {.options = &o};
    OK(study_find("accuracy")->plan(&one, &v));
    assert_int_equal(one.count, 4);
    OK(study_find("edges")->plan(&both, &v));
    assert_int_equal(both.count, 4); /* every model, for the agreement of its predictions */
    char key[65], same[65];
    json_t *identity;
    for (int i = 0; i < 4; i++) {
        OK(plan_identity(&identity, &one.run[i], NULL));
        OK(runs_key(key, identity));
        json_decref(identity);
        OK(plan_identity(&identity, &both.run[i], NULL));
        OK(runs_key(same, identity));
        json_decref(identity);
        assert_string_equal(key, same);
    }
    plan_free(&one);
    plan_free(&both);
    options_free(&o);
    json_decref(options);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, fresh, clean)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(any_number_of_workers_gives_the_same),
        IN_FOLDER(devices_have_runs_of_their_own),
        IN_FOLDER(a_stopped_plan_goes_on),
        cmocka_unit_test(pruning_removes_shares_of_each_kind),
        cmocka_unit_test(curves_have_a_point_per_round),
        cmocka_unit_test(the_curve_changes_nothing),
        cmocka_unit_test(facts_are_those_of_the_graph),
        IN_FOLDER(graphs_are_kept_and_damage_is_named),
        IN_FOLDER(every_study_renders_without_runs),
        cmocka_unit_test(studies_share_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
