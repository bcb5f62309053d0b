/* Weights messages by ConSM's coefficients. The session has its own views, and both directions of
 * an edge change alike, so the matrix stays its own transpose. Not in the paper. */
#include "train/consm/consm.h"

#include <string.h>

static const struct csr *weighed_view(const struct consm *own)
{
    return views_get(own->own_views, VIEW_GCN);
}

static size_t value_bytes(const struct csr *view)
{
    return (size_t)view->nnz * sizeof *view->val;
}

/* Tells programs that read the matrix or its values that they are new. */
static void tell(struct session *s)
{
    const struct csr *view = weighed_view(s->own);
    csr_touch((struct csr *)view);
    session_touch(s, view->val);
}

consm_status consm_open_messages(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    if (s->options.config.messages == MESSAGES_NONE)
        return CONSM_OK;
    TRY(views_new(&own->own_views, s->problem->graph));
    struct csr *view = (struct csr *)weighed_view(own);
    if (!view)
        TRY(CONSM_ENOMEM);
    TRY(csr_transpose_entries(view)); /* for programs with a value per entry: the pattern stays */
    view->changes = true;
    TRY(NEW(own->plain_value, view->nnz));
    TRY(NEW(own->best_value, view->nnz));
    memcpy(own->plain_value, view->val, value_bytes(view));
    memcpy(own->best_value, view->val, value_bytes(view));
    own->plain_problem = s->problem;
    own->own_problem = *s->problem;
    own->own_problem.views = own->own_views;
    s->problem = &own->own_problem;
done:
    return st;
}

/* Loops are unchanged. */
void consm_weigh_messages(struct session *s)
{
    struct consm *own = s->own;
    if (!own->own_views)
        return;
    const struct csr *view = weighed_view(own);
    bool is_signed = s->options.config.messages == MESSAGES_SIGNED;
    for (int64_t e = 0; e < own->edges->count; e++) {
        int32_t i = own->edges->left[e], j = own->edges->right[e];
        float factor = is_signed ? 2 * own->w[e] - 1 : own->w[e];
        int64_t there = csr_find(view, i, j), back = csr_find(view, j, i);
        view->val[there] = factor * own->plain_value[there];
        view->val[back] = factor * own->plain_value[back];
    }
    tell(s);
}

static size_t module_bytes(const struct consm *own)
{
    return (size_t)matcher_params(own->matcher)->size * sizeof *own->best_match;
}

consm_status consm_remember_messages(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const float *module;
    if (!own->own_views || !own->matcher)
        return CONSM_OK;
    TRY(params_read(&module, matcher_params(own->matcher), PLACE_VALUE));
    memcpy(own->best_value, weighed_view(own)->val, value_bytes(weighed_view(own)));
    memcpy(own->best_match, module, module_bytes(own));
    own->place.best_round = own->place.round;
done:
    return st;
}

void consm_restore_messages(struct session *s)
{
    struct consm *own = s->own;
    if (!own->own_views)
        return;
    memcpy(weighed_view(own)->val, own->best_value, value_bytes(weighed_view(own)));
    tell(s);
}

void consm_message_memory(struct session *s, memory_fn see, void *ctx)
{
    struct consm *own = s->own;
    if (!own->own_views)
        return;
    see(ctx, "consm.messages", weighed_view(own)->val, value_bytes(weighed_view(own)));
    tell(s);
    see(ctx, "consm.best_messages", own->best_value, value_bytes(weighed_view(own)));
    see(ctx, "consm.best_match", own->best_match, module_bytes(own));
}

consm_status consm_settle_messages(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    float *module;
    if (!own->own_views)
        return CONSM_OK;
    if (own->place.best_round == 0) {
        s->options.config.messages = MESSAGES_NONE;
        s->problem = own->plain_problem;
        return session_record_eval(s); /* as the session of a saved model will, to the bit */
    }
    TRY(params_write(&module, matcher_params(own->matcher), PLACE_VALUE));
    memcpy(module, own->best_match, module_bytes(own));
    TRY(consm_apply_messages(s));
done:
    return st;
}

consm_status consm_apply_messages(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    if (!own->own_views || s->problem->graph->nnz == 0)
        return CONSM_OK;
    TRY(consm_final_coefficients(s));
    consm_weigh_messages(s);
done:
    return st;
}
