/* Results that a run has finished besides the session's own memory, for checkpoints: named blocks
 * of bytes. */

/*
 * After the rounds over all edges a run tries other edges: short trials, then rounds over the best
 * trial. A resumed run takes the results of finished steps from here instead of training again.
 */
#ifndef TRAIN_TRAIL_H
#define TRAIN_TRAIL_H

#include "nn/snapshot.h"

enum { TRAIL_NAME = 64 };

struct trail_block {
    char name[TRAIL_NAME];
    void *data;
    size_t bytes;
};

/* All zero is an empty trail. */
struct trail {
    struct trail_block *block;
    size_t count, capacity;
    bool based;   /* blocks TRAIL_BASE… are the session's memory when its rounds ended, and a
                     checkpoint holds them instead of the current memory */
    bool unsaved; /* something was added since the last checkpoint */
};
#define TRAIL_BASE "base."

void trail_free(struct trail *t);

/* Copies a block in, replacing one with that name. */
consm_status trail_put(struct trail *t, const char *name, const void *data, size_t bytes);

/* The block with that name and size, or NULL. */
const void *trail_find(const struct trail *t, const char *name, size_t bytes);

/* A learner's state with one more number of the caller's. Taking: found is false if there is none;
 * CONSM_EFORMAT if it is invalid. */
consm_status trail_put_learner(struct trail *t, const char *name, struct learner *l, int64_t more);
consm_status trail_take_learner(bool *found, const struct trail *t, const char *name,
                                struct learner *l, int64_t *more);

/* The same into a snapshot, which the caller frees. */
consm_status trail_take_snapshot(bool *found, struct snapshot *out, const struct trail *t,
                                 const char *name, int64_t *more);

/* Where a learner is, as a block holds it; and whether that is possible. */
struct trail_point {
    int64_t steps, best_step, more;
    double best, best_loss;
};
struct trail_point trail_point_of(const struct learner *l);
bool trail_point_put(struct learner *l, const struct trail_point *p);

#endif
