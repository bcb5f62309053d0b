/* The study of costs: the runs it plans, and its tables, figures and sentence from a record made by
 * hand. Nothing is timed. */
#include "folder.h"

#include "app/cost.h"
#include "data/generate/generate.h"
#include "study/study.h"

#include <math.h>

enum { SIZES = 4 };

static char content[1 << 16];

static const char *content_of(const char *name)
{
    FILE *file = fopen(in_folder(name), "r");
    if (!file)
        fail_msg("%s is missing", name);
    content[fread(content, 1, sizeof content - 1, file)] = 0;
    fclose(file);
    return content;
}

/* Time and memory grow with the edges of run i = 2 * size + method: linearly for ConSM, with the
 * square root for GCN. The last size needs `late` times as long as it should. */
static void record(struct runs *runs, const struct study_run *run, size_t i, double late)
{
    static const double edges[SIZES] = {100, 400, 1600, 6400};
    const size_t k = i / 2;
    json_t *identity, *result;
    double more = k + 1 == SIZES ? late : 1;
    if (i % 2 == 0) /* 2, 4, 8, 16 ms in two parts */
        result =
            json_pack("{s:f, s:f, s:f, s:f}", "edges", edges[k], "train_ms", 1.5 * (double)(1 << k),
                      "eval_ms", 0.5 * (double)(1 << k), "train_mb", 3.0 * (double)(1 << k));
    else
        result =
            json_pack("{s:f, s:f, s:f, s:f, s:f}", "edges", edges[k], "train_ms", 1e6, "eval_ms",
                      1e6, "seconds", edges[k] / 100 * more, "train_mb", edges[k] / 50);
    OK(plan_identity(&identity, run, NULL));
    OK(runs_append(runs, identity, result));
    json_decref(identity);
    json_decref(result);
}

/* The report of such a record, as the terminal shows it. */
static void render(struct text *page, double late)
{
    struct study_options o;
    struct plan plan = {0};
    struct runs *runs;
    struct report *r;
    json_t *request = json_pack("{s:[s], s:b}", "datasets", "karate", "quick", 1);
    OK(options_read(&o, request));
    OK(runs_open(&runs, in_folder("runs.jsonl"), RUNS_APPEND));
    struct study_view v = {&o, runs, NULL, folder};
    OK(study_find("complexity")->plan(&plan, &v));
    assert_int_equal(plan.count, 2 * SIZES + 6); /* and six by default parameters, not run here */
    plan.count = 2 * SIZES;
    assert_string_equal(plan.run[0].dataset, "csbm:nodes=1000,degree=20,features=16,homophily=0.5");
    for (size_t i = 0; i < plan.count; i++) {
        const struct study_run *run = &plan.run[i];
        assert_string_equal(run->model->name, i % 2 ? "consm" : "gcn");
        assert_int_equal(run->task, TASK_COST);
        record(runs, run, i, late);
    }
    OK(report_new(&r, "complexity"));
    OK(study_find("complexity")->render(r, &v));
    OK(report_write_files(r, in_folder("files")));
    OK(report_to_terminal(page, r, 0, false));
    report_free(r);
    runs_close(runs);
    plan_free(&plan);
    options_free(&o);
    json_decref(request);
}

static void is_in(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("missing: %s in\n%s", part, text);
}

/* A figure has both lines, named so; ConSM's is the strong one. */
static void is_drawn(const char *figure, const char *first, const char *second)
{
    const char *svg = content_of(figure);
    is_in(svg, first);
    is_in(svg, second);
    is_in(svg, "<path class=\"s0 line\"");
    is_in(svg, "<path class=\"s1 line strong\"");
}

static void costs_by_hand(void **state)
{
    (void)state;
    struct text page = {0};
    render(&page, 1);
    const char *table = content_of("files/complexity.csv");
    is_in(table, "\r\n100,0.002,1,3,2\r\n");
    is_in(table, "\r\n400,0.004,4,6,8\r\n");
    is_in(table, "\r\n1600,0.008,16,12,32\r\n");
    is_in(table, "\r\n6400,0.016,64,24,128\r\n");
    is_in(text_string(&page), "Fitted exponent 1.00 (95 % interval 1.00 to 1.00, R² 1.000) over 4 "
                              "sizes; 1.00 over the larger half.");
    is_in(text_string(&page), "\n  reproduced      ConSM's time");
    is_drawn("files/complexity-time.svg", ">GCN, epoch: exponent 0.50<",
             ">ConSM, round: exponent 1.00<");
    is_drawn("files/complexity-memory.svg", ">GCN: exponent 0.50<", ">ConSM: exponent 1.00<");
    text_free(&page);
}

