/* Similarity of the two ends of an edge, without a model of trust. */
#include "study/plant.h"

#include "base/alloc.h"
#include "match/trust.h"
#include "nn/layers.h"
#include <string.h>

static float dense_jaccard(const float *a, const float *b, int64_t width)
{
    int64_t both = 0, any = 0;
    for (int64_t k = 0; k < width; k++) {
        both += a[k] != 0 && b[k] != 0;
        any += a[k] != 0 || b[k] != 0;
    }
    return any ? (float)both / (float)any : 0;
}

/* Columns ascend in both rows. */
static float sparse_jaccard(const struct csr *x, int64_t i, int64_t j)
{
    int64_t a = x->start[i], b = x->start[j], both = 0;
    int64_t all = x->start[i + 1] - a + x->start[j + 1] - b;
    while (a < x->start[i + 1] && b < x->start[j + 1]) {
        int32_t at_a = x->col[a], at_b = x->col[b];
        both += at_a == at_b;
        a += at_a <= at_b;
        b += at_b <= at_a;
    }
    return all ? (float)both / (float)(all - both) : 0;
}

void similarity_jaccard(float *out, const struct edges *edges, const struct problem *problem)
{
    int64_t f = problem->features;
    for (int64_t e = 0; e < edges->count; e++) {
        int64_t i = edges->left[e], j = edges->right[e];
        out[e] = problem->sparse ? sparse_jaccard(problem->sparse, i, j)
                                 : dense_jaccard(problem->dense + i * f, problem->dense + j * f, f);
    }
}

consm_status similarity_cosine(float *out, const struct edges *edges, const struct problem *problem,
                               const float *x, int64_t width, struct team *team)
{
    consm_status st = CONSM_OK;
    float *witness = NULL;
    struct witness_data data = {
        .edges = edges,
        .graph = problem->graph,
        .sparse = x ? NULL : problem->sparse,
        .dense = x ? x : problem->dense,
        .features = x ? width : problem->features,
        .classes = problem->classes,
    };
    TRY(NEW(witness, edges->count * DATA_WITNESSES));
    TRY(witness_data_only(witness, &data, team));
    for (int64_t e = 0; e < edges->count; e++)
        out[e] = witness[e * DATA_WITNESSES + WITNESS_FEATURES - WITNESS_DATA];
done:
    mem_free(witness);
    return st;
}

consm_status similarity_guard(float *out, uint8_t *pruned, const float *cosine, int layers,
                              const struct edges *edges, int64_t nodes)
{
    consm_status st = CONSM_OK;
    double *sum = NULL;
    int64_t *alike = NULL;
    TRY(NEW(sum, nodes));
    TRY(NEW(alike, nodes));
    for (int64_t e = 0; e < edges->count; e++)
        out[e] = pruned[e] = 0;
    for (int l = 0; l < layers; l++) {
        const float *s = cosine + l * edges->count;
        memset(sum, 0, (size_t)nodes * sizeof *sum);
        memset(alike, 0, (size_t)nodes * sizeof *alike);
        for (int64_t e = 0; e < edges->count; e++) {
            pruned[e] |= s[e] < GUARD_LEAST;
            for (int end = 0; end < 2 && s[e] >= GUARD_LEAST; end++) {
                int32_t i = end ? edges->right[e] : edges->left[e];
                sum[i] += (double)s[e];
                alike[i]++;
            }
        }
        for (int64_t e = 0; e < edges->count; e++)
            for (int end = 0; end < 2 && s[e] >= GUARD_LEAST; end++) {
                int32_t i = end ? edges->right[e] : edges->left[e];
                double share = (double)alike[i] / (double)(alike[i] + 1);
                out[e] += (float)((double)s[e] / sum[i] * share / (2 * layers));
            }
    }
done:
    mem_free(sum);
    mem_free(alike);
    return st;
}

/* H¹ = relu(Â X W + b) of the trained GCN; h (n, hidden). */
static consm_status first_layer(float *h, struct session *s)
{
    consm_status st = CONSM_OK;
    struct program *p = NULL;
    const float *value;
    int64_t hidden = s->options.config.hidden;
    TRY(program_new(&p, s->learner.params, false));
    struct inputs in = session_inputs(s, p);
    node found =
        relu(p, graph_conv(p, layer_name(1).text, graph_view(p, &in, VIEW_GCN), in.x, hidden));
    program_keep(p, found);
    TRY(program_compile(p, s->backend));
    TRY(learner_read(&value, &s->learner, p, found));
    memcpy(h, value, (size_t)(s->problem->nodes * hidden) * sizeof *h);
done:
    program_free(p);
    return st;
}

consm_status similarity_guard_of(float *out, uint8_t *pruned, float *cosine, struct session *s,
                                 const struct edges *edges)
{
    consm_status st = CONSM_OK;
    const struct problem *problem = s->problem;
    struct team *team = s->backend->host;
    int64_t hidden = s->options.config.hidden;
    int layers = s->options.config.layers > 1 ? 2 : 1;
    float *both = NULL, *h = NULL;
    TRY(NEW(both, 2 * edges->count));
    TRY(NEW(h, problem->nodes * hidden));
    TRY(similarity_cosine(both, edges, problem, NULL, 0, team));
    if (layers == 2) {
        TRY(first_layer(h, s));
        TRY(similarity_cosine(both + edges->count, edges, problem, h, hidden, team));
    }
    TRY(similarity_guard(out, pruned, both, layers, edges, problem->nodes));
    if (cosine)
        memcpy(cosine, both, (size_t)edges->count * sizeof *both);
done:
    mem_free(both);
    mem_free(h);
    return st;
}
