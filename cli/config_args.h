/* The parameters of config.def as flags of a verb: --weight-decay 5e-4. */
#ifndef CLI_CONFIG_ARGS_H
#define CLI_CONFIG_ARGS_H

#include "args.h"
#include "models/model.h"

/* A flag per parameter, for command.more_flags. */
const struct flag *config_flags(void);

/* The model's defaults, then what the flags say; given tells which they were. 0, or EXIT_USAGE with
 * the line printed. */
int config_args(struct config *c, bool given[CONFIG_ROWS], const struct args *args,
                const struct model_def *model);

#endif
