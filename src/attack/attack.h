/*
 * Attacks on a graph's edges, for the study of robustness. Each turns a graph and a budget into a
 * list of changes. None reads a file or trains a model. The same seed gives the same changes.
 */
#ifndef ATTACK_ATTACK_H
#define ATTACK_ATTACK_H

#include "graph/edges.h"

/* Pairs of nodes to join and edges to remove: each pair once, left < right. */
struct changes {
    int64_t count, capacity;
    int32_t *left, *right; /* (count) */
    uint8_t *added;        /* (count) 1: joined, 0: removed */
};

consm_status changes_new(struct changes *out, int64_t capacity);
void changes_free(struct changes *c); /* all zero is fine */
void changes_add(struct changes *c, int32_t left, int32_t right, bool added);

/* The graph after the changes; added edges have weight 1. */
consm_status changes_apply(struct csr **out, const struct csr *graph, const struct changes *c);

/* Fills left and right (want) with distinct pairs that are not edges, left < right. With label (n,
 * -1 unknown): only pairs of two different known classes. For one seed and stream, a smaller number
 * gives the first pairs of a larger one. CONSM_EINVAL if there are too few pairs. */
consm_status attack_draw(int32_t *left, int32_t *right, int64_t want, const struct csr *graph,
                         const int32_t *label, uint64_t seed, uint64_t stream);

/* DICE (Waniek et al., Nature Human Behaviour 2018): "disconnect internally, connect externally".
 * Half of the budget, rounded down, removes edges inside a class; the rest joins nodes of different
 * classes. With too few edges inside classes, more are joined. It knows every label. */
consm_status attack_dice(struct changes *out, const struct csr *graph, const int32_t *label,
                         int64_t budget, uint64_t seed);

/* The parameters of a trained two-layer GCN: Z = Â relu(Â H + b1) W2 + b2, H = X W1. */
struct surrogate {
    int64_t nodes, hidden, classes;
    const float *h;  /* (n, hidden) */
    const float *b1; /* (hidden) */
    const float *w2; /* (hidden, classes) */
    const float *b2; /* (classes) */
};

/* The targets of an attack: nodes with attacked = 1 should lose the class in label. */
struct victims {
    const int32_t *label;    /* (n) */
    const uint8_t *attacked; /* (n) */
};

/* Projected gradient descent on edges (Xu et al., IJCAI 2019). Every edge may be removed and
 * `candidates` drawn pairs may be joined. Each has a probability p in [0, 1], which follows the
 * gradient of the margin loss Σ max(Z_y − max_{c≠y} Z_c, 0) over the victims; Σ p stays at the
 * budget. The attack is the set of least loss among the `budget` largest p and 20 draws by p that
 * keep the budget. */
struct pgd {
    const struct csr *graph;
    struct surrogate surrogate;
    struct victims victims;
    int64_t budget, candidates, steps;
    uint64_t seed;
};
consm_status attack_pgd(struct changes *out, const struct pgd *o);

/* An attacker who knows the defence (Mujkanovic et al., NeurIPS 2022): it joins only the listed
 * pairs, which the caller found to be trusted. Ten rounds use a tenth of the budget each. A round
 * takes the pairs whose gradient on the current graph promises the largest loss. Pairs whose
 * gradient helps the victims are left out, so fewer than the budget may be joined. */
struct trusted_pairs {
    int64_t count;
    const int32_t *left, *right; /* (count) pairs without an edge, each once */
};
consm_status attack_trusted(struct changes *out, const struct surrogate *m, const struct victims *v,
                            const struct csr *graph, const struct trusted_pairs *pairs,
                            int64_t budget);

/* The loss above (per victim) on a graph, and its gradient (pairs) by the weight of each listed
 * pair, which need not be an edge. */
consm_status surrogate_gradient(double *loss, double *gradient, const struct surrogate *m,
                                const struct victims *v, const struct csr *graph,
                                const int32_t *left, const int32_t *right, int64_t pairs);

/* The graph of GCN-SVD (Entezari et al., WSDM 2020): the low-rank approximation of the adjacency
 * matrix, by its largest eigenvalues in absolute value. The `most` largest positive entries off the
 * diagonal become weighted edges, so that the graph stays sparse. */
consm_status attack_low_rank(struct csr **out, const struct csr *graph, int64_t rank, int64_t most,
                             uint64_t seed);

#endif
