/* A run's parameters, and the table that describes them. */
#ifndef MODELS_CONFIG_H
#define MODELS_CONFIG_H

#include "base/status.h"

/* The words: enum config_ties { TIES_FIRST, TIES_LOSS }, and config_names_ties[TIES_FIRST] is
 * "first"; NULL follows the last name. */
#define INT(name, value, min, max, help)
#define REAL(name, value, min, max, help)
#define AUTO(name, min, max, help)
#define CHOICE(constant, word) constant
#define WORD(name, value, help, ...) \
    enum config_##name{__VA_ARGS__}; \
    extern const char *const config_names_##name[];
#include "models/config.def"
#undef INT
#undef REAL
#undef AUTO
#undef CHOICE
#undef WORD

struct config {
#define INT(name, value, min, max, help)  int64_t name;
#define REAL(name, value, min, max, help) double name;
#define AUTO(name, min, max, help)        double name;
#define WORD(name, value, help, ...)      enum config_##name name;
#include "models/config.def"
#undef INT
#undef REAL
#undef AUTO
#undef WORD
};

/* The number of each row in config_rows(), and how many there are. */
enum {
#define INT(name, value, min, max, help)  CONFIG_ROW_##name,
#define REAL(name, value, min, max, help) CONFIG_ROW_##name,
#define AUTO(name, min, max, help)        CONFIG_ROW_##name,
#define WORD(name, value, help, ...)      CONFIG_ROW_##name,
#include "models/config.def"
#undef INT
#undef REAL
#undef AUTO
#undef WORD
    CONFIG_ROWS
};

enum config_kind { CONFIG_INT, CONFIG_REAL, CONFIG_AUTO, CONFIG_WORD };

/* One row of config.def. */
struct config_row {
    const char *name, *help;
    enum config_kind kind;
    double value;               /* the default; of a word its index in choices */
    double min, max;            /* numbers */
    const char *const *choices; /* words: possible values, then NULL */
    size_t offset;
};

/* The rows in order; a row without a name ends the list. */
const struct config_row *config_rows(void);
const struct config_row *config_find(const char *name); /* "-" and "_" are the same; NULL: none */

/* Whether two names are equal, with "-" and "_" the same. */
bool config_same_name(const char *a, const char *b);

void config_defaults(struct config *c);

/* Whether features are divided by deviations, which the model file then holds. */
bool config_scales_columns(const struct config *c);

/* Copies one parameter from another configuration. */
void config_copy(struct config *to, const struct config *from, int row);

/* Whether a profile may set the parameter. */
bool config_profile_decides(int row);

/* Applies c's profile: given parameters keep their value, whenever they were set, and so do those
 * that no profile decides; the others take the defaults, then the profile's values. */
void config_settle_profile(struct config *c, const struct config *defaults,
                           const bool given[CONFIG_ROWS]);

/* Sets a parameter from text. Setting "profile" sets all that the profile decides, so it comes
 * before overrides. CONSM_ENOTFOUND with the nearest name, CONSM_EINVAL with the range. */
consm_status config_set(struct config *c, const char *name, const char *text);

/* A parameter as text that config_set reads back exactly. */
const char *config_text(const struct config *c, const struct config_row *row, char buffer[32]);

#endif
