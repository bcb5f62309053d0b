/* Training that continues from a model: its equations, the scale of its features, and its
 * parameters. */
#ifndef APP_WARM_H
#define APP_WARM_H

#include "app/objects.h"

/* CONSM_EINVAL, with the reason, unless training on a dataset may start from the model. */
consm_status warm_check(const struct consm_model *from, const struct dataset *d);

/* Makes a run with these options start from the model, which must outlive it. */
consm_status warm_start(struct train_options *options, const struct consm_model *from);

#endif
