/* GRAND: random augmentations of the features, one MLP for all, and a loss that makes their
 * predictions agree. */

/*
 *   X̃_s = X with whole rows dropped with probability δ, the others times 1/(1-δ)      (DropNode)
 *   X̄_s = 1/(K+1) Σ_k=0..K Â^k X̃_s,   Z_s = MLP(X̄_s),   P_s = softmax(Z_s)
 *   L = 1/S Σ_s nll(Z_s) + λ/(S n) Σ_s ‖P' - P_s‖²
 * P' is the mean of the P_s, sharpened: P'_ij ~ P̄_ij^(1/T), and a constant of the gradient.
 * Evaluation uses one augmentation, X itself.              (Feng et al. 2020, Eqs. 1 to 6)
 *
 * Dropping rows and mixing multiply from the left, so the MLP's first product may come first:
 *   X̄_s W = 1/(K+1) Σ_k Â^k (mask_s ∘ X W)
 * keeps X sparse and mixes `hidden` columns instead of all features: the same numbers in a
 * twentieth of the time on Cora. Two details differ, because X̄_s would have to be stored, dense:
 * - The authors apply --input-dropout to X̄_s; here it drops values of X, anew for every s.
 * - The authors' batch norm also normalises X̄_s, to γ ∘ (X̄_s - mean) / deviation + β. Here the
 *   deviation is that of X (--normalize-features scale), γ multiplies the rows of W
 *   (--feature-gate), and mean and β are part of the bias.
 * studies/NOTES.md has the effects on accuracy.
 */
#include "models/grand.h"

#include "nn/layers.h"

/* 1/(K+1) Σ_k Â^k y by Horner's rule: z = y/(K+1), then K times z = Â z + y/(K+1) */
static node mix(struct program *p, const struct csr *adj, node y, int64_t hops)
{
    node share = scale(p, 1.0f / (float)(hops + 1), y), z = share;
    for (int64_t k = 0; k < hops; k++)
        z = add(p, spmm(p, adj, z), share);
    return z;
}

/* (f, out): W, or diag(γ)·W */
static node first_weights(struct program *p, const struct inputs *in, const struct config *c,
                          int64_t out)
{
    node w = param(p, "w1", in->features, out, INIT_GLOROT);
    if (c->feature_gate == FEATURE_GATE_NO)
        return w;
    return scale_rows(p, w, param(p, "gate", in->features, 1, INIT_ONE));
}

/* (n, S·out): X̄_1 W … X̄_S W side by side */
static node augment(struct program *p, const struct inputs *in, const struct config *c,
                    int64_t samples, int64_t out, const float *kept)
{
    node all = POISON, w = first_weights(p, in, c, out);
    for (int64_t s = 0; s < samples; s++) {
        node mask = kept ? input(p, kept + s * in->nodes, in->nodes, 1)
                         : dropout(p, fill(p, 1, in->nodes, 1), (float)c->node_dropout);
        node x = dropout(p, in->x, (float)c->input_dropout);
        node y = scale_rows(p, matmul(p, x, w), mask);
        all = s ? concat(p, all, y) : y;
    }
    return mix(p, graph_view(p, in, VIEW_GCN), all, c->hops);
}

/* Between two layers of the MLP. */
static node hidden_layer(struct program *p, int64_t layer, node h, const struct config *c)
{
    return dropout(p, with_norm(p, layer, relu(p, h), c), (float)c->dropout);
}

/* λ/(S n) Σ_s ‖P' - P_s‖² for logits z (n·S, classes), the S rows of a node together */
static node disagreement(struct program *p, node z, const struct inputs *in, const struct config *c)
{
    int64_t n = in->nodes, samples = c->samples, k = in->classes;
    node each = reshape(p, softmax(p, z), n, samples * k), mean = POISON;
    for (int64_t s = 0; s < samples; s++)
        mean = s ? add(p, mean, slice(p, each, s * k, k)) : slice(p, each, 0, k);
    mean = scale(p, 1 / (float)samples, mean);
    /* P' = softmax(log P̄ / T); mse() has no gradient towards its target */
    node sharp = softmax(p, scale(p, (float)(1 / c->sharpening), log_(p, mean, 1e-30f)));
    node target = sharp;
    for (int64_t s = 1; s < samples; s++)
        target = concat(p, target, sharp);
    double share = c->consistency / (double)(samples * n);
    return mse(p, each, target, fill(p, (float)share, n, samples * k));
}

node grand_record(struct program *p, const struct inputs *in, const struct config *c,
                  const float *kept)
{
    int64_t samples = program_training(p) ? c->samples : 1, rows = in->nodes * samples;
    int64_t first = c->layers > 1 ? c->hidden : in->classes;
    /* From here on a row is a node in one augmentation: one MLP processes all of them. */
    node h = reshape(p, augment(p, in, c, samples, first, kept), rows, first);
    h = with_bias(p, layer_name(1).text, h);
    for (int64_t l = 2; l <= c->layers; l++)
        h = linear(p, layer_name(l).text, hidden_layer(p, l - 1, h, c),
                   l < c->layers ? c->hidden : in->classes);
    if (program_training(p) && c->consistency > 0)
        program_penalty(p, disagreement(p, h, in, c));
    return reshape(p, h, in->nodes, samples * in->classes);
}

static node grand_build(struct program *p, const struct inputs *in, const struct config *c)
{
    return grand_record(p, in, c, NULL);
}

/* The authors' choices for Cora. */
static void grand_defaults(struct config *c)
{
    c->hidden = 32;
    c->hops = 8;
    c->lr = 0.01;
    c->input_dropout = 0.5;
    c->normalize_features = FEATURES_ROW;
}

const struct model_def model_grand = {
    .name = "grand",
    .title = "Random augmentations with consistent predictions",
    .paper = "Feng et al., NeurIPS 2020",
    .knobs = "samples node_dropout hops consistency sharpening norm feature_gate layers hidden "
             "dropout input_dropout",
    .defaults = grand_defaults,
    .build = grand_build,
};
