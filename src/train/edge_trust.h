/* Trust scores of a trained session: one number in [0, 1] per undirected edge of its graph. */
#ifndef TRAIN_EDGE_TRUST_H
#define TRAIN_EDGE_TRUST_H

#include "match/trust.h"
#include "train/train.h"

struct edge_trust {
    struct edges *edges;
    float *score;       /* (edges) calibrated chance that both ends share a class */
    float *low, *high;  /* (edges) what the score may be, 90 of 100 times; NaN: nobody knows */
    uint8_t *kept;      /* (edges) whether the score reaches the threshold */
    double zeta;        /* the confidence ratio used */
    double threshold;   /* the least score that is kept */
    struct trust weigh; /* how the witnesses were weighed */
    float *witness;     /* (edges, WITNESSES) what they say; NULL: of a model without */
};

/* From a session after session_train, or an evaluation of a saved model. ConSM: the
 * witnesses of match/trust.h, weighed as fitted in training. Other models: the agreement
 * Σ_k p_ik p_jk itself, which is the chance of one class if the two predictions are right and
 * independent; ζ is the share of scores of a half or more. */
consm_status session_trust(struct edge_trust *out, struct session *s);

/* Keeps every edge whose score is a half or more; and where fewer than ⌊ζ·edges⌋ reach that, the
 * ⌊ζ·edges⌋ best and all that score as much as the last of them. */
consm_status edge_trust_keep(struct edge_trust *t, double zeta);

/* The `most` pairs of largest trust that are no edges, among those that are near each other in the
 * model's embedding or in their features (match/near.h); all are kept. The score is what the pair
 * would have as an edge. Not for a graph in parts. */
consm_status session_suggest(struct edge_trust *out, struct session *s, int64_t most);

/* Trust by the agreement of predictions alone: logits (n, c) of the graph's nodes. */
consm_status edge_trust_agreement(struct edge_trust *out, const struct csr *graph,
                                  const float *logits, int32_t classes);

/* Whether the session's trust comes from a matching module. */
bool session_matches(const struct session *s);

/* At the end of ConSM's training: fits the weights and keeps them and the matching module in the
 * session's store. */
consm_status session_keep_trust(struct session *s);

/* Whose labels training was told, for a model file: (*rows, TAUGHT_COLUMNS), the caller's to free;
 * NULL where the session is none of ConSM's. */
enum { TAUGHT_COLUMNS = 5 };
consm_status session_taught(float **out, int64_t *rows, struct session *s);
void edge_trust_free(struct edge_trust *t);

#endif
