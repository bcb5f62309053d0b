/* The parts of the study of edges: the scores it judges, and its figures. */
#ifndef STUDY_EDGES_H
#define STUDY_EDGES_H

#include "study/study.h"

/* A row of the tables: a model's coefficients, ConSM's trust, the agreement of a model's
 * predictions, or a single witness of trust. */
struct judge {
    const struct model_def *model;
    const char *source; /* "coefficients", "trust", "agreement" or "witnesses…" */
    const char *figure; /* of a witness: its name; NULL: what the table shows */
    char title[64];
};
enum { EDGES_ROWS = 2 * STUDY_MOST + 1 };

/* All coefficients, then ConSM's trust; agreement: then the agreement of every model. Returns the
 * number; row (EDGES_ROWS). */
int edges_rows(struct judge *row, const struct study_options *o, bool agreement);

consm_status edges_cell(struct study_cell *out, const struct study_view *v, const struct judge *j,
                        const char *dataset, const char *figure);

consm_status edges_bars(struct report *r, const struct study_view *v);
consm_status edges_reliability(struct report *r, const struct study_view *v, const char *dataset);

#endif
