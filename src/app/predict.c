/* Predicts with a model on any graph with the same features. */
#include "app/learned.h"
#include "app/matched.h"
#include "backends/open.h"
#include "base/given.h"
#include "stats/score.h"
#include "train/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- results ------------------------------------------------------------- */

/* Labels, confidence and probabilities from logits (n, c); of a graph in parts the probabilities
 * only of nodes that are problem_here(). */
static consm_status prediction_new(struct consm_prediction **out, const float *logits,
                                   const struct consm_model *model, const struct problem *problem)
{
    consm_status st = CONSM_OK;
    int64_t nodes = problem->nodes;
    int32_t classes = problem->classes;
    const struct partition *partition = problem->graph->partition;
    struct consm_prediction *p;
    *out = NULL;
    TRY(ZNEW(p, 1));
    p->nodes = nodes;
    p->classes = classes;
    p->own_low = partition_low(partition);
    p->own_high = partition_high(partition, nodes);
    TRY(NEW(p->label, nodes));
    TRY(NEW(p->confidence, nodes));
    TRY(ZNEW(p->probability, nodes * classes));
    TRY(ZNEW(p->log_odds, nodes * classes));
    for (int64_t i = 0; i < nodes; i++) {
        const float *row = logits + i * classes;
        if (!problem_here(problem, i))
            continue;
        model_probabilities(p->probability + i * classes, model, row, 1);
        model_all_log_odds(p->log_odds + i * classes, model, row);
        int32_t best = score_largest(row, classes);
        if (model->decision.made)
            best = metrics_decide(p->probability + i * classes, classes, &model->decision);
        if (!isfinite(p->probability[i * classes + best]))
            TRY(status_fail(CONSM_ENUMERIC,
                            "node %lld: its probabilities are not numbers: features of this graph "
                            "or parameters of the model are too large",
                            (long long)i));
        p->label[i] = best;
        p->confidence[i] = p->probability[i * classes + best];
    }
    /* Every rank has the labels of all nodes and the probabilities of its own. */
    TRY(partition_gather(partition, p->label, sizeof *p->label));
    TRY(partition_gather(partition, p->confidence, sizeof *p->confidence));
    *out = p;
    return CONSM_OK;
done:
    consm_prediction_free(p);
    return st;
}

void consm_prediction_free(struct consm_prediction *prediction)
{
    if (!prediction)
        return;
    mem_free(prediction->label);
    mem_free(prediction->confidence);
    mem_free(prediction->probability);
    mem_free(prediction->in_set);
    mem_free(prediction->seen);
    mem_free(prediction->log_odds);
    mem_free(prediction);
}

/* ---- the calls ----------------------------------------------------------- */

consm_status model_on_dataset(const struct consm_model *model, const struct consm_dataset *dataset,
                              int threads, model_use_fn use, void *ctx)
{
    return model_on_device(model, dataset, NULL, threads, use, ctx);
}

consm_status model_on_device(const struct consm_model *model, const struct consm_dataset *dataset,
                             const char *device, int threads, model_use_fn use, void *ctx)
{
    consm_status st = CONSM_OK;
    const struct prepared *prepared;
    struct matched features = {0};
    struct backend *backend = NULL;
    TRY(dataset_prepared(&prepared, dataset));
    TRY(matched_open(&features, model, prepared));
    struct problem problem = matched_problem(model, prepared, &features);
    if (threads == 0 && prepare_is_small(prepared, &model->config))
        threads = 1;
    TRY(prepare_backend(&backend, prepared, device, threads));
    TRY(use(ctx, model, &problem, backend));
done:
    backend_close(backend);
    matched_free(&features, prepared);
    return st;
}

consm_status model_prediction(struct consm_prediction **out, const struct consm_model *model,
                              const struct problem *problem, const float *logits)
{
    consm_status st = CONSM_OK;
    struct consm_prediction *p = NULL;
    *out = NULL;
    TRY(prediction_new(&p, logits, model, problem));
    TRY(prediction_add_sets(p, model, problem));
    *out = p;
    p = NULL;
done:
    consm_prediction_free(p);
    return st;
}

static consm_status predict(void *ctx, const struct consm_model *model,
                            const struct problem *problem, struct backend *backend)
{
    consm_status st = CONSM_OK;
    float *logits = NULL;
    TRY(model_logits(&logits, model, problem, backend));
    TRY(model_prediction(ctx, model, problem, logits));
done:
    mem_free(logits);
    return st;
}

consm_status consm_predict(struct consm_prediction **out, const struct consm_model *model,
                           const struct consm_dataset *dataset, int threads)
{
    return consm_predict_on(out, model, dataset, NULL, threads);
}

consm_status consm_predict_on(struct consm_prediction **out, const struct consm_model *model,
                              const struct consm_dataset *dataset, const char *device, int threads)
{
    consm_status st = CONSM_OK;
    struct consm_prediction *p = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, model, dataset));
    TRY(model_on_device(model, dataset, device, threads, predict, &p));
    TRY(learned_mark(&p->seen, model, dataset->data, NULL, p->nodes));
    *out = p;
    p = NULL;
done:
    consm_prediction_free(p);
    return st;
}

consm_status model_in_file(consm_status st, const char *path)
{
    char message[512];
    if (st >= 0 || st == CONSM_ENOMEM)
        return st;
    snprintf(message, sizeof message, "%s", consm_errmsg());
    return status_fail(CONSM_EFORMAT, "%s: %s", path, message);
}

/* On a graph of one node the equations need the same parameters as on any other. */
consm_status model_check(const struct consm_model *model, const char *path)
{
    consm_status st = CONSM_OK;
    float *zero = NULL;
    struct csr *graph = NULL;
    struct views *views = NULL;
    struct backend *backend = NULL;
    struct session *s = NULL;
    int64_t numbers = 0;
    if (!model->def->build)
        return model_in_file(model_check_forest(model), path);
    for (int64_t i = 0; i < model->tensors; i++)
        numbers += model->tensor[i].rows * model->tensor[i].cols;
    if (model->features > numbers || model->classes > numbers)
        return status_fail(CONSM_EFORMAT,
                           "%s: %lld parameters are too few for %lld features and %d classes", path,
                           (long long)numbers, (long long)model->features, model->classes);
    TRY(csr_from_edges(&graph, 1, 1, 0, NULL, NULL, NULL, CSR_UNDIRECTED, NULL));
    TRY(views_new(&views, graph));
    TRY(ZNEW(zero, model->features));
    TRY(backend_open(&backend, NULL, 1));
    struct problem problem = {.nodes = 1,
                              .features = model->features,
                              .classes = model->classes,
                              .graph = graph,
                              .dense = zero,
                              .views = views};
    TRY(model_in_file(model_session(&s, model, &problem, backend), path));
done:
    session_free(s);
    backend_close(backend);
    views_free(views);
    csr_free(graph);
    mem_free(zero);
    return st;
}
