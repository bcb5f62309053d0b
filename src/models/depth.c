/* Residual connections and normalisation, which allow wider and deeper plain layers (Luo et al.,
 * NeurIPS 2024, "Classic GNNs are strong baselines"). Off by default: without them the models are
 * as in their papers. */
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
    /* Batch norm removes a bias in front of it: its gradient would be rounding, which Adam would
     * amplify to full steps. */
    if (!hidden || c->norm != NORM_BATCH)
        z = with_bias(p, layer_name(layer).text, z);
    if (c->residual == RESIDUAL_YES)
        z = add(p, z, linear_no_bias(p, name, h, program_cols(p, z)));
    return hidden ? with_norm(p, layer, z, c) : z;
}
