/* The study of attacks, in process: interrupted and resumed, and the printed figures counted again
 * from the record: means, paired tests, Holm's correction. THREADED */
#include "folder.h"

#include <math.h>
#include <stdatomic.h>

#include "study/published.h"
#include "study/robust.h"

#define SET "csbm:nodes=60,features=6,homophily=0.8,degree=6"
enum { SEEDS = 7 };

/* ---- the whole study ------------------------------------------------------------------------- */

static json_t *request(void)
{
    return json_pack("{s:[s], s:[s,s,s], s:b, s:i, s:s, s:i, s:b,"
                     " s:{s:s, s:s, s:s, s:s, s:s, s:s, s:s}}",
                     "datasets", SET, "models", "mlp", "gcn", "consm", "chosen", 1, "seeds",
                     (int)SEEDS, "split", "random", "per_class", 5, "quick", 1, "set", "epochs",
                     "12", "hidden", "6", "warmup", "12", "rounds", "1", "gnn-steps", "3",
                     "match-steps", "2", "backbone", "gcn");
}

struct stopper {
    atomic_int finished;
    int after;
};

static void count_finished(void *ctx, const struct execute_progress *p)
{
    (void)p;
    atomic_fetch_add(&((struct stopper *)ctx)->finished, 1);
}

static bool is_stopped(void *ctx)
{
    struct stopper *s = ctx;
    return s->after >= 0 && atomic_load(&s->finished) >= s->after;
}

/* Values of a figure over the seeds, looked up in the record directly. */
static int64_t recount(double *value, const struct runs *runs, const char *plant, const char *model,
                       const char *outer, const char *figure)
{
    int64_t count = 0;
    for (int seed = 0; seed < SEEDS; seed++)
        for (int64_t i = 0; i < runs_count(runs); i++) {
            const json_t *record = runs_get(runs, i), *id = json_object_get(record, "config");
            if (strcmp(json_string_value(json_object_get(id, "plant")), plant) != 0 ||
                strcmp(json_string_value(json_object_get(id, "model")), model) != 0 ||
                json_integer_value(json_object_get(id, "seed")) != seed)
                continue;
            if (outer)
                record = json_object_get(record, outer);
            value[count++] = json_number_value(json_object_get(record, figure));
        }
    return count;
}

/* The fields of the line of a CSV file that begins with `head`. */
static int csv_line(double *number, const char *name, const char *head)
{
    static char line[4096];
    int count = 0;
    char path[160];
    snprintf(path, sizeof path, "files/%s.csv", name);
    FILE *file = fopen(in_folder(path), "r");
    if (!file)
        fail_msg("%s is missing", path);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, head, strlen(head)) == 0) {
            for (char *at = line + strlen(head); *at == ','; at += strcspn(at + 1, ",\n") + 1)
                number[count++] = strtod(at + 1, NULL);
            break;
        }
    fclose(file);
    if (count == 0)
        fail_msg("%s: no line %s", path, head);
    return count;
}

static struct text page; /* the report as the terminal shows it */

static void render(const struct study_view *v)
{
    struct report *r;
    text_free(&page);
    page = (struct text){0};
    OK(report_new(&r, "robust"));
    OK(study_find("robust")->render(r, v));
    OK(report_write_files(r, in_folder("files")));
    OK(report_to_terminal(&page, r, 0, false));
    report_free(r);
}

static void is_said(const char *sentence)
{
    if (!strstr(text_string(&page), sentence))
        fail_msg("nobody says: %s\n%s", sentence, text_string(&page));
}

