/* Helpers that make parts of a dataset from arrays. */
#ifndef APP_ARRAYS_H
#define APP_ARRAYS_H

#include "app/objects.h"

/* Copies a->label into d; any negative number means unknown. */
consm_status take_labels(struct dataset *d, const struct consm_arrays *a);
/* Makes a->role the only split of d. */
consm_status take_roles(struct dataset *d, const struct consm_arrays *a);
/* Copies names of nodes or classes, which must differ; NULL stays NULL. */
consm_status take_names(char ***out, const char *const *name, int64_t count, const char *what);

#endif
