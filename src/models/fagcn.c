/* FAGCN: attention that may be negative, so that a node can move away from its neighbours.
 *   H0 = relu(X W1 + b1),  α_ij = tanh(g·[h_i, h_j]),
 *   h_i' = ε h_i^0 + Σ_j α_ij w_ij/√(d_i d_j) h_j              (Bo et al. 2021, Eqs. 4 and 7)
 * and a linear map to the classes. */

/* g is stored as its two halves, att_dst for i and att_src for j. With self-loops (the default, as
 * in PyTorch Geometric) the degrees and the sum include the node itself; the paper's own equation
 * is --self-loops no. */
#include "models/model.h"
#include "nn/layers.h"

#include <stdio.h>

static node gate_half(struct program *p, const char *kind, int64_t layer, node h)
{
    char name[32];
    snprintf(name, sizeof name, "%s%lld", kind, (long long)layer);
    return matmul(p, h, param(p, name, program_cols(p, h), 1, INIT_LINEAR));
}

static const struct csr *normalized(struct program *p, const struct inputs *in,
                                    const struct config *c)
{
    bool loops = c->self_loops == SELF_LOOPS_YES;
    return graph_view(p, in, loops ? VIEW_GCN : VIEW_SYMMETRIC);
}

static node record(struct program *p, const struct inputs *in, const struct config *c, node *gate)
{
    const struct csr *adj = normalized(p, in, c);
    node x = dropout(p, in->x, (float)c->input_dropout);
    node h0 = hidden_step(p, linear(p, layer_name(1).text, x, c->hidden), c->dropout), h = h0;
    node norm = adj ? input(p, adj->val, adj->nnz, 1) : POISON;
    for (int64_t l = 1; l <= c->layers; l++) {
        node dst = gate_half(p, "att_dst", l, h), src = gate_half(p, "att_src", l, h);
        *gate = tanh_(p, edge_add(p, adj, dst, src));
        node weights = dropout(p, mul(p, *gate, norm), (float)c->attention_dropout);
        h = axpby(p, (float)c->eps, h0, 1, spmm_values(p, adj, weights, h));
    }
    return linear(p, layer_name(2).text, h, in->classes);
}

static node fagcn_build(struct program *p, const struct inputs *in, const struct config *c)
{
    node gate;
    return record(p, in, c, &gate);
}

static node fagcn_coefficients(struct program *p, const struct inputs *in, const struct config *c)
{
    node gate = POISON;
    record(p, in, c, &gate);
    return gate;
}

const struct model_def model_fagcn = {
    .name = "fagcn",
    .title = "Frequency adaptive GCN, attention from -1 to 1",
    .paper = "Bo et al., AAAI 2021",
    .knobs = "eps attention_dropout self_loops layers hidden dropout input_dropout",
    .build = fagcn_build,
    .coefficients = fagcn_coefficients,
};
