/* Opens the DATASET of a command line, and reads its split flags. */
#include "data_args.h"

#include "app/run.h"

struct data_options data_args_options(const struct args *args)
{
    const struct consm_open_options how = data_args_how(args);
    return dataset_how(&how);
}

struct consm_open_options data_args_how(const struct args *args)
{
    return (struct consm_open_options){.size = sizeof(struct consm_open_options),
                                       .data_dir = args_get(args, "data-dir"),
                                       .format = args_get(args, "format"),
                                       .labels = args_get(args, "labels"),
                                       .features = args_get(args, "features"),
                                       .id_column = args_get(args, "id-column"),
                                       .label_column = args_get(args, "label-column"),
                                       .weight_column = args_get(args, "weight-column"),
                                       .source_column = args_get(args, "source-column"),
                                       .target_column = args_get(args, "target-column"),
                                       .duplicates = args_get(args, "duplicates"),
                                       .unknown_nodes = args_get(args, "unknown-nodes"),
                                       .ignore = args_get(args, "ignore"),
                                       .in_parts = args_has(args, "in-parts")};
}

int data_args_name(const char **out, const struct args *args, const char *default_name)
{
    *out = args->count ? args->item[0] : default_name;
    if (args->count > 1)
        return args_fail(args, EXIT_USAGE, "expected one dataset, found a second one: %s",
                         args->item[1]);
    if (!*out)
        return args_fail(args, EXIT_USAGE,
                         "missing dataset: give a name or a path, as in `consm %s cora`",
                         args->command->name);
    return EXIT_DONE;
}

int data_args_open(struct dataset **out, const struct args *args, const char *default_name)
{
    struct data_options o = data_args_options(args);
    const char *name;
    int code = data_args_name(&name, args, default_name);
    *out = NULL;
    if (code)
        return code;
    consm_status st = data_open(out, name, &o);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

int data_args_split(struct split_options *o, const struct args *args)
{
    int code;
    *o = split_defaults();
    o->pooled = args_has(args, "pooled");
    if ((code = args_int(args, "per-class", 1, INT32_MAX, &o->per_class)) ||
        (code = args_double(args, "train-ratio", 0, 1, &o->train)) ||
        (code = args_double(args, "val-ratio", 0, 1, &o->val)))
        return code;
    return EXIT_DONE;
}
