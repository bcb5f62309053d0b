/* Help in other forms from the same tables: manual pages, and completion for bash, zsh and fish. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "args.h"

/* The page consm(1), or of one verb, consm-VERB(1), in man macros. */
void help_man(const struct command *const *commands, const struct command *verb);

/* The completion script of a shell; EXIT_USAGE with a line if the shell is unknown. */
int help_completion(const struct command *const *commands, const char *shell);

/* `consm help formats`: the table of data/readers. */
void help_formats(void);

/* Flag `index` of a verb, from both of its tables; NULL after the last. */
const struct flag *help_flag(const struct command *command, int index);

#endif
