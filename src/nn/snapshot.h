/* A saved state of a learner: parameters, Adam's moments, the best parameters, and the number of
 * steps. It is all that is needed to try several continuations from one point, or to continue
 * later. */
#ifndef NN_SNAPSHOT_H
#define NN_SNAPSHOT_H

#include "nn/learner.h"

struct snapshot {
    int64_t size;   /* floats in each block; 0: nothing saved */
    float *numbers; /* (SNAPSHOT_BLOCKS, size): values, moments, best */
    int64_t steps, best_step;
    double best, best_loss;
};
enum { SNAPSHOT_BLOCKS = 4 };

/* Allocates memory, so that saving allocates nothing. */
consm_status snapshot_reserve(struct snapshot *s, const struct learner *l);
void snapshot_free(struct snapshot *s);

/* Saves a learner's state; allocates if needed. */
consm_status snapshot_take(struct snapshot *s, struct learner *l);

/* Restores it into a learner with the same parameters; does nothing if nothing was saved. */
consm_status snapshot_put(const struct snapshot *s, struct learner *l);

/* The same, but the learner's best parameters stay. */
consm_status snapshot_put_point(const struct snapshot *s, struct learner *l);

/* Continues from another learner: copies every parameter with the same name, its moments and best
 * value, and the number of steps. */
consm_status learner_adopt(struct learner *to, struct learner *from);

#endif
