/* Studies with other splits than the paper's: the runs they plan, what a run records of its labels,
 * its ROC curve and its witnesses, counted again by hand, and the printed tables. */
#include "check.h"

#include <math.h>
#include <unistd.h>

#include "backends/open.h"
#include "data/generate/generate.h"
#include "study/grid.h"

#include "study/task.h"
#include "train/edge_trust.h"
#include "train/session.h"

#define SET "csbm:nodes=60,features=5,classes=2,homophily=0.75,degree=5"

/* ---- what a run records ---------------------------------------------------------------------- */

static struct study_run short_run(const char *name, const char *split)
{
    const struct model_def *model;
    OK(model_find(&model, name));
    struct study_run run = plan_run(TASK_TRAIN, SET, model, split);
    run.config.epochs = 15;
    run.config.warmup = 15;
    run.config.rounds = 1;
    run.config.gnn_steps = run.config.match_steps = 3;
    run.config.hidden = 8;
    OK(config_set(&run.config, "backbone", "gcn"));
    return run;
}

/* P(score of a positive above a negative), pair by pair. */
static double by_pairs(const float *score, const uint8_t *positive, int64_t n)
{
    double above = 0, pairs = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            if (positive[i] && !positive[j]) {
                above += score[i] > score[j] ? 1 : score[i] == score[j] ? 0.5 : 0;
                pairs++;
            }
    return above / pairs;
}

struct again {
    struct dataset *data;
    struct prepared prepared;
    uint8_t *role;
    struct problem problem;
    struct backend *backend;
    struct session *s;
    json_t *result;
};

/* The same training twice: as in a study, and in a session that can be inspected. */
static void run_twice(struct again *a, const struct study_run *run)
{
    struct train_result trained;
    OK(generate_named(&a->data, SET));
    OK(prepare(&a->prepared, a->data));
    struct task_input in = {.run = run, .prepared = &a->prepared, .threads = 1};
    OK(task_run(&a->result, &in));
    OK(task_roles(&a->role, &in));
    a->problem = prepare_problem(&a->prepared, a->role);
    struct train_options options = task_options(&in);
    OK(backend_open(&a->backend, NULL, 1));
    OK(session_new(&a->s, &a->problem, &options, a->backend));
    OK(session_train(a->s, &trained));
}

static void forget(struct again *a)
{
    session_free(a->s);
    backend_close(a->backend);
    mem_free(a->role);
    prepare_free(&a->prepared);
    dataset_free(a->data);
    json_decref(a->result);
}

static void a_run_records_labels_and_its_curve(void **state)
{
    (void)state;
    struct again a;
    struct study_run run = short_run("gcn", "labels:10");
    const float *logits;
    float score[60];
    uint8_t positive[60];
    int64_t n = 0;
    run_twice(&a, &run);
    assert_near(task_value(a.result, "labels_train"), 16, 0);
    assert_near(task_value(a.result, "labels_val"), 4, 0);
    OK(session_logits(&logits, a.s));
    for (int i = 0; i < 60; i++)
        if (a.role[i] == SPLIT_TEST) {
            score[n] = logits[2 * i + 1] - logits[2 * i];
            positive[n++] = a.data->label[i] == 1;
        }
    assert_int_equal(n, 40);
    assert_near(task_value(a.result, "test_auc"), by_pairs(score, positive, n), 1e-9);
    assert_null(json_object_get(a.result, "witnesses")); /* a GCN has none */
    forget(&a);
}

