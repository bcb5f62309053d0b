/* Every study's plan and report from invented results, compared with tests/golden/study_NAME.txt:
 * the runs with their parameters, the tables, sentences and claims, and the texts and lines of the
 * figures. Nothing is trained. */

/*
 * A result depends on the run's place in the plan, its seed and the name of the figure. There are
 * only seven levels, so that equal means occur; some runs are missing. What each study must compute
 * from such results is tested by hand in test_labels, test_robust, test_controls, test_planted,
 * test_complexity and test_grid_summary; this test holds everything that is printed around it.
 */
#include "folder.h"
#include "golden.h"

#include <dirent.h>

#include "match/trust.h"
#include "study/paper.h"
#include "study/study.h"

enum { SEEDS = 8, BINS = 10, CURVE = 7, MOST_FIGURES = 12 };

/* ---- invented results ---------------------------------------------------- */

/* Seven levels by group and eleven smaller ones by seed: some differences are significant, some are
 * not.
 */
static double invent(int group, int seed, const char *figure)
{
    int letters = 0;
    for (const char *c = figure; *c; c++)
        letters += *c;
    return 0.5012 + 0.03 * ((5 * group + letters) % 7) +
           0.006 * ((3 * seed * seed + 7 * group * seed + group) % 11);
}

static void put(json_t *record, const char *name, double value)
{
    assert_int_equal(json_object_set_new(record, name, json_real(value)), 0);
}

/* The figures of a part of a record: "trust.auc" is the figure auc of the part trust. */
static json_t *invent_part(int group, int seed, const char *part, const char *const *figure)
{
    const int most = figure == witness_names ? WITNESSES : MOST_FIGURES;
    json_t *out = json_object();
    char name[64];
    for (int i = 0; i < most && figure[i]; i++) {
        snprintf(name, sizeof name, "%s.%s", part, figure[i]);
        put(out, figure[i], invent(group, seed, name));
    }
    return out;
}

static void put_bins(json_t *part, int group)
{
    json_t *count = json_array(), *said = json_array(), *seen = json_array();
    for (int b = 0; b < BINS; b++) {
        json_array_append_new(count, json_integer(b == 2 ? 0 : 10 * (1 + (group + b) % 4)));
        json_array_append_new(said, json_real((b + 0.5) / BINS));
        json_array_append_new(seen, json_real((b + 0.1 * (group % 7)) / BINS));
    }
    json_object_set_new(part, "bin_count", count);
    json_object_set_new(part, "bin_predicted", said);
    json_object_set_new(part, "bin_observed", seen);
}

/* Parts of a record by task. */
static const char *const edges[MOST_FIGURES] = {"auc",  "auc_test",   "auc_known", "ece",
                                                "f1",   "f1_test",    "f1_known",  "chance",
                                                "zeta", "chance_test"};
static const char *const planted[MOST_FIGURES] = {"auc",      "precision", "dropped_acc",
                                                  "rule_acc", "rule_kept", "rule_found"};
static const char *const sets[MOST_FIGURES] = {"covered_80", "covered_90", "covered_95",
                                               "size_80",    "size_90",    "size_95",
                                               "share_80",   "share_90",   "share_95"};
static const char *const attacked[MOST_FIGURES] = {"auc", "passed", "kept", "acc", "val_acc"};
static const struct {
    enum study_task task;
    const char *name;
    const char *const *figure;
} parts[] = {
    {TASK_TRAIN, "trust", edges},
    {TASK_TRAIN, "coefficients", edges},
    {TASK_TRAIN, "agreement", edges},
    {TASK_TRAIN, "witnesses", witness_names},
    {TASK_TRAIN, "witnesses_test", witness_names},
    {TASK_PLANT, "trust", planted},
    {TASK_PLANT, "coefficients", planted},
    {TASK_PLANT, "agreement", planted},
    {TASK_PLANT, "jaccard", planted},
    {TASK_PLANT, "cosine", planted},
    {TASK_PLANT, "gnnguard", planted},
    {TASK_COVER, "plain", sets},
    {TASK_COVER, "smooth", sets},
    {TASK_COVER, "chosen", sets},
    {TASK_ROBUST, "trust", attacked},
    {TASK_ROBUST, "clean", attacked},
    {TASK_ROBUST, "jaccard", attacked},
    {TASK_ROBUST, "svd", attacked},
    {TASK_ROBUST, "gnnguard", attacked},
    {TASK_ROBUST, "gcn", attacked},
    {TASK_ROBUST, "consm", attacked},
};

