/* Same bits before and after a change. Every model trains a few epochs on karate and on a generated
 * graph; hashes of all losses, of its probabilities and of its edge scores are compared with
 * tests/data/same_bits.txt. */

/*
 * Moving code must not change the hashes. After changing an equation, record them again; the commit
 * then shows which models it affects:
 *
 *     build/release/test_same_bits --record
 *
 * Rounding differs between instruction sets, so a row belongs to a machine: architecture and vector
 * kernels. A machine without a row prints one line and compares the predicted classes with those of
 * the nearest other machine: at most one node in ten may differ. (A few epochs with batch norm may
 * go either way because of the last bit.)
 */
#include "check.h"

#include "cpu/simd.h"
#include "models/model.h"
#include <inttypes.h>
#include <sys/utsname.h>

enum { MOST_ROWS = 512, MOST_CLASSES = 160 };

/* One line of the file: the result of a case on a machine. */
struct row {
    char machine[64], set[16], name[24];
    uint64_t losses, probabilities, scores; /* hashes */
    char classes[MOST_CLASSES];             /* the predicted class of each node, a digit each */
};

struct table {
    int count;
    struct row row[MOST_ROWS];
};

static const char *const path = TESTS_DIR "/data/same_bits.txt";

static const struct {
    const char *name, *spec, *per_class;
    bool dense; /* features can be standardised */
} sets[] = {
    {"karate", "karate", "4", false},
    {"csbm", "csbm:nodes=120,classes=3,degree=5,features=12,signal=1.2,homophily=0.4,seed=4", "10",
     true},
};

/* The models with their defaults, and the training procedures that no model has by default. */
static const struct {
    const char *name, *model, *option[3][2];
} cases[] = {
    {"mlp", "mlp", {{0}}},
    {"gcn", "gcn", {{0}}},
    {"gcn-balanced", "gcn", {{"class_weights", "balanced"}, {"normalize_features", "row"}}},
    {"gcn-loss", "gcn", {{"ties", "loss"}}},
    {"mlp-standard", "mlp", {{"normalize_features", "standard"}}},
    {"gcn-ngm", "gcn", {{"propagation", "ngm"}}},
    {"gcn-p-reg", "gcn", {{"propagation", "p-reg"}, {"distance", "squared"}}},
    {"dropedge", "dropedge", {{0}}},
    {"gat", "gat", {{0}}},
    {"gcn-deep", "gcn", {{"residual", "yes"}, {"norm", "layer"}}},
    {"gat-deep", "gat", {{"residual", "yes"}, {"norm", "batch"}}},
    {"gin", "gin", {{0}}},
    {"gin-norm", "gin", {{"norm", "batch"}}},
    {"appnp", "appnp", {{0}}},
    {"gcnii", "gcnii", {{0}}},
    {"gam", "gam", {{0}}},
    {"h2gcn", "h2gcn", {{0}}},
    {"fagcn", "fagcn", {{0}}},
    {"ptdnet", "ptdnet", {{0}}},
    {"grand", "grand", {{0}}},
    {"grand-norm", "grand", {{"norm", "batch"}}},
    {"consm", "consm", {{"companions", "no"}}},
    {"consm-paper", "consm", {{"profile", "paper"}}},
    {"consm-authors", "consm", {{"profile", "authors"}}},
    {"consm-signed", "consm", {{"messages", "signed"}, {"backbone", "gcn"}, {"map", "linear"}}},
};
enum { SETS = sizeof sets / sizeof *sets, CASES = sizeof cases / sizeof *cases };

static void this_machine(char name[64])
{
    struct utsname system;
    assert_int_equal(uname(&system), 0);
    snprintf(name, 64, "%.20s/%.12s", system.machine, simd_best()->name);
}

/* FNV-1a, 64 bits, begun at START or continued at h. */
#define START 0xcbf29ce484222325