/* The larger half alone decides: from 1600 to 6400 edges the time grows eightfold. */
static void the_larger_half_decides(void **state)
{
    (void)state;
    struct text page = {0};
    render(&page, 2);
    is_in(text_string(&page), "1.50 over the larger half.");
    is_in(text_string(&page), "\n  NOT reproduced  ConSM's time");
    text_free(&page);
}

/* ---- default runs -------------------------------------------------------- */

/* What the runs of each kind would take if the model were right. */
static const double truth[COST_KINDS][COST_TERMS] = {
    [COST_SECONDS] = {2, 3e-3, 1e-9, 2e-12, 4e-5, 1e-6},
    [COST_RACE_BYTES] = {9e6, 50, 40, 5, 2, 3},
    [COST_ROUNDS_BYTES] = {7e6, 2000, 80, 10, 300, 3000},
    [COST_GCN_BYTES] = {8e6, 200, 50, 8, 20, 900},
};

static double sum_of(enum cost_kind kind, const struct cost_sizes *s)
{
    double term[COST_TERMS], sum = 0;
    OK(cost_terms(term, kind, s));
    for (int j = 0; j < COST_TERMS; j++)
        sum += truth[kind][j] * term[j];
    return sum;
}

/* A default run's record; the first one takes `off` times as long as it should. */
static void record_default(struct runs *runs, const struct study_run *run, double off)
{
    struct csbm_options o = csbm_defaults();
    json_t *identity;
    OK(csbm_parse(&o, run->dataset + strlen("csbm:")));
    double nodes = (double)o.nodes, labels = (double)(run->split_options.per_class * o.classes);
    struct cost_sizes s = {.nodes = nodes,
                           .edges = nodes * o.degree / 2,
                           .columns =
                               (double)(o.words > 0 ? COST_SPARSE_COLUMNS * o.words : o.features),
                           .features = (double)o.features,
                           .classes = (double)o.classes,
                           .labels = labels,
                           .two_hop = nodes * o.degree * o.degree};
    bool gcn = strcmp(run->model->name, "gcn") == 0;
    double used = gcn ? 1 : off * sum_of(COST_SECONDS, &s);
    double race = sum_of(COST_RACE_BYTES, &s) / 1e6, rounds = sum_of(COST_ROUNDS_BYTES, &s) / 1e6;
    double peak = gcn ? sum_of(COST_GCN_BYTES, &s) / 1e6 : fmax(race, rounds);
    json_t *result =
        json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "nodes", s.nodes, "edges",
                  s.edges, "labels_train", s.labels, "two_hop", s.two_hop, "race_mb", race,
                  "rounds_mb", rounds, "peak_mb", peak, "seconds", used / 2, "processor_seconds",
                  used, "instructions", 3e9 * used);
    OK(plan_identity(&identity, run, NULL));
    OK(runs_append(runs, identity, result));
    json_decref(identity);
    json_decref(result);
}

static void render_default(double off)
{
    struct study_options o;
    struct plan plan = {0};
    struct runs *runs;
    struct report *r;
    json_t *request = json_pack("{s:[s]}", "datasets", "karate");
    OK(options_read(&o, request));
    OK(runs_open(&runs, in_folder("runs.jsonl"), RUNS_APPEND));
    struct study_view v = {&o, runs, NULL, folder};
    OK(study_find("complexity")->plan(&plan, &v));
    for (size_t i = 14; i < plan.count; i++)
        record_default(runs, &plan.run[i], i == 14 ? off : 1);
    OK(report_new(&r, "complexity"));
    OK(study_find("complexity")->render(r, &v));
    OK(report_write_files(r, in_folder("files")));
    report_free(r);
    runs_close(runs);
    plan_free(&plan);
    options_free(&o);
    json_decref(request);
}

