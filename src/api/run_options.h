/* The table of run options that are not parameters of config.def. */
#ifndef API_RUN_OPTIONS_H
#define API_RUN_OPTIONS_H

#include "consm.h"
#include <stddef.h>

/* The type of an option's field in struct consm_options. */
enum run_field {
    FIELD_SEED,
    FIELD_INT,
    FIELD_INT64,
    FIELD_BOOL,
    FIELD_REAL,
    FIELD_TEXT,
    FIELD_DEVICE
};

struct run_option {
    const char *name, *value, *help; /* value: the default as text */
    enum consm_kind kind;
    double min, max; /* numbers */
    enum run_field field;
    size_t at; /* of the field in struct consm_options */
};

/* The rows in order; a row without a name ends the list. */
const struct run_option *run_options(void);

#endif
