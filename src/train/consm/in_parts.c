/* ConSM for a graph in parts: fetches what a rank's edges need from nodes elsewhere. Features and
 * rows are fetched once, logits whenever witnesses are computed. */
#include "train/consm/consm.h"

#include "graph/partition.h"
#include <string.h>

static void *sparse_rows(const struct problem *problem, int64_t width)
{
    return mem_sparse_alloc((size_t)(problem->nodes * width), sizeof(float));
}

/* Refuses settings that need all rows at once. */
static consm_status refuse(const struct config *c)
{
    const char *needs = c->messages != MESSAGES_NONE                  ? "--messages none"
                        : c->match_join != MATCH_JOIN_CONCAT          ? "--match-join concat"
                        : c->pool == POOL_MAX && c->map != MAP_LINEAR ? "--pool mean"
                                                                      : NULL;
    if (!needs)
        return CONSM_OK;
    return status_fail(
        CONSM_EINVAL,
        "this graph is in parts, so consm needs %s; otherwise omit --in-parts, or use "
        "graph.safetensors from its folder",
        needs);
}

consm_status consm_open_parts(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const struct problem *problem = s->problem;
    const struct partition *partition = problem->graph->partition;
    if (!partition)
        return CONSM_OK;
    TRY(refuse(&s->options.config));
    TRY(partition_neighbours(&own->neighbours, problem->graph));
    own->near_logits = sparse_rows(problem, problem->classes);
    if (!own->near_logits)
        TRY(CONSM_ENOMEM);
done:
    return st;
}

consm_status consm_store_features(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const struct problem *problem = s->problem;
    const struct partition *partition = problem->graph->partition;
    if (!partition || problem->sparse || own->stored || !consm_matches_stored(s))
        return CONSM_OK;
    own->stored = sparse_rows(problem, problem->features);
    if (!own->stored)
        TRY(CONSM_ENOMEM);
    partition_copy(own->stored, problem->dense, partition, problem->features);
done:
    return st;
}

void consm_close_parts(struct session *s)
{
    struct consm *own = s->own;
    row_halo_free(own->neighbours);
    mem_sparse_free(own->near_logits);
    mem_sparse_free(own->stored);
    mem_free(own->pruned_by);
    mem_free(own->heard_by);
}

/* ---- checkpoints --------------------------------------------------------- */

/* Copies all values, allocating if needed. */
static consm_status note(float **to, struct params *params)
{
    consm_status st = CONSM_OK;
    const float *value;
    TRY(params_read(&value, params, PLACE_VALUE));
    if (!*to)
        TRY(NEW(*to, params->size));
    memcpy(*to, value, (size_t)params->size * sizeof *value);
done:
    return st;
}

static consm_status put(struct params *params, const float *from)
{
    consm_status st = CONSM_OK;
    float *value;
    TRY(params_write(&value, params, PLACE_VALUE));
    memcpy(value, from, (size_t)params->size * sizeof *value);
done:
    return st;
}

consm_status consm_note_module(struct session *s)
{
    struct consm *own = s->own;
    return own->pulls ? note(&own->pruned_by, matcher_params(own->matcher)) : CONSM_OK;
}

consm_status consm_note_gnn(struct session *s)
{
    struct consm *own = s->own;
    return own->pulls ? note(&own->heard_by, s->learner.params) : CONSM_OK;
}

consm_status consm_parts_memory(struct session *s, memory_fn see, void *ctx)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    if (s->options.config.prune_by == PRUNE_BY_COEFFICIENTS)
        return status_fail(CONSM_EINVAL, "prune_by coefficients on a graph in parts: checkpoints "
                                         "do not store the coefficients; use prune_by auto");
    if (!own->pruned_by)
        TRY(consm_note_module(s));
    if (!own->heard_by)
        TRY(consm_note_gnn(s));
    see(ctx, "consm.pruned_by", own->pruned_by,
        (size_t)matcher_params(own->matcher)->size * sizeof(float));
    see(ctx, "consm.heard_by", own->heard_by, (size_t)s->learner.params->size * sizeof(float));
