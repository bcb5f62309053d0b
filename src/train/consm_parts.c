/* ConSM where every rank has a share of the graph: what a rank's edges need of nodes elsewhere.
 * Their features and rows are sent for once, their logits whenever witnesses are called. */
#include "train/consm.h"

#include "backends/ranks.h"
#include "graph/shared.h"
#include <string.h>

static void *sparse_rows(const struct problem *problem, int64_t width)
{
    return mem_sparse_alloc((size_t)(problem->nodes * width), sizeof(float));
}

/* The share's rows of an array of all nodes. */
static void copy_own(float *to, const float *from, const struct row_share *share, int64_t width)
{
    int64_t first = share->low * width;
    memcpy(to + first, from + first, (size_t)(share->high * width - first) * sizeof *to);
}

consm_status consm_open_parts(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const struct problem *problem = s->problem;
    const struct row_share *share = problem->graph->share;
    if (!share || s->options.eval_only)
        return CONSM_OK;
    if (s->options.config.messages != MESSAGES_NONE)
        return status_fail(CONSM_EINVAL, "messages: this graph is in parts, where every message "
                                         "counts alike: --messages none works");
    TRY(csr_share_neighbours(&own->neighbours, problem->graph));
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
    const struct row_share *share = problem->graph->share;
    if (!share || problem->sparse || own->stored ||
        s->options.config.normalize_features != FEATURES_ROW)
        return CONSM_OK;
    own->stored = sparse_rows(problem, problem->features);
    if (!own->stored)
        TRY(CONSM_ENOMEM);
    copy_own(own->stored, problem->dense, share, problem->features);
    TRY(ranks_spread(own->stored, problem->features));
done:
    return st;
}

void consm_close_parts(struct session *s)
{
    struct consm *own = s->own;
    row_halo_free(own->neighbours);
    mem_sparse_free(own->near_logits);
    if (own->stored)
        ranks_unspread(own->stored);
    mem_sparse_free(own->stored);
}

consm_status consm_near_logits(const float **out, struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    int64_t c = s->problem->classes;
    const float *logits;
    TRY(session_logits(&logits, s));
    copy_own(own->near_logits, logits, s->problem->graph->share, c);
    TRY(row_halo_fetch(own->neighbours, own->near_logits, (size_t)c * sizeof *logits));
    *out = own->near_logits;
done:
    return st;
}

/* Sparse features of the share's nodes and of their neighbours. */
static consm_status near_sparse(struct csr **out, const struct csr *x,
                                const struct row_share *share, const struct row_halo *halo)
{
    consm_status st = CONSM_OK;
    struct csr *a = NULL;
    int64_t first = x->start[share->low];
    size_t count = (size_t)(x->start[share->high] - first);
    TRY(csr_share_new(&a, share, x->rows, x->cols, x->nnz, x->val != NULL));
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
    copy_own(*out, x, problem->graph->share, problem->features);
    return row_halo_fetch(halo, *out, (size_t)problem->features * sizeof **out);
}

consm_status consm_near_witnesses(float *x, const struct witness_data *data, struct session *s)
{
    consm_status st = CONSM_OK;
    const struct problem *problem = s->problem;
    const struct row_share *share = problem->graph->share;
    const struct row_halo *halo = ((struct consm *)s->own)->neighbours;
    struct witness_data near = *data;
    struct csr *graph = NULL, *sparse_near = NULL;
    float *dense_near = NULL;
    uint8_t *here = NULL;
    TRY(ZNEW(here, problem->nodes));
    memset(here + share->low, 1, (size_t)(share->high - share->low));
    for (int64_t i = 0; i < halo->asks[share->parts]; i++)
        here[halo->ask[i]] = 1;
    TRY(csr_share_near(&graph, problem->graph, halo));
    if (data->sparse)
        TRY(near_sparse(&sparse_near, data->sparse, share, halo));
    else
        TRY(near_dense(&dense_near, data->dense, problem, halo));
    near.graph = graph;
    near.sparse = sparse_near;
    near.dense = dense_near;
    near.here = here;
    TRY(witness_data_only(x, &near, s->backend->host));
done:
    csr_free(graph);
    csr_free(sparse_near);
    mem_sparse_free(dense_near);
    mem_free(here);
    return st;
}