/* Where the model is right, the fit repeats every run. */
static void a_fit_finds_the_model(void **state)
{
    (void)state;
    render_default(1);
    const char *model = content_of("files/complexity-model.csv");
    for (int kind = 0; kind < COST_KINDS; kind++) {
        static const char *const name[] = {"SECONDS", "RACE_BYTES", "ROUNDS_BYTES", "GCN_BYTES"};
        char row[96];
        snprintf(row, sizeof row, "\r\n%s,smallest measured / model,1.000\r\n", name[kind]);
        is_in(model, row);
        snprintf(row, sizeof row, "\r\n%s,largest measured / model,1.000\r\n", name[kind]);
        is_in(model, row);
    }
    const char *table = content_of("files/complexity-default.csv");
    double edges, features, classes, labels, seconds, used, fitted, peak, instructions;
    const char *line = strstr(table, "\r\nlabels,2000,");
    assert_non_null(line);
    assert_int_equal(sscanf(line + strlen("\r\nlabels,2000,"),
                            "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &edges, &features, &classes,
                            &labels, &seconds, &used, &fitted, &peak, &instructions),
                     9);
    assert_true(edges == 10000 && features == 16 && classes == 4 && labels == 20);
    assert_true(fabs(used - 2 * seconds) < 1e-6 * used && fabs(fitted - used) < 1e-2 * used);
    assert_true(fabs(instructions - 3 * used) < 1e-6 * used && peak > 9);
    is_in(content_of("files/complexity-default-time.svg"), ">labels<");
}

/* A run that the model cannot explain widens the range. */
static void a_run_off_the_model_widens_the_range(void **state)
{
    (void)state;
    render_default(3);
    const char *row = strstr(content_of("files/complexity-model.csv"), "SECONDS,largest");
    assert_non_null(row);
    assert_true(strtod(strrchr(strtok((char *)row, "\r"), ',') + 1, NULL) > 1.05);
}

/* ConSM holds what its comparison or its rounds hold, whichever is more. */
static void is_the_larger_sum(const struct cost_sizes *s)
{
    struct cost_range race, rounds, both;
    OK(cost_forecast(&race, COST_RACE_BYTES, s));
    OK(cost_forecast(&rounds, COST_ROUNDS_BYTES, s));
    OK(cost_forecast_consm(&both, s));
    assert_true(race.usual != rounds.usual && both.usual == fmax(race.usual, rounds.usual));
    assert_true(both.low == fmax(race.low, rounds.low) &&
                both.high == fmax(race.high, rounds.high));
}

/* Two threads train two candidates side by side, unless the graph is large. */
static void threads_hold_more(void **state)
{
    (void)state;
    for (int large = 0; large < 2; large++) {
        struct cost_sizes s = {.nodes = large ? 1e6 : 2000,
                               .edges = large ? 1e7 : 10000,
                               .columns = 16,
                               .classes = 4,
                               .labels = 80,
                               .two_hop = 2e5,
                               .threads = 1};
        struct cost_range one, two;
        OK(cost_forecast_consm(&one, &s));
        s.threads = 2;
        OK(cost_forecast_consm(&two, &s));
        assert_true(large ? two.usual == one.usual : two.usual > one.usual);
    }
}

/* A forecast is a sum of positive terms, and its range contains it. */
static void a_forecast_grows_with_the_graph(void **state)
{
    (void)state;
    struct cost_sizes s = {
        .nodes = 2000, .edges = 10000, .columns = 16, .classes = 4, .labels = 80, .two_hop = 2e5};
    for (enum cost_kind kind = COST_SECONDS; kind < COST_KINDS; kind++) {
        struct cost_range small, big;
        struct cost_sizes more = s;
        more.nodes *= 4;
        more.edges *= 4;
        more.two_hop *= 4;
        OK(cost_forecast(&small, kind, &s));
        OK(cost_forecast(&big, kind, &more));
        assert_true(0 < small.low && small.low <= small.usual && small.usual <= small.high);
        assert_true(big.usual > small.usual);
    }
    is_the_larger_sum(&s);
    assert_true(strlen(cost_measured_on) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(costs_by_hand, fresh, clean),
        cmocka_unit_test_setup_teardown(the_larger_half_decides, fresh, clean),
        cmocka_unit_test_setup_teardown(a_fit_finds_the_model, fresh, clean),
        cmocka_unit_test_setup_teardown(a_run_off_the_model_widens_the_range, fresh, clean),
        cmocka_unit_test(a_forecast_grows_with_the_graph),
        cmocka_unit_test(threads_hold_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
