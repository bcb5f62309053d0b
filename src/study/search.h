/*
 * Random search with one budget for all: the space of configurations, read from YAML, and the
 * configuration number k of a model, which depends on the space, the model and k alone.
 *
 * The space is an object: "common" and the names of models map parameters to a list of choices or
 * to {"low": …, "high": …, "log": "yes"}; leaves are text, as config_set reads it.
 */
#ifndef STUDY_SEARCH_H
#define STUDY_SEARCH_H

#include <jansson.h>

#include "models/model.h"

/* Reads a YAML file; NULL: the space that is built in (studies/search.yaml). Every name and value
 * is checked. */
consm_status search_read(json_t **out, const char *path);

/* Configuration number k over what *c holds; number 0 leaves it as it is. */
consm_status search_draw(struct config *c, const json_t *space, const struct model_def *model,
                         int64_t k);

#endif