static void witnesses_one_by_one(void **state)
{
    (void)state;
    struct again a;
    struct edge_trust t;
    struct study_run run = short_run("consm", "labels:10");
    run_twice(&a, &run);
    OK(session_trust(&t, a.s));
    assert_true(t.edges->count == 150);
    for (int w = 0; w < WITNESSES; w++)
        for (int test = 0; test < 2; test++) {
            float score[150];
            uint8_t same[150];
            int64_t n = 0;
            for (int64_t e = 0; e < t.edges->count; e++) {
                int32_t i = t.edges->left[e], j = t.edges->right[e];
                if (test && a.role[i] != SPLIT_TEST && a.role[j] != SPLIT_TEST)
                    continue;
                score[n] = t.witness[e * WITNESSES + w];
                same[n++] = a.data->label[i] == a.data->label[j];
            }
            assert_true(test ? n < 150 : n == 150);
            const json_t *of = json_object_get(a.result, test ? "witnesses_test" : "witnesses");
            assert_near(task_value(of, witness_names[w]), by_pairs(score, same, n), 1e-9);
        }
    edge_trust_free(&t);
    forget(&a);
}

/* ---- what is planned ------------------------------------------------------------------------- */

static json_t *request(const char *dataset)
{
    return json_pack("{s:[s], s:[s,s], s:b, s:i, s:[s,s,s], s:i, s:{s:s, s:s, s:s, s:s, s:s, s:s, "
                     "s:s}}",
                     "datasets", dataset, "models", "gcn", "consm", "chosen", 1, "seeds", 2,
                     "split", "labels:10", "40/30/30", "public", "per_class", 5, "set", "epochs",
                     "10", "hidden", "6", "warmup", "10", "rounds", "1", "gnn-steps", "3",
                     "match-steps", "2", "backbone", "gcn");
}

static int64_t planned(const char *study, const json_t *json, const char *split)
{
    struct study_options o;
    struct plan plan = {0};
    struct runs *none;
    int64_t count = 0;
    OK(options_read(&o, (json_t *)json));
    OK(runs_open(&none, "/nowhere/runs.jsonl", RUNS_READ));
    struct study_view v = {&o, none, NULL, NULL};
    OK(study_find(study)->plan(&plan, &v));
    runs_close(none);
    for (size_t i = 0; i < plan.count; i++)
        count += !split || strcmp(plan.run[i].split, split) == 0;
    plan_free(&plan);
    options_free(&o);
    return count;
}

static void named_splits_are_all_used(void **state)
{
    (void)state;
    json_t *json = request(SET);
    assert_int_equal(planned("edges", json, NULL), 2 * 2); /* the first split only, … */
    json_object_set_new(json, "split_chosen", json_true());
    assert_int_equal(planned("edges", json, "labels:10"), 4);
    assert_int_equal(planned("edges", json, "40/30/30"), 4);
    assert_int_equal(planned("edges", json, "public"), 0); /* which a generated set does not have */
    /* a clean GCN; on six planted graphs GCN and ConSM */
    assert_int_equal(planned("planted", json, "labels:10"), 2 * (1 + 6 * 2));
    assert_int_equal(planned("planted", json, NULL), 2 * 2 * (1 + 6 * 2));
    assert_int_equal(planned("zeta", json, "40/30/30"), 0);
    json_object_set_new(json, "quick", json_true());
    assert_int_equal(planned("edges", json, NULL), 2 * 2);
    json_decref(json);
}

static void numbers_of_labels(void **state)
{
    (void)state;
    static const char *const split[] = {"labels:5",   "labels:10",  "labels:20", "labels:50",
                                        "labels:100", "labels:200", "labels:500"};
    json_t *json = request(SET);
    for (int k = 0; k < 7; k++)
        assert_int_equal(planned("labels", json, split[k]), 2 * 2);
    assert_int_equal(planned("labels", json, NULL), 7 * 4);
    json_object_set_new(json, "quick", json_true());
    assert_int_equal(planned("labels", json, NULL), 4 * 4);
    json_object_del(json, "quick");
    json_object_del(json, "models"); /* MLP, GCN, APPNP, GRAND, ConSM */
    assert_int_equal(planned("labels", json, NULL), 7 * 5 * 2);
    json_decref(json);
}