/* Every row of the pairs: means, p and Holm's p against a count from the record. */
static void pairs_again(const struct runs *runs, const char *table, const char *model,
                        const char *outer, const char *figure, const char *other)
{
    static const char *const plant[] = {"nothing", "dice",        "random",
                                        "pgd",     "trusted-gcn", "trusted-consm"};
    static const char *const title[] = {"none",
                                        "DICE",
                                        "random edges",
                                        "PGD on a GCN",
                                        "\"trusted edges, by a surrogate\"",
                                        "\"trusted edges, by ConSM itself\""};
    double p[6], holm[6], ours[SEEDS], theirs[SEEDS], shown[16];
    struct stats_wilcoxon test;
    char head[200];
    int ahead = 0, behind = 0;
    for (int k = 0; k < 6; k++) {
        assert_int_equal(recount(ours, runs, plant[k], "consm", NULL, "test_acc"), SEEDS);
        assert_int_equal(recount(theirs, runs, plant[k], model, outer, figure), SEEDS);
        OK(stats_wilcoxon(&test, ours, theirs, SEEDS));
        p[k] = test.p;
    }
    OK(stats_holm(holm, p, 6));
    for (int k = 0; k < 6; k++) {
        recount(ours, runs, plant[k], "consm", NULL, "test_acc");
        recount(theirs, runs, plant[k], model, outer, figure);
        snprintf(head, sizeof head, "\"csbm, nodes=60,features=6,homophily=0.8,degree=6\",%s,%s",
                 title[k], k ? "25 %" : "clean");
        assert_true(csv_line(shown, table, head) >= 7);
        assert_near(shown[0], 100 * stats_mean(ours, SEEDS), 1e-8);
        assert_near(shown[1], 100 * stats_std(ours, SEEDS), 1e-8);
        assert_near(shown[2], 100 * stats_mean(theirs, SEEDS), 1e-8);
        assert_near(shown[3], 100 * stats_std(theirs, SEEDS), 1e-8);
        assert_near(shown[4], 100 * (stats_mean(ours, SEEDS) - stats_mean(theirs, SEEDS)), 1e-7);
        assert_near(shown[5], p[k], 1e-9);
        assert_near(shown[6], holm[k], 1e-9);
        ahead += holm[k] < 0.05 && shown[4] > 0;
        behind += holm[k] < 0.05 && shown[4] < 0;
    }
    snprintf(head, sizeof head,
             "Under attack, ConSM is better than %s on %d of 6 graphs, worse on %d (paired", other,
             ahead, behind);
    is_said(head);
}

static void tables_again(const struct runs *runs)
{
    static const struct {
        const char *row, *model, *outer, *figure;
    } row[] = {{"MLP", "mlp", NULL, "test_acc"},
               {"GCN", "gcn", NULL, "test_acc"},
               {"GCN-Jaccard", "gcn", "jaccard", "acc"},
               {"GCN-SVD", "gcn", "svd", "acc"},
               {"GCN on the graph cleaned by GNNGuard", "gcn", "gnnguard", "acc"},
               {"ConSM", "consm", NULL, "test_acc"},
               {"GCN on the graph cleaned by ConSM", "consm", "clean", "acc"}};
    double value[SEEDS], shown[16];
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        csv_line(shown, "robust-dice", row[k].row);
        recount(value, runs, "nothing", row[k].model, row[k].outer, row[k].figure);
        assert_near(shown[0], 100 * stats_mean(value, SEEDS), 1e-8);
        assert_int_equal(recount(value, runs, "dice", row[k].model, row[k].outer, row[k].figure),
                         SEEDS);
        assert_near(shown[2], 100 * stats_mean(value, SEEDS), 1e-8);
        assert_near(shown[3], 100 * stats_std(value, SEEDS), 1e-8);
    }
    csv_line(shown, "robust-trust",
             "\"csbm, nodes=60,features=6,homophily=0.8,degree=6\",DICE,25 %");
    assert_near(shown[0], 23, 0); /* of 45 changes half, rounded up */
    assert_near(shown[1], 22, 0);
    recount(value, runs, "dice", "consm", "trust", "auc");
    assert_near(shown[2], stats_mean(value, SEEDS), 1e-8);
    recount(value, runs, "dice", "consm", "trust", "passed");
    assert_near(shown[3], stats_mean(value, SEEDS), 1e-8);
    recount(value, runs, "dice", "consm", "clean", "kept");
    assert_near(shown[4], stats_mean(value, SEEDS), 1e-8);
}

static double mean_of(const struct runs *runs, const char *plant, const char *model)
{
    double value[SEEDS];
    recount(value, runs, plant, model, NULL, "test_acc");
    return 100 * stats_mean(value, SEEDS);
}

/* The result of attackers who know trust, whatever it is. */
static void knowing_again(const struct runs *runs)
{
    static const char *const plant[] = {"trusted-gcn", "trusted-consm"};
    static const char *const by[] = {"a surrogate", "ConSM itself"};
    char sentence[256];
    for (int k = 0; k < 2; k++) {
        snprintf(sentence, sizeof sentence,
                 "An attacker who adds only trusted edges (found by %s, up to 25 %% of the edges) "
                 "costs ConSM %.1f points and a GCN %.1f, on average over 1 graph.",
                 by[k], mean_of(runs, "nothing", "consm") - mean_of(runs, plant[k], "consm"),
                 mean_of(runs, "nothing", "gcn") - mean_of(runs, plant[k], "gcn"));
        is_said(sentence);
    }
}

