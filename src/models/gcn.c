/* GCN: each layer averages over neighbours, then transforms.
 *   H' = σ(Â H W + b),  Â = D^-1/2 (A + I) D^-1/2          (Kipf and Welling 2017)
 * or, wider and deeper,  H' = σ(norm(Â H W + b + H R))      (Luo et al. 2024) */
#include "models/model.h"
#include "nn/layers.h"

static node layer_step(struct program *p, const struct csr *adj, node h, int64_t layer, int64_t out,
                       const struct config *c)
{
    return finish_layer(p, layer, graph_conv_no_bias(p, layer_name(layer).text, adj, h, out), h, c);
}

static node gcn_build(struct program *p, const struct inputs *in, const struct config *c)
{
    const struct csr *adj = graph_view(p, in, VIEW_GCN);
    node h = dropout(p, in->x, (float)c->input_dropout);
    for (int64_t l = 1; l < c->layers; l++)
        h = hidden_step(p, layer_step(p, adj, h, l, c->hidden, c), c->dropout);
    return layer_step(p, adj, h, c->layers, in->classes, c);
}

const struct model_def model_gcn = {
    .name = "gcn",
    .title = "Graph convolutional network",
    .paper = "Kipf and Welling, ICLR 2017",
    .knobs = "residual norm layers hidden dropout input_dropout",
    .build = gcn_build,
};
