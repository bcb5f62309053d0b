/* APPNP: predicts from a node's own features, then spreads predictions as in personalised PageRank.
 * Z0 = MLP(X), Z_k = (1-α) Â Z_k-1 + α Z0 (Klicpera et al. 2019, Eq. 4). --layers is the depth of
 * the MLP, --hops the number of propagation steps. */
#include "models/model.h"
#include "nn/layers.h"

static node appnp_build(struct program *p, const struct inputs *in, const struct config *c)
{
    const struct csr *adj = graph_view(p, in, VIEW_GCN);
    float alpha = (float)c->alpha;
    node h = dropout(p, in->x, (float)c->input_dropout);
    for (int64_t l = 1; l < c->layers; l++)
        h = hidden_step(p, linear(p, layer_name(l).text, h, c->hidden), c->dropout);
    node z0 = linear(p, layer_name(c->layers).text, h, in->classes), z = z0;
    for (int64_t k = 0; k < c->hops; k++)
        z = axpby(p, 1 - alpha, spmm(p, adj, z), alpha, z0);
    return z;
}

const struct model_def model_appnp = {
    .name = "appnp",
    .title = "Predict, then propagate by personalised PageRank",
    .paper = "Klicpera et al., ICLR 2019",
    .knobs = "hops alpha layers hidden dropout input_dropout",
    .build = appnp_build,
};