static void what_is_printed_is_in_the_record(void **state)
{
    (void)state;
    enum { ALL = SEEDS * (3 * 4 + 2 * 2) }; /* three models on four graphs, two on two more */
    struct study_options o;
    struct study_sets sets = {0};
    struct plan plan = {0};
    struct runs *runs;
    json_t *json = request();
    struct stopper stopper = {.after = 20};
    struct execute_options how = {
        .jobs = 2, .threads = 1, .done = count_finished, .stop = is_stopped, .ctx = &stopper};
    OK(options_read(&o, json));
    OK(runs_open(&runs, in_folder("runs.jsonl"), RUNS_APPEND));
    struct study_view v = {&o, runs, NULL, folder};
    OK(study_find("robust")->plan(&plan, &v));
    /* Interrupted in the middle, it continues and repeats nothing. */
    FAILS(execute_plan(runs, &plan, &sets, &how), CONSM_ECANCEL, "stopped");
    int64_t kept = runs_count(runs);
    assert_in_range(kept, 20, 24);
    render(&v); /* what is missing shows as missing */
    stopper.after = -1;
    atomic_store(&stopper.finished, 0);
    OK(execute_plan(runs, &plan, &sets, &how));
    assert_int_equal(runs_count(runs), ALL);
    assert_int_equal(atomic_load(&stopper.finished), ALL - kept);
    render(&v);
    pairs_again(runs, "robust-pairs", "consm", "clean", "acc", "a GCN on its own clean graph");
    pairs_again(runs, "robust-pairs-gcn", "gcn", NULL, "test_acc", "a GCN");
    knowing_again(runs);
    text_free(&page);
    tables_again(runs);
    runs_close(runs);
    plan_free(&plan);
    sets_free(&sets);
    options_free(&o);
    json_decref(json);
}

/* ---- marks, names, published figures --------------------------------------------------------- */

static struct study_cell cell_of(double mean, double spread)
{
    struct study_cell c = {.seeds = 10};
    for (int i = 0; i < 10; i++)
        c.value[i] = mean + spread * (i % 2 ? 1 : -1);
    view_summarise(&c);
    return c;
}

static void ties_are_not_crowned(void **state)
{
    (void)state;
    struct study_cell cell[] = {
        cell_of(0.8124, 0.01), cell_of(0.5, 0.01), cell_of(0.8121, 0.02), {.seeds = 10}};
    double p[] = {NAN, 0.001, 0.9, NAN};
    assert_int_equal(view_standing(cell, p, 4, 0, 0), TABLE_TIED); /* both are shown as 0.812 */
    assert_int_equal(view_standing(cell, p, 4, 0, 2), TABLE_TIED);
    assert_int_equal(view_standing(cell, p, 4, 0, 1), 0);
    assert_int_equal(view_standing(cell, p, 4, 0, 3), 0);
    cell[2] = cell_of(0.8, 0.02);
    assert_int_equal(view_standing(cell, p, 4, 0, 0), TABLE_BEST);
    assert_int_equal(view_standing(cell, p, 4, 0, 2), TABLE_TIED); /* by its test */
    p[2] = 0.049;
    assert_int_equal(view_standing(cell, p, 4, 0, 2), 0);
    p[2] = 0.9;
    cell[2].n = 5; /* too few to say anything */
    assert_int_equal(view_standing(cell, p, 4, 0, 2), 0);
    assert_int_equal(view_standing(cell, p, 4, -1, 0), 0);
}

static void published_names_and_figures(void **state)
{
    (void)state;
    char file[64], title[128];
    assert_string_equal(published_set("cora", false), "prognn:cora");
    assert_string_equal(published_set("prognn:citeseer", true), "prognn:citeseer-targets");
    assert_null(published_set("pubmed", true));
    assert_null(published_set("karate", false));
    assert_true(published_knows("prognn:pubmed") && !published_knows("cora"));
    assert_string_equal(published_graph(file, "prognn:cora", PLANT_METATTACK, 0.15),
                        "prognn/cora_meta_0.15.npz");
    assert_string_equal(published_graph(file, "prognn:citeseer-targets", PLANT_NETTACK, 3),
                        "prognn/citeseer_nettack_3.npz");
    assert_string_equal(published_graph(file, "prognn:pubmed", PLANT_METATTACK, 0.25),
                        "pubmed_meta_adj_0.25.npz");
    assert_string_equal(published_method(0), "GCN");
    assert_near(published_accuracy("prognn:cora", 0, 0.25), 47.53, 0);
    assert_near(published_accuracy("prognn:citeseer", 4, 0.05), 73.09, 0);
    assert_near(published_accuracy("prognn:pubmed", 1, 0.2), 68.21, 0);
    assert_true(isnan(published_accuracy("prognn:cora", 0, 0.3)));
    assert_true(isnan(published_accuracy("prognn:cora-targets", 0, 0)));
    assert_null(published_method(5));
    struct robust_column c = {PLANT_NETTACK, "prognn:cora-targets", 3};
    assert_string_equal(robust_title(title, &c, true), "Cora (Nettack's targets), 3 per target");
    c = (struct robust_column){PLANT_DICE, "cora", 0.1};
    assert_string_equal(robust_title(title, &c, false), "10 %");
}

