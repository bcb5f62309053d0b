/* The table of run options that are not parameters of config.def. */
#ifndef API_RUN_OPTIONS_H
#define API_RUN_OPTIONS_H

#include "consm.h"

struct run_option {
    const char *name, *value, *help; /* value: the default as text */
    enum consm_kind kind;
    double min, max; /* numbers */
    consm_status (*set)(struct consm_options *o, const struct run_option *row, const char *text);
    const char *(*get)(const struct consm_options *o, char buffer[32]);
};

/* The rows in order; a row without a name ends the list. */
const struct run_option *run_options(void);

#endif
