/* How good a model is on a graph whose labels are known: another one, or next month's. */
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

consm_status model_evaluate(struct metrics *out, const struct consm_model *m,
                            const struct consm_prediction *prediction, const struct dataset *d)
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
        label[i] = d->label[i] < 0 ? -1 : place[d->label[i]];
    struct predicted p = {.probability = prediction->probability,
                          .label = label,
                          .role = role, /* all are of role 0 */
                          .nodes = d->nodes,
                          .classes = m->classes,
                          .decision = &m->decision};
    TRY(metrics_measure(out, &p));
done:
    mem_free(place);
    mem_free(label);
    mem_free(role);
    return st;
}

consm_status consm_evaluate(struct consm_metrics **out, const struct consm_model *model,
                            const struct consm_dataset *dataset, int threads)
{
    consm_status st = CONSM_OK;
    struct consm_prediction *prediction = NULL;
    struct metrics *m = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, model, dataset));
    TRY(consm_predict(&prediction, model, dataset, threads));
    TRY(ZNEW(m, 1));
    TRY(model_evaluate(m, model, prediction, dataset->data));
    if (m->all.nodes == 0)
        TRY(status_fail(CONSM_EINVAL, "%s: no node has a label that the model knows",
                        dataset->data->name));
done:
    consm_prediction_free(prediction);
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
