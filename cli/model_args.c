/* Opens the model and the graph of a command line. */
#include "model_args.h"

#include "data_args.h"

int model_args_open(struct model_args *out, const struct args *args, const char *file,
                    bool attributes)
{
    consm_status st = CONSM_OK;
    struct consm_open_options how = data_args_how(args);
    int64_t threads = 0;
    int code = args_int(args, "threads", 1, 1024, &threads);
    *out = (struct model_args){.threads = (int)threads,
                               .device = args_get(args, "device"),
                               .output = args_get(args, "output")};
    if (code)
        return code;
    if (args->count != 2)
        return args_fail(args, EXIT_USAGE,
                         "expected a model and a graph, as in `consm %s out/model.safetensors "
                         "./mygraph%s%s`",
                         args->command->name, file ? " -o " : "", file ? file : "");
    if (!out->output)
        out->output = "-";
    TRY(consm_model_load(&out->model, args->item[0]));
    how.model = out->model;
    how.keep_attributes = attributes;
    TRY(consm_dataset_open_with(&out->data, args->item[1], &how));
    return EXIT_DONE;
done:
    model_args_close(out);
    return args_status(args, st);
}

void model_args_close(struct model_args *m)
{
    consm_dataset_free(m->data);
    consm_model_free(m->model);
    *m = (struct model_args){0};
}
