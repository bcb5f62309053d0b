/* The parameters of config.def as flags of a verb: --weight-decay 5e-4. */
#ifndef CLI_CONFIG_ARGS_H
#define CLI_CONFIG_ARGS_H

#include "args.h"
#include "models/model.h"

/* A flag per parameter, for command.more_flags; the help shows the defaults of consm, or of the
 * model. The second call overwrites what the first gave. */
const struct flag *config_flags(void);
const struct flag *config_flags_of(const struct model_def *model);

/* The model's defaults, then what a --config file says, then what was typed; in each a profile
 * comes first, wherever it stands. given tells which parameters were set. 0, or EXIT_USAGE with the
 * line printed. model NULL: several will train, and none is said not to use a parameter. */
int config_args(struct config *c, bool given[CONFIG_ROWS], const struct args *args,
                const struct model_def *model);

#endif