/* On a user's own set only ConSM itself; on the paper's sets, or on request, its profiles too. */
static void profiles_on_own_sets_only_when_asked(void **state)
{
    (void)state;
    struct grid_row row[STUDY_MOST + 2];
    struct study_options o;
    json_t *json = request(SET);
    OK(options_read(&o, json));
    assert_int_equal(grid_rows(row, &o, GRID_PROFILES), 2);
    o.dataset[o.datasets++] = "cora";
    assert_int_equal(grid_rows(row, &o, GRID_PROFILES), 4);
    assert_true(grid_profiles(&o, "cora") && !grid_profiles(&o, SET));
    options_free(&o);
    assert_int_equal(planned("accuracy", json, "labels:10"), 2 * 2);
    json_object_set_new(json, "profiles", json_true());
    assert_int_equal(planned("accuracy", json, "labels:10"), 4 * 2);
    assert_int_equal(planned("accuracy", json, "40/30/30"), 2 * 2);
    json_decref(json);
}

/* ---- what is printed ------------------------------------------------------------------------- */

static char folder[64];

static double recount(const struct runs *runs, const char *split, const char *model,
                      const char *outer, const char *figure)
{
    double value[2];
    int64_t count = 0;
    for (int64_t i = 0; i < runs_count(runs); i++) {
        const json_t *record = runs_get(runs, i), *id = json_object_get(record, "config");
        if (strcmp(json_string_value(json_object_get(id, "split")), split) == 0 &&
            strcmp(json_string_value(json_object_get(id, "model")), model) == 0)
            value[count++] = json_number_value(
                json_object_get(outer ? json_object_get(record, outer) : record, figure));
    }
    assert_int_equal(count, 2);
    return (value[0] + value[1]) / 2;
}

/* Number `column`, from 0, after the head of a line in a CSV file. */
static double csv(const char *name, const char *head, int column)
{
    char line[4096], path[160];
    double number = NAN;
    snprintf(path, sizeof path, "%s/%s.csv", folder, name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s is missing", path);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, head, strlen(head)) == 0 && line[strlen(head)] == ',') {
            char *at = line + strlen(head);
            for (int k = 0; k < column && *at; k++)
                at += strcspn(at + 1, ",\n") + 1;
            number = strtod(at + 1, NULL);
            break;
        }
    fclose(file);
    return number;
}

/* In the first column of a Markdown table the best figure is bold, or italic if others are as good,
 * and no other is bold. */
