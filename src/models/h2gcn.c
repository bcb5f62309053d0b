/* H2GCN: for graphs whose neighbours differ. A node's own embedding, its neighbours' and its
 * two-hop neighbours' stay apart and all rounds reach the classifier.
 *   R_0 = relu(X W1 + b1),  R_k = [A1 R_k-1, A2 R_k-1],  Z = [R_0, …, R_K] W2 + b2
 *                                                              (Zhu et al. 2020, Eqs. 5 to 7)
 * A1 joins neighbours, A2 nodes at distance exactly two (without weights), both scaled by D^-1/2 on
 * either side, both without self-loops. --layers is K. Concatenating doubles the width each
 * round, which the paper does twice at most; from the third round on the two parts are averaged
 * instead, so that any depth fits into memory. --reach 1 leaves A2 out. */
#include "models/model.h"
#include "nn/layers.h"

enum { CONCATENATED_ROUNDS = 2 };

/* What a round has seen at one and at two hops. */
static node join(struct program *p, int64_t round, node one, node two)
{
    return round <= CONCATENATED_ROUNDS ? concat(p, one, two) : axpby(p, 0.5f, one, 0.5f, two);
}

static node h2gcn_build(struct program *p, const struct inputs *in, const struct config *c)
{
    const struct csr *near = graph_view(p, in, VIEW_SYMMETRIC);
    const struct csr *far = c->reach > 1 ? graph_view(p, in, VIEW_TWO_HOP) : NULL;
    node x = dropout(p, in->x, (float)c->input_dropout);
    node round = relu(p, linear(p, layer_name(1), x, c->hidden)), all = round;
    for (int64_t k = 1; k <= c->layers; k++) {
        node one = spmm(p, near, round);
        round = far ? join(p, k, one, spmm(p, far, round)) : one;
        all = concat(p, all, round);
    }
    return linear(p, layer_name(2), dropout(p, all, (float)c->dropout), in->classes);
}

const struct model_def model_h2gcn = {
    .name = "h2gcn",
    .title = "Ego, neighbours and two-hop neighbours kept apart",
    .paper = "Zhu et al., NeurIPS 2020",
    .knobs = "reach layers hidden dropout input_dropout",
    .build = h2gcn_build,
};
