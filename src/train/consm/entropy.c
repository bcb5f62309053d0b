/* Entropy minimisation (--entropy; Grandvalet and Bengio 2004): it moves class
 * borders to where few nodes are. Not in the paper. The arms decide whether it helps (arms.c). */

/*
 * The mean entropy of the unlabelled nodes' predictions joins the loss:
 *
 *     L + γ/|U| · Σ_{i∈U} H(p_i),   H(p) = -Σ_k p_k·log p_k,   U: all nodes that do not train
 *
 * No label of U is read.
 */
#include "train/consm/consm.h"

#include "train/supervised.h"
#include <math.h>

static bool asked_for(const struct config *c)
{
    return isnan(c->entropy) || c->entropy > 0;
}

consm_status consm_open_entropy(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm_entropy *e = &((struct consm *)s->own)->entropy;
    int64_t n = s->problem->nodes;
    if (!asked_for(&s->options.config))
        return CONSM_OK;
    TRY(NEW(e->unlabelled, n));
    for (int64_t i = 0; i < n; i++)
        e->unlabelled[i] = 1;
    for (int64_t k = 0; k < s->labelled->count; k++)
        e->unlabelled[s->labelled->row[k]] = 0;
    e->count = n - s->labelled->count;
done:
    return st;
}

void consm_close_entropy(struct consm_entropy *e)
{
    mem_free(e->unlabelled);
}

/* With γ = 0 it adds exactly zero: an arm without entropy equals a run without it. */
node consm_entropy_loss(struct session *s, struct program *p, node loss, node logits)
{
    struct consm_entropy *e = &((struct consm *)s->own)->entropy;
    if (!e->unlabelled)
        return loss;
    node rows = input(p, e->unlabelled, s->problem->nodes, 1);
    node negative = dot(p, scale_rows(p, softmax(p, logits), rows), log_softmax(p, logits));
    return add(p, loss, scale_by(p, negative, input(p, &e->factor, 1, 1)));
}

void consm_weigh_entropy(struct session *s, double weight)
{
    struct consm_entropy *e = &((struct consm *)s->own)->entropy;
    if (!e->unlabelled)
        return;
    e->factor = e->count > 0 ? (float)(-weight / (double)e->count) : 0;
    session_touch(s, &e->factor);
}
