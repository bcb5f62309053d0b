/*
 * A learner's numbers put aside: parameters, Adam's moments, the best so far, how far it was.
 * Trying several ways on from one point, or going on later with other programs, takes nothing else.
 */
#ifndef NN_SNAPSHOT_H
#define NN_SNAPSHOT_H

#include "nn/learner.h"

struct snapshot {
    int64_t size;   /* floats in each block; 0: nothing was taken */
    float *numbers; /* (SNAPSHOT_BLOCKS, size): values, moments, best */
    int64_t steps, best_step;
    double best, best_loss;
};
enum { SNAPSHOT_BLOCKS = 4 };

/* Makes room, so that taking allocates nothing. */
consm_status snapshot_reserve(struct snapshot *s, const struct learner *l);
void snapshot_free(struct snapshot *s);

/* Copies everything out of a learner, making room when there is none. */
consm_status snapshot_take(struct snapshot *s, struct learner *l);

/* Copies it back into a learner of the same parameters; nothing when nothing was taken. */
consm_status snapshot_put(const struct snapshot *s, struct learner *l);

/* The same, but the learner's best so far stays as it is. */
consm_status snapshot_put_point(const struct snapshot *s, struct learner *l);

/* Goes on where another learner is: every parameter that both know by name, with its moments and
 * best value, and how far it was. */
consm_status learner_adopt(struct learner *to, struct learner *from);

#endif
