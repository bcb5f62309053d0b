/* Explains a node's label: removes edges, neighbours and features in turn, and lists first what
 * changes the label's log-odds most. explain_values.c adds the values. */
#include "app/explain_values.h"
#include "app/growing.h"
#include "app/occlude.h"
#include "app/predictor.h"
#include "base/given.h"
#include "base/sized.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_LIMIT = 500 };

/* An item to remove, and its turn. */
struct suspect {
    struct occlusion what;
    int64_t turn; /* lower first: steps from the node */
    double rank;  /* within a turn, larger first */
    int64_t order;
    float effect, log_odds; /* decrease of probability and log-odds without it */
};

struct inquest {
    struct setting setting;
    struct consm_explain_options options;
    int64_t node;
    struct consm_explanation *out;
    const struct problem *problem;
    float *probability;            /* (c) */
    const float *mean, *deviation; /* (features) of the whole graph's dense columns, or NULL */
    int64_t done, planned;
};

/* ---- order --------------------------------------------------------------- */

static int by_turn(const void *a, const void *b)
{
    const struct suspect *x = a, *y = b;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static int by_effect(const void *a, const void *b)
{
    const struct suspect *x = a, *y = b;
    float p = fabsf(x->log_odds), q = fabsf(y->log_odds);
    if (p != q)
        return p > q ? -1 : 1;
    return by_turn(a, b);
}

static int64_t at_most(int64_t count, const struct inquest *q)
{
    return count < q->options.limit ? count : q->options.limit;
}

/* ---- suspects ------------------------------------------------------------ */

/* Edges that can be reached from the node, nearest first. */
static consm_status list_edges(struct suspect **out, int64_t *count, const struct setting *s)
{
    consm_status st = CONSM_OK;
    *count = 0;
    TRY(NEW(*out, s->edges));
    for (int64_t e = 0; e < s->edges; e++) {
        int64_t turn = s->distance[s->left[e]] + (int64_t)s->distance[s->right[e]];
        if (s->distance[s->left[e]] < 0)
            continue;
        (*out)[*count] = (struct suspect){.what = {e, -1, -1}, .turn = turn, .order = e};
        ++*count;
    }
    qsort(*out, (size_t)*count, sizeof **out, by_turn);
done:
    return st;
}

/* The neighbours of the node. */
static consm_status list_neighbours(struct suspect **out, int64_t *count, const struct setting *s)
{
    consm_status st = CONSM_OK;
    *count = 0;
    TRY(NEW(*out, s->nodes));
    for (int64_t i = 0; i < s->nodes; i++)
        if (s->distance[i] == 1) {
            (*out)[*count] = (struct suspect){.what = {-1, i, -1}, .order = i};
            ++*count;
        }
done:
    return st;
}

/* Columns to try. Sparse features: those of nodes in reach, nearest first. Dense features: all,
 * those first in which the node is furthest from the mean. Structural features: none. */
static consm_status list_features(struct suspect **out, int64_t *count, const struct inquest *q)
{
    consm_status st = CONSM_OK;
    const struct setting *s = &q->setting;
    int64_t features = q->problem->features;
    *count = 0;
    *out = NULL;
    if (s->key)
        return CONSM_OK;
    TRY(NEW(*out, features));
    for (int64_t k = 0; k < features; k++)
        (*out)[k] = (struct suspect){.what = {-1, -1, k}, .turn = INT64_MAX, .order = k};
    for (int64_t i = 0; i < s->nodes && s->sparse; i++)
        for (int64_t e = s->sparse->start[i]; s->distance[i] >= 0 && e < s->sparse->start[i + 1];
             e++) {
            struct suspect *one = *out + s->sparse->col[e];
            one->turn = s->distance[i] < one->turn ? s->distance[i] : one->turn;
        }
    for (int64_t k = 0; k < features && s->dense; k++) {
        double far = fabs((double)(s->dense[s->centre * features + k] - q->mean[k]));
        (*out)[k].turn = 0;
        (*out)[k].rank = q->deviation[k] > 0 ? far / (double)q->deviation[k] : 0;
    }
    qsort(*out, (size_t)features, sizeof **out, by_turn);
    while (*count < features && (*out)[*count].turn < INT64_MAX)
        ++*count;
done:
    return st;
}

/* ---- questions ----------------------------------------------------------- */

/* effect = p(label) - p(label | without it), and the same for log-odds, for the first `count`
 * items; then sorts, largest first. */
static consm_status question(struct inquest *q, struct suspect *suspects, int64_t count)
{
    consm_status st = CONSM_OK;
    for (int64_t i = 0; i < count; i++) {
        struct consm_progress progress = {
            .size = sizeof progress, .epoch = ++q->done, .epochs = q->planned};
        progress.share = (double)q->done / (double)q->planned;
        double log_odds;
        TRY(setting_probability(q->probability, &log_odds, q->out->label, &q->setting,
                                &suspects[i].what));
        suspects[i].effect = q->out->probability - q->probability[q->out->label];
        suspects[i].log_odds = (float)(q->out->log_odds - log_odds);
        if (q->options.progress && q->options.progress(q->options.progress_ctx, &progress))
            TRY(status_fail(CONSM_ECANCEL, "stopped after %lld of %lld predictions",
                            (long long)q->done, (long long)q->planned));
    }
    if (count > 0)
        qsort(suspects, (size_t)count, sizeof *suspects, by_effect);
done:
    return st;
}

static consm_status tell_edges(struct inquest *q, const struct suspect *suspects)
{
    consm_status st = CONSM_OK;
    struct consm_explanation *out = q->out;
    TRY(NEW(out->edge_from, out->edges));
    TRY(NEW(out->edge_to, out->edges));
    TRY(NEW(out->edge_effect, out->edges));
    TRY(NEW(out->edge_log_odds, out->edges));
    TRY(NEW(out->edge_weight, out->edges));
    for (int64_t i = 0; i < out->edges; i++) {
        out->edge_from[i] = q->setting.node[q->setting.left[suspects[i].what.edge]];
        out->edge_to[i] = q->setting.node[q->setting.right[suspects[i].what.edge]];
        out->edge_effect[i] = suspects[i].effect;
        out->edge_log_odds[i] = suspects[i].log_odds;
        out->edge_weight[i] = q->setting.weight ? q->setting.weight[suspects[i].what.edge] : 1;
    }
done:
    return st;
}

static consm_status tell(int32_t **name, float **effect, float **log_odds,
                         const struct suspect *suspects, int64_t count, const int32_t *number)
{
    consm_status st = CONSM_OK;
    TRY(NEW(*name, count));
    TRY(NEW(*effect, count));
    TRY(NEW(*log_odds, count));
    for (int64_t i = 0; i < count; i++) {
        const struct occlusion *what = &suspects[i].what;
        (*name)[i] = number ? number[what->neighbour] : (int32_t)what->feature;
        (*effect)[i] = suspects[i].effect;
        (*log_odds)[i] = suspects[i].log_odds;
    }
done:
    return st;
}

static consm_status hold(struct inquest *q)
{
    consm_status st = CONSM_OK;
    struct consm_explanation *out = q->out;
    struct suspect *edges = NULL, *neighbours = NULL, *features = NULL;
    TRY(list_edges(&edges, &out->edges_in_reach, &q->setting));
    TRY(list_neighbours(&neighbours, &out->neighbours_in_reach, &q->setting));
    TRY(list_features(&features, &out->features_in_reach, q));
    out->edges = at_most(out->edges_in_reach, q);
    out->neighbours = at_most(out->neighbours_in_reach, q);
    out->features = at_most(out->features_in_reach, q);
    q->planned = out->edges + out->neighbours + out->features;
    TRY(question(q, edges, out->edges));
    TRY(tell_edges(q, edges));
    TRY(question(q, neighbours, out->neighbours));
    TRY(tell(&out->neighbour, &out->neighbour_effect, &out->neighbour_log_odds, neighbours,
             out->neighbours, q->setting.node));
    TRY(question(q, features, out->features));
    TRY(tell(&out->feature, &out->feature_effect, &out->feature_log_odds, features, out->features,
             NULL));
done:
    mem_free(edges);
    mem_free(neighbours);
    mem_free(features);
    return st;
}

/* ---- the call ------------------------------------------------------------ */

static consm_status explain(struct inquest *q, struct consm_predictor *p)
{
    consm_status st = CONSM_OK;
    struct consm_explanation *out = q->out;
    const struct consm_model *model = p->model;
    struct backend *backend = NULL;
    uint64_t *key = NULL;
    q->problem = &p->problem;
    if (model->structural)
        TRY(prepare_keys(&key, p->dataset->data));
    if (!q->problem->sparse)
        TRY(predictor_moments(&q->mean, &q->deviation, p));
    TRY(NEW(q->probability, model->classes));
    TRY(prepare_backend(&backend, p->prepared, NULL, p->threads));
    TRY(setting_open(&q->setting, p, q->problem, backend, q->node, key, q->mean));
    out->label = q->options.of_label ? q->options.label : -1;
    TRY(setting_probability(q->probability, &out->log_odds, out->label, &q->setting, NULL));
    if (out->label < 0)
        out->label = metrics_decide(q->probability, model->classes, &model->decision);
    out->probability = q->probability[out->label];
    TRY(hold(q));
    TRY(explain_values(out, p));
done:
    setting_close(&q->setting);
    backend_close(backend);
    mem_free(q->probability);
    mem_free(key);
    return st;
}

static consm_status check_options(struct inquest *q, const struct consm_model *model,
                                  const struct consm_explain_options *options)
{
    consm_status st = CONSM_OK;
    if (options)
        TRY(sized_take(&q->options, sizeof q->options, options,
                       SIZED_UP_TO(struct consm_explain_options, progress_ctx)));
    if (q->options.limit < 0)
        return status_fail(CONSM_EINVAL, "limit %lld: expected 0 or more",
                           (long long)q->options.limit);
    if (q->options.of_label && (q->options.label < 0 || q->options.label >= model->classes))
        return status_fail(CONSM_EINVAL, "label %d: expected 0 to %d", q->options.label,
                           model->classes - 1);
    q->options.limit = q->options.limit ? q->options.limit : DEFAULT_LIMIT;
done:
    return st;
}

/* On the predictor's dataset. */
static consm_status answer(struct consm_explanation **out, struct inquest *q,
                           struct consm_predictor *p, int64_t number)
{
    consm_status st = CONSM_OK;
    if (number < 0 || number >= p->problem.nodes)
        return status_fail(CONSM_ENOTFOUND, "node %lld does not exist: there are %lld nodes",
                           (long long)number, (long long)p->problem.nodes);
    TRY(ZNEW(q->out, 1));
    q->out->node = q->node = number;
    TRY(explain(q, p));
    *out = q->out;
    q->out = NULL;
done:
    consm_explanation_free(q->out);
    return st;
}

consm_status consm_predictor_explain(struct consm_explanation **out, struct consm_predictor *p,
                                     int64_t number, const struct consm_explain_options *options)
{
    consm_status st = CONSM_OK;
    struct inquest q = {.options = {.size = sizeof q.options}};
    struct consm_explanation *made = NULL;
    struct consm_predictor *inner;
    struct version *v = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, p));
    TRY(check_options(&q, p->model, options));
    if (!p->graph)
        return answer(out, &q, p, number);
    v = version_hold(p->graph);
    TRY(live_lock(&inner, p, v));
    st = answer(&made, &q, inner, number);
    live_unlock(p);
