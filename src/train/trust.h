/* Trust scores of a trained session: one number in [0, 1] per undirected edge of its graph. */
#ifndef TRAIN_TRUST_H
#define TRAIN_TRUST_H

#include "match/trust.h"
#include "train/train.h"

struct edge_trust {
    struct edges *edges;
    float *score;       /* (edges) calibrated chance that both ends share a class */
    uint8_t *kept;      /* (edges) 1 for the ⌊ζ·edges⌋ largest scores */
    double zeta;        /* the confidence ratio used */
    struct trust weigh; /* how the witnesses were weighed */
};

/* From a session after session_train: ConSM's matching coefficients and the agreement of its
 * predictions; for other models the agreement alone, with ζ estimated from known labels. */
consm_status session_trust(struct edge_trust *out, struct session *s);
void edge_trust_free(struct edge_trust *t);

#endif
