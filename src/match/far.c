/* Mapping between steps and pooling of all nodes as programs, for far backends (whose memory the
 * host cannot see). The host reads only where the members of a map go. */
#include "match/matcher_inside.h"

enum { MOST_PASSES = 200 };

/* Exact plans are solved pivot by pivot, which stays on the host. */
static bool possible(const struct matcher *m)
{
    const struct backend *backend = m->learner.backend;
    return !m->parts.partition && backend->kind->separate > 0 &&
           m->config->transport != TRANSPORT_EXACT &&
           backend->kind->supports(backend, OP_DISTANCES) &&
           backend->kind->supports(backend, OP_TRANSPORT) &&
           backend->kind->supports(backend, OP_POOL_HOPS);
}

/* Copies the current sets. */
static void copy_sets(struct matcher *m)
{
    const struct subgraphs *s = &m->sets;
    struct csr *a = m->far.sets;
    int64_t c = m->data.classes, at = 0;
    for (int64_t r = 0; r < a->rows; r++) {
        a->start[r] = at;
        for (int64_t k = s->start[r / c]; k < s->start[r / c + 1]; k++)
            a->col[at++] = s->member[k];
    }
    a->start[a->rows] = a->nnz = at;
    csr_touch(a);
}

/* Memory for mapping outside the training step: the labelled nodes, their classes and their sets.
 * Sets over all edges, as they are now, are the largest. */
static consm_status allocate_map(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    struct far *a = &m->far;
    int64_t entries = m->sets.start[m->sets.count] * d->classes;
    TRY(csr_new(&a->sets, d->labelled * d->classes, d->nodes, entries, false));
    a->sets->changes = true;
    TRY(index_new(&a->train, d->labelled, d->nodes));
    TRY(index_set(a->train, d->train));
    TRY(index_new(&a->label, d->labelled, d->classes));
    for (int64_t i = 0; i < d->labelled; i++)
        a->label->row[i] = d->label[d->train[i]];
    TRY(index_set(a->label, a->label->row));
    copy_sets(m);
done:
    return st;
}

consm_status far_new(struct matcher *m)
{
    consm_status st = CONSM_OK;
    if (!possible(m))
        return CONSM_OK;
    TRY(ZNEW(m->far.kept, m->data.graph->nnz));
    TRY(ZNEW(m->far.wanted, m->data.nodes));
    if (m->data.labelled > 0 && !m->inside.sets)
        TRY(allocate_map(m));
    m->way = &far_way;
done:
    return st;
}

void far_free(struct far *a)
{
    program_free(a->map);
    csr_free(a->sets);
    index_free(a->train);
    index_free(a->label);
    mem_free(a->kept);
    mem_free(a->wanted);
    *a = (struct far){0};
}

/* ---- what changes -------------------------------------------------------- */

static struct program *pooling_program(const struct matcher *m)
{
    return m->project ? m->project : m->score;
}

static consm_status prune(struct matcher *m, int64_t kept, const float *score, const float *h)
{
    consm_status st = CONSM_OK;
    TRY(whole_prune(m, kept, score, h));
    for (int64_t k = 0; k < m->data.graph->nnz; k++)
        m->far.kept[k] = m->keep[k] ? 1 : 0;
    program_touch(pooling_program(m), m->far.kept);
done:
    return st;
}

static consm_status new_sets(struct matcher *m, const float *h)
{
    (void)h;
    copy_sets(m);
    return CONSM_OK;
}

/* The program reads the embeddings itself. */
static consm_status again(struct matcher *m)
{
    (void)m;
    return CONSM_OK;
}

static consm_status pool(struct matcher *m, const int32_t *only, int64_t count, const float *h)
{
    (void)h;
    for (int64_t i = 0; i < m->data.nodes; i++)
        m->far.wanted[i] = only ? 0 : 1;
    for (int64_t k = 0; only && k < count; k++)
        m->far.wanted[only[k]] = 1;
    program_touch(pooling_program(m), m->far.wanted);
    return CONSM_OK;
}

static consm_status project(struct matcher *m)
{
    return m->project ? whole_run_project(m) : CONSM_OK;
}

/* Set i's plan (c, size) begins at c·start[i]. */
static consm_status plan(const float **out, struct matcher *m)
{
    return learner_read(out, &m->learner, m->far.map, m->far.plan);
}

void far_assign(int32_t *reference, const float *plan, const struct subgraphs *s, int64_t classes)
{
    for (int64_t i = 0; i < s->count; i++) {
        int64_t first = s->start[i], size = s->start[i + 1] - first;
        for (int64_t r = 0; r < classes; r++)
            for (int64_t k = 0; k < size; k++)
                if (plan[classes * first + r * size + k] != 0)
                    reference[first + k] = (int32_t)r;
    }
}

/* ---- recording ----------------------------------------------------------- */

struct transport far_route(const struct matcher *m, struct program *p, node cost, node all_costs,
                           enum take take)
{
    struct consm_ot_options o = matcher_transport(m->config);
    double costs = (double)m->data.nodes * (double)m->data.classes;
    return (struct transport){.cost = cost,
                              .epsilon = scale(p, (float)(o.epsilon / costs), sum(p, all_costs)),
                              .tolerance = o.tolerance,
                              .iterations = o.method == CONSM_OT_NEAREST ? 0 : MOST_PASSES,
                              .take = take};
}

consm_status far_record_map(struct matcher *m)
{
    consm_status st = CONSM_OK;
    struct far *a = &m->far;
    struct program *p;
    if (!a->sets)
        return CONSM_OK;
    TRY(program_new(&a->map, m->learner.params, false));
    p = a->map;
    node h = matcher_encode(m, p, 0, true);
    node references = segment_mean(p, gather(p, h, a->train), a->label);
    node cost = distances(p, h, references);
    const struct transport t =
        far_route(m, p, cost, cost, m->config->map == MAP_LINEAR ? TAKE_PLAN : TAKE_SUM);
    a->plan =
        transport(p, a->sets, &t, fill(p, 1, m->sets.start[m->sets.count] * m->data.classes, 1));
    program_keep(p, a->plan);
done:
    return st;
}

/* h' (n, c·width) of all nodes from their h. */
static node pooled(const struct matcher *m, struct program *p, node h)
{
    const struct match_data *d = &m->data;
    const struct config *c = m->config;
    node references = state(p, "references", d->classes, c->match_width, INIT_ZERO);
    node cost = distances(p, h, references);
    enum take take = c->map == MAP_LINEAR   ? TAKE_PLAN
                     : c->pool == POOL_MAX  ? TAKE_MAX
                     : c->pool == POOL_MEAN ? TAKE_MEAN
                                            : TAKE_SUM;
    const struct transport t = far_route(m, p, cost, cost, take);
    return pool_hops(p, d->graph, &t, h, input(p, m->far.kept, d->graph->nnz, 1),
                     input(p, m->far.wanted, d->nodes, 1), c->two_hop_cap, m->seed);
}

const struct match_way far_way = {
    .open = whole_open,
    .keep_all = whole_keep_all,
    .reserve = whole_reserve,
    .references = whole_references,
    .prune = prune,
    .sets = new_sets,
    .again = again,
    .plan = plan,
    .pool = pool,
    .pooled = pooled,
    .project = project,
    .head = whole_head,
};
