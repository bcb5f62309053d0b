/* The most confident predictions of a classifier, in the class proportions of the given labels:
 * what self-training (GAM, ConSM) adds to the labels. */
#ifndef TRAIN_GUESS_H
#define TRAIN_GUESS_H

#include "graph/csr.h"

/* A prediction that may become a label. */
struct guess {
    int32_t node, label;
    float chance;
};

/* Memory for picking (c: classes), kept by the caller, so that a round allocates nothing. */
struct guess_room {
    struct guess *found; /* (n) */
    int64_t *left;       /* (c) */
    float *bar;          /* (c) */
};

/* Puts the best guesses into room->found and counts them: nodes that are not taken, with at least
 * that probability, most confident first, at most ⌊share[k]·most⌋ of class k. logits (n, c). In
 * parts (NULL: all nodes are here) each process predicts its own nodes, and all get all guesses. */
consm_status guess_surest(int64_t *count, struct guess_room *room, const float *logits,
                          int64_t nodes, int64_t classes, const uint8_t *taken, const double *share,
                          int64_t most, double confidence, const struct partition *parts,
                          struct team *team);

#endif
