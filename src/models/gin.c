/* GIN: sums over neighbours, which distinguishes neighbourhoods that an average confuses.
 *   h_i' = relu(MLP((1 + ε) h_i + Σ_j w_ij h_j)),  ε trained            (Xu et al. 2019, Eq. 4.1)
 */

/* An MLP is linear, relu, linear; the last layer's MLP has no relu after it and classifies. The sum
 * and the MLP's first product are swapped, so that wide features are multiplied once and stay
 * sparse:
 *   ((1 + ε) H + A H) W = (A + I)(H W) + ε H W */
#include "models/model.h"
#include "nn/layers.h"

#include <stdio.h>

/* out columns, before the outer relu */
static node convolve(struct program *p, const struct csr *loops, node h, int64_t layer, int64_t out,
                     const struct config *c)
{
    char name[32];
    int64_t first = 2 * layer - 1;
    /* Sums over a hub's neighbours are large: the smaller initialisation stabilises training. */
    node z = linear_from(p, layer_name(first).text, h, c->hidden, INIT_LINEAR);
    snprintf(name, sizeof name, "eps%lld", (long long)layer);
    node mixed = add(p, spmm(p, loops, z), scale_by(p, z, param(p, name, 1, 1, INIT_ZERO)));
    mixed = with_bias(p, layer_name(first).text, mixed);
    mixed = with_norm(p, layer, mixed, c);
    return fully_connected(p, layer_name(first + 1).text, relu(p, mixed), out);
}

static node gin_build(struct program *p, const struct inputs *in, const struct config *c)
{
    const struct csr *loops = graph_view(p, in, VIEW_LOOPS);
    node h = dropout(p, in->x, (float)c->input_dropout);
    for (int64_t l = 1; l < c->layers; l++) {
        bool last_hidden = l + 1 == c->layers;
        h = convolve(p, loops, h, l, c->hidden, c);
        h = hidden_step(p, h, last_hidden ? c->dropout : 0);
    }
    return convolve(p, loops, h, c->layers, in->classes, c);
}

const struct model_def model_gin = {
    .name = "gin",
    .title = "Graph isomorphism network",
    .paper = "Xu et al., ICLR 2019",
    .knobs = "norm layers hidden dropout input_dropout",
    .build = gin_build,
};
