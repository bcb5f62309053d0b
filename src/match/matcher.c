/* Algorithm 1: prune, map, match, update. score.c computes the coefficients of all edges. */
#include "match/matcher_inside.h"

#include "match/prune.h"
#include "ot/linear_ot.h"
#include <math.h>
#include <string.h>

enum { SCORE_BATCH = 4096, SCORE_FLOATS = 1 << 24 };

static int64_t pairs_per_step(const struct matcher *m)
{
    if (m->config->match_update == MATCH_UPDATE_PAIR)
        return 1;
    int64_t of_one = 2 * m->config->match_pairs;
    return m->config->match_update == MATCH_UPDATE_EGO ? of_one : of_one * m->data.labelled;
}

struct consm_ot_options matcher_transport(const struct config *c)
{
    struct consm_ot_options o = {.size = sizeof o};
    consm_ot_defaults(&o);
    o.method = c->transport == TRANSPORT_EXACT      ? CONSM_OT_EXACT
               : c->transport == TRANSPORT_SINKHORN ? CONSM_OT_SINKHORN
                                                    : CONSM_OT_NEAREST;
    o.tolerance = 1e-3; /* much finer than the assignments need */
    return o;
}

int64_t matcher_largest_set(const struct matcher *m)
{
    int64_t cap = m->config->two_hop_cap;
    return cap > 0 && cap < m->data.nodes ? cap : m->data.nodes;
}

/* Allocates what scoring needs. */
static consm_status allocate(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    TRY(ZNEW(m->scratch, team_size(m->team)));
    for (int i = 0; i < team_size(m->team); i++)
        TRY(pool_scratch_new(&m->scratch[i], d->nodes, d->classes, matcher_largest_set(m),
                             m->config->map == MAP_LINEAR));
    TRY(NEW(m->reference_point, d->classes * m->config->match_width));
    TRY(NEW(m->own_score, d->edges->count));
    TRY(m->way->open(m));
done:
    return st;
}

/* Allocates a batch of edges and, if the backend does not map and pool, the host's memory for it.
 * If pooling is part of scoring a batch, the batch should be all edges. */
static consm_status allocate_scoring(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    int64_t width = d->classes * m->config->match_width;
    int64_t most =
        m->way->pooled && SCORE_FLOATS / width > SCORE_BATCH ? SCORE_FLOATS / width : SCORE_BATCH;
    m->score_batch = d->edges->count < most ? d->edges->count : most;
    m->score_batch = m->score_batch > 0 ? m->score_batch : 1;
    TRY(index_new(&m->score_left, m->score_batch, d->nodes));
    TRY(index_new(&m->score_right, m->score_batch, d->nodes));
    TRY(ZNEW(m->batch_left, m->score_batch));
    TRY(ZNEW(m->batch_right, m->score_batch));
    if (m->way->open_scoring)
        TRY(m->way->open_scoring(m));
done:
    return st;
}

/* Allocates for the largest possible subgraphs, those over all edges, so that no round allocates.
 */
static consm_status reserve(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    bool split = m->config->map == MAP_LINEAR;
    m->way->keep_all(m);
    TRY(subgraphs_collect(&m->sets, &m->scratch[0].walk, d->graph, m->keep, d->train, d->labelled,
                          m->config->two_hop_cap, m->seed));
    int64_t members = m->sets.start[m->sets.count];
    TRY(m->way->reserve(m, split ? members * d->classes : members));
    if (split)
        TRY(GROW(m->member_plan, 0, m->plan_capacity, members * d->classes));
    else
        TRY(GROW(m->member_reference, 0, m->reference_capacity, members));
    if (!split && m->config->pool == POOL_MAX) {
        int64_t rows = d->labelled * d->classes;
        TRY(index_new(&m->member, members, m->reach.count));
        TRY(index_new(&m->member_row, members, rows + 1));
        TRY(index_new(&m->pooled_row, rows, rows + 1));
        for (int64_t r = 0; r < rows; r++)
            m->pooled_row->row[r] = (int32_t)r;
        TRY(index_set(m->pooled_row, m->pooled_row->row));
    }
done:
    return st;
}

