/* Checkpoints: all that an interrupted training run needs to end with the same bits as an
 * uninterrupted one. One safetensors file, replaced in one step, so that a kill at any moment
 * leaves the last complete one. */
#ifndef APP_CHECKPOINT_H
#define APP_CHECKPOINT_H

#include "app/curve.h"

enum { CHECKPOINT_NOTES = 18 };

/* The identity of a run, in addition to the session; a checkpoint of another run is refused. */
struct checkpoint_run {
    const char *dataset, *data_sha256, *split;
    char graph[65]; /* SHA-256 of the cleaned graph, the features and the labels */
    char roles[65]; /* SHA-256 of the roles */
    /* The notes of the last checkpoint whose memory was the session's own. Once the session has a
     * base (train/trail.h), they are written again. */
    char *note[CHECKPOINT_NOTES];
    struct train_curve *curve; /* the learning curve so far, or NULL */
};

/* Fills the two hashes. O(size of the problem). */
void checkpoint_identify(struct checkpoint_run *run, const struct problem *problem);

/* Whether this model's training can be interrupted; CONSM_EINVAL with the reason if not. */
consm_status checkpoint_possible(const struct train_options *options);

void checkpoint_run_free(struct checkpoint_run *run);

consm_status checkpoint_save(struct session *s, struct checkpoint_run *run, const char *path);

/* Restores the comparison of candidates, before the session has a network. */
consm_status checkpoint_load_choice(struct session *s, struct checkpoint_run *run,
                                    const char *path);

/* Restores a saved session into a new one. */
consm_status checkpoint_load(struct session *s, struct checkpoint_run *run, const char *path);

#endif
