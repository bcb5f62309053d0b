/* The defaults of a run, for the library and the command. Known sets (registered or generated) are
 * for comparing methods, so they train as in the papers. A user's own graph trains on all its
 * labels. Its columns have different units, and it has few validation nodes, so many epochs tie. */
#ifndef APP_DEFAULTS_H
#define APP_DEFAULTS_H

#include "data/dataset.h"
#include "models/config.h"

/* Whether a dataset was opened by a known name, not by a path. */
bool defaults_known(const char *name_or_path);

/* The split: "random" for known sets, "auto" for others. */
const char *defaults_split(bool known);

/* Fills in parameters that were not set: on a user's own graph dense columns are standardised, and
 * the validation loss breaks ties. */
void defaults_config(struct config *c, const struct dataset *d, bool known,
                     const bool given[CONFIG_ROWS]);

#endif
