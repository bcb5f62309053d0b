/* `consm convert`: reads a dataset in any format and writes it in another, without loss. */
#include "base/counted.h"
#include "commands.h"
#include "data_args.h"

#include <stdio.h>

#include "data/load.h"
#include "data/readers/safetensors.h"

static const struct flag flags[] = {
    {"to", "FORMAT",
     "write " READER_SAVED_NAMES "\n"
     "(default: by OUT's ending .npz, .safetensors, .graphml, .gexf, .gml, .json; "
     "without an ending: a plain folder)",
     0},
    DATA_FLAGS,
    {0}};

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    const struct reader *writer;
    struct dataset *d = NULL;
    struct data_options o = data_args_options(args);
    o.notes = true;
    if (args->count != 2)
        return args_fail(args, EXIT_USAGE, "expected IN and OUT; see `consm help convert`");
    TRY(data_writer(&writer, args->item[1], args_get(args, "to"))); /* before the work */
    TRY(data_open(&d, args->item[0], &o));
    TRY(safetensors_dataset_verify(d));
    TRY(data_save_path(d, args->item[1], args_get(args, "to")));
    fprintf(stderr, "%s: %s, %s, %s, %s\n", args->item[1], COUNTED(d->nodes, "node"),
            COUNTED(d->edges, "edge"), COUNTED(d->features, "feature"),
            COUNTED(d->classes, "class"));
done:
    dataset_free(d);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

const struct command cmd_convert = {
    .name = "convert",
    .summary = "convert a dataset to another format",
    .usage = "IN OUT [--to FORMAT] [--labels FILE] [--features FILE]",
    .text =
        "  IN is a dataset name or a path. consm detects the format from the content; --format\n"
        "  overrides it (`consm help formats` lists all). OUT is a plain folder, a NumPy archive,\n"
        "  a safetensors file (opens at once, however large), or GraphML, GEXF, GML or node-link\n"
        "  JSON for Gephi, NetworkX and others.\n\n"
        "  consm convert my-graph/ my-graph.safetensors\n"
        "  consm convert karate karate/\n"
        "  consm convert edges.txt out/ --labels labels.txt --features features.svm\n",
    .flags = flags,
    .run = run,
};
