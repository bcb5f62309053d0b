/* The flags of `consm train`. */
#ifndef CLI_TRAIN_ARGS_H
#define CLI_TRAIN_ARGS_H

#include "train_print.h"

/* Makes the options of the first run, and how many runs there are side by side. Returns EXIT_DONE,
 * or the exit code with the line printed. */
int train_args_read(struct training *t, struct args *args, struct batch *batch);

/* Members of each run: 1, or those of an ensemble. */
int64_t train_members(const struct training *t);

#endif
