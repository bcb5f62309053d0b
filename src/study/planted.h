/* The parts of the study of planted edges: its graphs and scores, and its tables. */
#ifndef STUDY_PLANTED_H
#define STUDY_PLANTED_H

#include "study/study.h"

enum { PLANTED_ROWS = 16, PLANTED_COLUMNS = 3 * STUDY_MOST };

/* A score of edges: its run, and its name in the result. */
struct score {
    const char *model, *source, *title;
};

/* A planted graph of a set: a column of the tables. */
struct column {
    const char *dataset;
    enum study_plant plant;
    double rate;
};

/* The scores whose models are among the study's; row (PLANTED_ROWS). */
int planted_scores(const struct score **row, const struct study_options *o);

/* The graphs of one kind; of published ones those whose bytes are known. all: every rate, else the
 * one that tables show. out (PLANTED_COLUMNS). */
int planted_columns(struct column *out, const struct study_view *v, enum study_plant plant,
                    bool all);
const char *planted_title(char title[96], const struct column *c);

/* How many rates a kind has, and a published graph's file. */
int planted_rates(const double **rate, const struct study_options *o, enum study_plant plant);
/* NULL: that set has none. */
const char *planted_attack(char name[64], const char *dataset, double rate);

/* The run of a model on a planted graph (attack is storage for a name), and a GCN's on the clean
 * one. */
consm_status planted_run(struct study_run *run, char attack[64], const struct study_options *o,
                         const struct column *c, const char *model);
consm_status planted_clean_run(struct study_run *run, const struct study_options *o,
                               const char *dataset);

/* A figure of a score over the seeds. */
consm_status planted_cell(struct study_cell *out, const struct study_view *v,
                          const struct column *c, const struct score *score, const char *figure);

/* A figure of all scores on all graphs of a kind, with tests against the best. */
struct findings {
    const struct score *row[PLANTED_ROWS];
    struct column column[PLANTED_COLUMNS];
    int rows, columns;
    struct study_cell *cell;   /* (columns, rows) */
    double *p;                 /* (columns, rows) against the best, Holm-corrected per column */
    int best[PLANTED_COLUMNS]; /* -1 without runs */
};
consm_status findings_fill(struct findings *f, const struct study_view *v, enum study_plant plant,
                           const char *figure);
void findings_free(struct findings *f);

/* Adds the tables of a kind, and the long one with everything; suffix ends their names. */
consm_status planted_tables(struct report *r, const struct study_view *v, enum study_plant plant,
                            const char *suffix);
consm_status planted_details(struct report *r, const struct study_view *v, const char *suffix);

#endif