/* The files hold what their README says, and the split is the published one. */
static void published_files(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum study_plant plant;
        double rate;
        int64_t train, val, test;
    } known[] = {{"prognn:cora", PLANT_METATTACK, 0.25, 247, 249, 1988},
                 {"prognn:cora-targets", PLANT_NETTACK, 5, 247, 249, 83},
                 {"prognn:pubmed", PLANT_METATTACK, 0.05, 1971, 1972, 15774}};
    struct study_sets sets = {0};
    struct data_options how = {.data_dir = "/nowhere"};
    if (!real_data("the attacked graphs of Pro-GNN"))
        return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct csr *graph;
        int64_t count[4];
        uint8_t *role;
        char file[64];
        consm_status st = sets_open(&sets, known[i].name, &how);
        if (st == CONSM_ENOTFOUND) {
            print_message("SKIPPED: %s\n", consm_errmsg());
            continue;
        }
        OK(st);
        OK(sets_open_graph(
            &sets, published_graph(file, known[i].name, known[i].plant, known[i].rate), &how));
        OK(sets_graph(&graph, &sets, file));
        const struct study_set *set = sets_find(&sets, known[i].name);
        assert_int_equal(graph->rows, set->data->nodes);
        assert_true(graph->nnz > set->prepared.graph->nnz);
        OK(NEW(role, set->data->nodes));
        OK(split_make(role, set->data, "public", 3, NULL));
        split_count(count, role, set->data->nodes);
        assert_int_equal(count[SPLIT_TRAIN], known[i].train);
        assert_int_equal(count[SPLIT_VAL], known[i].val);
        assert_int_equal(count[SPLIT_TEST], known[i].test);
        mem_free(role);
    }
    sets_free(&sets);
}

static void attacks_can_be_chosen(void **state)
{
    (void)state;
    struct robust_table table[ROBUST_TABLES];
    struct study_options o;
    struct study_view v = {&o, NULL, NULL, NULL};
    json_t *json = request();
    OK(options_read(&o, json));
    assert_int_equal(robust_tables(table, &v), 5);
    options_free(&o);
    json_object_set_new(json, "attacks", json_pack("[s,s]", "trusted-consm", "dice"));
    OK(options_read(&o, json));
    assert_int_equal(robust_tables(table, &v), 2);
    assert_int_equal(table[0].plant, PLANT_DICE);
    assert_int_equal(table[1].plant, PLANT_TRUSTED_CONSM);
    options_free(&o);
    json_object_set_new(json, "attacks", json_pack("[s]", "dcie"));
    FAILS(options_read(&o, json), CONSM_EINVAL, "unknown attack dcie: expected metattack");
    json_object_set_new(json, "attacks", json_pack("[s]", "nothing"));
    FAILS(options_read(&o, json), CONSM_EINVAL, "unknown attack nothing");
    json_decref(json);
}

static void missing_files_are_left_out(void **state)
{
    (void)state;
    struct study_sets sets = {0};
    struct data_options how = {.data_dir = "/nowhere"};
    struct study_options o = {.dataset = {"citeseer"}, .datasets = 1};
    char *before = getenv("CONSM_DATA") ? strdup(getenv("CONSM_DATA")) : NULL;
    setenv("CONSM_DATA", "/nowhere", 1);
    setenv("XDG_CACHE_HOME", "/nowhere", 1);
    FAILS(sets_open(&sets, "prognn:citeseer", &how), CONSM_ENOTFOUND,
          "prognn:citeseer: no data folder has attacked/prognn/citeseer_split.csv");
    assert_int_equal(sets.count, 0);
    OK(robust_open(&sets, &o, &how));
    assert_int_equal(sets.count, 0);
    struct robust_table table[ROBUST_TABLES];
    struct study_view v = {&o, NULL, sets.hashes, NULL};
    assert_int_equal(robust_tables(table, &v), 3); /* DICE, random, PGD; ConSM was not requested */
    assert_int_equal(table[0].plant, PLANT_DICE);
    sets_free(&sets);
    if (before)
        setenv("CONSM_DATA", before, 1);
    else
        unsetenv("CONSM_DATA");
    unsetenv("XDG_CACHE_HOME");
    free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_printed_is_in_the_record, fresh, clean),
        cmocka_unit_test(ties_are_not_crowned),
        cmocka_unit_test(published_names_and_figures),
        cmocka_unit_test(published_files),
        cmocka_unit_test(attacks_can_be_chosen),
        cmocka_unit_test(missing_files_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
