/* `consm bench`: any datasets × models × seeds, optionally with a fair random search. */
#include "bench_best.h"
#include "commands.h"
#include "config_args.h"
#include "data_args.h"
#include "study_run.h"

#include "study/search.h"
#include "together.h"
#include <string.h>

static const struct flag flags[] = {
    STUDY_FLAGS("5", "consm-bench"),
    SPLIT_FLAGS,
    {"search", "N",
     "try N configurations of every model (its defaults and random ones);\n"
     "validation selects one",
     0},
    {"search-seeds", "K", "runs of each configuration in the search (3)", 0},
    {"space", "FILE", "YAML file with the parameters to search (built in: studies/search.yaml)", 0},
    DATA_FLAGS,
    {0}};

static int set_search(json_t *options, const struct args *args)
{
    int64_t search = 0, seeds = 3;
    json_t *space = NULL;
    int code;
    if ((code = args_int(args, "search", 1, 100000, &search)) ||
        (code = args_int(args, "search-seeds", 1, STUDY_MOST_SEEDS, &seeds)))
        return code;
    if (!search)
        return args_has(args, "space") || args_has(args, "search-seeds")
                   ? args_fail(args, EXIT_USAGE, "--space and --search-seeds need --search N")
                   : EXIT_DONE;
    consm_status st = search_read(&space, args_get(args, "space"));
    if (st < 0)
        return args_status(args, st);
    json_object_set_new(options, "search", json_integer(search));
    json_object_set_new(options, "search_seeds", json_integer(seeds));
    json_object_set_new(options, "space", space);
    return EXIT_DONE;
}

static int run(struct args *args)
{
    static const char *const built_in[] = {"csbm:homophily=0.8", "csbm:homophily=0.1"};
    json_t *options = json_object(), *datasets = json_array();
    const char *folder = args_get(args, "output");
    int code;
    for (int i = 0; i < args->count; i++)
        json_array_append_new(datasets, json_string(args->item[i]));
    for (int i = 0; args->count == 0 && i < 2; i++)
        json_array_append_new(datasets, json_string(built_in[i]));
    json_object_set_new(options, "datasets", datasets);
    json_object_set_new(options, "chosen", json_true());
    code = study_run_options(options, args, 5);
    const char *split = args_get(args, "split");
    json_object_set_new(options, "split", json_string(split ? split : "random"));
    if (code == EXIT_DONE)
        code = set_search(options, args);
    const struct study_def *bench = study_find("bench");
    if (code == EXIT_DONE)
        code = study_run(args, &bench, 1, options, folder ? folder : "consm-bench");
    if (code == EXIT_DONE && args_has(args, "search") && args->together->workers.ranks->rank == 0)
        code = bench_best_train(args, options, folder ? folder : "consm-bench");
    json_decref(options);
    return code;
}

const struct command cmd_bench = {
    .name = "bench",
    .summary = "compare models on datasets, optionally with a hyperparameter search",
    .usage = "[DATASET…] [--models a,b,c] [--seeds K] [--search N] [-o DIR]",
    .text =
        "Trains every model on every dataset with every seed, on all cores, and prints a table\n"
        "with significance tests. DIR/runs.jsonl keeps every finished run: if interrupted, the "
        "same\n"
        "command continues where it stopped. DIR/report.html shows all results.\n"
        "Without DATASET, two csbm graphs (homophily 0.8 and 0.1) are used.\n"
        "A search also writes DIR/best-DATASET, a folder as `consm train -o` writes it, with the\n"
        "model and configuration that have the best validation score: model.safetensors for\n"
        "`consm predict`, config.yaml for `consm train --config`.\n\n"
        "  consm bench csbm karate --models gcn,consm --per-class 4\n"
        "  consm bench cora chameleon --split paper --seeds 10 -o results\n"
        "  consm bench cora --search 20 -o tuned     20 configurations for every model\n",
    .flags = flags,
    .more_flags = config_flags,
    .run = run,
};
