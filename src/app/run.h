/* A training run as `consm train` makes it, which shows more of it than consm_train(). The public
 * objects stay closed. */
#ifndef APP_RUN_H
#define APP_RUN_H

#include "app/prepare.h"
#include "app/roles.h"
#include "train/ensemble.h"

/* The history of an ensemble; runs 0: no ensemble. */
struct ensemble_facts {
    int64_t runs, pool, picked; /* trained runs; available members; chosen members */
    enum ensemble_rule rule;
};

/* The results of one run. */
struct trained_run {
    struct train_result result;
    struct ensemble_facts ensemble; /* runs 0: no ensemble */
    struct roles roles;
    struct consm_model *model;
    struct consm_prediction *prediction; /* its predictions for the training graph */
};

/* Runs the options on a dataset with a seed and a number of threads (0: one per processor);
 * defaults are those of src/app/defaults.h. Several threads may run the same options at once. */
consm_status run_by_options(struct trained_run *out, const struct consm_dataset *dataset,
                            const struct consm_options *o, uint64_t seed, int threads);
void run_free(struct trained_run *r);

/* The roles that a run with this seed would use. */
consm_status options_roles(struct roles *out, const struct consm_dataset *dataset,
                           const struct consm_options *o, uint64_t seed);

/* The validation metric of a run, and its class (-1: all). CONSM_EINVAL if the options name a
 * missing class. */
consm_status options_metric(enum config_metric *metric, int32_t *positive,
                            const struct consm_dataset *dataset, const struct roles *roles,
                            const struct consm_options *o);

/* Fills in the defaults, to show or store them. */
consm_status options_resolve(struct consm_options *o, const struct consm_dataset *dataset);

/* Whether such a run can be interrupted; CONSM_EINVAL with the reason if not. */
consm_status options_can_stop(const struct consm_options *o);

/* Choices of a run that `consm train` reads from flags. */
struct run_choices {
    struct config config;
    bool given[CONFIG_ROWS]; /* parameters that were set by name */
    struct split_options split;
    uint64_t seed;
    int64_t ensemble; /* runs to combine; 0 and 1: a plain model */
    int member_jobs;  /* how many of them side by side; 0: one after another */
};
void options_choose(struct consm_options *o, const struct run_choices *choices);

/* The options' parameters, which of them were set by name (CONFIG_ROWS), and their model. */
const struct config *options_config(const struct consm_options *o);
const bool *options_given(const struct consm_options *o);
const struct model_def *options_method(const struct consm_options *o);

/* consm_dataset_open_with() in a process of these ranks: they train and predict together, and call
 * this together. */
consm_status dataset_open_among(struct consm_dataset **out, const char *name_or_path,
                                const struct consm_open_options *options,
                                const struct ranks *ranks);
const struct ranks *dataset_ranks(const struct consm_dataset *dataset);
/* From now on this process trains and predicts alone; not for data in parts. */
void dataset_leave_ranks(struct consm_dataset *dataset);

/* The same choices for data_open(), without a partition. */
struct data_options dataset_how(const struct consm_open_options *o);

/* The dataset as it was read. */
const struct dataset *dataset_read(const struct consm_dataset *dataset);
/* The dataset with its cleaned graph; any thread may call it. */
consm_status dataset_prepared(const struct prepared **out, const struct consm_dataset *dataset);

#endif
