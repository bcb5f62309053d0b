/* Random search with an equal budget for all models: the space of configurations, read from YAML,
 * and configuration number k of a model, which depends only on the space, the model and k. */

/*
 * The space is an object: "common" and the names of models map parameters to a list of choices or
 * to {"low": …, "high": …, "log": "yes"}; leaves are text for config_set.
 */
#ifndef STUDY_SEARCH_H
#define STUDY_SEARCH_H

#include <jansson.h>

#include "models/model.h"

/* Reads a YAML file; NULL: the built-in space (studies/search.yaml). Checks every name and value.
 */
consm_status search_read(json_t **out, const char *path);

/* Applies configuration number k to *c; number 0 changes nothing. */
consm_status search_draw(struct config *c, const json_t *space, const struct model_def *model,
                         int64_t k);

#endif