static void put_parts(json_t *record, const struct study_run *run, int group)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].task != run->task)
            continue;
        json_t *part = invent_part(group, (int)run->seed, parts[i].name, parts[i].figure);
        if (parts[i].figure == edges)
            put_bins(part, group);
        json_object_set_new(record, parts[i].name, part);
    }
}

/* The facts of Cora are the paper's, with edges counted once; those of other sets are not. */
static void put_facts(json_t *record, const char *dataset, int group)
{
    const struct paper_set *p = paper_set("cora");
    bool same = strcmp(dataset, "cora") == 0;
    put(record, "nodes", (double)(p->nodes + group));
    put(record, "edges", (double)p->edges / (same ? 2 : 3));
    put(record, "directed_edges", (double)(p->edges - 1));
    put(record, "features", (double)p->features);
    put(record, "classes", (double)p->classes);
    put(record, "train", (double)p->train);
    put(record, "val", (double)p->val);
    put(record, "test", (double)p->test);
    put(record, "homophily", p->homophily + (same ? 0.005 : 0.006));
    put(record, "adjusted_homophily", 0.5 + 0.1 * group);
    put(record, "leaked", 333.0 * group);
    put(record, "leaked_share", 0.1234 * group);
}

static void put_curves(json_t *record, int group, int seed)
{
    static const char *const curve[] = {"curve_val", "curve_test", "curve_best_val"};
    for (size_t i = 0; i < sizeof curve / sizeof *curve; i++) {
        json_t *list = json_array();
        for (int k = 0; k < CURVE; k++)
            json_array_append_new(list, json_real(invent(group, seed, curve[i]) + 0.01 * k));
        json_object_set_new(record, curve[i], list);
    }
}

static json_t *invent_record(const struct study_run *run, int group)
{
    static const char *const figure[] = {"test_acc", "val_acc", "val_score", "test_auc", "ece"};
    static const char *const backbone[] = {"gcn", "mlp", "appnp"};
    json_t *out = json_object();
    int seed = (int)run->seed;
    for (size_t i = 0; i < sizeof figure / sizeof *figure; i++)
        put(out, figure[i], invent(group, seed, figure[i]));
    put_parts(out, run, group);
    if (run->task == TASK_CURVE)
        put_curves(out, group, seed);
    if (run->task == TASK_TRAIN)
        json_object_set_new(out, "chosen",
                            json_pack("{s:s, s:s}", "backbone", backbone[(group + seed) % 3],
                                      "dropout", seed % 2 ? "0.3" : "0.6"));
    json_object_set_new(out, "epochs", json_integer(200 + 10 * group + seed));
    put(out, "labels_train", 10.0 * (1 + group % 4));
    put(out, "labels_val", 5.0 * (1 + group % 4));
    put(out, "zeta", invent(group, seed, "zeta"));
    put(out, "injected", 30 + group);
    put(out, "removed", 7 + group % 3);
    put(out, "train_ms", 2.5 * (1 + group));
    put(out, "eval_ms", 0.5 * (1 + group));
    put(out, "train_mb", 3.0 * (1 + group));
    put(out, "seconds", 0.25 * (1 + group % 5));
    put(out, "processor_seconds", 0.5 * (1 + group % 5));
    put(out, "nodes", 500.0 * (1 + group));
    put(out, "race_mb", 20.0 + 3 * group);
    put(out, "rounds_mb", 18.0 + 4 * group);
    put(out, "peak_mb", 20.0 + 4 * group);
    put(out, "two_hop", 4000.0 * (1 + group));
    put(out, "edges", 100.0 * (1 + group));
    if (run->task == TASK_FACTS)
        put_facts(out, run->dataset, group);
    return out;
}

