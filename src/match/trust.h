/*
 * Trust scores: the chance that an edge joins two nodes of one class, from several witnesses. A
 * logistic regression weighs them; it is fitted on edges whose two labels training or validation
 * may know, so that the score is calibrated without looking at test labels.
 */
#ifndef MATCH_TRUST_H
#define MATCH_TRUST_H

#include "base/threads.h"
#include "graph/edges.h"

/* What speaks for an edge. The first four come from the trained model, the others from the data as
 * it is; each is the same in both directions. */
enum witness {
    WITNESS_MATCH,      /* the matching coefficient w */
    WITNESS_AGREEMENT,  /* Σ_k p_ik p_jk of the predicted class probabilities */
    WITNESS_HEAD,       /* the same of the matching module's class head, which sees no neighbours */
    WITNESS_CONFIDENCE, /* min over both ends of the largest probability */
    WITNESS_FEATURES,   /* cosine of the two feature rows */
    WITNESS_MASS, /* -|log(1+‖x_i‖₁) - log(1+‖x_j‖₁)|: as much is said of one as of the other */
    WITNESS_NEIGHBOURS, /* shared neighbours among all neighbours of the two (Jaccard) */
    WITNESS_DEGREE,     /* -|log(1+d_i) - log(1+d_j)| */
    WITNESSES
};

/* What the witnesses are computed from; nothing is owned. */
struct witness_data {
    const struct edges *edges;
    const struct csr *graph;
    const struct csr *sparse; /* (n, f) features as stored, or NULL … */
    const float *dense;       /* … then these */
    int64_t features, classes;
    const uint8_t *here; /* (n) of a graph in parts: whose features and neighbours are; NULL: all */
};

/* x (|E|, WITNESSES), row by row. What only the data says is computed here, once. */
consm_status witness_data_only(float *x, const struct witness_data *data, struct team *team);

/* The model's own witnesses: logits and head (n, classes), w (|E|). */
void witness_model(float *x, const struct witness_data *data, const float *logits,
                   const float *head, const float *w, struct team *team);

/* agreement (|E|) alone, for models without a matching module. */
void witness_agreement(float *agreement, const float *logits, int64_t c, const struct edges *edges);

/* trust = sigmoid(bias + Σ by_k·x_k) */
struct trust {
    double bias, by[WITNESSES];
};

/* The edges that a fit may use: those between two validation nodes; when there are fewer than 50,
 * all whose ends are known (training or validation). Of a graph in parts at most 65,536 of them,
 * drawn, which all processes have. */
struct trust_sample;
consm_status trust_sample_new(struct trust_sample **out, const struct edges *edges,
                              const int32_t *label, const uint8_t *role);
void trust_sample_free(struct trust_sample *s);

/* What the witnesses say of the sample, for trust_fit(): x itself, or, of a graph in parts, rows of
 * all processes, valid until the next call. */
consm_status trust_sample_rows(const float **out, struct trust_sample *s, const float *x);

/* With fewer than three edges that join one class, or three that do not, there is nothing to learn
 * from, and trust is the mean of coefficient and agreement as they are. Newton's method with a
 * small ridge; deterministic, and allocates nothing. without_match: the matching coefficient knows
 * nothing and gets no weight. */
void trust_fit(struct trust *t, struct trust_sample *s, const float *x, bool without_match);

void trust_apply(float *score, const struct trust *t, const float *x, int64_t count);

#endif
