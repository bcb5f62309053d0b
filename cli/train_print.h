/* A `consm train` under way, and what it prints. */
#ifndef CLI_TRAIN_PRINT_H
#define CLI_TRAIN_PRINT_H

#include "train_output.h"

/* What the runs share, and where they leave their results. */
struct training {
    struct args *args;
    const struct prepared *prepared;
    const struct model_def *model;
    const char *split;
    struct split_options split_options;
    struct config config;
    bool given[CONFIG_ROWS]; /* the parameters that flags set */
    uint64_t first_seed;
    int64_t runs, checkpoint_every;
    struct train_result *result; /* (runs) */
    bool *finished;              /* (runs) */
    int64_t printed;
    bool json, resume;
    struct train_output output;
    pthread_mutex_t lock;
    /* With -o: the best run so far. */
    int64_t best_run;
    struct consm_model *best;
    struct consm_prediction *best_prediction;
    struct roles best_roles;
    int64_t count[4], held_out, calibrating; /* of the last run's split */
};

/* One finished run: a line of the table or a JSON object. */
void train_print_run(const struct training *t, const struct train_result *r);
void train_print_summary(const struct training *t, double seconds);

/* What was done with the data that a person should know, before the table. */
void train_print_notes(const struct training *t);

/* The best run's further figures and the files written. */
void train_print_output(const struct training *t);

#endif
