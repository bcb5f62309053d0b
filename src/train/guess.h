/* The surest predictions of a classifier, in the proportions that the given labels have: what
 * self-training (GAM, ConSM) adds to the labels it was given. */
#ifndef TRAIN_GUESS_H
#define TRAIN_GUESS_H

#include "graph/csr.h"

/* A prediction that might be taken for a label. */
struct guess {
    int32_t node, label;
    float chance;
};

/* Room for picking (c: classes); what a caller keeps, so that a round allocates nothing. */
struct guess_room {
    struct guess *found; /* (n) */
    int64_t *left;       /* (c) */
};

/* Puts the surest guesses into room->found and says how many: of nodes that are not taken, of at
 * least that probability, surest first, of class k at most ⌊share[k]·most⌋. logits (n, c); where
 * every process has those of its own nodes (parts; NULL: all are here) each predicts these, and all
 * hear of all. */
consm_status guess_surest(int64_t *count, struct guess_room *room, const float *logits,
                          int64_t nodes, int64_t classes, const uint8_t *taken, const double *share,
                          int64_t most, double confidence, const struct partition *parts);

#endif
