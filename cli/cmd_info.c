/* `consm info`: facts about a dataset, and what to beware of, as text; info_json.c writes JSON,
 * info_forecast.c says what training will cost. */
#include "cmd_info.h"

#include "app/defaults.h"
#include "commands.h"
#include "data/generate/generate.h"
#include "json_line.h"
#include "ranks_forecast.h"
#include "shown.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct flag flags[] = {
    SPLIT_FLAGS,
    {"seed", "N", "seed of the random split (0)", 0},
    {"ranks", "N", "print only the memory and traffic of training on N processes", 0},
    {"json", NULL, "print one JSON object", 0},
    DATA_FLAGS,
    {0}};

/* A whole number with commas between thousands. */
static const char *grouped(int64_t value, char buffer[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)value), at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
            buffer[at++] = ',';
        buffer[at++] = digits[i];
    }
    buffer[at] = 0;
    return buffer;
}

static void print_row(const char *label, int64_t value, const char *rest)
{
    char number[32];
    printf("  %-16s %12s%s%s\n", label, grouped(value, number), *rest ? "  " : "", rest);
}

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

/* A bar of at most 30 cells, in eighths of a cell. */
static void print_bar(int64_t value, int64_t most)
{
    static const char *const part[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int eighths = most > 0 ? (int)ceil(240 * (double)value / (double)most) : 0;
    for (int i = 0; i < eighths / 8; i++)
        fputs("█", stdout);
    fputs(part[eighths % 8], stdout);
}

static void print_edges(const struct dataset *d, const struct data_facts *f)
{
    char a[32], b[32], c[32], text[160];
    print_row("edges", f->edges, "undirected, without self-loops and repeats");
    snprintf(text, sizeof text, "%s distinct, %s repeat%s", grouped(f->directed, a),
             grouped(f->entries - f->directed, b), f->entries - f->directed == 1 ? "" : "s");
    print_row("  as stored", f->entries, text);
    snprintf(text, sizeof text, "%s%s",
             f->symmetric ? "every edge in both directions" : "each edge once",
             d->weight ? ", weighted" : "");
    if (!f->symmetric && d->directed)
        snprintf(text, sizeof text, "direction matters%s", d->weight ? ", weighted" : "");
    print_row("  without loops", f->directed - f->directed_loops, text);
    snprintf(text, sizeof text, "%s in %s lines", grouped(f->directed_loops, b),
             grouped(f->loop_entries, c));
    print_row("  self-loops", f->directed_loops, f->loop_entries == f->directed_loops ? "" : text);
}

static void print_features(const struct dataset *d, const struct data_facts *f)
{
    char number[32], text[96];
    snprintf(text, sizeof text, "%s, %s non-zeros (%.2f %%)", d->sparse ? "sparse" : "dense",
             grouped(f->feature_nonzeros, number),
             percent(f->feature_nonzeros, d->nodes * d->features));
    print_row("features", d->features, d->features ? text : "none");
}

static void print_classes(const struct dataset *d, const struct data_facts *f)
{
    enum { LISTED = 20 };
    char buffer[24], number[32], name[SHOWN];
    int64_t most = 0;
    for (int32_t k = 0; k < d->classes; k++)
        most = f->class_size[k] > most ? f->class_size[k] : most;
    print_row("classes", d->classes, "");
    for (int32_t k = 0; k < d->classes && k < LISTED; k++) {
        printf("    %s %12s %5.1f %%  ", shown(name, dataset_class_name(d, k, buffer), 14),
               grouped(f->class_size[k], number), percent(f->class_size[k], d->nodes));
        print_bar(f->class_size[k], most);
        putchar('\n');
    }
    if (d->classes > LISTED)
        printf("    and %d more\n", d->classes - LISTED);
    if (f->unlabelled)
        print_row("unlabelled", f->unlabelled, "");
}

static void print_degrees(const struct dataset *d, const struct data_facts *f)
{
    char number[32], text[96], range[40];
    int64_t most = 0;
    int first = 0, last = 0;
    printf("\n"
           "  degree           mean %.2f, minimum %lld, quartiles %lld, %lld, %lld,\n"
           "                   90th percentile %lld, 99th %lld, maximum %lld\n",
           f->mean_degree, (long long)f->degree[0], (long long)f->degree[1],
           (long long)f->degree[2], (long long)f->degree[3], (long long)f->degree[4],
           (long long)f->degree[5], (long long)f->degree[6]);
    for (int b = 0; b < FACTS_BUCKETS; b++)
        if (f->degree_count[b]) {
            last = b;
            most = f->degree_count[b] > most ? f->degree_count[b] : most;
        }
    while (first < last && !f->degree_count[first])
        first++;
    for (int b = first; b <= last; b++) {
        long long low = b ? 1ll << (b - 1) : 0, high = b ? (1ll << b) - 1 : 0;
        if (low == high)
            snprintf(range, sizeof range, "%lld", low);
        else
            snprintf(range, sizeof range, "%lld-%lld", low, high);
        printf("    %-14s %12s%s", range, grouped(f->degree_count[b], number),
               f->degree_count[b] ? "          " : "");
        print_bar(f->degree_count[b], most);
        putchar('\n');
    }
    print_row("isolated nodes", f->isolated, "");
    snprintf(text, sizeof text, "the largest has %s nodes (%.1f %%)",
             grouped(f->largest_component, number), percent(f->largest_component, d->nodes));
    print_row("components", f->components, text);
}

static void print_measure(const char *label, double value, const char *meaning)
{
    if (isnan(value))
        printf("    %-24s %8s  %s\n", label, "-", meaning);
    else
        printf("    %-24s %8.3f  %s\n", label, value, meaning);
}

static void print_homophily(const struct homophily *h)
{
    printf("\n  homophily\n");
    print_measure("edge", h->edge, "share of edges between nodes of the same class");
    print_measure("node", h->node, "mean share of a node's neighbours that have its class");
    print_measure("class-insensitive", h->class_insensitive,
                  "corrected for class sizes (Lim et al. 2021)");
    print_measure("adjusted", h->adjusted, "0 = random edges (Platonov et al. 2023)");
    print_measure("label informativeness", h->informativeness,
                  "information in a neighbour's label, 0 to 1 (Platonov et al. 2023)");
}

static void print_leak(const struct duplicates *twins, const char *what, int64_t tests,
                       int64_t splits)
{
    if (twins->leaked >= 0)
        printf("                   %lld of %lld test nodes (%.1f %%) have a %s in the training "
               "set\n",
               (long long)twins->leaked, (long long)tests, percent(twins->leaked, tests), what);
    if (!isnan(twins->leaked_share) && (splits > 1 || twins->leaked < 0))
        printf("                   %.1f %% of test nodes have a %s in the training set, over "
               "the %lld stored split%s\n",
               100 * twins->leaked_share, what, (long long)splits, splits == 1 ? "" : "s");
}

static void print_split(const struct dataset *d, const struct data_facts *f, const char *spec)
{
    char a[32], b[32], c[32], e[32], text[192];
    printf("\n");
    print_row("stored splits", d->splits, "");
    if (spec) {
        snprintf(text, sizeof text, "%s training, %s validation, %s test, %s unused",
                 grouped(f->split_size[1], a), grouped(f->split_size[2], b),
                 grouped(f->split_size[3], c), grouped(f->split_size[0], e));
        printf("  split %-10s %12s  %s\n", spec, "", text);
    }
    print_row("twins", f->twins.nodes, "nodes with the same neighbours and features as another");
    print_leak(&f->twins, "twin", f->split_size[SPLIT_TEST], d->splits);
    print_row("copies", f->copies.nodes,
              "nodes with the same stored neighbours and label as another");
    print_leak(&f->copies, "copy", f->split_size[SPLIT_TEST], d->splits);
}

/* Text after a label, wrapped before column 80. */
static void print_text(const char *label, const char *text)
{
    enum { INDENT = 19, WIDTH = 79 };
    int column = INDENT;
    printf("  %-16s ", label);
    while (*text) {
        int word = (int)strcspn(text, " ");
        if (column > INDENT && column + 1 + word > WIDTH) {
            printf("\n%*s", INDENT, "");
            column = INDENT;
        } else if (column > INDENT) {
            putchar(' ');
            column++;
        }
        printf("%.*s", word, text);
        column += word;
        text += word + (text[word] == ' ');
    }
    putchar('\n');
}

/* Whether the files are the published ones. */
static void print_files(const struct data_set *set, const struct registry_check *check)
{
    if (check->wrong)
        printf("  files            %s does NOT have its registered SHA-256: it differs from the "
               "published file\n",
               check->wrong->path);
    else
        printf("  files            %d of %d have their registered SHA-256\n", check->right,
               set->files);
}

static void print_people(const struct dataset *d, const struct data_facts *f,
                         const struct info_forecast *forecast, const struct data_set *set,
                         const struct registry_check *check, const char *spec)
{
    char name[SHOWN];
    printf("%s%s%s\n\n", shown(name, d->name, 0), set ? ": " : "", set ? set->about : "");
    print_row("nodes", d->nodes, "");
    print_edges(d, f);
    print_features(d, f);
    print_classes(d, f);
    print_degrees(d, f);
    print_homophily(&f->homophily);
    print_split(d, f, spec);
    info_forecast_print(forecast);
    if (d->sha256[0])
        printf("  sha256           %s\n", d->sha256);
    if (set) {
        print_files(set, check);
        print_text("cite", set->citation);
        print_text("licence", set->licence);
        print_text("prepared", set->preparation);
    }
}

/* Lists the known sets and whether their files are here. */
static int list_sets(const struct args *args)
{
    const struct data_set *set;
    printf("  %-20s %-9s %s\n", "karate", "built in",
           "karate club with 34 members that split in two");
    printf("  %-20s %-9s %s\n", "csbm", "built in",
           "generated graphs, as in csbm:nodes=5000,homophily=0.2");
    for (int i = 0; (set = registry_get(i)); i++) {
        char *path = NULL;
        bool here = registry_locate(&path, set, args_get(args, "data-dir")) == CONSM_OK;
        mem_free(path);
        printf("  %-20s %-9s %s\n", set->name, here ? "here" : "to fetch", set->about);
    }
    return EXIT_DONE;
}

/* `consm info DATASET --ranks N` */
static consm_status print_ranks(const struct dataset *d, int ranks, bool json)
{
    consm_status st = CONSM_OK;
    struct csr *graph = NULL;
    struct ranks_forecast f;
    TRY(dataset_graph(&graph, d, NULL));
    TRY(forecast_make(&f, d, graph, ranks));
    if (json)
        json_line(forecast_json(&f), 10);
    else
        forecast_print(&f, 1);
done:
    csr_free(graph);
    return st;
}

static int run(struct args *args)
{
    struct dataset *d = NULL;
    struct split_options o;
    struct data_facts facts = {0};
    struct info_forecast forecast;
    struct registry_check check = {0};
    const struct data_set *set = NULL;
    uint8_t *role = NULL;
    int64_t seed = 0, ranks = 0;
    const char *spec = args_get(args, "split");
    consm_status st = CONSM_OK;
    int code;
    if ((code = data_args_split(&o, args)) ||
        (code = args_int(args, "seed", 0, INT64_MAX, &seed)) ||
        (code = args_int(args, "ranks", 1, 1000000, &ranks)))
        return code;
    if (args->count == 0 && !args_has(args, "json"))
        return list_sets(args);
    if ((code = data_args_open(&d, args, NULL)))
        return code;
    if (ranks) {
        TRY(print_ranks(d, (int)ranks, args_has(args, "json")));
        goto done;
    }
    if (spec) {
        TRY(NEW(role, d->nodes));
        TRY(split_make(role, d, spec, (uint64_t)seed, &o));
    }
    TRY(facts_measure(&facts, d, role));
    TRY(info_forecast(&forecast, d, &facts, spec, defaults_known(args->item[0])));
    if (!args_has(args, "format"))
        set = registry_find(args->item[0]);
    if (set)
        TRY(registry_verify(&check, set, args_get(args, "data-dir")));
    if (args_has(args, "json"))
        info_print_json(d, &facts, &forecast, set, &check, spec, seed);
    else
        print_people(d, &facts, &forecast, set, &check, spec);
done:
    facts_free(&facts);
    mem_free(role);
    dataset_free(d);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

const struct command cmd_info = {
    .name = "info",
    .summary = "describe a dataset: size, degrees, homophily, duplicates, cost of a run",
    .usage = "[DATASET] [--split SPLIT] [--ranks N] [--json]",
    .text =
        "DATASET is a name or a path. Without DATASET, consm lists the known names.\n"
        "With --split, also prints the numbers of training, validation and test nodes, and how\n"
        "many test nodes have a duplicate among the training nodes. The forecast is for a run "
        "with\n"
        "default parameters on that split, or on the split that `consm train` takes.\n\n"
        "  consm info karate\n"
        "  consm info chameleon --split public\n"
        "  consm info my-graph/ --json\n"
        "  consm info my-graph/ --ranks 64            before renting machines\n",
    .flags = flags,
    .run = run,
};
