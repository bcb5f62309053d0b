/* Finds the nodes within two steps of the labelled ones and copies their rows. */
#include "match/reach.h"

#include <string.h>

/* Saving a tenth is not worth the copies. */
static bool nearly_all(int64_t count, int64_t nodes)
{
    return count * 10 > nodes * 9;
}

/* near[i]: 1 + the steps from node i to the nearest labelled one; 0 if more than two. */
static void walk_two_steps(uint8_t *near, const struct match_data *d)
{
    const struct csr *graph = d->graph;
    for (int64_t i = 0; i < d->labelled; i++)
        near[d->train[i]] = 1;
    for (uint8_t step = 1; step <= 2; step++)
        for (int64_t i = 0; i < d->nodes; i++)
            for (int64_t k = graph->start[i]; near[i] == step && k < graph->start[i + 1]; k++)
                if (!near[graph->col[k]])
                    near[graph->col[k]] = (uint8_t)(step + 1);
}

static consm_status copy_rows(struct reach *r, const struct match_data *d, const int32_t *rows)
{
    consm_status st = CONSM_OK;
    size_t row = (size_t)d->features * sizeof(float);
    TRY(NEW(r->own_label, r->count));
    for (int64_t i = 0; i < r->count; i++)
        r->own_label[i] = d->label[rows[i]];
    r->label = r->own_label;
    if (d->sparse) {
        TRY(csr_submatrix(&r->own_sparse, d->sparse, rows, r->count, NULL, d->features));
        r->sparse = r->own_sparse;
        goto done;
    }
    TRY(NEW(r->own_dense, r->count * d->features));
    for (int64_t i = 0; i < r->count; i++)
        memcpy(r->own_dense + i * d->features, d->dense + rows[i] * d->features, row);
    r->dense = r->own_dense;
done:
    return st;
}

consm_status reach_new(struct reach *r, const struct match_data *d)
{
    consm_status st = CONSM_OK;
    uint8_t *near = NULL;
    int32_t *rows = NULL;
    *r = (struct reach){.sparse = d->sparse, .dense = d->dense, .label = d->label};
    TRY(ZNEW(near, d->nodes));
    TRY(NEW(rows, d->nodes));
    TRY(NEW(r->place, d->nodes));
    if (d->graph->partition) /* every process encodes its own nodes */
        memset(near, 1, (size_t)d->nodes);
    else
        walk_two_steps(near, d);
    for (int64_t i = 0; i < d->nodes; i++) {
        r->place[i] = (int32_t)r->count;
        if (near[i])
            rows[r->count++] = (int32_t)i;
    }
    if (nearly_all(r->count, d->nodes)) {
        r->count = d->nodes;
        for (int64_t i = 0; i < d->nodes; i++)
            r->place[i] = (int32_t)i;
    } else {
        TRY(copy_rows(r, d, rows));
        r->node = rows;
        rows = NULL;
    }
done:
    mem_free(near);
    mem_free(rows);
    return st;
}

void reach_free(struct reach *r)
{
    mem_free(r->place);
    mem_free(r->node);
    mem_free(r->own_label);
    mem_free(r->own_dense);
    csr_free(r->own_sparse);
    *r = (struct reach){0};
}
