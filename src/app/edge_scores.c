/* Trust scores through the public interface. */
#include "app/predictor.h"
#include "base/given.h"
#include "train/session.h"

#include <math.h>
#include <string.h>

/* In a graph in parts every edge is stored at both ends; this keeps the one at the first end. */
static void keep_first_ends(struct edge_trust *t)
{
    struct edges *e = t->edges;
    int64_t kept = 0;
    for (int64_t i = 0; e->partition && i < e->count; i++)
        if (e->left[i] < e->right[i]) {
            e->left[kept] = e->left[i];
            e->right[kept] = e->right[i];
            t->score[kept] = t->score[i];
            t->low[kept] = t->low[i];
            t->high[kept] = t->high[i];
            if (t->witness)
                memmove(t->witness + kept * WITNESSES, t->witness + i * WITNESSES,
                        WITNESSES * sizeof *t->witness);
            t->kept[kept++] = t->kept[i];
        }
    e->count = e->partition ? kept : e->count;
}

/* Moves the contents of a trust into the public struct. The trust is empty afterwards, also on
 * failure. */
static consm_status take(struct consm_edge_scores *out, struct edge_trust *trust)
{
    consm_status st = CONSM_OK;
    for (int64_t e = 0; e < trust->edges->count; e++)
        if (!isfinite(trust->score[e]))
            TRY(status_fail(CONSM_ENUMERIC,
                            "edge %lld: its score is not a number: features of this graph or "
                            "parameters of the model are too large",
                            (long long)e));
    keep_first_ends(trust);
    if (trust->witness) {
        TRY(NEW(out->witness_weight, TRUST_TERMS));
        memcpy(out->witness_weight, trust->weigh.by, sizeof trust->weigh.by);
        out->witnesses = WITNESSES;
    }
    out->edges = trust->edges->count;
    out->zeta = trust->zeta;
    out->threshold = trust->threshold;
    out->from = trust->edges->left;
    out->to = trust->edges->right;
    out->score = trust->score;
    out->kept = trust->kept;
    out->low = trust->low;
    out->high = trust->high;
    out->witness = trust->witness;
    out->witness_name = witness_names;
    trust->edges->left = trust->edges->right = NULL;
    trust->score = trust->low = trust->high = trust->witness = NULL;
    trust->kept = NULL;
done:
    edge_trust_free(trust);
    return st;
}

static consm_status read_trust(void *ctx, const struct consm_model *model,
                               const struct problem *problem, struct backend *backend)
{
    consm_status st = CONSM_OK;
    struct edge_trust trust;
    TRY(model_trust(&trust, model, problem, backend));
    TRY(take(ctx, &trust));
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

consm_status consm_predictor_edges(struct consm_edge_scores **out, struct consm_predictor *p,
                                   const int64_t *number, int64_t count)
{
    consm_status st = CONSM_OK;
    struct consm_edge_scores *scores = NULL;
    struct edge_trust trust = {0};
    if (out)
        *out = NULL;
    TRY(GIVEN(out, p, number));
    if (count < 1)
        TRY(status_fail(CONSM_EINVAL, "%lld nodes: expected one or more", (long long)count));
    TRY(ZNEW(scores, 1));
    TRY(predictor_edges_of(&trust, p, number, count));
    TRY(take(scores, &trust));
    *out = scores;
    scores = NULL;
done:
    consm_edge_scores_free(scores);
    return st;
}

/* ---- pairs that are no edges --------------------------------------------- */

struct asked {
    struct consm_edge_scores *scores;
    int64_t most;
};

static consm_status suggest(void *ctx, const struct consm_model *model,
                            const struct problem *problem, struct backend *backend)
{
    consm_status st = CONSM_OK;
    const struct asked *a = ctx;
    const struct consm_model *one = model;
    struct session *s = NULL;
    float *answers = NULL;
    struct edge_trust trust;
    for (int64_t i = 0; i < model->members; i++)
        if (one == model || model->member[i]->picks > one->picks)
            one = model->member[i];
    TRY(model_trust_session(&s, &answers, one, problem, backend));
    TRY(session_suggest(&trust, s, a->most));
    TRY(take(a->scores, &trust));
done:
    session_free(s);
    mem_free(answers);
    return st;
}

consm_status consm_suggest_edges(struct consm_edge_scores **out, const struct consm_model *model,
                                 const struct consm_dataset *dataset, int64_t most,
                                 const char *device, int threads)
{
    consm_status st = CONSM_OK;
    struct consm_edge_scores *scores = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, model, dataset));
    if (most < 0)
        TRY(status_fail(CONSM_EINVAL, "%lld pairs: expected 0 or more", (long long)most));
    TRY(dataset_whole(dataset, "suggesting edges"));
    TRY(ZNEW(scores, 1));
    struct asked a = {scores, most};
    TRY(model_on_device(model, dataset, device, threads, suggest, &a));
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
    mem_free(scores->low);
    mem_free(scores->high);
    mem_free(scores->witness);
    mem_free(scores->witness_weight);
    mem_free(scores);
}
