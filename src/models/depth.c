/* What lets plain layers be stacked wider and deeper: a linear way past each of them, and
 * normalisation of what they hand on (Luo et al., NeurIPS 2024, "Classic GNNs are strong
 * baselines"). Off unless asked for: without them the models are as in their papers. */
#include "models/model.h"
#include "nn/layers.h"

#include <stdio.h>

node with_norm(struct program *p, int64_t layer, node x, const struct config *c)
{
    char name[32];
    snprintf(name, sizeof name, "%s%lld", c->norm == NORM_BATCH ? "bn" : "ln", (long long)layer);
    if (c->norm == NORM_NONE)
        return x;
    return c->norm == NORM_BATCH ? batch_norm(p, name, x) : layer_norm(p, name, x);
}

node finish_layer(struct program *p, int64_t layer, node z, node h, const struct config *c)
{
    char name[32];
    bool hidden = layer < c->layers;
    snprintf(name, sizeof name, "past%lld", (long long)layer);
    /* A bias in front of batch norm is taken away again: its gradient is rounding, which Adam would
     * blow up to whole steps. */
    if (!hidden || c->norm != NORM_BATCH)
        z = with_bias(p, layer_name(layer).text, z);
    if (c->residual == RESIDUAL_YES)
        z = add(p, z, linear_no_bias(p, name, h, program_cols(p, z)));
    return hidden ? with_norm(p, layer, z, c) : z;
}
