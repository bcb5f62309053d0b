/* Measures a model on a graph with known labels. */
#include "app/objects.h"
#include "base/given.h"

#include <string.h>

void model_match_classes(int32_t *place, const struct consm_model *m, const struct dataset *d)
{
    char own[24], other[24];
    for (int32_t k = 0; k < d->classes; k++) {
        const char *name = dataset_class_name(d, k, own);
        place[k] = -1;
        for (int32_t j = 0; j < m->classes && place[k] < 0; j++)
            if (strcmp(name, consm_model_class(m, j, other)) == 0)
                place[k] = j;
    }
}

/* role (n): 0 for the nodes to measure, 1 for the others. */
static consm_status choose_nodes(uint8_t *role, const struct consm_prediction *p,
                                 enum consm_which which)
{
    if (which == CONSM_ALL_NODES)
        return CONSM_OK;
    if (!p->seen)
        return status_fail(
            CONSM_EINVAL,
            "cannot tell new from seen nodes: no node ids, or an older consm wrote the model");
    for (int64_t i = 0; i < p->nodes; i++)
        role[i] = (which == CONSM_NEW_NODES) == (p->seen[i] != 0);
    return CONSM_OK;
}

/* Nodes of classes that the model does not know count as wrong. */
static consm_status measure(struct metrics *out, const struct consm_model *m,
                            const struct consm_prediction *prediction, const struct dataset *d,
                            enum consm_which which)
{
    consm_status st = CONSM_OK;
    int32_t *place = NULL, *label = NULL;
    uint8_t *role = NULL;
    *out = (struct metrics){0};
    TRY(NEW(place, d->classes));
    TRY(NEW(label, d->nodes));
    TRY(ZNEW(role, d->nodes));
    model_match_classes(place, m, d);
    for (int64_t i = 0; i < d->nodes; i++)
        label[i] = d->label[i] < 0          ? -1
                   : place[d->label[i]] < 0 ? METRICS_FOREIGN
                                            : place[d->label[i]];
    TRY(choose_nodes(role, prediction, which));
    struct predicted p = {.probability = prediction->probability,
                          .label = label,
                          .role = role, /* 0: measured */
                          .nodes = d->nodes,
                          .classes = m->classes,
                          .decision = &m->decision};
    TRY(metrics_measure(out, &p));
    metrics_hide_ece(out);
done:
    mem_free(place);
    mem_free(label);
    mem_free(role);
    return st;
}

static consm_status check_which(enum consm_which which, const char *function)
{
    if ((unsigned)which <= CONSM_SEEN_NODES)
        return CONSM_OK;
    return status_fail(CONSM_EINVAL,
                       "%s: argument \"which\" is %d: expected 0 to %d (enum consm_which)",
                       function, (int)which, (int)CONSM_SEEN_NODES);
}

consm_status consm_evaluate(struct consm_metrics **out, const struct consm_model *model,
                            const struct consm_dataset *dataset, int threads)
{
    return consm_evaluate_on(out, model, dataset, CONSM_ALL_NODES, NULL, threads);
}

consm_status consm_evaluate_on(struct consm_metrics **out, const struct consm_model *model,
                               const struct consm_dataset *dataset, enum consm_which which,
                               const char *device, int threads)
{
    consm_status st = CONSM_OK;
    struct consm_prediction *prediction = NULL;
    struct consm_metrics *m = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, model, dataset));
    TRY(check_which(which, __func__));
    TRY(consm_predict_on(&prediction, model, dataset, device, threads));
    TRY(consm_evaluate_prediction(&m, model, prediction, dataset, which));
    if (which == CONSM_ALL_NODES && m->nodes == m->foreign)
        TRY(status_fail(CONSM_EINVAL, "%s: no node has a label of a class that the model knows",
                        dataset->data->name));
done:
    consm_prediction_free(prediction);
    if (st < 0)
        consm_metrics_free(m);
    else
        *out = m;
    return st;
}

consm_status consm_evaluate_prediction(struct consm_metrics **out, const struct consm_model *model,
                                       const struct consm_prediction *prediction,
                                       const struct consm_dataset *dataset, enum consm_which which)
{
    consm_status st = CONSM_OK;
    struct metrics *m = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, model, prediction, dataset));
    TRY(check_which(which, __func__));
    if (prediction->nodes != dataset->data->nodes || prediction->classes != model->classes)
        TRY(status_fail(CONSM_EINVAL,
                        "a prediction of %lld nodes and %d classes: expected %lld nodes, as in %s, "
                        "and the model's %d classes",
                        (long long)prediction->nodes, prediction->classes,
                        (long long)dataset->data->nodes, dataset->data->name, model->classes));
    TRY(ZNEW(m, 1));
    TRY(measure(m, model, prediction, dataset->data, which));
done:
    if (st < 0 && m)
        consm_metrics_free(&m->all);
    else if (st == CONSM_OK)
        *out = &m->all;
    return st;
}

void consm_metrics_free(struct consm_metrics *metrics)
{
    struct metrics *m = (struct metrics *)metrics;
    if (!m)
        return;
    metrics_free(m);
    mem_free(m);
}