static void assert_best_is_marked(const char *name, bool smallest)
{
    char line[4096], path[160];
    double best = NAN;
    int marks = 0, bold = 0, rows = 0; /* of the best; of all */
    bool best_is_bold = false;
    snprintf(path, sizeof path, "%s/%s.md", folder, name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s is missing", path);
    while (fgets(line, sizeof line, file)) {
        const char *at = *line == '|' ? strstr(line + 1, "| ") : NULL;
        int stars = at ? (int)strspn(at + 2, "*") : 0;
        char *end = line;
        double value = at ? strtod(at + 2 + stars, &end) : NAN;
        if (!at || end == at + 2 + stars)
            continue;
        rows++;
        bold += stars == 2;
        if (isnan(best) || (smallest ? value < best : value > best)) {
            best = value;
            marks = stars;
            best_is_bold = stars == 2;
        }
    }
    fclose(file);
    assert_true(rows > 1 && marks > 0);
    assert_int_equal(bold, best_is_bold);
}

#define HEAD "\"csbm, nodes=60,features=5,classes=2,homophily=0.75,degree=5\""

static void check_tables(const struct runs *runs)
{
    static const char *const split[] = {"labels:10", "40/30/30"};
    static const char *const suffix[] = {"", "-40-30-30"};
    char name[64], row[64];
    for (int k = 0; k < 2; k++) {
        snprintf(name, sizeof name, "edges-auc%s", suffix[k]);
        assert_near(csv(name, "\"ConSM, trust (all evidence)\"", 0),
                    recount(runs, split[k], "consm", "trust", "auc_test"), 1e-8);
        assert_near(csv(name, "\"GCN, agreement of predictions\"", 0),
                    recount(runs, split[k], "gcn", "agreement", "auc_test"), 1e-8);
        assert_best_is_marked(name, false);
        snprintf(name, sizeof name, "edges-calibration%s", suffix[k]);
        assert_best_is_marked(name, true);
        assert_near(csv(name, "\"ConSM, trust (all evidence)\"", 0),
                    recount(runs, split[k], "consm", "trust", "ece"), 1e-8);
        for (int w = 0; w < WITNESSES; w++) {
            snprintf(row, sizeof row, "Evidence: %s", witness_names[w]);
            snprintf(name, sizeof name, "edges-witnesses%s", suffix[k]);
            assert_near(csv(name, row, 0),
                        recount(runs, split[k], "consm", "witnesses_test", witness_names[w]), 1e-8);
            snprintf(name, sizeof name, "edges-witnesses-all%s", suffix[k]);
            assert_near(csv(name, row, 0),
                        recount(runs, split[k], "consm", "witnesses", witness_names[w]), 1e-8);
        }
        assert_near(csv(name, "\"ConSM, trust (all evidence)\"", 0),
                    recount(runs, split[k], "consm", "trust", "auc"), 1e-8);
        snprintf(name, sizeof name, "accuracy-auc%s", suffix[k]);
        assert_near(csv(name, "GCN", 0), 100 * recount(runs, split[k], "gcn", NULL, "test_auc"),
                    1e-8);
    }
    assert_near(csv("labels-accuracy", HEAD ",5", 0), 8, 0); /* train */
    assert_near(csv("labels-accuracy", HEAD ",5", 1), 2, 0); /* validate */
    assert_near(csv("labels-accuracy", HEAD ",10", 2),
                100 * recount(runs, "labels:10", "gcn", NULL, "test_acc"), 1e-8);
    assert_near(csv("labels-accuracy", HEAD ",20", 4),
                100 * recount(runs, "labels:20", "consm", NULL, "test_acc"), 1e-8);
    /* Classes of 30 give at most 15 labels: 50 would be the same again. */
    assert_true(isnan(csv("labels-accuracy", HEAD ",50", 2)));
    static const char *const shown[][2] = {
        {"trust", "auc"}, {"coefficients", "auc"}, {"agreement", "auc"}, {"trust", "ece"}};
    for (int i = 0; i < 4; i++)
        assert_near(csv("labels-trust", HEAD ",5", 2 + 2 * i),
                    recount(runs, "labels:5", "consm", shown[i][0], shown[i][1]), 1e-8);
}

/* Figures of runs on planted graphs: the mean over two seeds at a rate. */
static double planted_mean(const struct runs *runs, const char *split, const char *plant,
                           double rate, const char *model, const char *source, const char *figure)
{
    double sum = 0;
    int count = 0;
    for (int64_t i = 0; i < runs_count(runs); i++) {
        const json_t *record = runs_get(runs, i), *id = json_object_get(record, "config");
        const char *found = json_string_value(json_object_get(id, "plant"));
        if (!found || strcmp(found, plant) != 0 ||
            strcmp(json_string_value(json_object_get(id, "split")), split) != 0 ||
            strcmp(json_string_value(json_object_get(id, "model")), model) != 0 ||
            json_number_value(json_object_get(id, "rate")) != rate)
            continue;
        record = source ? json_object_get(record, source) : record;
        sum += json_number_value(json_object_get(record, figure));
        count++;
    }
    assert_int_equal(count, 2);
    return sum / 2;
}

static void check_planted(const struct runs *runs)
{
    static const char *const plant[] = {"random", "between"};
    static const char *const split[] = {"labels:10", "40/30/30"};
    static const char *const suffix[] = {"", "-40-30-30"};
    static const struct {
        const char *title, *model, *source;
    } row[] = {{"\"ConSM, trust\"", "consm", "trust"},
               {"\"ConSM, matching alone\"", "consm", "coefficients"},
               {"\"GCN, agreement of predictions\"", "gcn", "agreement"},
               {"\"Features, cosine\"", "gcn", "cosine"},
               {"GNNGuard's weights", "gcn", "gnnguard"}};
    static const struct {
        const char *table, *figure;
        double scale;
    } measure[] = {{"auc", "auc", 1},
                   {"precision", "precision", 1},
                   {"accuracy", "dropped_acc", 100},
                   {"rule", "rule_acc", 100}};
    static const char *const details[] = {"auc",      "precision", "dropped_acc",
                                          "rule_acc", "rule_kept", "rule_found"};
    char name[96], head[200];
    for (int k = 0; k < 4; k++)
        for (size_t i = 0; i < 5 * 4; i++) {
            size_t r = i / 4, m = i % 4;
            if (m == 3 && strcmp(row[r].source, "cosine") == 0)
                continue; /* it has no rule */
            snprintf(name, sizeof name, "planted-%s-%s%s", measure[m].table, plant[k % 2],
                     suffix[k / 2]);
            assert_near(csv(name, row[r].title, 0),
                        measure[m].scale * planted_mean(runs, split[k / 2], plant[k % 2], 0.25,
                                                        row[r].model, row[r].source,
                                                        measure[m].figure),
                        1e-8);
        }
    assert_near(csv("planted-rule-random", "\"ConSM, planted graph\"", 0),
                100 * planted_mean(runs, "labels:10", "random", 0.25, "consm", NULL, "test_acc"),
                1e-8);
    snprintf(head, sizeof head, HEAD ",between,0.5,%s", row[0].title);
    for (int d = 0; d < 6; d++)
        assert_near(csv("planted-details", head, d),
                    planted_mean(runs, "labels:10", "between", 0.5, "consm", "trust", details[d]),
                    1e-8);
}

/* Runs the studies into a new folder and writes the tables of `shown` studies there. */
static void study_and_render(const char *const *study, int run, int shown,
                             void (*check)(const struct runs *), int64_t expected)
{
    struct study_options o;
    struct study_sets sets = {0};
    struct plan plan = {0};
    struct runs *runs;
    struct report *r;
    char path[128], command[256];
    json_t *json = request(SET);
    json_object_set_new(json, "split_chosen", json_true());
    snprintf(folder, sizeof folder, "/tmp/consm-labels-%ld", (long)getpid());
    snprintf(command, sizeof command, "rm -rf %s && mkdir %s", folder, folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/runs.jsonl", folder);
    OK(options_read(&o, json));
    OK(runs_open(&runs, path, RUNS_APPEND));
    struct study_view v = {&o, runs, NULL, folder};
    for (int i = 0; i < run; i++)
        OK(study_find(study[i])->plan(&plan, &v));
    OK(execute_plan(runs, &plan, &sets, &(struct execute_options){.jobs = 1, .threads = 1}));
    assert_int_equal(runs_count(runs), expected);
    OK(report_new(&r, "labels"));
    for (int i = 0; i < shown; i++)
        OK(study_find(study[i])->render(r, &v));
    OK(report_write_files(r, folder));
    report_free(r);
    check(runs);
    runs_close(runs);
    plan_free(&plan);
    sets_free(&sets);
    options_free(&o);
    json_decref(json);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

static void what_is_printed_is_in_the_record(void **state)
{
    (void)state;
    static const char *const study[] = {"edges", "labels", "accuracy"};
    study_and_render(study, 2, 3, check_tables, 4 * 8); /* labels:10 is among both studies */
}

static void planted_tables_are_in_the_record(void **state)
{
    (void)state;
    static const char *const study[] = {"planted"};
    study_and_render(study, 1, 1, check_planted, 2 * 2 * (1 + 6 * 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_records_labels_and_its_curve),
        cmocka_unit_test(witnesses_one_by_one),
        cmocka_unit_test(named_splits_are_all_used),
        cmocka_unit_test(numbers_of_labels),
        cmocka_unit_test(profiles_on_own_sets_only_when_asked),
        cmocka_unit_test(what_is_printed_is_in_the_record),
        cmocka_unit_test(planted_tables_are_in_the_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
