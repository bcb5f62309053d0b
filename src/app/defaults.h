/* What a run is where nobody says otherwise: one source for the library and the command. Known sets
 * (registered or generated) are for comparing methods, so they train as the papers do. Somebody's
 * own graph trains on all labels it has; its columns come in all units, and few of its nodes
 * validate, so that many epochs are equally right. */
#ifndef APP_DEFAULTS_H
#define APP_DEFAULTS_H

#include "data/dataset.h"
#include "models/config.h"

/* Whether a dataset's name is one that the library knows, not a path. */
bool defaults_known(const char *name_or_path);

/* The split: "random" of known sets, "auto" of others. */
const char *defaults_split(bool known);

/* Parameters that were not given: on somebody's own graph dense columns are standardised, and ties
 * on validation go by its loss. */
void defaults_config(struct config *c, const struct dataset *d, bool known,
                     const bool given[CONFIG_ROWS]);

#endif
