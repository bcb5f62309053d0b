/* `consm study`: repeats the paper's evaluation, or a part of it. */
#include "commands.h"
#include "config_args.h"
#include "data_args.h"
#include "study_run.h"

#include "base/nearest.h"
#include "train/ensemble.h"
#include <stdio.h>
#include <string.h>

static const struct flag flags[] = {
    {"datasets", "LIST",
     "datasets, as in a,b,c (default: the paper's and chameleon-filtered, if on this machine)",
     'd'},
    STUDY_FLAGS("10", "consm-study"),
    SPLIT_FLAGS,
    {"ensemble", "N", "accuracy: add a table of ensembles of N runs of every method", 0},
    {"profiles", NULL,
     "accuracy: ConSM's profiles paper and authors on all datasets, not only the paper's", 0},
    {"attacks", "LIST",
     "robust: which of metattack,nettack,dice,random,pgd,trusted-gcn,trusted-consm (all)", 0},
    {"quick", NULL, "3 seeds, half the epochs, smaller grids, only the first split", 'q'},
    DATA_FLAGS,
    {0}};

/* The sets to look for if none is named: the paper's, and one without duplicates, because the
 * original has many. */
static const char *const known_sets[] = {
    "cora", "citeseer", "pubmed", "actor", "chameleon", "squirrel", "chameleon-filtered", NULL};
static const char *const built_in[] = {"csbm:homophily=0.8", "csbm:homophily=0.1", NULL};

static int find_datasets(json_t *options, const struct args *args)
{
    const char *named = args_get(args, "datasets");
    json_t *list = named ? study_run_list(named) : json_array();
    char missing[128] = "";
    for (int i = 0; !named && known_sets[i]; i++) {
        size_t used = strlen(missing);
        if (sets_at_hand(known_sets[i], args_get(args, "data-dir")))
            json_array_append_new(list, json_string(known_sets[i]));
        else
            snprintf(missing + used, sizeof missing - used, "%s%s", used ? ", " : "",
                     known_sets[i]);
    }
    if (missing[0])
        fprintf(
            stderr,
            "skipped, because not on this machine: %s; `consm fetch NAME` downloads a dataset\n",
            missing);
    bool none = json_array_size(list) == 0;
    for (int i = 0; none && built_in[i]; i++)
        json_array_append_new(list, json_string(built_in[i]));
    json_object_set_new(options, "datasets", list);
    if (named)
        json_object_set_new(options, "chosen", json_true());
    return EXIT_DONE;
}

static const char *study_name(void *ctx, int index)
{
    (void)ctx;
    return study_list()[index] ? study_list()[index]->name : NULL;
}

/* The named studies, each once, in the order of the list. */
static int find_studies(const struct study_def **study, int *count, const struct args *args)
{
    bool wanted[STUDY_MOST] = {false};
    if (args->count == 0)
        return args_fail(args, EXIT_USAGE,
                         "missing study: `consm help study` lists all; `all` runs every study");
    for (int i = 0; i < args->count; i++) {
        bool all = strcmp(args->item[i], "all") == 0, found = all;
        for (int k = 0; study_list()[k]; k++)
            if (all || strcmp(args->item[i], study_list()[k]->name) == 0)
                wanted[k] = found = true;
        const char *near = found ? NULL : nearest_word(args->item[i], study_name, NULL);
        if (!found)
            return args_fail(args, EXIT_USAGE,
                             near ? "unknown study %s; did you mean %s?"
                                  : "unknown study %s; `consm help study` lists all",
                             args->item[i], near);
    }
    for (int k = 0; study_list()[k]; k++)
        if (wanted[k])
            study[(*count)++] = study_list()[k];
    return EXIT_DONE;
}

static int run(struct args *args)
{
    const struct study_def *study[STUDY_MOST];
    const char *folder = args_get(args, "output");
    bool quick = args_has(args, "quick");
    json_t *options = json_object();
    int64_t ensemble = 0;
    int count = 0, code;
    if ((code = find_studies(study, &count, args)) == EXIT_DONE &&
        (code = study_run_options(options, args, quick ? 3 : 10)) == EXIT_DONE &&
        (code = args_int(args, "ensemble", 1, ENSEMBLE_MOST_RUNS, &ensemble)) == EXIT_DONE &&
        (code = find_datasets(options, args)) == EXIT_DONE) {
        if (ensemble)
            json_object_set_new(options, "ensemble", json_integer(ensemble));
        if (args_has(args, "profiles"))
            json_object_set_new(options, "profiles", json_true());
        if (args_has(args, "attacks"))
            json_object_set_new(options, "attacks", study_run_list(args_get(args, "attacks")));
        if (quick)
            json_object_set_new(options, "quick", json_true());
        code = study_run(args, study, count, options, folder ? folder : "consm-study");
    }
    json_decref(options);
    return code;
}

const struct command cmd_study = {
    .name = "study",
    .summary = "reproduce the paper's experiments",
    .usage = "NAME…|all [--datasets a,b] [--models a,b] [--seeds 10] [--split paper] [-o DIR]",
    .text =
        "Plans every run, uses all cores, keeps each finished run in DIR/runs.jsonl, and writes\n"
        "tables, figures and DIR/report.html with the paper's results beside ours. After Ctrl-C\n"
        "or a crash, the same command continues where it stopped. A run that several studies need\n"
        "is done once. `mpirun -n 16 consm study …` distributes the runs over processes on many\n"
        "machines.\n\n"
        "  datasets      statistics of the datasets, beside the paper's (Tables 1, 2)\n"
        "  accuracy      every method on every dataset, with significance tests (Tables 3, 4)\n"
        "  homophily     every method on generated graphs of any homophily (ours)\n"
        "  labels        accuracy and edge scores from 5 to 500 labels per class (ours)\n"
        "  edges         F1, AUC and calibration of edge scores (RQ2)\n"
        "  planted       detection of false edges, and accuracy after dropping them (ours)\n"
        "  robust        accuracy under published attacks and our own, by method (ours)\n"
        "  coverage      coverage and size of prediction sets (ours)\n"
        "  zeta          edge F1 and accuracy by ζ, the share of edges to trust (RQ3)\n"
        "  depth         GCN, GAM and ConSM with 1 to 16 layers (RQ4)\n"
        "  pruning       GCN while edges within and between classes are removed (Fig. 1)\n"
        "  convergence   validation and test curves of ConSM by round (RQ1)\n"
        "  transport     nearest, Sinkhorn and exact transport; Monge and linear maps\n"
        "  complexity    time and memory up to 10 million edges (section 4.4)\n\n"
        "With --split paper,random (the default), `accuracy` uses both splits. `edges` and\n"
        "`planted` use every split that you name. `homophily`, `labels` and `coverage` have\n"
        "splits of their own; so do published attacks in `robust`. All others use the first.\n"
        "--ensemble 5 adds a table to `accuracy`: ConSM alone, and an ensemble of five runs of\n"
        "every method, selected by validation (docs/reference/models.md).\n\n"
        "  consm study all --quick -o quick\n"
        "  consm study accuracy edges --datasets cora,chameleon --split random -o results\n",
    .flags = flags,
    .more_flags = config_flags,
    .run = run,
};
