/* A running `consm train`, and what it prints. */
#ifndef CLI_TRAIN_PRINT_H
#define CLI_TRAIN_PRINT_H

#include "train_output.h"

#include <jansson.h>
#include <pthread.h>

/* What the runs share, and their results. */
struct training {
    struct args *args;
    struct consm_dataset *data;
    const struct dataset *read;      /* of data */
    const struct prepared *prepared; /* of data */
    struct consm_model *from;        /* the model that training starts from, or NULL */
    struct run_choices choices;      /* of the first run; the others differ in their seed */
    struct consm_options *options;   /* these, with defaults */
    int64_t checkpoint_every;
    bool resume;
    int64_t runs;
    struct train_result *result; /* (runs) */
    struct ensemble_facts *made; /* (runs) of ensembles, or NULL */
    bool *finished;              /* (runs) */
    double *fraction, fractions; /* (runs × members) progress of each, and their sum */
    int64_t printed;
    bool json, quiet;
    enum config_metric metric; /* the validation metric */
    int32_t positive;          /* its class; -1: all */
    json_t **detail;           /* (runs) further figures, with --json */
    struct train_output output;
    pthread_mutex_t lock;
    /* The best run so far. */
    int64_t best_run;
    struct trained_run best;
    int64_t count[4], held_out, calibrating; /* of the last run's split */
};

/* Facts about a model; they do not fail. */
struct consm_model_info train_info(const struct consm_model *model);

/* The split's name. */
const char *train_split(const struct training *t);

/* One finished run: a line of the table or a JSON object. */
void train_print_run(const struct training *t, const struct train_result *r);
void train_print_summary(const struct training *t, double seconds);

/* What was done with the data, before the table. */
void train_print_notes(const struct training *t);

/* The best run's further figures and the files written. */
void train_print_output(const struct training *t);

#endif