/* Allocates what training needs in addition: pairs, and the subgraphs of the labelled nodes. */
static consm_status allocate_training(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    if (d->labelled == 0)
        return CONSM_OK;
    m->pairs = pairs_per_step(m);
    TRY(reach_new(&m->reach, d));
    TRY(index_new(&m->left, m->pairs, d->labelled));
    TRY(index_new(&m->right, m->pairs, d->labelled));
    TRY(index_new(&m->ego, d->labelled, m->reach.count));
    for (int64_t i = 0; i < d->labelled; i++)
        m->ego->row[i] = m->reach.place[d->train[i]];
    TRY(index_set(m->ego, m->ego->row));
    TRY(NEW(m->times, d->labelled));
    TRY(NEW(m->target, m->pairs));
    TRY(NEW(m->weight, m->pairs));
    TRY(matcher_group(m));
    TRY(matcher_draw_pairs(m));
    TRY(reserve(m));
    TRY(inside_new(m));
done:
    return st;
}

consm_status matcher_new(struct matcher **out, const struct match_data *data,
                         const struct config *config, uint64_t seed, struct backend *backend)
{
    consm_status st = CONSM_OK;
    struct matcher *m = NULL;
    *out = NULL;
    TRY(ZNEW(m, 1));
    m->data = *data;
    m->config = config;
    m->seed = seed;
    m->team = backend->host;
    m->way = data->graph->partition ? &in_parts_way : &whole_way;
    m->scorer = &m->learner;
    TRY(learner_open(&m->learner, backend, seed));
    m->learner.what = "consm: the matching loss";
    m->learner.unit = "step";
    m->learner.advice = "try a smaller --match-lr";
    TRY(allocate(m));
    TRY(allocate_training(m));
    TRY(far_new(m));
    TRY(allocate_scoring(m));
    TRY(matcher_record(m));
    TRY(learner_start(&m->learner, seed ^ 0x6d61746368u, false));
    if (m->scorer != &m->learner)
        TRY(learner_start(m->scorer, 0, false));
    *out = m;
    m = NULL;
done:
    matcher_free(m);
    return st;
}

void matcher_free(struct matcher *m)
{
    if (!m)
        return;
    program_free(m->project);
    program_free(m->score);
    program_free(m->near);
    far_free(&m->far); /* its program uses the learner's parameters */
    learner_close(&m->learner);
    reach_free(&m->reach);
    subgraphs_free(&m->sets);
    pooling_free(&m->pooling);
    inside_free(&m->inside);
    index_free(m->left);
    index_free(m->right);
    index_free(m->ego);
    index_free(m->member);
    index_free(m->member_row);
    index_free(m->pooled_row);
    index_free(m->score_left);
    index_free(m->score_right);
    mem_free(m->batch_left);
    mem_free(m->batch_right);
    for (int i = 0; m->scratch && i < team_size(m->team); i++)
        pool_scratch_free(&m->scratch[i]);
    mem_free(m->scratch);
    in_parts_close(m);
    mem_free(m->similarity);
    mem_free(m->reference_point);
    mem_free(m->own_score);
    mem_free(m->next);
    mem_free(m->member_reference);
    mem_free(m->member_plan);
    mem_free(m->keep);
    ot_plans_free(m->plans);
    mem_free(m->times);
    mem_free(m->target);
    mem_free(m->weight);
    mem_free(m->class_start);
    mem_free(m->by_class);
    mem_free(m->pooled);
    mem_free(m->block_left);
    mem_free(m->block_right);
    mem_free(m->block_ego);
    mem_free(m);
}

consm_status matcher_memory(struct matcher *m, memory_fn see, void *ctx)
{
    consm_status st = CONSM_OK;
    TRY(learner_memory(&m->learner, "match.", see, ctx));
    see(ctx, "match.steps", &m->learner.steps, sizeof m->learner.steps);
    see(ctx, "match.next_ego", &m->next_ego, sizeof m->next_ego);
    see(ctx, "match.sampled", &m->sampled, sizeof m->sampled);
done:
    return st;
}

bool matcher_sound(const struct matcher *m)
{
    return m->learner.steps >= 0 && m->learner.steps <= LEARNER_MOST_STEPS && m->sampled >= 0 &&
           m->sampled <= LEARNER_MOST_STEPS && m->next_ego >= 0 && m->next_ego < m->data.labelled;
}

struct params *matcher_params(struct matcher *m)
{
    return m->learner.params;
}

