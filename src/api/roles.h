/* Who trains, validates and tests in a run. Beyond the splits of src/data there is `auto`, for
 * people with their own labels: what came with the data, else every label trains. And where a split
 * leaves nobody to validate, some of the training labels are held out for it. */
#ifndef API_ROLES_H
#define API_ROLES_H

#include "data/split.h"

struct roles {
    uint8_t *role;  /* (n) of enum split_role */
    char split[64]; /* what was done: "random", "public", "labels", the file's name */
    int64_t count[4];
    int64_t held_out; /* validation nodes taken from the training nodes */
};

/* split: "auto" or anything split_make knows. o may be NULL. */
consm_status roles_make(struct roles *out, const struct dataset *d, const char *split,
                        uint64_t seed, const struct split_options *o);
void roles_free(struct roles *r);

#endif
