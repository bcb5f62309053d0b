/* Trust scores of a trained session: one number in [0, 1] per undirected edge. */
#ifndef TRAIN_EDGE_TRUST_H
#define TRAIN_EDGE_TRUST_H

#include "match/trust.h"
#include "train/train.h"

struct edge_trust {
    struct edges *edges;
    float *score;       /* (edges) calibrated probability that both ends share a class */
    float *low, *high;  /* (edges) bounds of a 90 % interval; NaN: unknown */
    uint8_t *kept;      /* (edges) whether the score reaches the threshold */
    double zeta;        /* the confidence ratio used */
    double threshold;   /* the lowest score that is kept */
    struct trust weigh; /* the weights of the witnesses */
    float *witness;     /* (edges, WITNESSES); NULL: the model has none */
};

/* From a session after session_train, or an evaluation of a saved model. ConSM: the witnesses of
 * match/trust.h with the weights fitted in training. Other models: the agreement Σ_k p_ik p_jk, the
 * probability of one class if both predictions are right and independent; ζ is the share of scores
 * of 0.5 or more. */
consm_status session_trust(struct edge_trust *out, struct session *s);

/* Keeps every edge with a score of 0.5 or more. If fewer than ⌊ζ·edges⌋ reach that, keeps the
 * ⌊ζ·edges⌋ best and all ties of the last. */
consm_status edge_trust_keep(struct edge_trust *t, double zeta);

/* The `most` pairs with the largest trust that are not edges, among those close in the model's
 * embedding or in their features (match/near.h); all are kept. The score is what the pair would
 * have as an edge. Not for a graph in parts. */
consm_status session_suggest(struct edge_trust *out, struct session *s, int64_t most);

/* Trust from the agreement of predictions alone: logits (n, c) of the graph's nodes. */
consm_status edge_trust_agreement(struct edge_trust *out, const struct csr *graph,
                                  const float *logits, int32_t classes);

/* Whether the session's trust comes from a matching module. */
bool session_matches(const struct session *s);

/* What is asked for after training is trust in view of the answers: boosted trees may predict in
 * the place of ConSM's network, or companions together with it, or the network without distrusted
 * edges. So the answers have weights of their own, besides those of the network's trust, by which
 * edges are dropped. session_weigh_answers() fits them after training; session_answers_weights()
 * reads them (false: there are none). An evaluation is told them, with the answers (n, c) of all,
 * or NULL: its own logits; the caller keeps these while it asks for trust. */
consm_status session_weigh_answers(struct session *s);
bool session_answers_weights(float number[TRUST_NUMBERS], const struct session *s);
consm_status session_tell_answers(struct session *s, const float number[TRUST_NUMBERS],
                                  const float *answers);

/* At the end of ConSM's training: fits the weights and puts them and the matching module into the
 * session's store. */
consm_status session_keep_trust(struct session *s);

/* The training labels for a model file: (*rows, TAUGHT_COLUMNS), which the caller frees; NULL if
 * the session is not ConSM's. */
enum { TAUGHT_COLUMNS = 5 };
consm_status session_taught(float **out, int64_t *rows, struct session *s);
void edge_trust_free(struct edge_trust *t);

#endif
