/* The training, validation and test nodes of a run. In addition to the splits of src/data there is
 * `auto`, for a user's own labels: the split that came with the data, else every label trains. If a
 * split has no validation nodes, some training labels are held out. */
#ifndef APP_ROLES_H
#define APP_ROLES_H

#include "data/split.h"

struct roles {
    uint8_t *role;  /* (n) of enum split_role */
    char split[64]; /* the split that was made: "random", "public", "labels", the file's name */
    int64_t count[4];
    int64_t held_out; /* validation nodes taken from the training nodes */
    /* Nodes whose labels calibrate prediction sets: their role is SPLIT_NONE. */
    uint8_t *calibrates; /* (n), or NULL: none */
    int64_t calibrating;
};

/* split: "auto" or anything that split_make knows. o may be NULL. */
consm_status roles_make(struct roles *out, const struct dataset *d, const char *split,
                        uint64_t seed, const struct split_options *o);
void roles_free(struct roles *r);

/* Sets a random half of the validation nodes aside, by the seed, so that the labels that calibrate
 * prediction sets did not select the model. */
consm_status roles_set_aside(struct roles *r, int64_t nodes, uint64_t seed);

/* The same on plain arrays: a random half of the validation nodes gets SPLIT_NONE, and 1 in
 * calibrates (n). Returns their number, or a status below 0. */
int64_t roles_halve(uint8_t *role, uint8_t *calibrates, int64_t nodes, uint64_t seed);

#endif
