/* `consm clean`: writes a graph without the edges that a model distrusts, and a table of the
 * changes with reasons. */
#include "base/counted.h"
#include "commands.h"
#include "data_args.h"
#include "model_args.h"

#include "data/load.h"
#include "io/file.h"
#include "report/text.h"
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const struct flag flags[] = {
    {"output", "FOLDER", "write the cleaned graph and changes.csv to FOLDER", 'o'},
    {"to", "FORMAT", "write " READER_SAVED_NAMES " (plain)", 0},
    {"drop", "SHARE",
     "drop this share of the edges, the least trusted ones; auto: the\n"
     "share that validation chose in training",
     0},
    {"threshold", "T",
     "drop edges with a lower trust score (default: drop the edges that "
     "`consm edges` does not keep)",
     0},
    {"add", "K", "add the K most trusted pairs of unconnected nodes (0)", 0},
    {"force", NULL, "write into FOLDER even if it is not empty", 0},
    {"threads", "N", "threads (default: one per processor; a small graph uses one)", 0},
    {"device", "NAME", "cpu, cuda, cuda:N or auto (cpu)", 0},
    SAFE_CSV_FLAG,
    {"json", NULL, "print what was done as JSON", 0},
    DATA_FLAGS,
    {0}};

/* ---- why ----------------------------------------------------------------- */

/* What it says of an edge that this kind of evidence (witness) is below its mean, or above it. */
static const char *const below[] = {
    "subgraphs do not match",
    "predicted classes differ",
    "predictions from features alone differ",
    "at least one prediction is uncertain",
    "features differ",
    "one feature vector is larger than the other",
    "few common neighbours",
    "degrees differ",
    "no end is a training node",
    "predictions differ at a training node",
};
static const char *const above[] = {
    "subgraphs match",
    "predicted classes agree",
    "predictions from features alone agree",
    "both predictions are certain",
    "features are similar",
    "feature vectors are of similar size",
    "common neighbours",
    "degrees are similar",
    "an end is a training node",
    "predictions agree at a training node",
};
enum { WORDS = sizeof below / sizeof *below };

/* The mean of each kind of evidence over all edges. */
static void usual(double mean[WORDS], const struct consm_edge_scores *s)
{
    for (int k = 0; k < WORDS; k++)
        mean[k] = 0;
    for (int64_t e = 0; e < s->edges; e++)
        for (int k = 0; k < s->witnesses; k++)
            mean[k] += (double)s->witness[e * s->witnesses + k] / (double)s->edges;
}

/* The evidence that moves the log-odds farthest from a usual edge, in the given direction. A weight
 * may be negative, so evidence below its mean may speak for an edge. */
static const char *why(const struct consm_edge_scores *s, int64_t e, const double mean[WORDS],
                       int direction)
{
    int best = 0;
    double farthest = -INFINITY;
    if (s->witnesses != WORDS)
        return direction < 0 ? "predictions disagree" : "predictions agree";
    for (int k = 0; k < s->witnesses; k++) {
        double moves = direction * s->witness_weight[1 + k] *
                       ((double)s->witness[e * s->witnesses + k] - mean[k]);
        if (moves > farthest) {
            farthest = moves;
            best = k;
        }
    }
    return (double)s->witness[e * s->witnesses + best] > mean[best] ? above[best] : below[best];
}

/* ---- what is written ----------------------------------------------------- */

struct cleaning {
    struct model_args m;
    struct consm_edge_scores *scores, *added;
    struct consm_dataset *clean;
    uint8_t *dropped; /* (edges) */
    int64_t drops;
};

static void add_row(struct text *t, const struct cleaning *c, const struct consm_edge_scores *s,
                    int64_t e, const char *change, const char *reason)
{
    char id[24];
    text_csv(t, consm_node_id(c->m.data, s->from[e], id));
    text_add(t, ",");
    text_csv(t, consm_node_id(c->m.data, s->to[e], id));
    text_printf(t, ",%s,%.6f,", change, (double)s->score[e]);
    if (isfinite(s->low[e]))
        text_printf(t, "%.6f,%.6f", (double)s->low[e], (double)s->high[e]);
    else
        text_add(t, ",");
    text_printf(t, ",%s\n", reason);
}

static consm_status write_changes(const struct cleaning *c, const char *path, bool safe)
{
    consm_status st = CONSM_OK;
    struct file_writer *w = NULL;
    struct text t = {.safe_csv = safe};
    double mean[WORDS];
    usual(mean, c->scores);
    TRY(file_create(&w, path));
    text_add(&t, "source,target,change,score,low,high,why\n");
    for (int64_t e = 0; e < c->scores->edges; e++)
        if (c->dropped[e])
            add_row(&t, c, c->scores, e, "dropped", why(c->scores, e, mean, -1));
    for (int64_t e = 0; c->added && e < c->added->edges; e++)
        add_row(&t, c, c->added, e, "added", why(c->added, e, mean, 1));
    TRY(text_status(&t));
    TRY(file_write(w, t.data, t.length));
    TRY(file_commit(w));
done:
    text_free(&t);
    file_close(w);
    return st;
}

/* The plain format fills FOLDER itself, so that any verb can read it; other formats are a file in
 * it. */
static consm_status write_graph(const struct cleaning *c, const char *format, bool plain)
{
    consm_status st = CONSM_OK;
    struct text path = {0};
    const char *folder = c->m.output;
    if (plain)
        return consm_dataset_save(c->clean, folder, "plain");
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        TRY(status_fail(CONSM_EIO, "%s: cannot create the folder: %s", folder, strerror(errno)));
    text_printf(&path, "%s/graph.%s", folder, format);
    TRY(text_status(&path));
    TRY(consm_dataset_save(c->clean, path.data, format));
done:
    text_free(&path);
    return st;
}

