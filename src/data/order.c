/* Reorders every array of a dataset by rows. */
#include "data/order.h"

#include <stdio.h>
#include <string.h>

static consm_status order_edges(struct dataset *to, const struct dataset *d, const int32_t *old)
{
    consm_status st = CONSM_OK;
    int32_t *new = NULL;
    TRY(NEW(new, d->nodes));
    for (int64_t i = 0; i < d->nodes; i++)
        new[old[i]] = (int32_t)i;
    to->edges = d->edges;
    to->directed = d->directed;
    TRY(NEW(to->from, d->edges));
    TRY(NEW(to->to, d->edges));
    for (int64_t e = 0; e < d->edges; e++) {
        to->from[e] = new[d->from[e]];
        to->to[e] = new[d->to[e]];
    }
    if (d->weight) {
        TRY(NEW(to->weight, d->edges));
        memcpy(to->weight, d->weight, (size_t)d->edges * sizeof *d->weight);
    }
done:
    mem_free(new);
    return st;
}

static consm_status order_features(struct dataset *to, const struct dataset *d, const int32_t *old)
{
    consm_status st = CONSM_OK;
    int64_t n = d->nodes, f = d->features, at = 0;
    to->features = f;
    if (d->dense) {
        TRY(NEW(to->dense, n * f));
        for (int64_t i = 0; i < n; i++)
            memcpy(to->dense + i * f, d->dense + old[i] * f, (size_t)f * sizeof *d->dense);
    }
    if (d->sparse) {
        const struct csr *s = d->sparse;
        TRY(csr_new(&to->sparse, n, f, s->nnz, s->val != NULL));
        for (int64_t i = 0; i < n; i++) {
            for (int64_t k = s->start[old[i]]; k < s->start[old[i] + 1]; k++, at++) {
                to->sparse->col[at] = s->col[k];
                if (s->val)
                    to->sparse->val[at] = s->val[k];
            }
            to->sparse->start[i + 1] = at;
        }
    }
    TRY(mem_copy_texts(&to->feature_name, d->feature_name, f));
done:
    return st;
}

static consm_status order_nodes(struct dataset *to, const struct dataset *d, const int32_t *old)
{
    consm_status st = CONSM_OK;
    char buffer[24];
    int64_t n = d->nodes;
    to->classes = d->classes;
    to->splits = d->splits;
    TRY(NEW(to->label, n));
    TRY(ZNEW(to->node_id, n));
    for (int64_t i = 0; i < n; i++) {
        to->label[i] = d->label[old[i]];
        if (!(to->node_id[i] = mem_strdup(dataset_node_id(d, old[i], buffer))))
            TRY(CONSM_ENOMEM);
    }
    if (d->role) {
        TRY(NEW(to->role, d->splits * n));
        for (int64_t s = 0; s < d->splits; s++)
            for (int64_t i = 0; i < n; i++)
                to->role[s * n + i] = d->role[s * n + old[i]];
    }
    TRY(mem_copy_texts(&to->class_name, d->class_name, d->classes));
done:
    return st;
}

consm_status dataset_order(struct dataset **out, const struct dataset *d, const int32_t *old)
{
    consm_status st = CONSM_OK;
    struct dataset *to = NULL;
    *out = NULL;
    TRY(dataset_check(d));
    TRY(dataset_new(&to, d->name));
    to->nodes = d->nodes;
    TRY(order_edges(to, d, old));
    TRY(order_features(to, d, old));
    TRY(order_nodes(to, d, old));
    TRY(dataset_check(to));
    *out = to;
    to = NULL;
done:
    dataset_free(to);
    return st;
}
