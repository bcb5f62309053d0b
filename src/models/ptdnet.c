/* PTDNet: a GCN whose layers close edges that do not help. */

/* For a layer and an entry (u, v) of A                        (Luo et al. 2021, Eqs. 3 to 9)
 *   log α = v_n·relu(W_n h_u + b_n) + v_s·relu(W_s h_v + b_s) + c + c0
 *   s = σ((log ε - log(1-ε) + log α)/τ),  ε uniform,   z = clip(s(ζ-γ) + γ, 0, 1)
 *   H' = act(D^-1/2 (A_z + I) D^-1/2 H W + b),  A_z with z_uv w_uv on its entries, D its row sums
 * Two terms join the loss, both summed over layers: the mean over entries of P(z > 0) = σ(log α - τ
 * log(-γ/ζ)), and the largest singular values of A_z. In evaluation ε is left out and τ is 1. */
#include "models/ptdnet.h"

#include "nn/layers.h"
#include <math.h>
#include <stdio.h>

/* Ends of the stretched gate, as Louizos et al. (2018) chose them. */
static const float GATE_LOW = -0.1f, GATE_HIGH = 1.1f;
static const float COLDEST = 0.05f;
enum { ITERATIONS = 2 }; /* enough, because each epoch continues from the last */

static node named(struct program *p, const char *kind, int64_t layer, int64_t rows, int64_t cols,
                  enum init init)
{
    char name[32];
    snprintf(name, sizeof name, "%s%lld", kind, (long long)layer);
    return param(p, name, rows, cols, init);
}

/* v·relu(h W + b), (n,1): one side's part of log α. side is "nb" or "self". */
static node gate_side(struct program *p, const char *side, int64_t layer, node h,
                      const struct config *c)
{
    char w[24], b[24], v[24];
    snprintf(w, sizeof w, "gate_%s_w", side);
    snprintf(b, sizeof b, "gate_%s_b", side);
    snprintf(v, sizeof v, "gate_%s_v", side);
    node z = matmul(p, h, named(p, w, layer, program_cols(p, h), c->gate_hidden, INIT_GLOROT));
    z = hidden_step(p, add_bias(p, z, named(p, b, layer, 1, c->gate_hidden, INIT_ZERO)),
                    c->dropout);
    return matmul(p, z, named(p, v, layer, c->gate_hidden, 1, INIT_GLOROT));
}

/* 1/τ at this step, from 1/τ0 upwards. */
static node coldness(struct program *p, const struct config *c)
{
    node rising = anneal(p, (float)(1 / c->temperature), (float)(1 / c->temperature_decay));
    return clamp(p, rising, 0, 1 / COLDEST);
}

/* (log ε - log(1-ε) + log α)/τ; log α itself outside of training */
static node disturb(struct program *p, node log_alpha, int64_t layer, const struct config *c,
                    const struct ptdnet_draws *draws)
{
    int64_t m = program_rows(p, log_alpha);
    if (!program_training(p))
        return log_alpha;
    node chance = draws->noise ? input(p, draws->noise + (layer - 1) * m, m, 1) : noise(p, m, 1);
    node other = axpby(p, -1, chance, 1, fill(p, 1, m, 1));
    node logistic = sub(p, log_(p, chance, 1e-30f), log_(p, other, 1e-30f));
    return scale_by(p, add(p, logistic, log_alpha), coldness(p, c));
}

/* The two terms of the loss for one layer. */
static void penalize(struct program *p, const struct csr *a, node log_alpha, node values,
                     const struct config *c, const struct ptdnet_draws *draws)
{
    int64_t m = program_rows(p, log_alpha);
    if (!program_training(p) || m == 0)
        return;
    if (c->sparsity > 0) {
        node t = exp_(p, scale(p, -1, log_(p, coldness(p, c), 1e-30f)));
        node shift = scale(p, -logf(-GATE_LOW / GATE_HIGH), expand(p, t, m, 1));
        node open = sum(p, sigmoid(p, add(p, log_alpha, shift)));
        program_penalty(p, scale(p, (float)(c->sparsity / (double)m), open));
    }
    if (c->low_rank > 0) {
        int64_t turns = draws->iterations ? draws->iterations : ITERATIONS;
        program_penalty(p, scale(p, (float)c->low_rank, nuclear(p, a, values, c->rank, turns)));
    }
}

