/* The coefficients of all edges: the subgraphs of all nodes are pooled, then M reads them in pairs.
 */
#include "match/matcher_inside.h"

#include <string.h>

consm_status matcher_pool(struct matcher *m, const int32_t *only, int64_t count)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    const struct config *c = m->config;
    const float *h;
    TRY(matcher_references(&h, m));
    m->projected = false;
    if (m->parts.partition)
        return in_parts_pool(m, only, count);
    if (m->far.used) {
        far_want(m, only, count);
        return CONSM_OK;
    }
    struct pool_all q = {.graph = d->graph,
                         .node = only,
                         .count = count,
                         .keep = m->keep,
                         .h = h,
                         .plans = m->plans,
                         .c = d->classes,
                         .f = c->match_width,
                         .cap = c->two_hop_cap,
                         .seed = m->seed,
                         .pool = c->pool,
                         .split = c->map == MAP_LINEAR};
    ot_plans_costs(m->plans, h, m->reference_point, c->match_width, m->team);
    pooling_all(m->pooled, &q, m->scratch, m->team);
done:
    return st;
}

/* The first layer of M, once for all pairs. */
static consm_status project(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const float *ego, *head, *left, *right;
    if (m->projected)
        return CONSM_OK;
    m->projected = true;
    if (m->parts.partition)
        return in_parts_project(m);
    if (!m->far.used)
        program_bind(m->project ? m->project : m->score, m->pooled_input, m->pooled);
    if (!m->project)
        return CONSM_OK;
    TRY(program_read(&head, m->learner.eval, m->head));
    if (!m->far.used) {
        TRY(program_read(&ego, m->learner.eval, m->embedding));
        program_bind(m->project, m->ego_input, ego);
    }
    TRY(learner_run(&m->learner, m->project));
    TRY(program_read(&left, m->project, m->left_part));
    TRY(program_read(&right, m->project, m->right_part));
    program_bind(m->score, m->left_input, left);
    program_bind(m->score, m->right_input, right);
    program_bind(m->score, m->head_input, head);
done:
    return st;
}

consm_status matcher_match(struct matcher *m, float *w, const int32_t *left, const int32_t *right,
                           int64_t count)
{
    consm_status st = CONSM_OK;
    const float *scores;
    struct learner *l = m->parts.partition ? &m->parts.alone : &m->learner;
    TRY(project(m));
    if (m->parts.partition)
        TRY(in_parts_ends(m, left, right, count));
    for (int64_t first = 0; first < count; first += m->score_batch) {
        int64_t size = count - first < m->score_batch ? count - first : m->score_batch;
        /* A last batch that is not full keeps what stood behind it: those scores are not read. */
        memcpy(m->batch_left, left + first, (size_t)size * sizeof *left);
        memcpy(m->batch_right, right + first, (size_t)size * sizeof *right);
        TRY(index_set_rows(m->score_left, m->batch_left));
        TRY(index_set_rows(m->score_right, m->batch_right));
        TRY(learner_read(&scores, l, m->score, m->scores));
        memcpy(w + first, scores, (size_t)size * sizeof *w);
    }
done:
    return st;
}

consm_status matcher_score(struct matcher *m, float *w)
{
    consm_status st = CONSM_OK;
    const struct edges *edges = m->data.edges;
    TRY(matcher_pool(m, NULL, 0));
    TRY(matcher_match(m, w, edges->left, edges->right, edges->count));
done:
    return st;
}
