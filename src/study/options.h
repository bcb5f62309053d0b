/* The options of a study, from the command line and in study.json: the report uses the same options
 * as the runs. */
#ifndef STUDY_OPTIONS_H
#define STUDY_OPTIONS_H

#include "study/plan.h"

enum { STUDY_MOST = 64, STUDY_MOST_SEEDS = 200, STUDY_MOST_SPLITS = 8 };

struct study_options {
    json_t *json; /* owned; it holds the strings below */
    const char *dataset[STUDY_MOST];
    int datasets;
    bool chosen; /* the datasets were named by the user, not just found */
    const struct model_def *model[STUDY_MOST];
    int models;
    int64_t seeds;
    const char *split; /* "paper" or another name for split_make: the first of splits */
    const char *splits[STUDY_MOST_SPLITS];
    int split_count;
    bool
        splits_chosen; /* they were named: `edges` and `planted` then use all, not only the first */
    struct split_options split_options;
    const char *device; /* what runs run on: a name of backend_open; NULL: the CPU */
    int64_t ensemble;   /* accuracy: also ensembles of this number of runs; 0: none */
    bool quick;         /* smaller grids, half the epochs */
    bool profiles;      /* accuracy: ConSM's other profiles also on sets that are not the paper's */
    bool without[PLANTS]; /* robust: attacks that were not requested */
    const json_t *set;    /* parameters set for all models, name → text; or NULL */
    /* `consm bench --search`: configurations per model, and seeds per configuration. */
    int64_t search, search_seeds;
    const json_t *space; /* the search space, see search.h; or NULL */
};

/* Keys: datasets, models, chosen, seeds, split (a name or a list of them), split_chosen, per_class,
 * train_ratio, val_ratio, pooled, device, ensemble, profiles, attacks, quick, set, search,
 * search_seeds, space; all but datasets are optional. Takes a reference. */
consm_status options_read(struct study_options *out, json_t *json);
void options_free(struct study_options *o);

/* The options with one of their splits as the only one; it borrows and is never freed. For a split
 * other than the first, without generated sets that cannot have it (public, file:I). */
struct study_options options_with_split(const struct study_options *o, int split);

/* The number of splits for a study that needs only the first: all that were named. */
int options_splits(const struct study_options *o);

/* A run of the study with its split and the set parameters. */
consm_status options_run(struct study_run *out, const struct study_options *o, enum study_task task,
                         const char *dataset, const struct model_def *model);

/* Sets parameters from an object name → text or number. */
consm_status options_apply(struct config *c, const json_t *set);

/* The datasets of a study: the chosen ones; else the available ones of `preferred` (a list ended by
 * NULL), or all if none is. Returns the number, at most STUDY_MOST. */
int options_datasets(const char **out, const struct study_options *o, const char *const *preferred);

/* The model with that name if it is among the study's, or NULL. */
const struct model_def *options_model(const struct study_options *o, const char *name);

/* The number of seeds, with a limit for studies with large grids. */
int64_t options_seeds(const struct study_options *o, int64_t most);

#endif
