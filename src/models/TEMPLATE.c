/* NAME: one sentence on what the model does and why.
 *   H' = …                                                  (Authors, venue year) */
#include "models/model.h"
#include "nn/layers.h"

static node NAME_build(struct program *p, const struct inputs *in, const struct config *c)
{
    const struct csr *adj = graph_view(p, in, VIEW_GCN);
    node h = dropout(p, in->x, (float)c->input_dropout);
    for (int64_t l = 1; l < c->layers; l++)
        /* H' = σ(…), the equation that this call implements */
        h = hidden_step(p, graph_conv(p, layer_name(l).text, adj, h, c->hidden), c->dropout);
    return graph_conv(p, layer_name(c->layers).text, adj, h, in->classes);
}

const struct model_def model_NAME = {
    .name = "NAME",
    .title = "what it is, in a few words",
    .paper = "Authors, venue year",
    .knobs = "layers hidden dropout input_dropout",
    .build = NAME_build,
};
