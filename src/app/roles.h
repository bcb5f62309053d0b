/* Who trains, validates and tests in a run. Beyond the splits of src/data there is `auto`, for
 * people with their own labels: what came with the data, else every label trains. And where a split
 * leaves nobody to validate, some of the training labels are held out for it. */
#ifndef APP_ROLES_H
#define APP_ROLES_H

#include "data/split.h"

struct roles {
    uint8_t *role;  /* (n) of enum split_role */
    char split[64]; /* what was done: "random", "public", "labels", the file's name */
    int64_t count[4];
    int64_t held_out; /* validation nodes taken from the training nodes */
    /* Nodes whose labels calibrate prediction sets: their role is SPLIT_NONE. */
    uint8_t *calibrates; /* (n), or NULL: nobody does */
    int64_t calibrating;
};

/* split: "auto" or anything split_make knows. o may be NULL. */
consm_status roles_make(struct roles *out, const struct dataset *d, const char *split,
                        uint64_t seed, const struct split_options *o);
void roles_free(struct roles *r);

/* Sets a random half of the validation nodes aside, by the seed, so that labels which calibrate
 * prediction sets are not those that selected the model. */
consm_status roles_set_aside(struct roles *r, int64_t nodes, uint64_t seed);

/* The same on plain arrays: of the validation nodes a random half gets SPLIT_NONE, and 1 in
 * calibrates (n). Returns how many, or a status below 0. */
int64_t roles_halve(uint8_t *role, uint8_t *calibrates, int64_t nodes, uint64_t seed);

#endif
