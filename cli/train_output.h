/* What `consm train -o FOLDER` writes: the configuration before the work starts (so that an
 * unwritable folder is found early; an older model keeps its own until the new one is written), and
 * model, predictions, metrics and report at the end. Every file appears complete or not at all. */
#ifndef CLI_TRAIN_OUTPUT_H
#define CLI_TRAIN_OUTPUT_H

#include "app/run.h"
#include "args.h"

struct train_output {
    const char *folder;             /* NULL: nothing is written */
    bool force;                     /* replace an older model instead of keeping it aside */
    bool probabilities;             /* predictions.csv gets a column per class */
    bool safe_csv;                  /* names in CSV files that look like formulas get a ' */
    const char *device;             /* of trust scores and embeddings; NULL: the CPU */
    int threads;                    /* 0: one per processor */
    const struct consm_model *from; /* the model that training began with, or NULL */
    char *checkpoint;               /* FOLDER/checkpoint.safetensors */
    char *config;                   /* FOLDER/checkpoint.yaml; config.yaml once there is a model */
    int lock;                       /* of the folder, while the checkpoint exists */
};

/* What config.yaml holds besides the given flags. */
struct train_identity {
    const struct consm_dataset *data;
    const char *dataset; /* as the user named it */
    const struct consm_options *options;
    int64_t seeds;
};

/* Makes the folder and writes the configuration. */
consm_status train_output_open(struct train_output *out, const struct args *args,
                               const struct train_identity *run);
void train_output_close(struct train_output *out);

/* Writes the rest and removes the checkpoint. */
consm_status train_output_write(const struct train_output *out, const struct trained_run *run,
                                const struct consm_dataset *data);

#endif
