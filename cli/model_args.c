/* Opens the model and the graph of a command line. */
#include "model_args.h"

#include "app/run.h"
#include "data_args.h"
#include "together.h"
#include <string.h>

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
    TRY(dataset_open_among(&out->data, args->item[1], &how, args->together->ranks));
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

/* Classes without names are not suggested. */
static const char *nth_class(void *ctx, int index)
{
    const struct consm_model *model = ctx;
    struct consm_model_info info = {.size = sizeof info};
    char number[24];
    if (consm_model_info(&info, model) < 0 || index >= info.classes)
        return NULL;
    const char *name = consm_model_class(model, index, number);
    return name == number ? NULL : name;
}

int model_args_class(int32_t *out, const struct args *args, const char *flag,
                     const struct consm_model *model)
{
    const char *name = args_get(args, flag);
    struct consm_model_info info = {.size = sizeof info};
    char number[24];
    consm_status st = consm_model_info(&info, model);
    if (st < 0)
        return args_status(args, st);
    for (int32_t k = 0; k < info.classes; k++)
        if (strcmp(consm_model_class(model, k, number), name) == 0) {
            *out = k;
            return EXIT_DONE;
        }
    const char *near = args_nearest(name, nth_class, (void *)model);
    return args_fail(args, EXIT_USAGE, "--%s %s: the model does not know this class%s%s%s", flag,
                     name, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}
