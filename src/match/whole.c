/* The matching module for a whole graph; the host maps and pools. */
#include "match/matcher_inside.h"
#include "match/prune.h"

#include <string.h>

consm_status whole_open(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    TRY(NEW(m->similarity, d->nodes * d->classes));
    TRY(NEW(m->order, d->edges->count));
    TRY(NEW(m->keep, d->graph->nnz));
done:
    return st;
}

/* More numbers, 256 MB, are not kept from one scoring to the next: they are the largest array of
 * the module, and M's first layer on them is narrow. */
enum { LARGE_POOLED = 1 << 26 };

static int64_t pooled_size(const struct matcher *m)
{
    return m->data.nodes * m->data.classes * m->config->match_width;
}

static consm_status open_scoring(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    struct consm_ot_options transport = matcher_transport(m->config);
    TRY(ot_plans_new(&m->plans, d->nodes, d->classes, matcher_largest_set(m), &transport,
                     team_size(m->team)));
    TRY(NEW(m->pooled, pooled_size(m)));
done:
    return st;
}

void whole_keep_all(struct matcher *m)
{
    memset(m->keep, 1, (size_t)m->data.graph->nnz);
}

consm_status whole_reserve(struct matcher *m, int64_t members)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    TRY(pooling_new(&m->pooling, d->labelled, d->classes, m->reach.count, m->reach.place, NULL));
    TRY(pooling_reserve(&m->pooling, members));
done:
    return st;
}

/* r: class means of the labelled nodes' embeddings (Algorithm 1, line 3) */
consm_status whole_references(const float **h, struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    TRY(matcher_embedding(h, m));
    if (d->labelled > 0)
        prune_references(m->reference_point, *h, d->train, d->labelled, d->label, d->classes,
                         m->config->match_width);
done:
    return st;
}

consm_status whole_prune(struct matcher *m, int64_t kept, const float *score, const float *h)
{
    const struct match_data *d = &m->data;
    if (kept >= edges_all(d->edges)) {
        whole_keep_all(m);
        return CONSM_OK;
    }
    if (!score) {
        prune_similarity(m->similarity, h, m->reference_point, d->nodes, d->classes,
                         m->config->match_width, m->config->prune_score == PRUNE_SCORE_COSINE,
                         m->team);
        prune_edge_scores(m->own_score, m->similarity, d->classes, d->edges, m->team);
        score = m->own_score;
    }
    prune_top(m->keep, d->graph->nnz, score, d->edges, kept, m->order);
    return CONSM_OK;
}

static consm_status costs(struct matcher *m, const float *h)
{
    ot_plans_costs(m->plans, h, m->reference_point, m->config->match_width, m->team);
    return CONSM_OK;
}

static consm_status again(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    const int64_t width = m->config->match_width;
    const float *h;
    if (!m->near) {
        TRY(whole_references(&h, m));
        return costs(m, h);
    }
    TRY(learner_read(&h, &m->learner, m->near, m->near_embedding));
    prune_references(m->reference_point, h, m->ego->row, d->labelled, m->reach.label, d->classes,
                     width);
    ot_plans_some_costs(m->plans, h, m->reference_point, width, m->reach.node, m->reach.count,
                        m->team);
done:
    return st;
}

void whole_pool_all(struct matcher *m, const int32_t *only, int64_t count, const float *h)
{
    const struct config *c = m->config;
    struct pool_all q = {.graph = m->data.graph,
                         .node = only,
                         .count = count,
                         .keep = m->keep,
                         .h = h,
                         .plans = m->plans,
                         .c = m->data.classes,
                         .f = c->match_width,
                         .cap = c->two_hop_cap,
                         .seed = m->seed,
                         .pool = c->pool,
                         .split = c->map == MAP_LINEAR};
    pooling_all(m->pooled, &q, m->scratch, m->team);
}

static consm_status pool(struct matcher *m, const int32_t *only, int64_t count, const float *h)
{
    consm_status st = CONSM_OK;
    TRY(costs(m, h));
    if (!m->pooled)
        TRY(NEW(m->pooled, pooled_size(m)));
    whole_pool_all(m, only, count, h);
done:
    return st;
}

consm_status whole_run_project(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const float *head, *left, *right;
    TRY(program_read(&head, m->learner.eval, m->head));
    TRY(learner_run(&m->learner, m->project));
    TRY(program_read(&left, m->project, m->left_part));
    TRY(program_read(&right, m->project, m->right_part));
    program_bind(m->score, m->left_input, left);
    program_bind(m->score, m->right_input, right);
    program_bind(m->score, m->head_input, head);
done:
    return st;
}

static consm_status project(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const float *ego;
    program_bind(m->project ? m->project : m->score, m->pooled_input, m->pooled);
    if (!m->project)
        return CONSM_OK;
    TRY(program_read(&ego, m->learner.eval, m->embedding));
    program_bind(m->project, m->ego_input, ego);
    TRY(whole_run_project(m));
    if (pooled_size(m) > LARGE_POOLED) {
        mem_free(m->pooled);
        m->pooled = NULL;
    }
done:
    return st;
}

consm_status whole_head(const float **out, struct matcher *m)
{
    return learner_read(out, &m->learner, m->learner.eval, m->head);
}

const struct match_way whole_way = {
    .open = whole_open,
    .open_scoring = open_scoring,
    .keep_all = whole_keep_all,
    .reserve = whole_reserve,
    .references = whole_references,
    .prune = whole_prune,
    .sets = costs,
    .again = again,
    .pool = pool,
    .project = project,
    .head = whole_head,
};
