/* The parameters of config.def as flags of a verb: --weight-decay 5e-4. */
#ifndef CLI_CONFIG_ARGS_H
#define CLI_CONFIG_ARGS_H

#include "args.h"
#include "models/model.h"

/* A flag per parameter, for command.more_flags; the help shows the defaults of consm, or of the
 * model. The second call overwrites the result of the first. */
const struct flag *config_flags(void);
const struct flag *config_flags_of(const struct model_def *model);

/* Applies the model's defaults, then the --config file, then what was typed; in each, the profile
 * comes first, wherever it is. given marks the parameters that were set. 0, or EXIT_USAGE with the
 * line printed. model NULL: several models will train, so there is no warning about unused
 * parameters. */
int config_args(struct config *c, bool given[CONFIG_ROWS], const struct args *args,
                const struct model_def *model);

#endif
