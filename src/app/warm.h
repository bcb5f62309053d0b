/* Training that goes on from a model: its equations, its features' scale and its parameters. */
#ifndef APP_WARM_H
#define APP_WARM_H

#include "app/objects.h"

/* CONSM_EINVAL, with the reason, unless training on a dataset may begin with the model. */
consm_status warm_check(const struct consm_model *from, const struct dataset *d);

/* Lets a run with these options begin with the model, which must outlive it. */
consm_status warm_start(struct train_options *options, const struct consm_model *from);

#endif
