/* report.html of one training run: its parts, one file each. */
#ifndef APP_REPORT_PARTS_H
#define APP_REPORT_PARTS_H

#include "app/report.h"
#include "report/html.h"

/* Test where there is such a node, else validation. */
enum consm_role report_role(const struct consm_model *m);

/* report_data.c: when it was made, what was read, what it was trained with, what words mean. */
void report_add_date(struct report *r);
consm_status report_add_data(struct report *r, const struct dataset *d);
consm_status report_add_settings(struct report *r, const struct consm_model *m);
consm_status report_add_glossary(struct report *r);

/* report_suspects.c: the nodes most probably of the asked class, with reasons, and a picture of the
 * first one's; without such a class the picture is of the most uncertain node. */
consm_status report_add_suspects(struct report *r, const struct report_input *in);

/* report_trust.c: the section on trust; nothing for a graph without edges. */
consm_status report_add_trust(struct report *r, const struct report_input *in);
/* The scores once for each entry of the cleaned graph (nnz), the caller's to free. */
consm_status trust_by_entry(float **out, const struct consm_edge_scores *s,
                            const struct csr *graph);

/* report_confidence.c: how calibrated probabilities are; role (n) of the nodes. */
consm_status report_add_confidence(struct report *r, const struct consm_model *m,
                                   const struct consm_prediction *p, const struct dataset *d,
                                   const uint8_t *role);

/* report_candidates.c: those that ConSM chose its backbone from; nothing where it chose from none.
 */
consm_status report_add_candidates(struct report *r, const struct consm_model *m);

/* The metric that chose, as figures and tables call it. */
const char *report_metric(const struct consm_model *m);

/* report_curves.c: learning, precision by recall and ROC; the most uncertain nodes. */
consm_status report_add_learning(struct report *r, const struct report_input *in);
consm_status report_add_curves(struct report *r, const struct consm_model *m);
consm_status report_add_uncertain(struct report *r, const struct report_input *in);

#endif
