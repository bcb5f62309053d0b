/* MLP: the baseline that reads only a node's own features.
 *   H1 = σ(X W1 + b1),  …,  Z = H W_L + b_L */
#include "models/model.h"
#include "nn/layers.h"

static node mlp_build(struct program *p, const struct inputs *in, const struct config *c)
{
    node h = dropout(p, in->x, (float)c->input_dropout);
    for (int64_t l = 1; l < c->layers; l++)
        h = hidden_step(p, fully_connected(p, layer_name(l).text, h, c->hidden), c->dropout);
    return fully_connected(p, layer_name(c->layers).text, h, in->classes);
}

const struct model_def model_mlp = {
    .name = "mlp",
    .title = "Multi-layer perceptron, features only",
    .paper = "Popescu et al., WSEAS 2009",
    .knobs = "layers hidden dropout input_dropout",
    .unweighted = true,
    .build = mlp_build,
};
