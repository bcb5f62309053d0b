/* The study of costs: the runs it plans, and its table, figures and sentence from a record made by
 * hand. Nothing is timed. */
#include "folder.h"

#include "study/study.h"

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
    assert_int_equal(plan.count, 2 * SIZES);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(costs_by_hand, fresh, clean),
        cmocka_unit_test_setup_teardown(the_larger_half_decides, fresh, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
