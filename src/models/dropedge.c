/* DropEdge: a GCN that uses another random subset of the edges in every epoch.
 *   H' = σ(Â' H W + b),  Â' the normalised adjacency of the edges that stayed   (Rong et al. 2020)
 * Both directions of an edge stay or go together. All layers use the same draw, as in the paper. */
#include "models/model.h"
#include "nn/layers.h"

static node conv(struct program *p, int64_t layer, const struct csr *loops, node values, node h,
                 int64_t out)
{
    node sent = linear_no_bias(p, layer_name(layer).text, h, out);
    return with_bias(p, layer_name(layer).text, spmm_values(p, loops, values, sent));
}

static node dropedge_build(struct program *p, const struct inputs *in, const struct config *c)
{
    const struct csr *loops = graph_view(p, in, VIEW_LOOPS);
    node values = edge_drop(p, loops, (float)c->edge_dropout);
    node h = dropout(p, in->x, (float)c->input_dropout);
    for (int64_t l = 1; l < c->layers; l++)
        h = hidden_step(p, conv(p, l, loops, values, h, c->hidden), c->dropout);
    return conv(p, c->layers, loops, values, h, in->classes);
}

const struct model_def model_dropedge = {
    .name = "dropedge",
    .title = "GCN that drops random edges in every epoch",
    .paper = "Rong et al., ICLR 2020",
    .knobs = "edge_dropout layers hidden dropout input_dropout",
    .build = dropedge_build,
};
