/* A user's choices about how to read tables: the columns, and the rules for repeated pairs and
 * unknown nodes. A dataset stores them, a model trained on it keeps them, and the next dataset is
 * read the same way. */
#ifndef DATA_CHOICES_H
#define DATA_CHOICES_H

#include "base/alloc.h"

enum choice {
    CHOICE_ID,
    CHOICE_LABEL,
    CHOICE_WEIGHT,
    CHOICE_SOURCE,
    CHOICE_TARGET,
    CHOICE_IGNORE,
    CHOICE_DUPLICATES,
    CHOICE_UNKNOWN,
    CHOICES
};
extern const char *const choice_name[CHOICES]; /* "id-column", …: the flags of the command */

struct choices {
    char *text[CHOICES]; /* NULL: not set */
};

consm_status choices_copy(struct choices *out, const char *const text[CHOICES]);
void choices_free(struct choices *c);
bool choices_any(const struct choices *c);

#endif
