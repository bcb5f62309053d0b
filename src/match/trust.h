/* Trust scores: the probability that an edge joins two nodes of one class, from several witnesses.
 * Not in the paper. */

/*
 * A logistic regression weighs them. It is fitted on edges whose two labels training or validation
 * may know, and shrunk towards weights learned over many graphs (trust_prior.h). So a handful of
 * known edges is enough and the score stays calibrated. Test labels are never read.
 */
#ifndef MATCH_TRUST_H
#define MATCH_TRUST_H

#include "base/threads.h"
#include "graph/edges.h"

/* The evidence for an edge. The first four come from the trained model, the next four from the
 * data, the last two from the training labels. Each is the same in both directions. A node with a
 * training label counts as predicted with that label. */
enum witness {
    WITNESS_MATCH,     /* the matching coefficient w */
    WITNESS_AGREEMENT, /* log-odds of Σ_k p_ik p_jk, of calibrated class probabilities */
    WITNESS_HEAD,      /* the same for the matching module's class head, which sees no neighbours */
    WITNESS_CONFIDENCE, /* min over both ends of the largest probability */
    WITNESS_FEATURES,   /* cosine of the two feature rows */
    WITNESS_MASS, /* -|log(1+‖x_i‖₁) - log(1+‖x_j‖₁)|: difference in feature mass */
    WITNESS_NEIGHBOURS,       /* sqrt(shared neighbours / all neighbours of the two) (Jaccard) */
    WITNESS_DEGREE,           /* -|log(1+d_i) - log(1+d_j)| */
    WITNESS_TAUGHT,           /* 1 if an end has a training label: attacks aim at these */
    WITNESS_TAUGHT_AGREEMENT, /* the agreement of such edges, else 0 */
    WITNESSES
};

/* The name of each witness, as in `consm edges --witnesses`. */
extern const char *const witness_names[WITNESSES];

/* The data that witnesses are computed from; nothing is owned. */
struct witness_data {
    const struct edges *edges;
    const struct csr *graph;
    const struct csr *sparse; /* (n, f) features as stored, or NULL: dense */
    const float *dense;       /* (n, f), if not sparse */
    int64_t features, classes;
    const uint8_t *
        here; /* (n) of a graph in parts: nodes whose features and neighbours are here; NULL: all */
    const int32_t *taught; /* (n) the training label, or -1; NULL: none */
};

/* The witnesses that depend only on the data, from WITNESS_DATA on, are computed once and stored:
 * stored (|E|, DATA_WITNESSES). The others are computed where they are read, because storing them
 * would take 24 bytes an edge. */
enum { WITNESS_DATA = WITNESS_FEATURES, DATA_WITNESSES = 4 };
consm_status witness_data_only(float *stored, const struct witness_data *data, struct team *team);

/* The model's output: logits and head (n, classes), w (|E|), and the temperatures that calibrate
 * both. */
struct witness_model {
    const float *logits, *head, *w;
    double temperature[2];
};

/* All that witnesses come from. room: scratch of witness_room numbers. */
struct witnesses {
    struct witness_data data;
    const float *stored; /* of witness_data_only() */
    struct witness_model model;
    double *room;
    struct team *team;
};
int64_t witness_room(int64_t classes, const struct team *team);

/* x (count, WITNESSES), row by row: those of the edges place[0 … count-1], or (NULL) of the first
 * ones. */
void witness_ask(float *x, const struct witnesses *w, const int64_t *place, int64_t count);

/* agreement (|E|) Σ_k p_ik p_jk alone, for models without a matching module. */
void witness_agreement(float *agreement, const float *logits, int64_t c, const struct edges *edges);

enum {
    TRUST_TERMS = 1 + WITNESSES,
    TRUST_PAIRS = TRUST_TERMS * (TRUST_TERMS + 1) / 2,
    TRUST_NUMBERS = 2 + TRUST_TERMS + TRUST_PAIRS
};

/* trust = sigmoid(by_0 + Σ by_k·x_k). A model file stores the numbers in one row. */
struct trust {
    double temperature[2];      /* of predictions and head, as in struct witness_model */
    double by[TRUST_TERMS];     /* bias, then a weight per witness */
    double spread[TRUST_PAIRS]; /* covariance of these, lower triangle row by row */
};
void trust_write(float number[TRUST_NUMBERS], const struct trust *t);
void trust_read(struct trust *t, const float number[TRUST_NUMBERS]);

/* The edges that a fit may use: both labels are known to training or validation, and at least one
 * end validates (the model has memorised the labels of training nodes); at most 65,536, drawn. And
 * edges drawn from all, known or not, which show what is usual in this graph. And all pairs
 * (NULL: none). */
struct trust_sample;
consm_status trust_sample_new(struct trust_sample **out, const struct edges *edges,
                              const struct edges *pairs, const int32_t *label, const uint8_t *role,
                              int64_t nodes);
void trust_sample_free(struct trust_sample *s);

/* More lessons for the fit: pairs of labelled nodes that are no edges but share a neighbour, at
 * least one of them validating; at most 4,096, drawn; left < right, in row order. Few labels have
 * few edges among them, but many such pairs. Not for a graph in parts. */
consm_status trust_pairs_new(struct edges **out, const struct csr *graph, const int32_t *label,
                             const uint8_t *role, uint64_t seed);

/* Computes the witnesses of the sampled edges. Then trust_sample_hear() prepares them and those of
 * all pairs, pair_x (NULL if there are none), for trust_fit(). For a graph in parts all processes
 * call it together. */
void trust_sample_ask(struct trust_sample *s, const struct witnesses *w);
consm_status trust_sample_hear(struct trust_sample *s, const float *pair_x);

/* Whose predictions the witnesses come from: a network's, or those of all that answer together
 * (boosted trees, companions, a network without distrusted edges). Each has a prior of its own. */
enum trust_whose { TRUST_OF_NETWORK, TRUST_OF_ANSWERS };

/* Fits the weights to the known edges and the prior; without known edges they are the prior's.
 * t->temperature is unchanged. Deterministic; allocates nothing. without_match: the matching
 * coefficient is at chance and gets no weight. team: or NULL; the bits do not depend on it. */
void trust_fit(struct trust *t, struct trust_sample *s, enum trust_whose whose, bool without_match,
               struct team *team);

/* P(same class) = sigmoid(a + b·score), fitted on the known edges alone, almost without a prior:
 * for other scores (|E|). probability (|E|). */
consm_status trust_curve(float *probability, struct trust_sample *s, const float *score,
                         int64_t count);

/* score (count); low and high (count) bound a 90 % interval; both may be NULL. */
void trust_apply(float *score, float *low, float *high, const struct trust *t, const float *x,
                 int64_t count);

/* The same for all edges of w. score may be w's coefficients; x (|E|, WITNESSES): or NULL. */
void trust_score(float *score, float *low, float *high, float *x, const struct trust *t,
                 const struct witnesses *w);

#endif