static uint64_t hash(uint64_t h, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        h = (h ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
    return h;
}

static bool note_loss(void *ctx, const struct consm_progress *progress)
{
    uint64_t *losses = ctx;
    *losses = hash(*losses, &progress->loss, sizeof progress->loss);
    return false;
}

/* Few enough epochs for every case to take some milliseconds. */
static struct consm_options *short_run(int set, int k)
{
    static const char *const brief[][2] = {{"epochs", "12"},     {"warmup", "6"}, {"rounds", "2"},
                                           {"gnn_steps", "4"},   {"grow", "8"},   {"threads", "1"},
                                           {"match_steps", "6"}, {"seed", "3"},   {"hidden", "16"},
                                           {"split", "random"},  {"layers", "2"}, {"folds", "no"}};
    struct consm_options *o;
    OK(consm_options_new(&o, cases[k].model));
    for (int i = 0; i < 3 && cases[k].option[i][0]; i++)
        if (sets[set].dense || strcmp(cases[k].option[i][1], "standard") != 0)
            OK(consm_options_set(o, cases[k].option[i][0], cases[k].option[i][1]));
    /* Candidates of --backbone auto bring their own width and layers unless these are set. */
    bool tournament = strcmp(consm_options_get(o, "backbone", (char[32]){0}), "auto") == 0 &&
                      strcmp(cases[k].model, "consm") == 0;
    for (size_t i = 0; i < sizeof brief / sizeof *brief; i++)
        if (!tournament ||
            (strcmp(brief[i][0], "hidden") != 0 && strcmp(brief[i][0], "layers") != 0))
            OK(consm_options_set(o, brief[i][0], brief[i][1]));
    OK(consm_options_set(o, "per_class", sets[set].per_class));
    return o;
}

static struct row measured(int set, int k)
{
    struct row row = {0};
    struct consm_dataset *d;
    struct consm_options *o = short_run(set, k);
    struct consm_model *m;
    struct consm_prediction *p;
    struct consm_edge_scores *e;
    this_machine(row.machine);
    snprintf(row.set, sizeof row.set, "%s", sets[set].name);
    snprintf(row.name, sizeof row.name, "%s", cases[k].name);
    OK(consm_dataset_open(&d, sets[set].spec, NULL));
    row.losses = START;
    consm_options_on_progress(o, note_loss, &row.losses);
    OK(consm_train(&m, d, o));
    OK(consm_predict(&p, m, d, 1));
    OK(consm_score_edges(&e, m, d, 1));
    row.probabilities =
        hash(START, p->probability, (size_t)(p->nodes * p->classes) * sizeof *p->probability);
    row.scores = hash(START, e->score, (size_t)e->edges * sizeof *e->score);
    assert_true(p->nodes < MOST_CLASSES && p->classes <= 10);
    for (int64_t i = 0; i < p->nodes; i++)
        row.classes[i] = (char)('0' + p->label[i]);
    consm_edge_scores_free(e);
    consm_prediction_free(p);
    consm_model_free(m);
    consm_options_free(o);
    consm_dataset_free(d);
    return row;
}

static void read_table(struct table *t)
{
    FILE *file = fopen(path, "r");
    char line[512];
    t->count = 0;
    while (file && fgets(line, sizeof line, file)) {
        struct row *row = &t->row[t->count];
        if (*line == '#')
            continue;
        assert_true(t->count++ < MOST_ROWS);
        if (sscanf(line, "%63s %15s %23s %" SCNx64 " %" SCNx64 " %" SCNx64 " %159s", row->machine,
                   row->set, row->name, &row->losses, &row->probabilities, &row->scores,
                   row->classes) != 7)
            fail_msg("%s: not a row: %s", path, line);
    }
    if (file)
        fclose(file);
}

static size_t other_classes(const struct row *a, const struct row *b)
{
    size_t nodes = strlen(a->classes), differ = 0;
    assert_int_equal(strlen(b->classes), nodes);
    for (size_t i = 0; i < nodes; i++)
        differ += a->classes[i] != b->classes[i];
    return differ;
}

static bool same_case(const struct row *a, const struct row *b)
{
    return strcmp(a->set, b->set) == 0 && strcmp(a->name, b->name) == 0;
}

/* The row of a case on this machine; if it has none, of the machine with the nearest classes. */
static const struct row *find(const struct table *t, const struct row *like)
{
    const struct row *nearest = NULL;
    for (int i = 0; i < t->count; i++) {
        const struct row *row = &t->row[i];
        if (!same_case(row, like))
            continue;
        if (strcmp(row->machine, like->machine) == 0)
            return row;
        if (!nearest || other_classes(like, row) < other_classes(like, nearest))
            nearest = row;
    }
    return nearest;
}

static bool same_bits(const struct row *a, const struct row *b)
{
    return a->losses == b->losses && a->probabilities == b->probabilities && a->scores == b->scores;
}

static void compare(const struct row *now, const struct row *then)
{
    if (strcmp(now->machine, then->machine) == 0) {
        if (!same_bits(now, then))
            fail_msg("%s on %s: %s differ from what was recorded; if that is meant, run "
                     "test_same_bits --record",
                     now->name, now->set,
                     now->losses != then->losses                 ? "the losses"
                     : now->probabilities != then->probabilities ? "the probabilities"
                                                                 : "the edge scores");
        return;
    }
    size_t nodes = strlen(now->classes), differ = other_classes(now, then);
    if (differ * 10 > nodes)
        fail_msg("%s on %s: %zu of %zu nodes have another class than on %s", now->name, now->set,
                 differ, nodes, then->machine);
}

static struct table table;

static void predictions_have_the_recorded_bits(void **state)
{
    int unrecorded = 0;
    char machine[64];
    (void)state;
    read_table(&table);
    this_machine(machine);
    for (int set = 0; set < SETS; set++)
        for (int k = 0; k < CASES; k++) {
            struct row now = measured(set, k);
            const struct row *then = find(&table, &now);
            if (!then)
                fail_msg("%s: nothing is recorded of %s on %s", path, now.name, now.set);
            unrecorded += strcmp(then->machine, machine) != 0;
            compare(&now, then);
        }
    if (unrecorded)
        printf("NO HASHES: %d of %d cases have none for %s; their classes were compared with "
               "another machine's\n",
               unrecorded, SETS * CASES, machine);
}

static void every_model_has_a_case(void **state)
{
    (void)state;
    for (int i = 0; model_list()[i]; i++) {
        bool found = false;
        for (int k = 0; k < CASES; k++)
            found = found || strcmp(cases[k].model, model_list()[i]->name) == 0;
        if (!found)
            fail_msg("%s has no case", model_list()[i]->name);
    }
}

static void write_row(FILE *file, const struct row *row)
{
    fprintf(file, "%s %s %s %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %s\n", row->machine,
            row->set, row->name, row->losses, row->probabilities, row->scores, row->classes);
}

/* Records this machine's rows. Rows of other machines stay if this machine's did not change, and
 * are removed if it did: they cannot be right any more. */
static void record(void)
{
    static struct row now[SETS * CASES];
    FILE *file;
    read_table(&table);
    for (int i = 0; i < SETS * CASES; i++)
        now[i] = measured(i / CASES, i % CASES);
    assert_non_null(file = fopen(path, "w"));
    fprintf(
        file,
        "# machine set case losses probabilities edge-scores classes (tests/test_same_bits.c)\n");
    for (int i = 0; i < SETS * CASES; i++) {
        const struct row *before = find(&table, &now[i]);
        bool mine = before && strcmp(before->machine, now[i].machine) == 0;
        write_row(file, &now[i]);
        for (int k = 0; k < table.count && (!mine || same_bits(before, &now[i])); k++)
            if (same_case(&table.row[k], &now[i]) &&
                strcmp(table.row[k].machine, now[i].machine) != 0)
                write_row(file, &table.row[k]);
    }
    assert_int_equal(fclose(file), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_has_a_case),
        cmocka_unit_test(predictions_have_the_recorded_bits),
    };
    if (argc == 2 && strcmp(argv[1], "--record") == 0) {
        record();
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
