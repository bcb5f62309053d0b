/* What a model says of itself as JSON: for the metadata of model files and for metrics.json. */
#ifndef API_MODEL_JSON_H
#define API_MODEL_JSON_H

#include <jansson.h>

#include "api/objects.h"
#include "io/safetensors.h"
#include "report/text.h"

/* {"epochs":"300", …}: every parameter as the text config_set reads. */
void config_to_json(struct text *t, const struct config *c);
/* Over what *c holds. A parameter this version does not know is an error. */
consm_status config_from_json(struct config *c, const json_t *object);

/* One role's figures, with classes by name and the confusion matrix. */
void metrics_to_json(struct text *t, const struct metrics *m, const struct consm_model *model);
consm_status metrics_from_json(struct metrics *out, const json_t *object, int32_t classes);

/* The fitted prediction sets; reading checks them. */
void sets_to_json(struct text *t, const struct consm_model *m);
consm_status sets_from_json(struct consm_model *m, const json_t *object);

void names_to_json(struct text *t, char *const *names, int64_t count);

/* Notes the text in a file's metadata and frees it. */
consm_status json_note(struct safetensors_writer *w, const char *key, struct text *t);

/* The whole of metrics.json. */
void model_metrics_to_json(struct text *t, const struct consm_model *model);

#endif
