/* What a study is asked to do, as the command line says it and as study.json keeps it: the report
 * is made from the same options as the runs were. */
#ifndef STUDY_OPTIONS_H
#define STUDY_OPTIONS_H

#include "study/plan.h"

enum { STUDY_MOST = 64, STUDY_MOST_SEEDS = 200, STUDY_MOST_SPLITS = 8 };

struct study_options {
    json_t *json; /* owned; the strings below lie in it */
    const char *dataset[STUDY_MOST];
    int datasets;
    bool chosen; /* the datasets were named, not just found */
    const struct model_def *model[STUDY_MOST];
    int models;
    int64_t seeds;
    const char *split; /* "paper" or another that split_make knows: the first of … */
    const char *splits[STUDY_MOST_SPLITS];
    int split_count;
    bool splits_chosen; /* they were named: `edges` and `planted` use all, not just the first */
    struct split_options split_options;
    const char *device; /* what runs run on: a name of backend_open; NULL: the CPU */
    int64_t ensemble;   /* accuracy: also ensembles of so many runs; 0: none */
    bool quick;         /* smaller grids, half the epochs */
    bool profiles;      /* accuracy: ConSM's other profiles also on sets that are not the paper's */
    bool without[PLANTS]; /* robust: attacks that were not asked for; none: all are */
    const json_t *set;    /* parameters set for all models, name → text; or NULL */
    /* `consm bench --search`: so many configurations per model, tried with so many seeds. */
    int64_t search, search_seeds;
    const json_t *space; /* what is searched, as search.h describes it; or NULL */
};

/* Keys: datasets, models, chosen, seeds, split (a name or a list of them), split_chosen, per_class,
 * train_ratio, val_ratio, pooled, device, ensemble, profiles, attacks, quick, set, search,
 * search_seeds, space; all but datasets may be missing. Takes a reference. */
consm_status options_read(struct study_options *out, json_t *json);
void options_free(struct study_options *o);

/* The options with one of their splits as the only one; it borrows and is never freed. Of a split
 * that is not the first: without generated sets where they cannot have it (public, file:I). */
struct study_options options_with_split(const struct study_options *o, int split);

/* How many splits a study goes over that needs no more than the first: all that were named. */
int options_splits(const struct study_options *o);

/* A run of the study with its split, parameters as set. */
consm_status options_run(struct study_run *out, const struct study_options *o, enum study_task task,
                         const char *dataset, const struct model_def *model);

/* Sets parameters from an object name → text or number. */
consm_status options_apply(struct config *c, const json_t *set);

/* The datasets a study works on: those that were chosen; else of `preferred` (a list ended by NULL)
 * those that are there, or all when none is. Returns how many; at most STUDY_MOST. */
int options_datasets(const char **out, const struct study_options *o, const char *const *preferred);

/* The model of that name if it is among the study's, or NULL. */
const struct model_def *options_model(const struct study_options *o, const char *name);

/* Seeds, at most so many: for studies whose grids are large. */
int64_t options_seeds(const struct study_options *o, int64_t most);

#endif
