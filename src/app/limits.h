/* Refusing work that cannot fit, before it starts: what a run will need in memory, and what this
 * process may have. */
#ifndef APP_LIMITS_H
#define APP_LIMITS_H

#include "data/dataset.h"
#include "models/model.h"
#include "program/backend.h"

/* Bytes this process may use: the machine's memory, less where a control group or `ulimit -v` says
 * so. */
int64_t limits_memory(void);

/* Estimated peak of training on an open dataset, with so many runs side by side. */
int64_t limits_training(const struct dataset *d, const struct config *c, int64_t jobs);

/* CONSM_ELIMIT with the estimate when training would not fit. */
consm_status limits_check(const struct dataset *d, const struct config *c, int64_t jobs);

/* The same of the table that trees learn from, with so many training and validation nodes: ours,
 * and what XGBoost makes of it. */
consm_status limits_check_trees(const struct dataset *d, int64_t rows);

/* The same of a device's memory, by what a run has there at the least: what is said here would not
 * fit in any case, and what would. */
consm_status limits_check_device(const struct dataset *d, const struct config *c,
                                 struct backend *backend);

/* The same before anything is opened, from the size of the files or the knobs of a generated set;
 * sets of which nothing is known pass. */
consm_status limits_check_name(const char *name_or_path, const struct config *c);

#endif
