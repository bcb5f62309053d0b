/*
 * Attacks on a graph's edges, for the study that measures how much accuracy they cost. Each one
 * turns a graph and a budget into a list of changes; none of them reads a file or trains a model.
 * The same seed gives the same changes.
 */
#ifndef ATTACK_ATTACK_H
#define ATTACK_ATTACK_H

#include "graph/edges.h"

/* Pairs of nodes to join, and edges to remove: each pair once, left < right. */
struct changes {
    int64_t count, capacity;
    int32_t *left, *right; /* (count) */
    uint8_t *added;        /* (count) 1: joined, 0: removed */
};

consm_status changes_new(struct changes *out, int64_t capacity);
void changes_free(struct changes *c); /* all zero is fine */
void changes_add(struct changes *c, int32_t left, int32_t right, bool added);

/* The graph with the changes made; what is joined weighs 1. */
consm_status changes_apply(struct csr **out, const struct csr *graph, const struct changes *c);

/* Fills left and right (want) with distinct pairs that the graph does not join, left < right. With
 * label (n, -1 unknown): only pairs of two different known classes. For one seed and stream those
 * of a smaller number are the first of a larger one. CONSM_EINVAL when there is no room. */
consm_status attack_draw(int32_t *left, int32_t *right, int64_t want, const struct csr *graph,
                         const int32_t *label, uint64_t seed, uint64_t stream);

/* DICE (Waniek et al., Nature Human Behaviour 2018): "disconnect internally, connect externally".
 * Half of the budget, rounded down, removes edges inside a class, the rest joins nodes of different
 * classes; with too few edges inside classes more are joined. It knows every label. */
consm_status attack_dice(struct changes *out, const struct csr *graph, const int32_t *label,
                         int64_t budget, uint64_t seed);

/* A trained GCN of two layers as numbers: Z = Â relu(Â H + b1) W2 + b2, H = X W1. */
struct surrogate {
    int64_t nodes, hidden, classes;
    const float *h;  /* (n, hidden) */
    const float *b1; /* (hidden) */
    const float *w2; /* (hidden, classes) */
    const float *b2; /* (classes) */
};

/* Whom an attack wants to be wrong: nodes with attacked = 1 about the class in label. */
struct victims {
    const int32_t *label;    /* (n) */
    const uint8_t *attacked; /* (n) */
};

/* Projected gradient descent on edges (Xu et al., IJCAI 2019). Every edge may be removed and
 * `candidates` drawn pairs may be joined; each has a chance p in [0, 1], which follows the gradient
 * of the margin loss Σ max(Z_y − max_{c≠y} Z_c, 0) over the victims, and Σ p is held at the budget.
 * Of the `budget` largest p and 20 draws by p that keep the budget, the set of least loss is the
 * attack. */
struct pgd {
    const struct csr *graph;
    struct surrogate surrogate;
    struct victims victims;
    int64_t budget, candidates, steps;
    uint64_t seed;
};
consm_status attack_pgd(struct changes *out, const struct pgd *o);

/* An attacker who knows the defence (Mujkanovic et al., NeurIPS 2022): joins only the listed pairs,
 * which the caller found to be trusted. In ten rounds, each with a tenth of the budget: the pairs
 * whose gradient promises the largest loss for the victims on the graph as it is by then. Pairs
 * whose gradient helps the victims are left out, so that fewer than the budget may be joined. */
struct trusted_pairs {
    int64_t count;
    const int32_t *left, *right; /* (count) no edges of the graph, each once */
};
consm_status attack_trusted(struct changes *out, const struct surrogate *m, const struct victims *v,
                            const struct csr *graph, const struct trusted_pairs *pairs,
                            int64_t budget);

/* The loss above (per victim) on a graph, and its gradient by the weight of each listed pair, which
 * need not be an edge: gradient (pairs). */
consm_status surrogate_gradient(double *loss, double *gradient, const struct surrogate *m,
                                const struct victims *v, const struct csr *graph,
                                const int32_t *left, const int32_t *right, int64_t pairs);

/* GCN-SVD's graph (Entezari et al., WSDM 2020): the approximation of the adjacency matrix of that
 * rank, by its eigenvalues of largest size. Of its entries off the diagonal the `most` largest
 * positive ones become the weighted edges, so that the graph stays sparse. */
consm_status attack_low_rank(struct csr **out, const struct csr *graph, int64_t rank, int64_t most,
                             uint64_t seed);

#endif
