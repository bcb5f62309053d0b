/* The parts of the study of attacks: its graphs and methods, their runs, their figures. */
#ifndef STUDY_ROBUST_H
#define STUDY_ROBUST_H

#include "study/study.h"

enum {
    ROBUST_ROWS = STUDY_MOST + 8,
    ROBUST_COLUMNS = 6 * STUDY_MOST,
    ROBUST_TABLES = 5 * STUDY_MOST
};

/* A table: a kind of attack, on one published set or (dataset NULL) on all sets of the study. */
struct robust_table {
    enum study_plant plant;
    const char *dataset;
};

/* An attacked graph: a column. Nettack's rate is the number of changes per target. */
struct robust_column {
    enum study_plant plant;
    const char *dataset;
    double rate;
};

/* A method: a model, or a GCN after a model's run cleaned the graph. */
struct robust_row {
    const struct model_def *model;
    const char *field; /* of the run's result */
    char title[64];
};

/* The tables that can be filled; of published sets those whose bytes are known. table
 * (ROBUST_TABLES). */
int robust_tables(struct robust_table *table, const struct study_view *v);
/* column (ROBUST_COLUMNS) */
int robust_columns(struct robust_column *column, const struct robust_table *t,
                   const struct study_view *v);
/* row (ROBUST_ROWS). Attackers who know what ConSM trusts are only tested on GCN and ConSM. */
int robust_rows(struct robust_row *row, const struct study_options *o, enum study_plant plant);

/* Opens the available published sets; logs one line for each that is missing. */
consm_status robust_open(struct study_sets *sets, const struct study_options *o,
                         const struct data_options *how);

/* The run of a cell; attack is storage for a file's name. */
consm_status robust_run(struct study_run *run, char attack[64], const struct study_options *o,
                        const struct robust_column *c, const struct model_def *model);
consm_status robust_cell(struct study_cell *out, const struct study_view *v,
                         const struct robust_column *c, const struct model_def *model,
                         const char *field);

/* "DICE", and "Cora, 10 %" or "5 per target". */
const char *robust_attack(enum study_plant plant);
const char *robust_title(char title[128], const struct robust_column *c, bool with_set);

/* ConSM against one other method, on every attacked graph. */
struct robust_pairs {
    struct robust_column column[ROBUST_COLUMNS];
    struct study_cell *ours, *theirs; /* (count) */
    double *p, *holm; /* (count) p values of paired tests, raw and with Holm's correction */
    int count;
};
consm_status robust_pairs_fill(struct robust_pairs *out, const struct study_view *v,
                               const char *model, const char *field);
void robust_pairs_free(struct robust_pairs *p);

#endif
