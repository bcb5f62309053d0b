/* `consm split`: makes a split, prints the size of its parts, writes it to a file. */
#include "commands.h"
#include "data_args.h"
#include "json_line.h"
#include "shown.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct flag flags[] = {
    SPLIT_FLAGS,
    {"seed", "N", "seed of the random split (0)", 0},
    {"output", "FILE", "write the split to FILE as CSV (id,role); - is standard output", 'o'},
    {"json", NULL, "print the counts as JSON", 0},
    DATA_FLAGS,
    {0}};

/* Nodes of each class and role. */
static void print_table(const struct dataset *d, const uint8_t *role, const char *spec)
{
    char buffer[24], name[SHOWN];
    int64_t all[4];
    split_count(all, role, d->nodes);
    printf("%s, split %s\n\n  %-20s %8s %8s %8s %8s\n", shown(name, d->name, 0), spec, "class",
           "train", "val", "test", "none");
    for (int32_t k = 0; k < d->classes; k++) {
        int64_t count[4] = {0};
        for (int64_t i = 0; i < d->nodes; i++)
            if (d->label[i] == k)
                count[role[i]]++;
        printf("  %s %8lld %8lld %8lld %8lld\n", shown(name, dataset_class_name(d, k, buffer), 20),
               (long long)count[1], (long long)count[2], (long long)count[3], (long long)count[0]);
    }
    printf("  %-20s %8lld %8lld %8lld %8lld\n", "all nodes", (long long)all[1], (long long)all[2],
           (long long)all[3], (long long)all[0]);
}

static void print_json(const struct dataset *d, const uint8_t *role, const char *spec, int64_t seed)
{
    int64_t count[4];
    split_count(count, role, d->nodes);
    json_t *o =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I}", "dataset", d->name, "split", spec, "seed",
                  (json_int_t)seed, "train", (json_int_t)count[1], "val", (json_int_t)count[2],
                  "test", (json_int_t)count[3], "none", (json_int_t)count[0]);
    json_line(o, 0);
}

static int run(struct args *args)
{
    struct dataset *d = NULL;
    struct split_options o;
    uint8_t *role = NULL;
    int64_t seed = 0;
    const char *spec = args_get(args, "split"), *output = args_get(args, "output");
    consm_status st = CONSM_OK;
    int code;
    if ((code = data_args_split(&o, args)) || (code = args_int(args, "seed", 0, INT64_MAX, &seed)))
        return code;
    if ((code = data_args_open(&d, args, NULL)))
        return code;
    spec = spec ? spec : "random";
    TRY(NEW(role, d->nodes));
    TRY(split_make(role, d, spec, (uint64_t)seed, &o));
    if (output)
        TRY(split_write(output, d, role));
    if (!output || strcmp(output, "-") != 0) {
        if (args_has(args, "json"))
            print_json(d, role, spec, seed);
        else
            print_table(d, role, spec);
    }
done:
    mem_free(role);
    dataset_free(d);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

const struct command cmd_split = {
    .name = "split",
    .summary = "split the nodes into training, validation and test, and save the split",
    .usage = "DATASET [--split SPLIT] [--seed N] [-o FILE]",
    .text =
        "  paper     the paper's fixed split. If the data has Planetoid's public split: its "
        "training\n"
        "            and test nodes, and all others for validation. Otherwise: the first 20 nodes\n"
        "            of each class for training, half of the rest for validation, half for test\n"
        "  public    the split stored with the data (of N stored splits: number seed modulo N)\n"
        "  random    20 random nodes per class for training, half of the rest for validation, "
        "half\n"
        "            for test (the default)\n"
        "  labels:N  N labels per class: a fifth for validation, four fifths for training; all "
        "other\n"
        "            nodes for test\n"
        "  48/32/20  percent of each class for training, validation and test\n"
        "  file:I    split number I of those stored with the data\n"
        "  FILE      a file written by this verb; every verb's --split reads it\n\n"
        "  consm split karate --per-class 4 --seed 1 -o karate.csv\n"
        "  consm train karate --split karate.csv\n",
    .flags = flags,
    .run = run,
};
