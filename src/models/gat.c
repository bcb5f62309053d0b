/* GAT: a node weighs its neighbours (and itself) by learned attention, several heads side by side.
 *   e_ij = leakyrelu(a_dst·W h_i + a_src·W h_j),  α = softmax over j of e_ij,
 *   h_i' = ‖_heads Σ_j α_ij W h_j + b                     (Veličković et al. 2018, Eqs. 1 to 6)
 */

/* ELU stands between layers; the last layer has one head. Edge weights are not used. --residual and
 * --norm are as in GCN:  H' = elu(norm(‖_heads … + b + H R))                 (Luo et al. 2024) */
#include "models/model.h"
#include "nn/layers.h"

#include <stdio.h>

static node attention_vector(struct program *p, const char *kind, int64_t layer, int64_t heads,
                             int64_t width)
{
    char name[32];
    snprintf(name, sizeof name, "%s%lld", kind, (long long)layer);
    return param(p, name, heads, width, INIT_GLOROT);
}

/* One layer of `heads` heads with `out` columns together; *scores becomes e, on the entries of s.
 */
static node attend(struct program *p, const struct csr *s, node h, int64_t layer, int64_t heads,
                   int64_t out, const struct config *c, node *scores)
{
    node z = linear_no_bias(p, layer_name(layer).text, h, out);
    node dst = head_dot(p, z, attention_vector(p, "att_dst", layer, heads, out / heads));
    node src = head_dot(p, z, attention_vector(p, "att_src", layer, heads, out / heads));
    *scores = leaky_relu(p, edge_add(p, s, dst, src), 0.2f);
    node weights = dropout(p, edge_softmax(p, s, *scores), (float)c->attention_dropout);
    return finish_layer(p, layer, spmm_values(p, s, weights, z), h, c);
}

static node record(struct program *p, const struct inputs *in, const struct config *c, node *scores)
{
    const struct csr *loops = graph_view(p, in, VIEW_LOOPS);
    node h = dropout(p, in->x, (float)c->input_dropout);
    if (c->layers > 1 && c->hidden % c->heads != 0)
        return program_fault(p, "hidden %lld: expected a multiple of the %lld heads",
                             (long long)c->hidden, (long long)c->heads);
    for (int64_t l = 1; l < c->layers; l++) {
        node z = attend(p, loops, h, l, c->heads, c->hidden, c, scores);
        h = dropout(p, elu(p, z), (float)c->dropout);
    }
    return attend(p, loops, h, c->layers, 1, in->classes, c, scores);
}

static node gat_build(struct program *p, const struct inputs *in, const struct config *c)
{
    node scores;
    return record(p, in, c, &scores);
}

/* The last layer's scores before the softmax, which would make them depend on the degree. */
static node gat_coefficients(struct program *p, const struct inputs *in, const struct config *c)
{
    node scores = POISON;
    record(p, in, c, &scores);
    return scores;
}

const struct model_def model_gat = {
    .name = "gat",
    .title = "Graph attention network",
    .paper = "Veličković et al., ICLR 2018",
    .knobs = "heads attention_dropout residual norm layers hidden dropout input_dropout",
    .unweighted = true,
    .build = gat_build,
    .coefficients = gat_coefficients,
};
