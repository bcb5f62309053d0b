/* `consm generate`: writes a built-in graph as a file. */
#include "base/counted.h"
#include "commands.h"
#include "data/generate/generate.h"
#include "data/load.h"
#include "json_line.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const struct flag flags[] = {
    {"output", "PATH",
     "write a file (NAME.npz, NAME.safetensors, NAME.graphml, …) or a folder of CSV files", 'o'},
    {"format", "NAME", "output format (default: from the name): " READER_SAVED_NAMES, 0},
    {"nodes", "N", "csbm: number of nodes (1000)", 0},
    {"classes", "N", "csbm: number of classes, all of equal size (4)", 0},
    {"degree", "D", "csbm: average number of neighbours (10)", 0},
    {"exponent", "E", "csbm: exponent of the power law of degrees, above 2 (0: no power law)", 0},
    {"features", "N", "csbm: number of features (32)", 0},
    {"signal", "S", "csbm: length of a class mean; the noise has standard deviation 1 (2)", 0},
    {"words", "N", "csbm: sparse features, N words per node (0: dense Gaussian features)", 0},
    {"homophily", "H", "csbm: share of edges between nodes of the same class (0.2)", 0},
    {"seed", "N", "csbm: random seed (0)", 0},
    {"json", NULL, "print what was written as JSON", 0},
    {0}};

/* Adds the parameters given as flags to a csbm name: "csbm" becomes "csbm:nodes=50,seed=1". */
static int add_knobs(char *name, size_t room, const struct args *args)
{
    for (int i = 0; i < args->flags; i++) {
        const char *key = args->flag[i]->name;
        if (strncmp(args->flag[i]->help, "csbm:", 5) != 0)
            continue;
        if (strncmp(name, "csbm", 4) != 0)
            return args_fail(args, EXIT_USAGE, "--%s works with csbm only, not with %s", key, name);
        size_t used = strlen(name);
        int added = snprintf(name + used, room - used, "%s%s=%s", strchr(name, ':') ? "," : ":",
                             key, args->value[i]);
        if (strchr(args->value[i], ',') || added < 0 || (size_t)added >= room - used)
            return args_fail(args, EXIT_USAGE, "--%s %s: expected a number", key, args->value[i]);
    }
    return EXIT_DONE;
}

static void report(const struct args *args, const struct dataset *d, const char *path)
{
    if (!args_has(args, "json")) {
        printf("%s: %s, %s, %s, %s, in %s\n", d->name, COUNTED(d->nodes, "node"),
               COUNTED(d->edges, "edge"), COUNTED(d->features, "feature"),
               COUNTED(d->classes, "class"), path);
        return;
    }
    json_t *o = json_pack("{s:s, s:s, s:I, s:I, s:I, s:i}", "dataset", d->name, "path", path,
                          "nodes", (json_int_t)d->nodes, "edges", (json_int_t)d->edges, "features",
                          (json_int_t)d->features, "classes", d->classes);
    json_line(o, 0);
}

static int run(struct args *args)
{
    char name[1024];
    struct dataset *d = NULL;
    const char *path = args_get(args, "output");
    const struct reader *writer;
    consm_status st = CONSM_OK;
    int code;
    if (args->count != 1 || !generate_knows(args->item[0]) || strlen(args->item[0]) > 800)
        return args_fail(args, EXIT_USAGE,
                         "expected karate or csbm, as in `consm generate csbm "
                         "--nodes 5000 -o my.npz`");
    if (!path)
        return args_fail(args, EXIT_USAGE,
                         "missing -o: a file such as NAME.npz or NAME.graphml, or a folder");
    strcpy(name, args->item[0]);
    if ((code = add_knobs(name, sizeof name, args)))
        return code;
    TRY(data_writer(&writer, path, args_get(args, "format"))); /* before the work, not after it */
    TRY(generate_named(&d, name));
    TRY(data_save_path(d, path, args_get(args, "format")));
    report(args, d, path);
done:
    dataset_free(d);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

const struct command cmd_generate = {
    .name = "generate",
    .summary = "generate a graph with given properties",
    .usage = "csbm|karate -o PATH [--nodes N] [--homophily H] …",
    .text =
        "csbm is a contextual stochastic block model: classes of equal size, distinct edges, and\n"
        "Gaussian features around class means. Exactly the share --homophily of the edges joins\n"
        "nodes of the same class. The same seed gives the same graph. Every verb also accepts\n"
        "these parameters in the name, without a file: csbm:nodes=5000,homophily=0.2,seed=3.\n\n"
        "  consm generate csbm --nodes 5000 --homophily 0.8 -o friendly.npz\n"
        "  consm generate csbm --exponent 2.5 --degree 20 -o hubs/\n",
    .flags = flags,
    .run = run,
};
