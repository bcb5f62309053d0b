/* Adds values to an explanation: an amount of 9,200 where 12 to 840 are usual, a neighbour known as
 * fraud, an edge with little trust. */
#include "app/explain_values.h"
#include "base/order.h"

#include "app/predictor.h"
#include "base/number.h"
#include "data/table/recipe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- edges --------------------------------------------------------------- */

static float trust_of(const struct edge_trust *t, int32_t a, int32_t b)
{
    int64_t at = pair_find(t->edges->left, t->edges->right, t->edges->count, a, b);
    return at >= 0 ? t->score[at] : NAN;
}

static float weight_of(const struct csr *graph, int64_t a, int64_t b)
{
    int64_t entry = csr_find(graph, a, (int32_t)b);
    return entry >= 0 && graph->val ? graph->val[entry] : 1;
}

static consm_status add_trust(struct consm_explanation *e, struct consm_predictor *p)
{
    consm_status st = CONSM_OK;
    struct edge_trust trust = {0};
    int32_t *from = NULL, *to = NULL, self = (int32_t)e->node;
    int64_t count = 0;
    TRY(NEW(e->edge_trust, e->edges));
    TRY(NEW(e->neighbour_trust, e->neighbours));
    TRY(NEW(e->neighbour_weight, e->neighbours));
    TRY(NEW(from, e->edges + e->neighbours + 1));
    TRY(NEW(to, e->edges + e->neighbours + 1));
    for (int64_t i = 0; i < e->edges; i++) {
        from[count] = e->edge_from[i];
        to[count++] = e->edge_to[i];
    }
    for (int64_t i = 0; i < e->neighbours; i++) {
        from[count] = self;
        to[count++] = e->neighbour[i];
    }
    TRY(predictor_trust(&trust, p, from, to, count));
    for (int64_t i = 0; i < e->edges; i++)
        e->edge_trust[i] = trust_of(&trust, e->edge_from[i], e->edge_to[i]);
    for (int64_t i = 0; i < e->neighbours; i++) {
        e->neighbour_trust[i] = trust_of(&trust, self, e->neighbour[i]);
        e->neighbour_weight[i] = weight_of(p->problem.graph, self, e->neighbour[i]);
    }
done:
    edge_trust_free(&trust);
    mem_free(from);
    mem_free(to);
    return st;
}

/* ---- neighbours ---------------------------------------------------------- */

static consm_status add_people(struct consm_explanation *e, struct consm_predictor *p,
                               const struct dataset *d)
{
    consm_status st = CONSM_OK;
    const struct consm_model *m = p->model;
    float *logits = NULL, *probability = NULL;
    int32_t *place = NULL;
    TRY(NEW(e->neighbour_label, e->neighbours));
    TRY(NEW(e->neighbour_said, e->neighbours));
    TRY(NEW(e->neighbour_probability, e->neighbours));
    TRY(NEW(place, d->classes));
    TRY(NEW(probability, m->classes));
    TRY(NEW(logits, e->neighbours * m->classes));
    if (e->neighbours > 0)
        TRY(predictor_logits(logits, p, e->neighbour, e->neighbours));
    model_match_classes(place, m, d);
    for (int64_t i = 0; i < e->neighbours; i++) {
        int64_t other = e->neighbour[i];
        model_probabilities(probability, m, logits + i * m->classes, 1);
        e->neighbour_label[i] = d->label[other] < 0 ? -1 : place[d->label[other]];
        e->neighbour_said[i] = metrics_decide(probability, m->classes, &m->decision);
        e->neighbour_probability[i] = probability[e->label];
    }
done:
    mem_free(logits);
    mem_free(probability);
    mem_free(place);
    return st;
}

/* ---- features ------------------------------------------------------------ */

/* The quantile of sorted values. */
static float quantile(const float *ordered, int64_t count, double share)
{
    int64_t at = (int64_t)(share * (double)(count - 1) + 0.5);
    return ordered[at];
}

static float entry_of(const struct problem *p, int64_t i, int64_t column)
{
    if (p->dense)
        return p->dense[i * p->features + column];
    int64_t entry = csr_find(p->sparse, i, (int32_t)column);
    return entry < 0 ? 0 : p->sparse->val ? p->sparse->val[entry] : 1;
}

/* The usual range is measured on at most SAMPLE nodes, evenly spaced. */
enum { SAMPLE = 10000 };

static consm_status add_columns(struct consm_explanation *e, struct consm_predictor *predictor)
{
    consm_status st = CONSM_OK;
    const struct problem *p = &predictor->problem;
    const float *mean, *deviation;
    float *value = NULL;
    int64_t stride = (p->nodes + SAMPLE - 1) / SAMPLE;
    TRY(NEW(e->feature_value, e->features));
    TRY(NEW(e->feature_low, e->features));
    TRY(NEW(e->feature_high, e->features));
    TRY(NEW(e->feature_mean, e->features));
    TRY(NEW(value, SAMPLE));
    TRY(predictor_moments(&mean, &deviation, predictor));
    for (int64_t k = 0; k < e->features; k++) {
        int64_t column = e->feature[k], count = 0;
        for (int64_t i = 0; i < p->nodes; i += stride)
            value[count++] = entry_of(p, i, column);
        qsort(value, (size_t)count, sizeof *value, order_float);
        e->feature_value[k] = entry_of(p, e->node, column);
        e->feature_low[k] = quantile(value, count, 0.05);
        e->feature_high[k] = quantile(value, count, 0.95);
        e->feature_mean[k] = mean[column];
    }
done:
    mem_free(value);
    return st;
}

consm_status explain_values(struct consm_explanation *e, struct consm_predictor *p)
{
    consm_status st = CONSM_OK;
    TRY(add_trust(e, p));
    TRY(add_people(e, p, p->dataset->data));
    TRY(add_columns(e, p));
done:
    return st;
}

static bool is_date(const struct consm_model *m, const char *feature)
{
    for (int64_t i = 0; m->recipe && i < m->recipe->columns; i++)
        if (m->recipe->column[i].kind == RECIPE_DATE &&
            strcmp(m->recipe->column[i].name, feature) == 0)
            return true;
    return false;
}

const char *feature_text(char out[32], const struct consm_model *m, const char *feature,
                         float value)
{
    time_t seconds = (time_t)((double)value * 86400);
    struct tm day;
    if (fabsf(value) < 1e6F && is_date(m, feature) && gmtime_r(&seconds, &day))
        strftime(out, 32, "%Y-%m-%d", &day);
    else
        number_print(out, 32, "%.4g", (double)value);
    return out;
}
