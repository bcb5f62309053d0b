/* Trust scores of a trained session: one number in [0, 1] per undirected edge of its graph. */
#ifndef TRAIN_EDGE_TRUST_H
#define TRAIN_EDGE_TRUST_H

#include "match/trust.h"
#include "train/train.h"

struct edge_trust {
    struct edges *edges;
    float *score;       /* (edges) calibrated chance that both ends share a class */
    uint8_t *kept;      /* (edges) 1 for the ⌊ζ·edges⌋ largest scores */
    double zeta;        /* the confidence ratio used */
    struct trust weigh; /* how the witnesses were weighed */
};

/* From a session after session_train, or an evaluation of a saved model. ConSM: the
 * witnesses of match/trust.h, weighed as fitted in training; kept are the ⌊ζ·edges⌋ best. Other
 * models: the agreement Σ_k p_ik p_jk itself, which is the chance of one class if the two
 * predictions are right and independent; kept are those above a half, ζ is their share. */
consm_status session_trust(struct edge_trust *out, struct session *s);

/* Marks the ⌊ζ·edges⌋ largest scores as kept. */
consm_status edge_trust_keep(struct edge_trust *t, double zeta);

/* Trust by the agreement of predictions alone: logits (n, c) of the graph's nodes. */
consm_status edge_trust_agreement(struct edge_trust *out, const struct csr *graph,
                                  const float *logits, int32_t classes);

/* Whether the session's trust comes from a matching module. */
bool session_matches(const struct session *s);

/* At the end of ConSM's training: fits the weights and keeps them and the matching module in the
 * session's store. */
consm_status session_keep_trust(struct session *s);
void edge_trust_free(struct edge_trust *t);

#endif
