/* Trust scores through the public interface. */
#include "api/objects.h"
#include "train/edge_trust.h"

#include <string.h>

/* Takes what a session's trust holds over into the public form. */
static consm_status read_trust(void *ctx, struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm_edge_scores *out = ctx;
    struct edge_trust trust;
    TRY(session_trust(&trust, s));
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
    consm_status st = CONSM_OK;
    struct consm_edge_scores *scores = NULL;
    *out = NULL;
    TRY(ZNEW(scores, 1));
    TRY(model_with_session(model, dataset, threads, read_trust, scores));
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