done:
    version_release(p ? p->graph : NULL, v);
    if (made)
        *out = made;
    return st;
}

consm_status consm_explain(struct consm_explanation **out, const struct consm_model *model,
                           const struct consm_dataset *dataset, int64_t number,
                           const struct consm_explain_options *options)
{
    consm_status st = CONSM_OK;
    struct inquest q = {.options = {.size = sizeof q.options}};
    struct consm_explanation *made = NULL;
    struct consm_predictor *p = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, model, dataset));
    TRY(check_options(&q, model, options));
    TRY(consm_predictor_new(&p, model, dataset, q.options.threads));
    TRY(answer(&made, &q, p, number));
done:
    consm_predictor_free(p);
    if (made)
        *out = made;
    return st;
}

void consm_explanation_free(struct consm_explanation *e)
{
    if (!e)
        return;
    void *const arrays[] = {e->edge_from,        e->edge_to,          e->edge_effect,
                            e->edge_log_odds,    e->edge_weight,      e->edge_trust,
                            e->neighbour,        e->neighbour_effect, e->neighbour_log_odds,
                            e->neighbour_label,  e->neighbour_said,   e->neighbour_probability,
                            e->neighbour_weight, e->neighbour_trust,  e->feature,
                            e->feature_effect,   e->feature_log_odds, e->feature_value,
                            e->feature_low,      e->feature_high,     e->feature_mean};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        mem_free(arrays[i]);
    mem_free(e);
}

const char *consm_model_feature(const struct consm_model *model, int64_t feature, char buffer[24])
{
    if (!model || !buffer)
        return "";
    if (model->feature_name && feature >= 0 && feature < model->features)
        return model->feature_name[feature];
    snprintf(buffer, 24, "%lld", (long long)feature);
    return buffer;
}
