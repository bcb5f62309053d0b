/* Gathering the witnesses of a session and weighing them. */
#include "train/trust.h"

#include "match/prune.h"
#include "train/consm.h"
#include <math.h>
#include <string.h>

/* The matching coefficients with the module as it is in the end; NULL when the model has none. */
static consm_status final_coefficients(const float **w, struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    *w = NULL;
    if (!s->procedure || strcmp(s->procedure->model, "consm") != 0 || !own || !own->matcher)
        return CONSM_OK;
    TRY(matcher_prune(own->matcher, own->zeta, NULL));
    TRY(matcher_score(own->matcher, own->w));
    *w = own->w;
done:
    return st;
}

consm_status session_trust(struct edge_trust *out, struct session *s)
{
    consm_status st = CONSM_OK;
    const struct problem *problem = s->problem;
    const float *w;
    float *agreement = NULL;
    int32_t *order = NULL;
    *out = (struct edge_trust){0};
    TRY(edges_new(&out->edges, problem->graph));
    int64_t count = out->edges->count;
    TRY(NEW(out->score, count));
    TRY(ZNEW(out->kept, count));
    TRY(NEW(agreement, count));
    TRY(NEW(order, count));
    TRY(final_coefficients(&w, s));
    trust_agreement(agreement, session_logits(s), problem->classes, out->edges);
    trust_fit(&out->weigh, w, agreement, out->edges, problem->label, problem->role);
    trust_apply(out->score, &out->weigh, w, agreement, count);
    out->zeta = w ? ((struct consm *)s->own)->zeta : consm_estimate_zeta(out->edges, problem);
    int64_t kept = (int64_t)floor(out->zeta * (double)count);
    prune_first(order, out->score, count, kept);
    for (int64_t i = 0; i < kept; i++)
        out->kept[order[i]] = 1;
done:
    mem_free(agreement);
    mem_free(order);
    if (st < 0)
        edge_trust_free(out);
    return st;
}

void edge_trust_free(struct edge_trust *t)
{
    edges_free(t->edges);
    mem_free(t->score);
    mem_free(t->kept);
    *t = (struct edge_trust){0};
}
