/* A study: the runs it needs, and how their results become tables, figures and a verdict on each of
 * the paper's claims. Both parts use the same grid of runs; runs missing in the record (an
 * interrupted study) are shown as missing. */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include "report/html.h"
#include "stats/stats.h"
#include "study/execute.h"
#include "study/options.h"

struct study_view {
    const struct study_options *options;
    struct runs *runs;
    const json_t *hashes;
    const char *folder;
};

struct study_def {
    const char *name;  /* "accuracy" */
    const char *title; /* for the report */
    const char *about; /* one line for the help */
    /* Opens what it needs besides the datasets; NULL: nothing. */
    consm_status (*open)(struct study_sets *sets, const struct study_options *o,
                         const struct data_options *how);
    /* Adds the runs that are known to be needed. A study whose later runs depend on earlier results
     * (a search) adds them when those exist. */
    consm_status (*plan)(struct plan *plan, const struct study_view *v);
    /* Adds a section, and facts, sentences and claims, to the report. */
    consm_status (*render)(struct report *r, const struct study_view *v);
};

/* All studies in the order of the report, then NULL, without bench. */
const struct study_def *const *study_list(void);
const struct study_def *study_find(const char *name); /* bench too; NULL: none */

/* ---- results (view.c) ---------------------------------------------------- */

/* With fewer pairs the exact two-sided test cannot reach p < 0.05. */
enum { VIEW_ENOUGH = 6 };

/* One figure over the seeds. */
struct study_cell {
    int64_t seeds, n;               /* requested; available */
    double value[STUDY_MOST_SEEDS]; /* (seeds) NaN if a run is missing */
    double mean, std;               /* NaN without runs; std NaN with one */
    struct stats_interval interval; /* 95 % of the mean */
};

/* The figure `field` ("test_acc", "trust.auc") of the run with seeds 0 … seeds-1. */
consm_status view_cell(struct study_cell *out, const struct study_view *v,
                       const struct study_run *run, int64_t seeds, const char *field);

/* Counts the available values and computes mean, std and interval. */
void view_summarise(struct study_cell *cell);

/* A run's whole record, or NULL. */
consm_status view_record(const json_t **out, const struct study_view *v,
                         const struct study_run *run);

/* A cell of a table: mean ± standard deviation, times scale; empty without runs. */
void view_mean(struct table *t, const struct study_cell *cell, double scale, int decimals);
/* A footnote for that cell if some of its runs are missing. */
void view_note_missing(struct table *t, const struct study_cell *cell);

/* Two-sided paired test over the seeds both have; NaN with fewer than two. */
consm_status view_compare(double *p, const struct study_cell *a, const struct study_cell *b);
/* Whether that test, at 0.05, says that a is larger. */
consm_status view_above(bool *above, double *p, const struct study_cell *a,
                        const struct study_cell *b);

/* The best mean of several (the lowest if small is good), -1 without runs; p (count): every other
 * against it, as one family of tests with Holm's correction, NaN for the best and for missing ones.
 */
consm_status view_against_best(int *best, double *p, const struct study_cell *cell, int count,
                               bool small);
/* Whether those tests put the best ahead of every other. */
bool view_ahead_of_all(const double *p, int best, int count);

/* The marks of entry k in a table with three decimals (a share) or one (percent): TABLE_BEST for
 * the best, unless another one is shown with the same figure; TABLE_TIED for such ties and for
 * entries that do not differ from the best by p; else 0. */
unsigned view_standing(const struct study_cell *cell, const double *p, int count, int best, int k);

/* A name for display: "GCN", "Chameleon", "csbm, h = 0.1". Never NULL. */
const char *view_model_title(const struct model_def *model);
const char *view_dataset_title(const char *name, char buffer[96]);

/* printf into a fixed buffer, for the sentences of reports. */
struct view_words {
    char text[1024];
};
const char *view_printf(struct view_words *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- the folder of a study (folder.c) ------------------------------------ */

/* DIR/runs.jsonl, DIR/study.json (the options, and the data's hashes), DIR/graph-*.json. */
struct study_folder {
    char *path;
    struct runs *runs;
    json_t *about; /* study.json */
    int lock;      /* of a folder that runs are added to, or -1 */
};

consm_status folder_open(struct study_folder *out, const char *path, enum runs_mode mode);
void folder_close(struct study_folder *f);

/* A fingerprint of the sources, stored with every run; and how many runs have another one. */
const char *study_build(void);
int64_t folder_other_builds(const struct study_folder *f);

/* Records that a study was requested; replaces an earlier entry with the same name. */
consm_status folder_enter(struct study_folder *f, const char *study, json_t *options);
/* Adds a finished command: its time and its number of runs. */
consm_status folder_invoked(struct study_folder *f, const char *command, double seconds,
                            int64_t runs);
consm_status folder_save(struct study_folder *f);

/* The report of everything in the folder. only (may be NULL): only that study. */
consm_status folder_report(struct report **out, struct study_folder *f, const char *title,
                           const char *only);

#endif
