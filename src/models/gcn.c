/* GCN: each layer averages over neighbours, then transforms.
 *   H' = σ(Â H W + b),  Â = D^-1/2 (A + I) D^-1/2          (Kipf and Welling 2017) */
#include "models/model.h"
#include "nn/layers.h"

static node gcn_build(struct program *p, const struct inputs *in, const struct config *c)
{
    const struct csr *adj = graph_view(p, in, VIEW_GCN);
    node h = dropout(p, in->x, (float)c->input_dropout);
    for (int64_t l = 1; l < c->layers; l++)
        h = hidden_step(p, graph_conv(p, layer_name(l), adj, h, c->hidden), c->dropout);
    return graph_conv(p, layer_name(c->layers), adj, h, in->classes);
}

const struct model_def model_gcn = {
    .name = "gcn",
    .title = "Graph convolutional network",
    .paper = "Kipf and Welling, ICLR 2017",
    .knobs = "layers hidden dropout input_dropout",
    .build = gcn_build,
};
