/* The parts of a training run's report.html, one file each. */
#ifndef APP_REPORT_PARTS_H
#define APP_REPORT_PARTS_H

#include "app/objects.h"
#include "app/report.h"
#include "report/html.h"

/* Test if there are test nodes, else validation. */
enum consm_role report_role(const struct consm_model *m);

/* report_data.c: date, data, settings, glossary. */
void report_add_date(struct report *r);
void report_add_data(struct report *r, const struct dataset *d);
void report_add_settings(struct report *r, const struct consm_model *m);
void report_add_glossary(struct report *r);

/* report_suspects.c: the most probable nodes of the requested class, with reasons, and a picture of
 * the first one. Without such a class it is a picture of the most uncertain node. */
void report_add_suspects(struct report *r, const struct report_input *in);

/* report_changes.c: what changed since the model that training began with; nothing without one. */
void report_add_changes(struct report *r, const struct report_input *in);

/* report_trust.c: the section on trust; nothing for a graph without edges. */
consm_status report_add_trust(struct report *r, const struct report_input *in);
/* The score of each entry of the cleaned graph (nnz); the caller frees it. */
consm_status trust_by_entry(float **out, const struct consm_edge_scores *s,
                            const struct csr *graph);

/* report_confidence.c: calibration of probabilities; role (n) of the nodes. */
consm_status report_add_confidence(struct report *r, const struct consm_model *m,
                                   const struct consm_prediction *p, const struct dataset *d,
                                   const uint8_t *role);

/* report_candidates.c: ConSM's candidates; nothing if there were none. */
void report_add_candidates(struct report *r, const struct consm_model *m);

/* The name of the validation metric in figures and tables. */
const char *report_metric(const struct consm_model *m);

/* The epoch with the best validation score, as the learning curve counts epochs. */
int64_t report_best_epoch(const struct consm_model *m);

/* report_curves.c: learning, precision-recall and ROC curves; the most uncertain nodes. */
consm_status report_add_learning(struct report *r, const struct report_input *in);
consm_status report_add_curves(struct report *r, const struct consm_model *m);
consm_status report_add_uncertain(struct report *r, const struct report_input *in);

#endif
