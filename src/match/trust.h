/*
 * Trust scores: the chance that an edge joins two nodes of one class, from two witnesses: the
 * matching coefficient w and the agreement p_i·p_j of the two nodes' predicted class probabilities.
 * A logistic regression weighs them; it is fitted on edges whose two labels training or validation
 * may know, so that the score is calibrated without looking at test labels.
 */
#ifndef MATCH_TRUST_H
#define MATCH_TRUST_H

#include "graph/edges.h"

/* trust = sigmoid(bias + by_match·w + by_agreement·agreement) */
struct trust {
    double bias, by_match, by_agreement;
};

/* agreement_e = Σ_k p_ik p_jk with p = softmax of the logits (n, c); in [0, 1]. */
void trust_agreement(float *agreement, const float *logits, int64_t c, const struct edges *edges);

/* Fits on the edges between two validation nodes; when there are fewer than 50, on all edges whose
 * ends are known (training or validation); with fewer than three that join one class, or three that
 * do not, there is nothing to learn from and trust is the mean of the two witnesses as they are. w
 * may be NULL (no matching module): agreement alone. Newton's method with a small ridge;
 * deterministic. */
void trust_fit(struct trust *t, const float *w, const float *agreement, const struct edges *edges,
               const int32_t *label, const uint8_t *role);

void trust_apply(float *score, const struct trust *t, const float *w, const float *agreement,
                 int64_t count);

#endif
