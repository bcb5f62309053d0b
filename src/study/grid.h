/* Test accuracies of models on datasets, with tests of their differences: shared by `accuracy`,
 * `bench` and `homophily`. */
#ifndef STUDY_GRID_H
#define STUDY_GRID_H

#include "study/study.h"

enum { GRID_ENOUGH = VIEW_ENOUGH };

/* A row: a model, ConSM with another profile, or an ensemble of a model. */
struct grid_row {
    const struct model_def *model;
    const char *profile; /* "paper", "authors", or NULL */
    int64_t ensemble;    /* runs that it combines; 0: none */
    char title[64];
};

/* The rows: the study's models; after ConSM its two other profiles, on sets that have them; or
 * ConSM alone and an ensemble of every model. */
enum grid_kind { GRID_MODELS, GRID_PROFILES, GRID_ENSEMBLES };

/* Whether ConSM's other profiles are run on a set: on the paper's sets, or on all if requested. */
bool grid_profiles(const struct study_options *o, const char *dataset);

/* Which figure of the runs. */
#define GRID_ACCURACY "test_acc"
#define GRID_AUC      "test_auc"

struct grid {
    int sets, models;
    const char *figure;         /* GRID_ACCURACY or GRID_AUC */
    char title[STUDY_MOST][96]; /* (sets) */
    const char *dataset[STUDY_MOST];
    struct grid_row row[STUDY_MOST + 2]; /* (models) */
    struct study_cell *cell;             /* (sets, models) the figure */
    double *p;                    /* (sets, models) against the best, Holm-corrected per set */
    int best[STUDY_MOST];         /* (sets) highest mean, -1 without runs */
    double homophily[STUDY_MOST]; /* (sets) edge homophily as measured by the runs; NaN unknown */
};

/* The run of a cell; *known is false if it cannot be known yet (an unfinished search). */
typedef consm_status (*grid_run_fn)(struct study_run *out, bool *known, const struct study_view *v,
                                    const char *dataset, const struct grid_row *row);

/* Returns the number of rows; row (STUDY_MOST + 2). */
int grid_rows(struct grid_row *row, const struct study_options *o, enum grid_kind kind);

/* Looks all cells up and tests every row against the best of its set. */
consm_status grid_fill(struct grid *g, const struct study_view *v, const char *const *dataset,
                       int sets, grid_run_fn run_of, enum grid_kind kind, const char *figure);
void grid_free(struct grid *g);

static inline struct study_cell *grid_cell(const struct grid *g, int set, int model)
{
    return &g->cell[set * g->models + model];
}

/* The paper's figure for a cell; NaN if it has none, as for ensembles. */
double grid_paper(const struct grid *g, int set, int model);

/* Each adds one to a report. Models by datasets: mean ± std, the best and its equals marked, the
 * paper's figure in brackets.
 */
void grid_table(struct report *r, const struct grid *g, const char *name, const char *caption);
/* A line per cell: interval, difference to the best, p. */
void grid_details(struct report *r, const struct grid *g, const char *name, const char *caption);
/* Bars with 95 % intervals and the paper's marks. */
consm_status grid_bars(struct report *r, const struct grid *g, const char *name, const char *title);

/* Sentences and facts: the best method for each kind of graph, its lead, and the tests. */
void grid_summary(struct report *r, const struct grid *g);

/* Whether p says that two models differ. */
static inline bool grid_differs(double p)
{
    return p < 0.05; /* false for NaN */
}

#endif
