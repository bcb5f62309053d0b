/* Linear layers and graph convolutions. */
#include "nn/layers.h"

#include <stdio.h>

static const float LAYER_NORM_EPS = 1e-5f; /* torch.nn.LayerNorm's */
enum { CONSTANT_WIDTH = 4 }; /* columns of constant features per column of the layer */

struct layer_name layer_name(int64_t number)
{
    struct layer_name name;
    snprintf(name.text, sizeof name.text, "%lld", (long long)number);
    return name;
}

node linear_from(struct program *p, const char *name, node x, int64_t out, enum init init)
{
    char full[48];
    snprintf(full, sizeof full, "w%s", name);
    return matmul(p, x, param(p, full, program_cols(p, x), out, init));
}

node with_bias(struct program *p, const char *name, node x)
{
    char full[48];
    snprintf(full, sizeof full, "b%s", name);
    return add_bias(p, x, param(p, full, 1, program_cols(p, x), INIT_ZERO));
}

node linear_no_bias(struct program *p, const char *name, node x, int64_t out)
{
    return linear_from(p, name, x, out, INIT_GLOROT);
}

node linear(struct program *p, const char *name, node x, int64_t out)
{
    return with_bias(p, name, linear_no_bias(p, name, x, out));
}

node fully_connected(struct program *p, const char *name, node x, int64_t out)
{
    return with_bias(p, name, linear_from(p, name, x, out, INIT_LINEAR));
}

node graph_conv_no_bias(struct program *p, const char *name, const struct csr *s, node x,
                        int64_t out)
{
    /* (S·X)·W with constant X needs no sparse product after the first epoch, forwards or backwards,
     * and one hop less of the graph. It needs memory for S·X, so not if X is very wide. */
    if (program_is_constant(p, x) && s && !s->changes && program_cols(p, x) <= CONSTANT_WIDTH * out)
        return linear_no_bias(p, name, spmm(p, s, x), out);
    /* Otherwise the sparse product takes whichever is narrower, x or X·W. */
    if (!program_is_constant(p, x) && !program_is_sparse(p, x) && program_cols(p, x) < out)
        return linear_no_bias(p, name, spmm(p, s, x), out);
    return spmm(p, s, linear_no_bias(p, name, x, out));
}

node graph_conv(struct program *p, const char *name, const struct csr *s, node x, int64_t out)
{
    return with_bias(p, name, graph_conv_no_bias(p, name, s, x, out));
}

node layer_norm(struct program *p, const char *name, node x)
{
    char full[48];
    int64_t n = program_rows(p, x), f = program_cols(p, x);
    float share = 1 / (float)f;
    snprintf(full, sizeof full, "%s.scale", name);
    node gamma = param(p, full, 1, f, INIT_ONE);
    snprintf(full, sizeof full, "%s.shift", name);
    node beta = param(p, full, 1, f, INIT_ZERO);
    /* y = x - mean(x),  x̂ = y (mean(y²) + ε)^-1/2,  γ x̂ + β */
    node y = sub(p, x, expand(p, scale(p, share, row_sum(p, x)), n, f));
    node variance = axpby(p, share, row_sum(p, square(p, y)), LAYER_NORM_EPS, fill(p, 1, n, 1));
    node normal = scale_rows(p, y, exp_(p, scale(p, -0.5f, log_(p, variance, 1e-30f))));
    return add_bias(p, mul(p, normal, expand(p, gamma, n, f)), beta);
}

node hidden_step(struct program *p, node x, double dropout_rate)
{
    return dropout(p, relu(p, x), (float)dropout_rate);
}
