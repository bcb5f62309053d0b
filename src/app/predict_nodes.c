/* Predicts a few nodes for callers: adds prediction sets and the mark of learned nodes to their
 * logits. */
#include "app/growing.h"
#include "app/learned.h"
#include "app/predictor.h"
#include "base/given.h"
#include "graph/structural.h"

/* The requested nodes followed by their neighbours, which prediction sets read. */
struct asked {
    int64_t count, all;
    int32_t *node; /* (all) */
    uint64_t *key; /* (all) */
    struct csr
        rows; /* of the requested nodes, numbered by this list; those of the others are empty */
};

static void asked_free(struct asked *a)
{
    mem_free(a->node);
    mem_free(a->key);
    mem_free(a->rows.start);
    mem_free(a->rows.col);
}

/* The graph of a question: a version, or NULL: the predictor's dataset. */
static struct csr_rows rows_of(const struct consm_predictor *p, const struct version *v)
{
    return v ? version_rows(v) : (struct csr_rows){.base = p->problem.graph};
}

static uint64_t key_of(const struct consm_predictor *p, const struct version *v, int32_t number)
{
    char buffer[24];
    return v ? structural_key(version_id(v, number, buffer)) : p->problem.key[number];
}

consm_status predictor_check(const struct consm_predictor *p, const struct version *v,
                             const int64_t *number, int64_t count)
{
    int64_t nodes = v ? v->nodes : p->problem.nodes;
    for (int64_t k = 0; k < count; k++)
        if (number[k] < 0 || number[k] >= nodes)
            return status_fail(CONSM_ENOTFOUND, "%s has no node number %lld: expected 0 to %lld",
                               p->prepared->data->name, (long long)number[k], (long long)nodes - 1);
    return CONSM_OK;
}

static consm_status asked_new(struct asked *out, const struct consm_predictor *p,
                              const struct version *v, const int64_t *number, int64_t count)
{
    consm_status st = CONSM_OK;
    const struct csr_rows graph = rows_of(p, v);
    int64_t room = count;
    bool beside = p->model->sets.coverage > 0;
    TRY(predictor_check(p, v, number, count));
    for (int64_t k = 0; beside && k < count; k++)
        room += csr_row(&graph, number[k]).count;
    out->count = out->all = count;
    TRY(NEW(out->node, room));
    TRY(NEW(out->key, room));
    TRY(ZNEW(out->rows.start, room + 1));
    TRY(NEW(out->rows.col, room));
    for (int64_t k = 0; k < count; k++)
        out->node[k] = (int32_t)number[k];
    for (int64_t k = 0; k < count; k++) {
        const struct csr_row row = csr_row(&graph, number[k]);
        for (int64_t e = 0; beside && e < row.count; e++) {
            out->rows.col[out->rows.nnz++] = (int32_t)out->all;
            out->node[out->all++] = row.col[e];
        }
        out->rows.start[k + 1] = out->rows.nnz;
    }
    for (int64_t k = 0; k < out->all; k++)
        out->key[k] = key_of(p, v, out->node[k]);
    for (int64_t k = count; k < out->all; k++)
        out->rows.start[k + 1] = out->rows.nnz;
    out->rows.rows = out->rows.cols = out->all;
done:
    return st;
}

/* Marks the requested nodes that the model learned from; of a growing graph by id only. */
static consm_status mark_seen(struct consm_prediction *made, const struct consm_predictor *p,
                              const struct version *v, const struct asked *asked)
{
    consm_status st = CONSM_OK;
    if (!v)
        return learned_mark(&made->seen, p->model, p->prepared->data, asked->node, asked->count);
    if (!v->base->data->node_id || !p->model->learned_named || p->model->learned_count == 0)
        return CONSM_OK;
    TRY(NEW(made->seen, asked->count));
    for (int64_t k = 0; k < asked->count; k++)
        made->seen[k] = learned_has(p->model, key_of(p, v, asked->node[k]));
done:
    return st;
}

consm_status consm_predictor_nodes(struct consm_prediction **out, struct consm_predictor *p,
                                   const int64_t *number, int64_t count)
{
    consm_status st = CONSM_OK;
    struct asked asked = {0};
    struct consm_prediction *made = NULL;
    struct version *v = NULL;
    float *logits = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, p, number));
    if (count < 1)
        TRY(status_fail(CONSM_EINVAL, "%lld nodes to predict: expected one or more",
                        (long long)count));
    v = p->graph ? version_hold(p->graph) : NULL;
    TRY(asked_new(&asked, p, v, number, count));
    TRY(NEW(logits, asked.all * p->problem.classes));
    TRY(v ? predictor_logits_at(logits, p, v, asked.node, asked.all)
          : predictor_logits(logits, p, asked.node, asked.all));
    struct problem few = {
        .nodes = asked.all, .classes = p->problem.classes, .graph = &asked.rows, .key = asked.key};
    TRY(model_prediction(&made, p->model, &few, logits));
    TRY(mark_seen(made, p, v, &asked));
    made->nodes = made->own_high = count;
done:
    version_release(p ? p->graph : NULL, v);
    mem_free(logits);
    asked_free(&asked);
    if (st == CONSM_OK)
        *out = made;
    else
        consm_prediction_free(made);
    return st;
}

consm_status consm_predict_nodes(struct consm_prediction **out, const struct consm_model *model,
                                 const struct consm_dataset *dataset, const int64_t *number,
                                 int64_t count, int threads)
{
    consm_status st = CONSM_OK;
    struct consm_predictor *p = NULL;
    struct consm_prediction *made = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, model, dataset, number));
    TRY(consm_predictor_new(&p, model, dataset, threads));
    TRY(consm_predictor_nodes(&made, p, number, count));
done:
    consm_predictor_free(p);
    if (st == CONSM_OK)
        *out = made;
    return st;
}
