/* The matching module for a graph in parts. Encoding and training are programs, which ranks divide.
 * Sets, transport, pooling and M on pairs are the usual loops over a process's own nodes. */

/* The loops read two steps beyond a rank's own nodes: rows of neighbours elsewhere are fetched
 * once, embeddings of members whenever they are new. Values that all share (references, ε, the kept
 * edges) are sums over all nodes that every process adds in one order. */
#include "match/matcher_inside.h"

#include "match/prune.h"
#include <string.h>

static const int32_t nobody = 0; /* no nodes that the host reads besides its own */

static void *sparse_room(consm_status *st, int64_t count, size_t size)
{
    void *room = mem_sparse_alloc((size_t)count, size);
    *st = room ? *st : CONSM_ENOMEM;
    return room;
}

/* ---- its life ------------------------------------------------------------ */

/* Rows c·i … c·i+c-1 of P belong to labelled node i; every process has a range of them. */
static consm_status divide_labelled(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    const struct partition *partition = m->parts.partition;
    int64_t *cut = NULL, at = 0, me = 0;
    for (int64_t i = 1; i < d->labelled; i++)
        if (d->train[i] <= d->train[i - 1])
            return status_fail(CONSM_EPROGRAM, "the labelled nodes are not in ascending order");
    TRY(NEW(cut, partition->parts + 1));
    m->parts.rows = *partition;
    m->parts.rows.cut = cut;
    for (int p = 0; p <= partition->parts; p++) {
        while (at < d->labelled && d->train[at] < partition->cut[p])
            at++;
        cut[p] = at * d->classes;
    }
    while (partition->cut[me] != partition->low || partition->cut[me + 1] != partition->high)
        me++;
    m->parts.rows.low = cut[me];
    m->parts.rows.high = cut[me + 1];
done:
    return st;
}

static consm_status open_membership(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    int64_t *size = NULL;
    if (d->labelled == 0)
        return CONSM_OK;
    m->parts.membership = sparse_room(&st, d->nodes * d->classes, sizeof(float));
    TRY(st);
    TRY(ZNEW(size, d->classes));
    for (int64_t i = 0; i < d->labelled; i++)
        size[d->label[d->train[i]]]++;
    for (int64_t i = 0; i < d->labelled; i++) {
        int32_t k = d->label[d->train[i]];
        m->parts.membership[d->train[i] * d->classes + k] = 1 / (float)size[k];
    }
    TRY(divide_labelled(m));
done:
    mem_free(size);
    return st;
}

static consm_status open_parts(struct matcher *m)
{
    consm_status st = CONSM_OK;
    struct match_data *d = &m->data;
    struct in_parts *own = &m->parts;
    const struct config *c = m->config;
    struct backend *near = m->learner.backend->near;
    own->partition = d->graph->partition;
    TRY(learner_open(&own->alone, near ? near : m->learner.backend, 0));
    m->scorer = &own->alone;
    TRY(partition_neighbours(&own->neighbours, d->graph));
    TRY(partition_near(&own->near, d->graph, own->neighbours));
    d->graph = own->near;
    m->keep = sparse_room(&st, d->graph->nnz, 1);
    m->similarity = sparse_room(&st, d->nodes * d->classes, sizeof(float));
    own->h = sparse_room(&st, d->nodes * c->match_width, sizeof(float));
    own->left_part = sparse_room(&st, d->nodes * c->match_hidden, sizeof(float));
    own->right_part = sparse_room(&st, d->nodes * c->match_hidden, sizeof(float));
    own->head = sparse_room(&st, d->nodes * d->classes, sizeof(float));
    TRY(st);
    TRY(NEW(own->here, d->nodes));
    TRY(ZNEW(own->magnitude, d->nodes));
    TRY(ZNEW(own->wanted, d->nodes));
    TRY(NEW(own->chosen, d->edges->count + 1));
    TRY(open_membership(m));
done:
    return st;
}

/* Also frees what other ways free if all is here. */
void in_parts_close(struct matcher *m)
{
    struct in_parts *own = &m->parts;
    if (!own->partition)
        return;
    learner_close(&own->alone);
    row_halo_free(own->neighbours);
    row_halo_free(own->members);
    csr_free(own->near);
    mem_sparse_free(m->keep);
    mem_sparse_free(m->similarity);
    mem_sparse_free(m->pooled);
    m->keep = NULL;
    m->similarity = m->pooled = NULL;
    mem_sparse_free(own->h);
    mem_sparse_free(own->left_part);
    mem_sparse_free(own->right_part);
    mem_sparse_free(own->head);
    mem_sparse_free(own->membership);
    mem_free((void *)(uintptr_t)own->rows.cut);
    mem_free(own->here);
    mem_free(own->magnitude);
    mem_free(own->wanted);
    mem_free(own->chosen);
}

/* No process's rows of P or of its transpose have more entries than all members together. */
static consm_status reserve(struct matcher *m, int64_t members)
{
    const struct match_data *d = &m->data;
    int64_t all = (int64_t)partition_total(m->parts.partition, (uint64_t)members);
    return pooling_new(&m->pooling, d->labelled, d->classes, d->nodes, m->reach.place,
                       &(struct pooling_parts){&m->parts.rows, m->parts.partition, all});
}

