/* Shared by the verbs that use a trained model: MODEL GRAPH, opened. */
#ifndef CLI_MODEL_ARGS_H
#define CLI_MODEL_ARGS_H

#include "args.h"
#include "consm.h"

struct model_args {
    struct consm_model *model;
    struct consm_dataset *data;
    const char *output; /* path of the CSV; "-" is standard output */
    int threads;        /* 0: one per processor */
    const char *device; /* NULL: the CPU */
};

/* EXIT_DONE, or the exit code with the line printed. file is the output in the example of the usage
 * message. attributes: keep those that no model reads, to write them again. */
int model_args_open(struct model_args *out, const struct args *args, const char *file,
                    bool attributes);
void model_args_close(struct model_args *m);

/* The class that a flag names; EXIT_DONE, or the exit code with the line printed. */
int model_args_class(int32_t *out, const struct args *args, const char *flag,
                     const struct consm_model *model);

#endif
