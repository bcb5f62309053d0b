/* Refuses work that cannot fit before it starts: estimates a run's memory and finds out how much
 * this process may use. */
#ifndef APP_LIMITS_H
#define APP_LIMITS_H

#include "data/dataset.h"
#include "models/model.h"
#include "program/backend.h"

/* What training on an open dataset needs at least, with this many labels that train, runs side by
 * side, and ranks, which divide data in parts. */
int64_t limits_training(const struct dataset *d, const struct config *c, int64_t labels,
                        int64_t jobs, int ranks);

/* CONSM_ELIMIT with the estimate if training would not fit. */
consm_status limits_check(const struct dataset *d, const struct config *c, int64_t labels,
                          int64_t jobs, int ranks);

/* The same for the table that trees learn from, with this many training and validation nodes: our
 * copy and XGBoost's. */
consm_status limits_check_trees(const struct dataset *d, int64_t rows);

/* The same for a device's memory, by the minimum that a run needs there; the message says what
 * would fit. */
consm_status limits_check_device(const struct dataset *d, const struct config *c,
                                 struct backend *backend);

/* The same before anything is opened, from the size of the files or the parameters of a generated
 * set; unknown sets pass. */
consm_status limits_check_name(const char *name_or_path, const struct config *c);

#endif
