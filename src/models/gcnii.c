/* GCNII: a deep GCN without oversmoothing. Each layer mixes in the first embedding, and its weights
 * approach the identity. Then a linear map to the classes.
 *   H0 = relu(X W1 + b1),  S = (1-α) Â H + α H0,
 *   H' = relu((1-β_l) S + β_l S W),  β_l = log(θ/l + 1)         (Chen et al. 2020, Eq. 5) */
#include "models/model.h"
#include "nn/layers.h"

#include <math.h>

static node gcnii_build(struct program *p, const struct inputs *in, const struct config *c)
{
    const struct csr *adj = graph_view(p, in, VIEW_GCN);
    float alpha = (float)c->alpha, rate = (float)c->dropout;
    node x = dropout(p, in->x, (float)c->input_dropout);
    node h0 = relu(p, fully_connected(p, layer_name(1).text, x, c->hidden)), h = h0;
    for (int64_t l = 1; l <= c->layers; l++) {
        float beta = (float)log(c->theta / (double)l + 1);
        node s = axpby(p, 1 - alpha, spmm(p, adj, dropout(p, h, rate)), alpha, h0);
        node turned = linear_no_bias(p, layer_name(l + 1).text, s, c->hidden);
        h = relu(p, axpby(p, 1 - beta, s, beta, turned));
    }
    return fully_connected(p, layer_name(c->layers + 2).text, dropout(p, h, rate), in->classes);
}

const struct model_def model_gcnii = {
    .name = "gcnii",
    .title = "Deep GCN with initial residual and identity mapping",
    .paper = "Chen et al., ICML 2020",
    .knobs = "alpha theta layers hidden dropout input_dropout",
    .build = gcnii_build,
};
