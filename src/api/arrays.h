/* Parts of datasets from arrays, for whoever makes one of them. */
#ifndef API_ARRAYS_H
#define API_ARRAYS_H

#include "app/objects.h"

/* a->label as d's; unknown ones may be any negative number. */
consm_status take_labels(struct dataset *d, const struct consm_arrays *a);
/* a->role as d's only split. */
consm_status take_roles(struct dataset *d, const struct consm_arrays *a);
/* Names by which people tell nodes or classes apart; NULL stays NULL. */
consm_status take_names(char ***out, const char *const *name, int64_t count, const char *what);

#endif
