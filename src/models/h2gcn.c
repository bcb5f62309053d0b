/* H2GCN: for heterophilic graphs. A node's own embedding, its neighbours' and its two-hop
 * neighbours' stay separate, and all rounds reach the classifier. */

/*
 *   R_0 = relu(X W1 + b1),  R_k = [A1 R_k-1, A2 R_k-1],  Z = [R_0, …, R_K] W2 + b2
 *                                                              (Zhu et al. 2020, Eqs. 5 to 7)
 * A1 joins neighbours, A2 nodes at distance exactly two (without weights); both are scaled by
 * D^-1/2 on either side and have no self-loops. --layers is K. Concatenation doubles the width each
 * round, which the paper does at most twice; from the third round on the two parts are averaged, so
 * that any depth fits into memory. --reach 1 leaves A2 out: Z = Σ_k A1^k R_0 V_k.
 *
 * Between the rounds and the classifier there are only products, so the classifier comes first:
 *   Z = R_0 V_0 + A1(R_0 V_1 + A1 R_0 V_3 + A2 R_0 V_5) + A2(R_0 V_2 + A1 R_0 V_4 + A2 R_0 V_6)
 * with W2 cut into blocks V of `classes` columns. The two-hop matrix, by far the largest, is then
 * multiplied with as many columns as classes, not with multiples of `hidden`. Dropout applies once,
 * to R_0, instead of to every round.
 */
#include "models/model.h"
#include "nn/layers.h"

struct hops {
    const struct csr *near, *far;
};

static node both(struct program *p, const struct hops *s, node one, node two)
{
    return add(p, spmm(p, s->near, one), spmm(p, s->far, two));
}

/* Columns of `count` blocks, from block `first` on. */
static node blocks(struct program *p, node y, int64_t first, int64_t count, int64_t classes)
{
    return slice(p, y, first * classes, count * classes);
}

/* A1 u_left + A2 u_right for u (n, 2·classes) */
static node outer(struct program *p, const struct hops *s, node u, int64_t classes)
{
    return both(p, s, blocks(p, u, 0, 1, classes), blocks(p, u, 1, 1, classes));
}

/* (n, 2·classes): A1 y_0,1 + A2 y_2,3 of the four blocks that begin at `first`: what a second round
 * passes to the first */
static node inner(struct program *p, const struct hops *s, node y, int64_t first, int64_t classes)
{
    return both(p, s, blocks(p, y, first, 2, classes), blocks(p, y, first + 2, 2, classes));
}

/* Σ over rounds of A1^k y_k, the last round first */
static node near_rounds(struct program *p, const struct csr *near, node y, int64_t rounds,
                        int64_t classes)
{
    node z = blocks(p, y, rounds, 1, classes);
    for (int64_t k = rounds - 1; k >= 0; k--)
        z = add(p, spmm(p, near, z), blocks(p, y, k, 1, classes));
    return z;
}

/* Σ over rounds r > 2 of B^(r-2) R_2 V_r with B = (A1 + A2)/2, the innermost first; POISON: none */
static node late_rounds(struct program *p, const struct hops *s, node y, int64_t rounds,
                        int64_t classes)
{
    node late = POISON;
    for (int64_t r = rounds; r > 2; r--) {
        node part = outer(p, s, inner(p, s, y, 7 + 4 * (r - 3), classes), classes);
        part = late == POISON ? part : add(p, part, late);
        late = scale(p, 0.5f, both(p, s, part, part));
    }
    return late;
}

static node far_rounds(struct program *p, const struct hops *s, node y, int64_t rounds,
                       int64_t classes)
{
    node late = late_rounds(p, s, y, rounds, classes), u = blocks(p, y, 1, 2, classes);
    if (rounds > 1)
        u = add(p, u, inner(p, s, y, 3, classes));
    node z = add(p, blocks(p, y, 0, 1, classes), outer(p, s, u, classes));
    return late == POISON ? z : add(p, z, late);
}

static node h2gcn_build(struct program *p, const struct inputs *in, const struct config *c)
{
    bool far = c->reach > 1;
    struct hops s = {graph_view(p, in, VIEW_SYMMETRIC),
                     far ? graph_view(p, in, VIEW_TWO_HOP) : NULL};
    int64_t k = in->classes, parts = c->layers == 1 ? 3 : 7 + 4 * (c->layers - 2);
    if (!far)
        parts = c->layers + 1;
    node x = dropout(p, in->x, (float)c->input_dropout);
    node ego = hidden_step(p, linear(p, layer_name(1).text, x, c->hidden), c->dropout);
    node y = linear_from(p, layer_name(2).text, ego, parts * k, INIT_LINEAR);
    node z = far ? far_rounds(p, &s, y, c->layers, k) : near_rounds(p, s.near, y, c->layers, k);
    return with_bias(p, layer_name(2).text, z);
}

const struct model_def model_h2gcn = {
    .name = "h2gcn",
    .title = "Separate embeddings of node, neighbours and two-hop neighbours",
    .paper = "Zhu et al., NeurIPS 2020",
    .knobs = "reach layers hidden dropout input_dropout",
    .build = h2gcn_build,
};
