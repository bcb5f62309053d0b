/* Mapping and pooling inside the training step. References are the means of the labelled nodes'
 * embeddings. Every member goes to the nearest one, or where its set's regularised plan sends it;
 * h' is the mean per reference. Everything stays on the backend, so steps need not wait for the
 * host. */
#include "match/matcher_inside.h"

/* Whether the step can do it: on backends where instructions are cheaper than a host in between; no
 * exact plan; a new map at every step; sums or means; sets that are never sampled (a sample over
 * fewer edges need not be part of one over all). */
static bool possible(const struct matcher *m)
{
    const struct config *c = m->config;
    const struct backend *backend = m->learner.backend;
    return !m->parts.partition && backend->kind->separate > 0 && c->transport != TRANSPORT_EXACT &&
           (c->map == MAP_LINEAR || c->pool != POOL_MAX) && c->match_refresh == 1 &&
           m->sets.sampled == 0 && backend->kind->supports(backend, OP_NEAREST) &&
           backend->kind->supports(backend, OP_NEAREST_SHARE) &&
           backend->kind->supports(backend, OP_DISTANCES) &&
           backend->kind->supports(backend, OP_TRANSPORT);
}

static consm_status fill_sets(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct subgraphs *s = &m->sets;
    int64_t c = m->data.classes, at = 0;
    struct csr *a;
    TRY(csr_new(&m->inside.sets, s->count * c, m->reach.count, s->start[s->count] * c, false));
    a = m->inside.sets;
    for (int64_t i = 0; i < s->count; i++)
        for (int64_t r = 0; r < c; r++) {
            a->start[i * c + r] = at;
            for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
                a->col[at++] = m->reach.place[s->member[k]];
        }
    a->start[a->rows] = at;
done:
    return st;
}

consm_status inside_new(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    if (!possible(m))
        return CONSM_OK;
    TRY(fill_sets(m));
    TRY(NEW(m->inside.kept, m->inside.sets->nnz));
    TRY(index_new(&m->inside.label, d->labelled, d->classes));
    for (int64_t i = 0; i < d->labelled; i++)
        m->inside.label->row[i] = d->label[d->train[i]];
    TRY(index_set(m->inside.label, m->inside.label->row));
    inside_keep(m);
done:
    return st;
}

void inside_free(struct inside *in)
{
    csr_free(in->sets);
    mem_free(in->kept);
    index_free(in->label);
    *in = (struct inside){0};
}

/* Both lists ascend, and one is a subset of the other. */
void inside_keep(struct matcher *m)
{
    const struct subgraphs *s = &m->sets;
    const struct csr *a = m->inside.sets;
    for (int64_t r = 0; r < a->rows; r++) {
        int64_t at = s->start[r / m->data.classes], end = s->start[r / m->data.classes + 1];
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++) {
            bool kept = at < end && m->reach.place[s->member[at]] == a->col[k];
            m->inside.kept[k] = kept ? 1 : 0;
            at += kept;
        }
    }
    program_touch(m->learner.train.program, m->inside.kept);
}

/* Values of the sets' entries by the plan. ε is relative to the costs of all nodes, of which the
 * step computes only some. */
static node plan_share(const struct matcher *m, struct program *p, node plain, node references,
                       node kept)
{
    const struct config *c = m->config;
    node cost = distances(p, plain, references), all = cost;
    if (m->reach.count < m->data.nodes)
        all = distances(p, matcher_encode(m, p, 0, true), references);
    enum take take = c->map == MAP_LINEAR ? TAKE_PLAN : c->pool == POOL_MEAN ? TAKE_MEAN : TAKE_SUM;
    const struct transport t = far_route(m, p, cost, all, take);
    node share = transport(p, m->inside.sets, &t, kept);
    return take == TAKE_PLAN ? scale(p, (float)m->data.classes, share) : share;
}

node inside_pool(const struct matcher *m, struct program *p, node h, node plain)
{
    const struct inside *in = &m->inside;
    const struct config *c = m->config;
    node references = segment_mean(p, gather(p, plain, m->ego), in->label);
    node kept = input(p, in->kept, in->sets->nnz, 1);
    node share = c->transport == TRANSPORT_NEAREST && c->map != MAP_LINEAR
                     ? nearest_share(p, in->sets, nearest(p, plain, references), kept,
                                     m->data.classes, c->pool == POOL_MEAN)
                     : plan_share(m, p, plain, references, kept);
    return spmm_values(p, in->sets, share, h);
}
