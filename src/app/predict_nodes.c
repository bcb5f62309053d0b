/* Predicting a few nodes, for callers: what prediction sets and the mark of learned nodes need
 * beside their logits. */
#include "app/learned.h"
#include "app/predictor.h"
#include "base/given.h"

/* The asked nodes and, behind them, what prediction sets read beside them: their neighbours. */
struct asked {
    int64_t count, all;
    int32_t *node;   /* (all) */
    uint64_t *key;   /* (all) */
    struct csr rows; /* of the asked nodes, in numbers of this list; the others' are empty */
};

static void asked_free(struct asked *a)
{
    mem_free(a->node);
    mem_free(a->key);
    mem_free(a->rows.start);
    mem_free(a->rows.col);
}

static consm_status asked_new(struct asked *out, const struct consm_predictor *p,
                              const int64_t *number, int64_t count)
{
    consm_status st = CONSM_OK;
    const struct csr *graph = p->problem.graph;
    int64_t room = count;
    bool beside = p->model->sets.coverage > 0;
    for (int64_t k = 0; k < count; k++) {
        if (number[k] < 0 || number[k] >= p->problem.nodes)
            return status_fail(CONSM_ENOTFOUND, "%s has no node number %lld: expected 0 to %lld",
                               p->prepared->data->name, (long long)number[k],
                               (long long)p->problem.nodes - 1);
        room += beside ? graph->start[number[k] + 1] - graph->start[number[k]] : 0;
    }
    out->count = out->all = count;
    TRY(NEW(out->node, room));
    TRY(NEW(out->key, room));
    TRY(ZNEW(out->rows.start, room + 1));
    TRY(NEW(out->rows.col, room));
    for (int64_t k = 0; k < count; k++)
        out->node[k] = (int32_t)number[k];
    for (int64_t k = 0; k < count; k++) {
        for (int64_t e = graph->start[number[k]]; beside && e < graph->start[number[k] + 1]; e++) {
            out->rows.col[out->rows.nnz++] = (int32_t)out->all;
            out->node[out->all++] = graph->col[e];
        }
        out->rows.start[k + 1] = out->rows.nnz;
    }
    for (int64_t k = 0; k < out->all; k++)
        out->key[k] = p->problem.key[out->node[k]];
    for (int64_t k = count; k < out->all; k++)
        out->rows.start[k + 1] = out->rows.nnz;
    out->rows.rows = out->rows.cols = out->all;
done:
    return st;
}

consm_status consm_predictor_nodes(struct consm_prediction **out, struct consm_predictor *p,
                                   const int64_t *number, int64_t count)
{
    consm_status st = CONSM_OK;
    struct asked asked = {0};
    struct consm_prediction *made = NULL;
    float *logits = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, p, number));
    if (count < 1)
        TRY(status_fail(CONSM_EINVAL, "%lld nodes to predict: expected one or more",
                        (long long)count));
    TRY(asked_new(&asked, p, number, count));
    TRY(NEW(logits, asked.all * p->problem.classes));
    TRY(predictor_logits(logits, p, asked.node, asked.all));
    struct problem few = {
        .nodes = asked.all, .classes = p->problem.classes, .graph = &asked.rows, .key = asked.key};
    TRY(model_prediction(&made, p->model, &few, logits));
    TRY(learned_mark(&made->seen, p->model, p->prepared->data, asked.node, count));
    made->nodes = count;
    *out = made;
    made = NULL;
done:
    consm_prediction_free(made);
    mem_free(logits);
    asked_free(&asked);
    return st;
}

consm_status consm_predict_nodes(struct consm_prediction **out, const struct consm_model *model,
                                 const struct consm_dataset *dataset, const int64_t *number,
                                 int64_t count, int threads)
{
    consm_status st = CONSM_OK;
    struct consm_predictor *p = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, model, dataset, number));
    TRY(consm_predictor_new(&p, model, dataset, threads));
    TRY(consm_predictor_nodes(out, p, number, count));
done:
    consm_predictor_free(p);
    return st;
}
