/* The values of an explanation's items. */
#ifndef APP_EXPLAIN_VALUES_H
#define APP_EXPLAIN_VALUES_H

#include "consm.h"

/* Adds to an explanation with complete lists: trust and weight of edges, known class and prediction
 * of neighbours, the node's value and the usual range of features. */
consm_status explain_values(struct consm_explanation *e, struct consm_predictor *predictor);

/* A feature's value as text; of a date column (days since 1970) the date. Returns out. */
const char *feature_text(char out[32], const struct consm_model *m, const char *feature,
                         float value);

#endif
