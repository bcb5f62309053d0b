/* Trust scores through the public interface. */
#include "app/objects.h"
#include "base/given.h"

#include <math.h>
#include <string.h>

/* Of a graph in parts every edge stands at both its ends: it stays at the first. */
static void keep_first_ends(struct edge_trust *t)
{
    struct edges *e = t->edges;
    int64_t kept = 0;
    for (int64_t i = 0; e->partition && i < e->count; i++)
        if (e->left[i] < e->right[i]) {
            e->left[kept] = e->left[i];
            e->right[kept] = e->right[i];
            t->score[kept] = t->score[i];
            t->kept[kept++] = t->kept[i];
        }
    e->count = e->partition ? kept : e->count;
}

/* Takes what the model's trust holds over into the public form. */
static consm_status read_trust(void *ctx, const struct consm_model *model,
                               const struct problem *problem, struct backend *backend)
{
    consm_status st = CONSM_OK;
    struct consm_edge_scores *out = ctx;
    struct edge_trust trust;
    TRY(model_trust(&trust, model, problem, backend));
    for (int64_t e = 0; e < trust.edges->count; e++)
        if (!isfinite(trust.score[e])) {
            st = status_fail(CONSM_ENUMERIC,
                             "edge %lld: its score is no number; features of this graph or "
                             "parameters of the model are too large",
                             (long long)e);
            edge_trust_free(&trust);
            goto done;
        }
    keep_first_ends(&trust);
    out->edges = trust.edges->count;
    out->zeta = trust.zeta;
    out->from = trust.edges->left;
    out->to = trust.edges->right;
    out->score = trust.score;
    out->kept = trust.kept;
    trust.edges->left = trust.edges->right = NULL;
    trust.score = NULL;
    trust.kept = NULL;
    edge_trust_free(&trust);
done:
    return st;
}

consm_status consm_score_edges(struct consm_edge_scores **out, const struct consm_model *model,
                               const struct consm_dataset *dataset, int threads)
{
    return consm_score_edges_on(out, model, dataset, NULL, threads);
}

consm_status consm_score_edges_on(struct consm_edge_scores **out, const struct consm_model *model,
                                  const struct consm_dataset *dataset, const char *device,
                                  int threads)
{
    consm_status st = CONSM_OK;
    struct consm_edge_scores *scores = NULL;
    const struct prepared *prepared;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, model, dataset));
    TRY(dataset_prepared(&prepared, dataset));
    TRY(ZNEW(scores, 1));
    TRY(model_on_device(model, dataset, device, threads, read_trust, scores));
    *out = scores;
    return CONSM_OK;
done:
    consm_edge_scores_free(scores);
    return st;
}

void consm_edge_scores_free(struct consm_edge_scores *scores)
{
    if (!scores)
        return;
    mem_free(scores->from);
    mem_free(scores->to);
    mem_free(scores->score);
    mem_free(scores->kept);
    mem_free(scores);
}
