/* What `consm train -o FOLDER` leaves behind: the configuration before the work starts (so that a
 * folder that cannot be written is found out then), and model, predictions, metrics and report when
 * it is done. Every file appears whole or not at all. */
#ifndef CLI_TRAIN_OUTPUT_H
#define CLI_TRAIN_OUTPUT_H

#include "api/objects.h"
#include "args.h"

struct train_output {
    const char *folder; /* NULL: nothing is written */
    bool probabilities; /* predictions.csv gets a column per class */
    char *checkpoint;   /* FOLDER/checkpoint.safetensors */
};

/* What a run's config.yaml says beside the flags that were given. */
struct train_identity {
    const struct dataset *data;
    const char *dataset; /* as the user named it */
    const char *model, *split;
    uint64_t seed;
    int64_t seeds;
    const struct config *config;
};

/* Makes the folder and writes config.yaml. */
consm_status train_output_open(struct train_output *out, const struct args *args,
                               const struct train_identity *run);
void train_output_close(struct train_output *out);

/* Writes the rest and removes the checkpoint. */
consm_status train_output_write(const struct train_output *out, const struct consm_model *model,
                                const struct consm_prediction *prediction,
                                const struct prepared *prepared, const uint8_t *role);

/* The CSV of train and of predict; "-" is standard output. */
consm_status predictions_write(const char *path, const struct consm_model *model,
                               const struct consm_prediction *prediction,
                               const struct dataset *data, bool probabilities);

/* report.html (train_report.c). */
consm_status train_report_write(const char *path, const struct consm_model *model,
                                const struct consm_prediction *prediction,
                                const struct dataset *data, const uint8_t *role);

#endif