/* One run in eleven lacks its second seed, one in seventeen has none. */
static bool is_missing(const struct study_run *run, int group)
{
    return group % 17 == 16 || (group % 11 == 10 && run->seed == 1);
}

/* Invents a run's result, if the run is new. */
static bool write_record(FILE *file, json_t *seen, const struct study_run *run, int group,
                         const json_t *hashes)
{
    char key[65];
    json_t *identity, *record;
    OK(plan_identity(&identity, run, hashes));
    OK(runs_key(key, identity));
    if (json_object_get(seen, key)) {
        json_decref(identity);
        return false;
    }
    json_object_set_new(seen, key, json_true());
    record = invent_record(run, group);
    json_object_set_new(record, "key", json_string(key));
    json_object_set_new(record, "config", identity);
    if (!is_missing(run, group)) {
        assert_int_equal(json_dumpf(record, file, JSON_COMPACT), 0);
        fputc('\n', file);
    }
    json_decref(record);
    return true;
}

/* ---- what is compared ---------------------------------------------------- */

/* The parameters that are not the model's defaults. */
static void tell_parameters(struct text *out, const struct config *c, const struct model_def *model)
{
    struct config usual;
    char ours[32], theirs[32];
    model_defaults(model, &usual);
    for (int i = 0; i < CONFIG_ROWS; i++) {
        const struct config_row *row = &config_rows()[i];
        if (strcmp(config_text(c, row, ours), config_text(&usual, row, theirs)) != 0)
            text_printf(out, " %s=%s", row->name, config_text(c, row, ours));
    }
}

/* A run of the plan; the others of its group differ in their seed. */
static void tell_run(struct text *out, const struct study_run *run)
{
    text_printf(out, "%s %s %s split=%s", plan_task_name(run->task), run->dataset,
                run->model ? run->model->name : "-", run->split);
    if (run->ensemble)
        text_printf(out, " ensemble=%d", (int)run->ensemble);
    if (run->task == TASK_PRUNE)
        text_printf(out, " same=%g other=%g", run->same_kept, run->other_kept);
    if (run->task == TASK_PLANT || run->task == TASK_ROBUST)
        text_printf(out, " %s rate=%g %s", plan_plant_name(run->plant), run->rate,
                    run->attack ? run->attack : "");
    if (run->keep_graph)
        text_add(out, " graph");
    if (run->model)
        tell_parameters(out, &run->config, run->model);
    text_add(out, "\n");
}

/* The part of a line between two marks, for every place where they are. */
static void tell_between(struct text *out, const char *line, const char *begin, const char *end)
{
    while ((line = strstr(line, begin))) {
        line += strlen(begin);
        size_t length = strcspn(line, end);
        if (length > 0 && line[0] != '\n')
            text_printf(out, " %.*s", (int)length, line);
    }
}

/* Texts, and the classes and places of bars and lines; or the lines of a table. */
static void tell_figure(struct text *out, const char *name)
{
    static char line[1 << 16];
    FILE *file = fopen(in_folder(name), "r");
    assert_non_null(file);
    text_printf(out, "\n%s\n", name);
    bool table = strstr(name, ".csv") != NULL;
    while (fgets(line, sizeof line, file)) {
        if (table)
            text_printf(out, " %.*s\n", (int)strcspn(line, "\r\n"), line);
        struct text found = {0};
        if (strstr(line, "class=\"s"))
            tell_between(&found, line, "=\"", "\"");
        tell_between(&found, line, "\">", "<");
        if (strchr(text_string(&found), ' '))
            text_printf(out, " %s\n", text_string(&found));
        text_free(&found);
    }
    fclose(file);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Figures, and tables that the terminal does not show. */
static int is_told(const struct dirent *entry)
{
    return strstr(entry->d_name, ".svg") || strstr(entry->d_name, "-details.csv");
}

/* ---- a study ------------------------------------------------------------- */

static void tell_report(struct text *out, const struct study_def *study, const struct study_view *v)
{
    struct report *r;
    struct dirent **entry;
    char name[128];
    OK(report_new(&r, study->name));
    OK(study->render(r, v));
    OK(report_write_files(r, in_folder("files")));
    OK(report_to_terminal(out, r, 0, false));
    report_free(r);
    int count = scandir(in_folder("files"), &entry, is_told, by_name);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "files/%.100s", entry[i]->d_name);
        tell_figure(out, name);
        free(entry[i]);
    }
    free(entry);
}

