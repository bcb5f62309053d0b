/* What the verbs that use a trained model share: MODEL GRAPH, opened. */
#ifndef CLI_MODEL_ARGS_H
#define CLI_MODEL_ARGS_H

#include "app/objects.h"
#include "args.h"

struct model_args {
    struct consm_model *model;
    struct consm_dataset *data;
    const char *output; /* where the CSV goes; "-" is standard output */
    int threads;        /* 0: one per processor */
    const char *device; /* NULL: the CPU */
};

/* EXIT_DONE, or the exit code with the line printed. file is the output in the example that wrong
 * usage is answered with. attributes: those that no model reads are kept, to be written again. */
int model_args_open(struct model_args *out, const struct args *args, const char *file,
                    bool attributes);
void model_args_close(struct model_args *m);

#endif
