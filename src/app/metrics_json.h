/* A model's metrics as JSON, for metrics.json and `consm evaluate`. */
#ifndef APP_METRICS_JSON_H
#define APP_METRICS_JSON_H

#include "report/text.h"

/* One role's figures, with classes by name and the confusion matrix. */
void metrics_to_json(struct text *t, const struct consm_metrics *metrics,
                     const struct consm_model *model);

/* The whole of metrics.json. */
void model_metrics_to_json(struct text *t, const struct consm_model *model);

#endif