consm_status matcher_embedding(const float **out, struct matcher *m)
{
    return learner_read(out, &m->learner, m->learner.eval, m->embedding);
}

consm_status matcher_head(const float **out, struct matcher *m)
{
    return m->way->head(out, m);
}

/* ---- pruning and mapping ------------------------------------------------- */

/* Updates the references and keeps them with the parameters; a loaded module keeps its saved ones.
 */
consm_status matcher_references(const float **h, struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    struct params *params = m->learner.params;
    size_t at = (size_t)params->item[m->references].offset;
    size_t bytes = (size_t)(d->classes * m->config->match_width) * sizeof *m->reference_point;
    const float *values;
    TRY(m->way->references(h, m));
    if (d->labelled > 0)
        return block_put(&params->block[PLACE_VALUE], at * sizeof *values, m->reference_point,
                         bytes);
    TRY(params_read(&values, params, PLACE_VALUE));
    memcpy(m->reference_point, values + at, bytes);
done:
    return st;
}

/* Maps the members of the labelled nodes' subgraphs to references (Eq. our_monge_map, or
 * linear_ot), whose costs are known, and prepares their pooling. */
static consm_status map_members(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct config *c = m->config;
    const struct subgraphs *sets = &m->sets;
    int64_t members = sets->start[sets->count], k = m->data.classes;
    const float *plan = NULL;
    if (m->way->plan)
        TRY(m->way->plan(&plan, m));
    if (c->map == MAP_LINEAR) {
        TRY(GROW(m->member_plan, 0, m->plan_capacity, members * k));
        if (!plan)
            pooling_map(NULL, m->member_plan, sets, k, m->plans, m->team);
        TRY(pooling_split(&m->pooling, sets, plan ? plan : m->member_plan));
    } else {
        TRY(GROW(m->member_reference, 0, m->reference_capacity, members));
        if (plan)
            far_assign(m->member_reference, plan, sets, k);
        else
            pooling_map(m->member_reference, NULL, sets, k, m->plans, m->team);
        if (m->member)
            TRY(pooling_list(m->member, m->member_row, sets, m->member_reference, k,
                             m->reach.place));
        else
            TRY(pooling_assign(&m->pooling, sets, m->member_reference, c->pool));
    }
done:
    return st;
}

consm_status matcher_prune(struct matcher *m, double zeta, const float *score)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    int64_t kept = (int64_t)floor(zeta * (double)edges_all(d->edges));
    const float *h;
    TRY(matcher_references(&h, m));
    TRY(m->way->prune(m, kept, score, h));
    if (d->labelled == 0)
        return CONSM_OK;
    TRY(subgraphs_collect(&m->sets, &m->scratch[0].walk, d->graph, m->keep, d->train, d->labelled,
                          m->config->two_hop_cap, m->seed));
    if (m->inside.sets) {
        inside_keep(m);
        return CONSM_OK;
    }
    TRY(m->way->sets(m, h));
    TRY(map_members(m));
done:
    return st;
}

/* ---- training ------------------------------------------------------------ */

/* Between two steps: h has changed, and with it the references and assignments. After training,
 * scoring stores the references with the parameters. */
static consm_status map_again(struct matcher *m)
{
    consm_status st = CONSM_OK;
    TRY(m->way->again(m));
    TRY(map_members(m));
done:
    return st;
}

consm_status matcher_train(struct matcher *m, int64_t steps, double *loss)
{
    consm_status st = CONSM_OK;
    const struct config *c = m->config;
    double total = 0, now;
    bool unseen = !loss && learner_far(&m->learner); /* nothing waits for the step to end */
    if (steps == 0)
        steps = m->data.labelled;
    for (int64_t i = 0; i < steps; i++) {
        if (i > 0 && i % c->match_refresh == 0 && !m->inside.sets)
            TRY(map_again(m));
        TRY(matcher_draw_pairs(m));
        if (unseen) {
            TRY(learner_step_unseen(&m->learner, &m->learner.train));
            continue;
        }
        TRY(learner_step(&m->learner, &m->learner.train, &now));
        total += now / (double)steps;
    }
    if (unseen && steps > 0)
        TRY(learner_look(&m->learner, &m->learner.train, &now));
    if (loss)
        *loss = total;
done:
    return st;
}
