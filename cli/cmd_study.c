/* `consm study`: the paper's evaluation, or a part of it, done again. */
#include "commands.h"
#include "config_args.h"
#include "data_args.h"
#include "study_run.h"

#include "base/nearest.h"
#include "train/ensemble.h"
#include <stdio.h>
#include <string.h>

static const struct flag flags[] = {
    {"datasets", "LIST", "a,b,c: which sets (those of the paper that are there)", 'd'},
    STUDY_FLAGS,
    SPLIT_FLAGS,
    {"ensemble", "N", "accuracy: also a table of ensembles of N runs of every method", 0},
    {"profiles", NULL,
     "accuracy: ConSM's profiles paper and authors on all sets, not just the paper's", 0},
    {"attacks", "LIST", "robust: metattack,nettack,dice,random,pgd,trusted-gcn,trusted-consm (all)",
     0},
    {"quick", NULL, "3 seeds, half the epochs, smaller grids, the first split only", 'q'},
    DATA_FLAGS,
    {0}};

/* What is looked for when no set is named: the paper's, and one without duplicates, because the
 * original is full of them. */
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
        fprintf(stderr, "not here, so left out: %s; `consm fetch NAME` gets a set\n", missing);
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

/* The studies that were named, each once, in the order of the list. */
static int find_studies(const struct study_def **study, int *count, const struct args *args)
{
    bool wanted[STUDY_MOST] = {false};
    if (args->count == 0)
        return args_fail(args, EXIT_USAGE, "which study? `consm help study` lists them; all: all");
    for (int i = 0; i < args->count; i++) {
        bool all = strcmp(args->item[i], "all") == 0, found = all;
        for (int k = 0; study_list()[k]; k++)
            if (all || strcmp(args->item[i], study_list()[k]->name) == 0)
                wanted[k] = found = true;
        const char *near = found ? NULL : nearest_word(args->item[i], study_name, NULL);
        if (!found)
            return args_fail(args, EXIT_USAGE,
                             near ? "no study %s; did you mean %s?"
                                  : "no study %s; `consm help study` lists them",
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
    .summary = "reproduce the paper's experiments, or some of them",
    .usage = "NAME…|all [--datasets a,b] [--models a,b] [--seeds 10] [--split paper] [-o DIR]",
    .text =
        "Plans every run, spreads them over all cores, keeps each finished one in DIR/runs.jsonl,\n"
        "and writes tables, figures and DIR/report.html with the paper's figures beside ours.\n"
        "Interrupted with Ctrl-C or killed, the same command goes on where it stopped. Runs that\n"
        "several studies need are done once. mpirun -n 16 consm study … shares the runs out among\n"
        "processes on many machines.\n\n"
        "  datasets      what the data is, beside what the paper prints (Tables 1, 2)\n"
        "  accuracy      every method on every set, with tests against the best (Tables 3, 4)\n"
        "  homophily     every method on generated graphs of any homophily (ours)\n"
        "  labels        accuracy and edge scores from 5 to 500 labels of each class (ours)\n"
        "  edges         F1, AUC and calibration of edge scores (RQ2)\n"
        "  planted       who finds edges that were put in, and what dropping them saves (ours)\n"
        "  robust        what accuracy published attacks and our own leave, by method (ours)\n"
        "  coverage      how often prediction sets hold the truth, and how large they are (ours)\n"
        "  zeta          edge F1 and accuracy against the confidence ratio (RQ3)\n"
        "  depth         GCN, GAM and ConSM with 1 to 16 layers (RQ4)\n"
        "  pruning       GCN while edges inside and between classes are removed (Fig. 1)\n"
        "  convergence   validation and test curves of ConSM by round (RQ1)\n"
        "  transport     nearest, Sinkhorn, exact; Monge against linear\n"
        "  complexity    time and memory against edges, to 10 million (section 4.4)\n\n"
        "--split paper,random (the default) gives `accuracy` both; `edges` and `planted` use "
        "every\n"
        "split that you name, the other studies the first. --ensemble 5 adds a table to "
        "`accuracy`: ConSM alone and every method's\n"
        "ensemble of five runs, each chosen by validation (docs/reference/models.md).\n\n"
        "  consm study all --quick -o quick\n"
        "  consm study accuracy edges --datasets cora,chameleon --split random -o results\n",
    .flags = flags,
    .more_flags = config_flags,
    .run = run,
};
