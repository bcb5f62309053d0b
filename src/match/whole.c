/* The matching module for a whole graph; the host maps and pools. */
#include "match/matcher_inside.h"
#include "match/prune.h"

#include <string.h>

consm_status whole_open(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    TRY(NEW(m->similarity, d->nodes * d->classes));
    TRY(NEW(m->next, d->nodes));
    TRY(NEW(m->keep, d->graph->nnz));
done:
    return st;
}

bool whole_in_blocks(const struct matcher *m)
{
    return m->way == &whole_way && m->config->match_join == MATCH_JOIN_CONCAT &&
           m->data.nodes > BLOCK_ROWS;
}

static consm_status open_scoring(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    struct consm_ot_options transport = matcher_transport(m->config);
    TRY(ot_plans_new(&m->plans, d->nodes, d->classes, matcher_largest_set(m), &transport,
                     team_size(m->team)));
    const int64_t width = m->config->match_width, hidden = m->config->match_hidden;
    if (!whole_in_blocks(m))
        return NEW(m->pooled, d->nodes * d->classes * width);
    TRY(NEW(m->pooled, BLOCK_ROWS * d->classes * width));
    TRY(NEW(m->block_left, d->nodes * hidden));
    TRY(NEW(m->block_right, d->nodes * hidden));
    TRY(ZNEW(m->block_ego, BLOCK_ROWS * width));
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
    prune_top(m->keep, d->graph, score, d->edges, kept, m->next, m->team);
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

static struct pool_all pool_of(const struct matcher *m, const float *h)
{
    const struct config *c = m->config;
    return (struct pool_all){.graph = m->data.graph,
                             .count = m->data.nodes,
                             .keep = m->keep,
                             .h = h,
                             .plans = m->plans,
                             .c = m->data.classes,
                             .f = c->match_width,
                             .cap = c->two_hop_cap,
                             .seed = m->seed,
                             .pool = c->pool,
                             .split = c->map == MAP_LINEAR};
}

void whole_pool_all(struct matcher *m, const int32_t *only, int64_t count, const float *h)
{
    struct pool_all q = pool_of(m, h);
    q.node = only;
    q.count = only ? count : q.count;
    pooling_all(m->pooled, &q, m->scratch, m->team);
}

/* Copies row k of `from` to that of its node. */
static void put_rows(float *to, const float *from, const struct pool_all *q, int64_t width)
{
    for (int64_t k = 0; k < q->count; k++) {
        int64_t i = q->node ? q->node[k] : q->first + k;
        memcpy(to + i * width, from + k * width, (size_t)width * sizeof *to);
    }
}

/* Pools and projects the nodes of q, at most a block. */
static consm_status project_block(struct matcher *m, const struct pool_all *q)
{
    consm_status st = CONSM_OK;
    const int64_t f = q->f, hidden = m->config->match_hidden;
    const float *left, *right;
    pooling_all(m->pooled, q, m->scratch, m->team);
    for (int64_t k = 0; k < q->count; k++)
        memcpy(m->block_ego + k * f, q->h + (q->node ? q->node[k] : q->first + k) * f,
               (size_t)f * sizeof *q->h);
    program_bind(m->project, m->pooled_input, m->pooled);
    program_bind(m->project, m->ego_input, m->block_ego);
    TRY(learner_run(&m->learner, m->project));
    TRY(program_read(&left, m->project, m->left_part));
    TRY(program_read(&right, m->project, m->right_part));
    put_rows(m->block_left, left, q, hidden);
    put_rows(m->block_right, right, q, hidden);
done:
    return st;
}

static consm_status pool_in_blocks(struct matcher *m, const int32_t *only, int64_t count,
                                   const float *h)
{
    consm_status st = CONSM_OK;
    const int64_t all = only ? count : m->data.nodes;
    struct pool_all q = pool_of(m, h);
    q.packed = true;
    for (q.first = 0; q.first < all; q.first += BLOCK_ROWS) {
        q.node = only ? only + q.first : NULL;
        q.count = all - q.first < BLOCK_ROWS ? all - q.first : BLOCK_ROWS;
        TRY(project_block(m, &q));
    }
done:
    return st;
}

static consm_status pool(struct matcher *m, const int32_t *only, int64_t count, const float *h)
{
    consm_status st = CONSM_OK;
    TRY(costs(m, h));
    if (whole_in_blocks(m))
        TRY(pool_in_blocks(m, only, count, h));
    else
        whole_pool_all(m, only, count, h);
done:
    return st;
}

static consm_status bind_score(struct matcher *m, const float *left, const float *right)
{
    consm_status st = CONSM_OK;
    const float *head;
    TRY(program_read(&head, m->learner.eval, m->head));
    program_bind(m->score, m->left_input, left);
    program_bind(m->score, m->right_input, right);
    program_bind(m->score, m->head_input, head);
done:
    return st;
}

consm_status whole_run_project(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const float *left, *right;
    TRY(learner_run(&m->learner, m->project));
    TRY(program_read(&left, m->project, m->left_part));
    TRY(program_read(&right, m->project, m->right_part));
    TRY(bind_score(m, left, right));
done:
    return st;
}

static consm_status project(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const float *ego;
    if (whole_in_blocks(m))
        return bind_score(m, m->block_left, m->block_right);
    program_bind(m->project ? m->project : m->score, m->pooled_input, m->pooled);
    if (!m->project)
        return CONSM_OK;
    TRY(program_read(&ego, m->learner.eval, m->embedding));
    program_bind(m->project, m->ego_input, ego);
    TRY(whole_run_project(m));
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