/* ---- references and kept edges ------------------------------------------- */

/* Reads the partition's rows of a value of learner.eval, which has run. */
static consm_status read_own(float *to, struct matcher *m, node x, int64_t width)
{
    consm_status st = CONSM_OK;
    const float *value;
    TRY(program_read_rows(&value, m->learner.eval, x, &nobody, 0));
    partition_copy(to, value, m->parts.partition, width);
done:
    return st;
}

static consm_status references(const float **h, struct matcher *m)
{
    consm_status st = CONSM_OK;
    const float *values;
    TRY(learner_run(&m->learner, m->learner.eval));
    TRY(read_own(m->parts.h, m, m->embedding, m->config->match_width));
    *h = m->parts.h;
    if (!m->parts.membership)
        return CONSM_OK;
    TRY(program_read(&values, m->learner.eval, m->parts.references));
    memcpy(m->reference_point, values,
           (size_t)(m->data.classes * m->config->match_width) * sizeof *values);
done:
    return st;
}

static void keep_all(struct matcher *m)
{
    const struct csr *near = m->parts.near;
    const struct row_halo *halo = m->parts.neighbours;
    int64_t first = near->start[near->partition->low];
    memset(m->keep + first, 1, (size_t)(near->start[near->partition->high] - first));
    for (int64_t i = 0; i < halo->asks[near->partition->parts]; i++) {
        first = near->start[halo->ask[i]];
        memset(m->keep + first, 1, (size_t)(near->start[halo->ask[i] + 1] - first));
    }
}

static consm_status prune(struct matcher *m, int64_t kept, const float *score, const float *h)
{
    consm_status st = CONSM_OK;
    const struct match_data *d = &m->data;
    struct in_parts *own = &m->parts;
    int64_t low = own->partition->low, c = d->classes, f = m->config->match_width;
    if (kept >= d->edges->all) {
        keep_all(m);
        return CONSM_OK;
    }
    if (!score) {
        prune_similarity(m->similarity + low * c, h + low * f, m->reference_point,
                         own->partition->high - low, c, f,
                         m->config->prune_score == PRUNE_SCORE_COSINE, m->team);
        TRY(row_halo_fetch(own->neighbours, m->similarity, (size_t)c * sizeof *m->similarity));
        prune_edge_scores(m->own_score, m->similarity, c, d->edges, m->team);
        score = m->own_score;
    }
    TRY(edges_top(own->chosen, d->edges, score, kept));
    memcpy(m->keep + d->graph->start[low], own->chosen, (size_t)d->edges->count);
    TRY(row_halo_fetch_entries(own->neighbours, m->keep, own->near->start, 1));
done:
    return st;
}

/* ---- members ------------------------------------------------------------- */

/* Makes the halo of `wanted` nodes, and the list of all nodes that will be here. */
static consm_status want_members(struct matcher *m)
{
    consm_status st = CONSM_OK;
    struct in_parts *own = &m->parts;
    ot_plans_sample(own->wanted, m->plans);
    row_halo_free(own->members);
    own->members = NULL;
    TRY(row_halo_new(&own->members, own->partition, own->wanted));
    own->heres = 0;
    for (int64_t i = 0; i < m->data.nodes; i++)
        if (own->wanted[i] || partition_here(own->partition, i))
            own->here[own->heres++] = (int32_t)i;
done:
    return st;
}

/* Computes the costs of the nodes here when embeddings are new. */
static consm_status costs(struct matcher *m)
{
    consm_status st = CONSM_OK;
    struct in_parts *own = &m->parts;
    int64_t f = m->config->match_width;
    double all = 0;
    TRY(row_halo_fetch(own->members, own->h, (size_t)f * sizeof *own->h));
    ot_plans_costs_of(m->plans, own->h, m->reference_point, f, own->here, own->heres, m->team);
    for (int64_t i = own->partition->low; i < own->partition->high; i++)
        own->magnitude[i] = ot_plans_magnitude(m->plans, i);
    TRY(partition_gather(own->partition, own->magnitude, sizeof *own->magnitude));
    for (int64_t i = 0; i < m->data.nodes; i++)
        all += own->magnitude[i];
    ot_plans_settle(m->plans, all, own->here, own->heres, m->team);
done:
    return st;
}

static consm_status new_sets(struct matcher *m, const float *h)
{
    (void)h; /* it is m->parts.h */
    struct in_parts *own = &m->parts;
    memset(own->wanted, 0, (size_t)m->data.nodes);
    for (int64_t k = 0; k < m->sets.start[m->sets.count]; k++)
        own->wanted[m->sets.member[k]] = 1;
    consm_status st = want_members(m);
    return st < 0 ? st : costs(m);
}

/* ---- pooling and M ------------------------------------------------------- */