/* Plans, and invents the results of runs that are new. Returns their number. */
static int add_pass(struct text *out, json_t *seen, const struct study_def *study,
                    const struct study_view *v)
{
    struct plan plan = {0};
    int group = -1, added = 0;
    OK(study->plan(&plan, v));
    FILE *file = fopen(in_folder("runs.jsonl"), "a");
    assert_non_null(file);
    for (size_t i = 0; i < plan.count; i++) {
        const struct study_run *run = &plan.run[i];
        group += run->seed == 0;
        if (!write_record(file, seen, run, group, v->hashes))
            continue;
        added++;
        if (run->seed == 0)
            tell_run(out, run);
    }
    fclose(file);
    text_printf(out, "%d runs, %d new\n", (int)plan.count, added);
    plan_free(&plan);
    return added;
}

/* Some runs depend on earlier results, so it plans until nothing is new. */
static void is_golden(const char *name, const char *file, json_t *request, const json_t *hashes)
{
    const struct study_def *study = study_find(name);
    struct study_options o;
    struct runs *runs;
    struct text out = {0};
    json_t *seen = json_object();
    OK(options_read(&o, request));
    OK(runs_open(&runs, in_folder("runs.jsonl"), RUNS_READ));
    struct study_view v = {&o, runs, hashes, folder};
    while (add_pass(&out, seen, study, &v)) {
        runs_close(v.runs);
        OK(runs_open(&v.runs, in_folder("runs.jsonl"), RUNS_READ));
    }
    tell_report(&out, study, &v);
    OK(text_status(&out));
    golden(file, text_string(&out));
    text_free(&out);
    runs_close(v.runs);
    options_free(&o);
    json_decref(request);
    json_decref(seen);
}

static void again(void)
{
    assert_int_equal(clean(NULL), 0);
    assert_int_equal(fresh(NULL), 0);
}

/* Two sets of the paper; the second one alone for studies with many runs. */
static json_t *request_of(const char *study)
{
    bool large = strcmp(study, "labels") == 0 || strcmp(study, "planted") == 0;
    json_t *names =
        large ? json_pack("[s]", "chameleon") : json_pack("[s, s]", "cora", "chameleon");
    return json_pack("{s:o, s:[s,s,s,s], s:b, s:b, s:i, s:s, s:i, s:b, s:i}", "datasets", names,
                     "models", "mlp", "gcn", "gam", "consm", "chosen", 1, "profiles", 1, "seeds",
                     (int)SEEDS, "split", "random", "per_class", 5, "quick", 1, "ensemble", 2);
}

/* The whole grids of a set that is not the paper's, with too few seeds for a test. */
static json_t *few_request(void)
{
    return json_pack("{s:[s], s:[s,s], s:b, s:i, s:s, s:i}", "datasets", "karate", "models", "gcn",
                     "consm", "chosen", 1, "seeds", 2, "split", "random", "per_class", 5);
}

static void every_study_is_golden(void **state)
{
    (void)state;
    json_t *hashes = json_pack("{s:s, s:s, s:s}", "cora", "c0", "chameleon", "c1", "karate", "c2");
    for (int i = 0; study_list()[i]; i++) {
        char file[80];
        const char *name = study_list()[i]->name;
        snprintf(file, sizeof file, "study_%s.txt", name);
        is_golden(name, file, request_of(name), hashes);
        again();
        snprintf(file, sizeof file, "study_%s_few.txt", name);
        is_golden(name, file, few_request(), hashes);
        again();
    }
    json_decref(hashes);
}

