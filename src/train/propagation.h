/* Label propagation as a loss that pulls neighbours together, for any model. */

/*
 *   λ Σ over edges of α_kind w_ij d(i,j)                    (ConSM paper, Eq. original_lp)
 *
 * kind says how many ends are labelled (LL, LU, UU). w_ij is 1 (NGM, Bui et al. 2018) or comes from
 * an agreement model (GAM, Stretcu et al. 2019). P-reg (Yang et al. 2021) compares each node with
 * the mean of its neighbours instead: λ/n φ(Z, D^-1 A Z), φ the cross-entropy of the two softmaxes.
 */
#ifndef TRAIN_PROPAGATION_H
#define TRAIN_PROPAGATION_H

#include "graph/edges.h"
#include "train/train.h"

struct propagation {
    struct edges *edges;        /* NULL for p-reg and for a graph in parts */
    struct index *left, *right; /* (edges) their ends */
    float *pull;      /* (edges) λ α w of each edge, divided by their number if so configured */
    float total;      /* Σ pull */
    struct csr *mean; /* D^-1 A for P-reg, with a loop for nodes without neighbours */
    struct csr
        *pulls; /* for a graph in parts: the pull of every entry, for the rows of the partition */
    float *pulled; /* (n) the sum of each row */
};

/* For ngm and gam the edges, for p-reg the matrix. The graph must outlive it. */
consm_status propagation_new(struct propagation **out, const struct csr *graph,
                             enum config_propagation kind);
void propagation_free(struct propagation *p);

/* The matrix of pulls of a graph in parts; the caller sets its values in the rows of the partition.
 * And Σ over edges of pull·cos of the rows of x. */
consm_status pulls_new(struct csr **out, const struct csr *graph);
void pulls_free(struct csr *pulls);
node pulls_cosine(struct program *p, const struct csr *pulls, node x);

/* Sets pull and total. w (edges; for a graph in parts, entries), or NULL: all 1; labelled (n):
 * nodes with known labels. */
consm_status propagation_weigh(struct propagation *p, const float *w, const uint8_t *labelled,
                               const struct config *c);

/* Records the loss of logits z. */
node propagation_loss(struct propagation *own, struct program *p, node z, const struct config *c);

#endif