/* Those of the given nodes that are in the partition, or all of the partition. */
static consm_status list_own(int32_t **out, int64_t *count, const struct matcher *m,
                             const int32_t *only, int64_t asked)
{
    consm_status st = CONSM_OK;
    const struct partition *partition = m->parts.partition;
    int64_t most = only ? asked : partition->high - partition->low;
    TRY(NEW(*out, most + 1));
    *count = 0;
    for (int64_t i = 0; i < most; i++) {
        int64_t one = only ? only[i] : partition->low + i;
        if (partition_here(partition, one))
            (*out)[(*count)++] = (int32_t)one;
    }
done:
    return st;
}

/* Marks all members of these nodes' sets. */
static void mark_members(struct matcher *m, const int32_t *list, int64_t count)
{
    struct walk *walk = &m->scratch[0].walk;
    memset(m->parts.wanted, 0, (size_t)m->data.nodes);
    for (int64_t i = 0; i < count; i++) {
        walk_two_hops(walk, m->data.graph, m->keep, list[i], m->config->two_hop_cap, m->seed);
        for (int64_t k = 0; k < walk->count; k++)
            m->parts.wanted[walk->found[k]] = 1;
    }
}

/* h of the partition's nodes is already here. */
static consm_status pool(struct matcher *m, const int32_t *only, int64_t count, const float *h)
{
    consm_status st = CONSM_OK;
    int32_t *list = NULL;
    int64_t listed;
    TRY(list_own(&list, &listed, m, only, count));
    mark_members(m, list, listed);
    TRY(want_members(m));
    TRY(costs(m));
    whole_pool_all(m, list, listed, h);
done:
    mem_free(list);
    return st;
}

static consm_status project(struct matcher *m)
{
    consm_status st = CONSM_OK;
    struct in_parts *own = &m->parts;
    const struct config *c = m->config;
    int64_t low = own->partition->low, own_rows = own->partition->high - low, k = m->data.classes;
    const float *left, *right;
    TRY(read_own(own->head, m, m->head, k));
    if (own_rows == 0)
        return CONSM_OK;
    size_t bytes = (size_t)(own_rows * c->match_hidden) * sizeof *left;
    TRY(params_follow(own->alone.params, m->learner.params));
    program_bind(m->project, m->pooled_input, m->pooled + low * k * c->match_width);
    program_bind(m->project, m->ego_input, own->h + low * c->match_width);
    TRY(learner_run(&own->alone, m->project));
    TRY(program_read(&left, m->project, m->left_part));
    TRY(program_read(&right, m->project, m->right_part));
    memcpy(own->left_part + low * c->match_hidden, left, bytes);
    memcpy(own->right_part + low * c->match_hidden, right, bytes);
done:
    return st;
}

static consm_status ends(struct matcher *m, const int32_t *left, const int32_t *right,
                         int64_t count)
{
    consm_status st = CONSM_OK;
    struct in_parts *own = &m->parts;
    struct row_halo *halo = NULL;
    size_t part = (size_t)m->config->match_hidden * sizeof *own->left_part;
    memset(own->wanted, 0, (size_t)m->data.nodes);
    for (int64_t i = 0; i < count; i++)
        own->wanted[left[i]] = own->wanted[right[i]] = 1;
    TRY(row_halo_new(&halo, own->partition, own->wanted));
    TRY(row_halo_fetch(halo, own->left_part, part));
    TRY(row_halo_fetch(halo, own->right_part, part));
    TRY(row_halo_fetch(halo, own->head, (size_t)m->data.classes * sizeof *own->head));
    program_touch(m->score, NULL);
done:
    row_halo_free(halo);
    return st;
}

static consm_status head(const float **out, struct matcher *m)
{
    consm_status st = CONSM_OK;
    struct in_parts *own = &m->parts;
    TRY(learner_run(&m->learner, m->learner.eval));
    TRY(read_own(own->head, m, m->head, m->data.classes));
    TRY(row_halo_fetch(own->neighbours, own->head, (size_t)m->data.classes * sizeof *own->head));
    *out = own->head;
done:
    return st;
}

static consm_status open_scoring(struct matcher *m)
{
    const struct match_data *d = &m->data;
    struct consm_ot_options transport = matcher_transport(m->config);
    size_t floats = (size_t)(d->nodes * d->classes * m->config->match_width);
    m->pooled = mem_sparse_alloc(floats, sizeof *m->pooled);
    if (!m->pooled)
        return CONSM_ENOMEM;
    return ot_plans_new_sparse(&m->plans, d->nodes, d->classes, matcher_largest_set(m), &transport,
                               team_size(m->team));
}

static consm_status again(struct matcher *m)
{
    consm_status st = CONSM_OK;
    const float *h;
    TRY(matcher_references(&h, m));
    TRY(costs(m));
done:
    return st;
}

const struct match_way in_parts_way = {
    .open = open_parts,
    .open_scoring = open_scoring,
    .keep_all = keep_all,
    .reserve = reserve,
    .references = references,
    .prune = prune,
    .sets = new_sets,
    .again = again,
    .pool = pool,
    .project = project,
    .ends = ends,
    .head = head,
};