/* GCN and ConSM with the same accuracies at every depth; then GCN is better by one point. */
static void a_tie_by_hand(void **state)
{
    (void)state;
    for (int ahead = 0; ahead < 2; ahead++) {
        struct study_options o;
        struct plan plan = {0};
        struct text page = {0};
        struct report *r;
        json_t *hashes = json_pack("{s:s}", "cora", "c0");
        json_t *request = json_pack("{s:[s], s:[s,s], s:b, s:i, s:b}", "datasets", "cora", "models",
                                    "gcn", "consm", "chosen", 1, "seeds", 2, "quick", 1);
        OK(options_read(&o, request));
        struct study_view v = {.options = &o, .hashes = hashes, .folder = folder};
        OK(runs_open(&v.runs, in_folder("runs.jsonl"), RUNS_APPEND));
        OK(study_find("depth")->plan(&plan, &v));
        assert_int_equal(plan.count, 2 * 3 * 2);
        for (size_t i = 0; i < plan.count; i++) {
            bool more = ahead && strcmp(plan.run[i].model->name, "gcn") == 0;
            json_t *identity, *result = json_pack("{s:f}", "test_acc", more ? 0.51 : 0.5);
            OK(plan_identity(&identity, &plan.run[i], hashes));
            OK(runs_append(v.runs, identity, result));
            json_decref(identity);
            json_decref(result);
        }
        OK(report_new(&r, "depth"));
        OK(study_find("depth")->render(r, &v));
        OK(report_to_terminal(&page, r, 0, false));
        assert_non_null(strstr(text_string(&page), ahead ? "; GCN is 1.0 points ahead there."
                                                         : "; GCN has the same accuracy there."));
        text_free(&page);
        report_free(r);
        plan_free(&plan);
        runs_close(v.runs);
        options_free(&o);
        json_decref(request);
        json_decref(hashes);
        again();
    }
}

/* A search over two configurations beside the default one. */
static void bench_is_golden(void **state)
{
    (void)state;
    json_t *hashes = json_pack("{s:s, s:s}", "cora", "c0", "karate", "c2");
    json_t *request = json_pack(
        "{s:[s,s], s:[s,s], s:b, s:i, s:s, s:i, s:i, s:i, s:{s:{s:[s,s]}, s:{s:{s:s,s:s}}}}",
        "datasets", "cora", "karate", "models", "mlp", "gcn", "chosen", 1, "seeds", 6, "split",
        "random", "per_class", 5, "search", 3, "search_seeds", 2, "space", "common", "hidden", "8",
        "16", "gcn", "dropout", "low", "0.1", "high", "0.9");
    is_golden("bench", "study_bench.txt", request, hashes);
    json_decref(hashes);
}

/* Published graphs: only those whose bytes are known. */
static void published_graphs_are_golden(void **state)
{
    static const char *const study[] = {"planted", "robust"};
    (void)state;
    json_t *hashes = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "prognn:cora", "p0",
                               "prognn:cora-targets", "p1", "prognn/cora_meta_0.05.npz", "p2",
                               "prognn/cora_meta_0.25.npz", "p3", "cora_meta_adj_0.05.npz", "p4",
                               "cora_meta_adj_0.25.npz", "p5", "prognn/cora_nettack_1.npz", "p6");
    for (int i = 0; i < 2; i++) {
        char file[80];
        snprintf(file, sizeof file, "study_%s_published.txt", study[i]);
        json_t *request =
            json_pack("{s:[s], s:[s,s,s], s:b, s:i, s:s, s:[s,s]}", "datasets", "prognn:cora",
                      "models", "gcn", "gam", "consm", "chosen", 1, "seeds", 6, "split", "file:0",
                      "attacks", "metattack", "nettack");
        is_golden(study[i], file, request, hashes);
        again();
    }
    json_decref(hashes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_study_is_golden, fresh, clean),
        cmocka_unit_test_setup_teardown(a_tie_by_hand, fresh, clean),
        cmocka_unit_test_setup_teardown(bench_is_golden, fresh, clean),
        cmocka_unit_test_setup_teardown(published_graphs_are_golden, fresh, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