/* D^-1/2 (A_z + I) D^-1/2 x */
static node normalized_sum(struct program *p, const struct csr *a, node values, node x)
{
    int64_t n = program_rows(p, x);
    node degree = add(p, edge_sum(p, a, values), fill(p, 1, n, 1));
    node root = exp_(p, scale(p, -0.5f, log_(p, degree, 1e-30f)));
    node scaled = scale_rows(p, x, root);
    return scale_rows(p, add(p, spmm_values(p, a, values, scaled), scaled), root);
}

static node layer_step(struct program *p, const struct csr *a, node h, int64_t layer, int64_t out,
                       const struct config *c, const struct ptdnet_draws *draws, node *gate)
{
    /* Two statements, not two arguments of one call: both draw dropout masks, and C leaves the
     * order of arguments open. */
    node nb = gate_side(p, "nb", layer, h, c);
    node self = gate_side(p, "self", layer, h, c);
    node log_alpha = edge_add(p, a, nb, self);
    node constant = named(p, "gate_c", layer, 1, 1, INIT_ZERO);
    log_alpha = add_bias(p, log_alpha, add(p, constant, fill(p, (float)c->gate_open, 1, 1)));
    node s = sigmoid(p, disturb(p, log_alpha, layer, c, draws));
    node stretched = add_bias(p, scale(p, GATE_HIGH - GATE_LOW, s), fill(p, GATE_LOW, 1, 1));
    node values = clamp(p, stretched, 0, 1);
    *gate = s;
    if (a->val)
        values = mul(p, values, input(p, a->val, a->nnz, 1));
    penalize(p, a, log_alpha, values, c, draws);
    node sent = linear_no_bias(p, layer_name(layer).text, h, out);
    return with_bias(p, layer_name(layer).text, normalized_sum(p, a, values, sent));
}

node ptdnet_record(struct program *p, const struct inputs *in, const struct config *c,
                   const struct ptdnet_draws *draws, node *gate)
{
    const struct csr *a = graph_view(p, in, VIEW_ADJACENCY);
    bool smooth = c->activation == ACTIVATION_SIGMOID;
    node h = dropout(p, in->x, (float)c->input_dropout);
    if (!a)
        return POISON;
    for (int64_t l = 1; l < c->layers; l++) {
        h = layer_step(p, a, h, l, c->hidden, c, draws, gate);
        h = dropout(p, smooth ? sigmoid(p, h) : relu(p, h), (float)c->dropout);
    }
    return layer_step(p, a, h, c->layers, in->classes, c, draws, gate);
}

static node ptdnet_build(struct program *p, const struct inputs *in, const struct config *c)
{
    node gate;
    return ptdnet_record(p, in, c, &(struct ptdnet_draws){0}, &gate);
}

/* s rather than z: most gates are fully open, so z would not order the edges. */
static node ptdnet_coefficients(struct program *p, const struct inputs *in, const struct config *c)
{
    node gate = POISON;
    ptdnet_record(p, in, c, &(struct ptdnet_draws){0}, &gate);
    return gate;
}

const struct model_def model_ptdnet = {
    .name = "ptdnet",
    .title = "GCN that learns which edges to remove",
    .paper = "Luo et al., WSDM 2021",
    .knobs = "gate_hidden gate_open temperature temperature_decay sparsity low_rank rank "
             "activation layers "
             "hidden dropout input_dropout",
    .build = ptdnet_build,
    .coefficients = ptdnet_coefficients,
};