static consm_status write_all(const struct cleaning *c, struct args *args)
{
    consm_status st = CONSM_OK;
    struct text path = {0};
    const char *format = args_has(args, "to") ? args_get(args, "to") : "plain";
    TRY(write_graph(c, format, strcmp(format, "plain") == 0));
    text_printf(&path, "%s/changes.csv", c->m.output);
    TRY(text_status(&path));
    TRY(write_changes(c, path.data, args_has(args, "safe-csv")));
done:
    text_free(&path);
    return st;
}

static void say(const struct cleaning *c, bool json)
{
    long long edges = (long long)c->scores->edges, drops = (long long)c->drops;
    long long adds = c->added ? (long long)c->added->edges : 0;
    if (json)
        printf("{\"edges\": %lld, \"dropped\": %lld, \"added\": %lld, \"left\": %lld}\n", edges,
               drops, adds, edges - drops + adds);
    else
        printf("%s: dropped %lld of %s, added %lld; changes.csv gives the reasons\n", c->m.output,
               drops, COUNTED(edges, "edge"), adds);
}

static void cleaning_close(struct cleaning *c)
{
    mem_free(c->dropped);
    consm_edge_scores_free(c->scores);
    consm_edge_scores_free(c->added);
    consm_dataset_free(c->clean);
    model_args_close(&c->m);
}

/* Whether the folder has any files. */
static bool has_files(const char *folder)
{
    DIR *d = opendir(folder);
    const struct dirent *entry = NULL;
    bool found = false;
    while (d && !found && (entry = readdir(d)))
        found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (d)
        closedir(d);
    return found;
}

/* The input graph is never replaced, anything else only with --force. */
static int check_output(const struct args *args, const char *folder)
{
    struct stat there, read;
    if (stat(folder, &there) != 0)
        return EXIT_DONE;
    if (args->count > 1 && stat(args->item[1], &read) == 0 && there.st_dev == read.st_dev &&
        there.st_ino == read.st_ino)
        return args_fail(args, EXIT_USAGE, "%s is the input graph: choose another output folder",
                         folder);
    if (!S_ISDIR(there.st_mode))
        return args_fail(args, EXIT_USAGE, "%s is a file: -o needs a folder", folder);
    if (!args_has(args, "force") && has_files(folder))
        return args_fail(args, EXIT_USAGE, "%s is not empty: choose another folder or use --force",
                         folder);
    return EXIT_DONE;
}

/* The share that validation chose in training. */
static consm_status validated_share(double *share, const struct consm_model *model)
{
    consm_status st = CONSM_OK;
    struct consm_model_info info = {.size = sizeof info};
    TRY(consm_model_info(&info, model));
    *share = info.drop_share;
done:
    return st;
}

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    struct cleaning c = {0};
    struct consm_clean_options o = {.size = sizeof o, .share = -1, .threshold = -1};
    const struct reader *writer;
    int64_t add = 0;
    bool validated = args_has(args, "drop") && strcmp(args_get(args, "drop"), "auto") == 0;
    int code = validated ? EXIT_DONE : args_double(args, "drop", 0, 1, &o.share);
    code = code ? code : args_double(args, "threshold", 0, 1, &o.threshold);
    code = code ? code : args_int(args, "add", 0, INT32_MAX, &add);
    if (code)
        return code;
    if (!args_has(args, "output"))
        return args_fail(args, EXIT_USAGE, "missing -o FOLDER, the folder for the cleaned graph");
    if (args_has(args, "drop") && args_has(args, "threshold"))
        return args_fail(args, EXIT_USAGE, "use --drop or --threshold, not both");
    if ((code = check_output(args, args_get(args, "output"))) ||
        (code = model_args_open(&c.m, args, "clean", true)))
        return code;
    if (args_has(args, "to"))
        TRY(data_writer(&writer, "graph", args_get(args, "to"))); /* before the work */
    if (validated)
        TRY(validated_share(&o.share, c.m.model));
    TRY(consm_score_edges_on(&c.scores, c.m.model, c.m.data, c.m.device, c.m.threads));
    TRY(NEW(c.dropped, c.scores->edges + 1));
    TRY(consm_clean_choose(c.dropped, c.scores, &o));
    for (int64_t e = 0; e < c.scores->edges; e++)
        c.drops += c.dropped[e];
    if (add > 0)
        TRY(consm_suggest_edges(&c.added, c.m.model, c.m.data, add, c.m.device, c.m.threads));
    TRY(consm_dataset_clean(&c.clean, c.m.data, c.scores, c.dropped, c.added));
    TRY(write_all(&c, args));
    say(&c, args_has(args, "json"));
done:
    cleaning_close(&c);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

const struct command cmd_clean = {
    .name = "clean",
    .summary = "remove distrusted edges from a graph",
    .usage = "MODEL DATASET -o FOLDER [--drop SHARE|auto | --threshold T] [--add K]",
    .text =
        "Scores every edge (see `consm edges`), drops distrusted edges and writes the remaining\n"
        "graph. By default FOLDER is a plain folder that every verb reads; with --to graphml, the\n"
        "graph is FOLDER/graph.graphml. If FOLDER is not empty, --force is required.\n"
        "changes.csv lists dropped and added edges: source,target,change,score,low,high,why.\n"
        "The column why gives the strongest evidence against a dropped edge or for an added one.\n"
        "Nodes, features, labels and splits do not change.\n\n"
        "  consm clean out/model.safetensors ./mygraph -o mygraph-clean\n"
        "  consm clean out/model.safetensors ./mygraph -o clean --drop 0.1 --add 100\n"
        "  consm train mygraph-clean --model gcn\n",
    .flags = flags,
    .run = run,
};
