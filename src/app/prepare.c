/* Cleans a dataset once and shares it between runs. */
#include "app/prepare.h"

#include "data/readers/features_in_parts.h"
#include "graph/partition.h"
#include "graph/structural.h"

consm_status prepare_keys(uint64_t **out, const struct dataset *d)
{
    consm_status st = CONSM_OK;
    char buffer[24];
    TRY(NEW(*out, d->nodes));
    for (int64_t i = 0; i < d->nodes; i++)
        (*out)[i] = structural_key(dataset_node_id(d, i, buffer));
done:
    return st;
}

void prepare_structural_free(float *structural, const struct prepared *p)
{
    if (structural)
        partition_room_free(p->partition, structural);
}

consm_status prepare_structural(float **out, const struct prepared *p)
{
    consm_status st = CONSM_OK;
    uint64_t *key = NULL;
    *out = partition_room(p->partition, p->data->nodes * STRUCTURAL_FEATURES, sizeof **out);
    if (!*out)
        TRY(CONSM_ENOMEM);
    TRY(prepare_keys(&key, p->data));
    TRY(structural_features(*out, p->graph, key));
done:
    mem_free(key);
    if (st < 0) {
        prepare_structural_free(*out, p);
        *out = NULL;
    }
    return st;
}

/* In a graph in parts no process has all rows; they measure mean and deviation together. */
static consm_status make_structural(struct prepared *p)
{
    consm_status st = CONSM_OK;
    enum { F = STRUCTURAL_FEATURES };
    double sum[F] = {0};
    TRY(prepare_structural(&p->structural, p));
    if (!p->partition)
        return CONSM_OK;
    TRY(NEW(p->measured, 2 * F));
    TRY(features_in_parts_measure(p->measured, p->measured + F, sum, p->structural, p->data->nodes,
                                  F, p->partition));
done:
    return st;
}

/* What follows from the cleaned graph. */
static consm_status prepare_rest(struct prepared *out, const struct dataset *d)
{
    consm_status st = CONSM_OK;
    TRY(prepare_keys(&out->key, d));
    TRY(views_new(&out->views, out->graph));
    TRY(normalized_rows_new(&out->row_normalized));
    if (d->sparse && !d->rows)
        TRY(csr_transpose(d->sparse));
    if (d->features == 0)
        TRY(make_structural(out));
done:
    return st;
}

consm_status prepare_with(struct prepared *out, const struct dataset *d, struct csr *graph)
{
    *out = (struct prepared){.data = d,
                             .ranks = &ranks_alone,
                             .graph = graph,
                             .facts = {.stored = d->edges, .kept = graph->nnz}};
    consm_status st = prepare_rest(out, d);
    if (st < 0)
        prepare_free(out);
    return st;
}

consm_status prepare_graph(struct prepared *out, const struct dataset *d, const struct ranks *ranks)
{
    consm_status st = CONSM_OK;
    *out = (struct prepared){.data = d, .ranks = ranks};
    if (d->rows)
        TRY(prepare_parts(out, d));
    else
        TRY(dataset_graph(&out->graph, d, &out->facts));
    dataset_say_duplicates(d, out->facts.differ);
    TRY(prepare_rest(out, d));
done:
    if (st < 0)
        prepare_free(out);
    return st;
}

consm_status prepare(struct prepared *out, const struct dataset *d)
{
    *out = (struct prepared){0};
    if (d->classes < 1)
        return status_fail(CONSM_EINVAL, "%s has no labels to learn from", d->name);
    return prepare_graph(out, d, &ranks_alone);
}

void prepare_free(struct prepared *p)
{
    views_free(p->views);
    normalized_rows_free(p->row_normalized);
    csr_free(p->graph);
    prepare_structural_free(p->structural, p);
    mem_free(p->measured);
    mem_free(p->key);
    mem_free(p->partition);
    mem_free(p->cut);
    csr_free(p->sparse);
    mem_free(p->columns);
    mem_free(p->column_cut);
    *p = (struct prepared){0};
}

consm_status prepare_backend(struct backend **out, const struct prepared *p, const char *device,
                             int threads)
{
    return ranks_backend(out, p->ranks, p->partition, p->columns, device, threads);
}

bool prepare_is_small(const struct prepared *p, const struct config *c)
{
    const struct dataset *d = p->data;
    struct problem problem = prepare_problem(p, NULL);
    double inputs =
        d->sparse ? (double)d->sparse->nnz : (double)problem.nodes * (double)problem.features;
    return (inputs + (double)p->graph->nnz) * (double)c->hidden < 1e6;
}

struct problem prepare_problem(const struct prepared *p, const uint8_t *role)
{
    const struct dataset *d = p->data;
    const float *shift = d->rows ? d->shift : NULL, *scale = d->rows ? d->scale : NULL;
    if (d->features == 0 && p->measured) {
        shift = p->measured;
        scale = p->measured + STRUCTURAL_FEATURES;
    }
    return (struct problem){.nodes = d->nodes,
                            .features = d->features ? d->features : STRUCTURAL_FEATURES,
                            .classes = d->classes,
                            .graph = p->graph,
                            .sparse = p->sparse ? p->sparse : d->sparse,
                            .dense = d->features ? d->dense : p->structural,
                            .label = d->label,
                            .role = role,
                            .views = p->views,
                            .row_normalized = p->row_normalized,
                            .key = p->key,
                            .shift = shift,
                            .scale = scale};
}