done:
    return st;
}

/* Repeats match_round() without the learning. */
consm_status consm_match_again(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct params *module = matcher_params(own->matcher);
    float *learned = NULL, *now = NULL;
    struct trust trust;
    struct witnesses heard;
    TRY(note(&learned, module));
    TRY(put(module, own->pruned_by));
    TRY(matcher_prune(own->matcher, consm_kept_share(s, consm_prune_by(s), own->place.round),
                      NULL));
    TRY(put(module, learned));
    TRY(matcher_score(own->matcher, own->w));
    if (s->options.config.coefficients != COEFFICIENTS_TRUST)
        goto done;
    TRY(note(&now, s->learner.params));
    TRY(put(s->learner.params, own->heard_by));
    TRY(consm_weigh_witnesses(&trust, &heard, s));
    TRY(put(s->learner.params, now));
    trust_score(own->w, NULL, NULL, NULL, &trust, &heard);
done:
    mem_free(learned);
    mem_free(now);
    return st;
}

/* ---- what edges need of nodes elsewhere ---------------------------------- */

consm_status consm_near_logits(const float **out, struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const float *logits;
    TRY(session_logits(&logits, s));
    TRY(row_halo_fill(own->neighbours, own->near_logits, logits, s->problem->classes));
    *out = own->near_logits;
done:
    return st;
}

/* Sparse features of the partition's nodes and of their neighbours. */
static consm_status near_sparse(struct csr **out, const struct csr *x,
                                const struct partition *partition, const struct row_halo *halo)
{
    consm_status st = CONSM_OK;
    struct csr *a = NULL;
    int64_t first = x->start[partition->low];
    size_t count = (size_t)(x->start[partition->high] - first);
    TRY(partition_csr(&a, partition, x->rows, x->cols, x->nnz, x->val != NULL));
    memcpy(a->start, x->start, (size_t)(x->rows + 1) * sizeof *x->start);
    memcpy(a->col + first, x->col + first, count * sizeof *x->col);
    TRY(row_halo_fetch_entries(halo, a->col, a->start, sizeof *a->col));
    if (x->val) {
        memcpy(a->val + first, x->val + first, count * sizeof *x->val);
        TRY(row_halo_fetch_entries(halo, a->val, a->start, sizeof *a->val));
    }
    *out = a;
    a = NULL;
done:
    csr_free(a);
    return st;
}

static consm_status near_dense(float **out, const float *x, const struct problem *problem,
                               const struct row_halo *halo)
{
    *out = sparse_rows(problem, problem->features);
    if (!*out)
        return CONSM_ENOMEM;
    return row_halo_fill(halo, *out, x, problem->features);
}

consm_status consm_near_witnesses(float *stored, const struct witness_data *data, struct session *s)
{
    consm_status st = CONSM_OK;
    const struct problem *problem = s->problem;
    const struct partition *partition = problem->graph->partition;
    const struct row_halo *halo = ((struct consm *)s->own)->neighbours;
    struct witness_data near = *data;
    struct csr *graph = NULL, *sparse_near = NULL;
    float *dense_near = NULL;
    uint8_t *here = NULL;
    TRY(ZNEW(here, problem->nodes));
    memset(here + partition->low, 1, (size_t)(partition->high - partition->low));
    for (int64_t i = 0; i < halo->asks[partition->parts]; i++)
        here[halo->ask[i]] = 1;
    TRY(partition_near(&graph, problem->graph, halo));
    if (data->sparse)
        TRY(near_sparse(&sparse_near, data->sparse, partition, halo));
    else
        TRY(near_dense(&dense_near, data->dense, problem, halo));
    near.graph = graph;
    near.sparse = sparse_near;
    near.dense = dense_near;
    near.here = here;
    TRY(witness_data_only(stored, &near, s->backend->host));
done:
    csr_free(graph);
    csr_free(sparse_near);
    mem_sparse_free(dense_near);
    mem_free(here);
    return st;
}
