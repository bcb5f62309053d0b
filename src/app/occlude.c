/* Settings: balls around a node, and predictions with an item removed. */
#include "app/occlude.h"

#include "app/occlude_part.h"
#include "app/predictor.h"
#include "graph/structural.h"

#include <math.h>
#include <string.h>

enum { LARGEST_RADIUS = 6 };
static const double same =
    1e-5; /* rows of logits this close, relative to their length, are equal */

/* ---- making a setting ------------------------------------------------------ */

/* distance (n) from the node; -1 if there is no path or it is longer than radius (-1: any). */
static consm_status measure(int32_t *distance, int64_t *reached, const struct csr *graph,
                            int64_t centre, int64_t radius)
{
    consm_status st = CONSM_OK;
    int32_t *queue;
    int64_t count = 1;
    TRY(NEW(queue, graph->rows));
    for (int64_t i = 0; i < graph->rows; i++)
        distance[i] = -1;
    distance[centre] = 0;
    queue[0] = (int32_t)centre;
    for (int64_t k = 0; k < count; k++) {
        int32_t i = queue[k];
        if (distance[i] == radius)
            break;
        for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++)
            if (distance[graph->col[e]] < 0) {
                distance[graph->col[e]] = distance[i] + 1;
                queue[count++] = graph->col[e];
            }
    }
    *reached = count;
done:
    mem_free(queue);
    return st;
}

/* The graph's edges, each once. */
static consm_status list_edges(struct setting *s, const struct csr *graph)
{
    consm_status st = CONSM_OK;
    TRY(NEW(s->left, graph->nnz / 2));
    TRY(NEW(s->right, graph->nnz / 2));
    if (graph->val)
        TRY(NEW(s->weight, graph->nnz / 2));
    for (int64_t i = 0; i < graph->rows; i++)
        for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++)
            if (i < graph->col[e]) {
                s->left[s->edges] = (int32_t)i;
                s->right[s->edges] = graph->col[e];
                if (graph->val)
                    s->weight[s->edges] = graph->val[e];
                s->edges++;
            }
done:
    return st;
}

/* The setting's rows of the features, with a copy of the values. */
static consm_status take_features(struct setting *s, const struct problem *p)
{
    consm_status st = CONSM_OK;
    if (!p->sparse) {
        TRY(NEW(s->dense, s->nodes * p->features));
        for (int64_t i = 0; i < s->nodes; i++)
            memcpy(s->dense + i * p->features, p->dense + (int64_t)s->node[i] * p->features,
                   (size_t)p->features * sizeof *s->dense);
        goto done;
    }
    TRY(csr_submatrix(&s->sparse, p->sparse, s->node, s->nodes, NULL, p->features));
    if (!s->sparse->val) {
        TRY(NEW(s->sparse->val, s->sparse->nnz));
        for (int64_t e = 0; e < s->sparse->nnz; e++)
            s->sparse->val[e] = 1;
    }
done:
    return st;
}

/* Whether a part leaves out edges or adds pairs. */
static bool holds(const struct part *part)
{
    const struct config *c = &part->model->config;
    return part->session && (c->drop_below > 0 || c->add_above > 0);
}

/* The edges among the setting's nodes that carry messages of parts which chose theirs. */
static consm_status hold_messages(struct setting *s)
{
    consm_status st = CONSM_OK;
    const struct consm_predictor *p = s->predictor;
    TRY(ZNEW(s->messages, p->parts));
    for (int64_t i = 0; i < p->parts; i++) {
        const struct csr *graph;
        if (!holds(&p->part[i]))
            continue;
        graph = views_get(p->part[i].views, VIEW_ADJACENCY);
        TRY(graph ? csr_submatrix(&s->messages[i], graph, s->node, s->nodes, s->node, s->nodes)
                  : CONSM_ENOMEM);
    }
done:
    return st;
}

/* Makes the setting of the nodes whose distance (n) is not negative; all of them if the whole graph
 * is requested. */
static consm_status stage(struct setting *s, const struct problem *p, const int32_t *distance,
                          int64_t centre, const uint64_t *key)
{
    consm_status st = CONSM_OK;
    struct csr *graph = NULL;
    int64_t count = 0;
    TRY(NEW(s->node, p->nodes));
    TRY(NEW(s->distance, p->nodes));
    for (int64_t i = 0; i < p->nodes; i++)
        if (s->whole || distance[i] >= 0) {
            s->centre = i == centre ? count : s->centre;
            s->distance[count] = distance[i];
            s->node[count++] = (int32_t)i;
        }
    s->nodes = count;
    if (key) {
        TRY(NEW(s->key, count));
        for (int64_t i = 0; i < count; i++)
            s->key[i] = key[s->node[i]];
    }
    TRY(csr_submatrix(&graph, p->graph, s->node, count, s->node, count));
    TRY(list_edges(s, graph));
    TRY(take_features(s, p));
    if (s->held)
        TRY(hold_messages(s));
done:
    csr_free(graph);
    return st;
}

static void strike(struct setting *s)
{
    mem_free(s->node);
    mem_free(s->distance);
    mem_free(s->left);
    mem_free(s->right);
    mem_free(s->weight);
    mem_free(s->dense);
    mem_free(s->key);
    csr_free(s->sparse);
    for (int64_t i = 0; s->messages && i < s->predictor->parts; i++)
        csr_free(s->messages[i]);
    mem_free(s->messages);
}

void setting_close(struct setting *s)
{
    strike(s);
    *s = (struct setting){0};
}

static bool equal_rows(const float *x, const float *y, int32_t classes)
{
    double length = 0, distance = 0;
    for (int32_t k = 0; k < classes; k++) {
        double difference = (double)x[k] - (double)y[k];
        length += (double)x[k] * (double)x[k];
        distance += difference * difference;
    }
    return distance <= same * same * length;
}

static consm_status look(float *row, struct setting *s, const struct occlusion *without);

/* Finds a small ball with the centre's logits (c) of the whole graph. It compares logits, because a
 * saturated probability would match too soon. Structural features read walks of all lengths, so no
 * ball is tried for them. */
static consm_status find_ball(bool *found, struct setting *s, const struct problem *p,
                              int64_t centre, int32_t *distance, const float *expected)
{
    consm_status st = CONSM_OK;
    const struct setting empty = *s;
    float *row;
    int64_t reached;
    *found = false;
    TRY(NEW(row, p->classes));
    for (int64_t radius = 2; radius <= LARGEST_RADIUS; radius++) {
        TRY(measure(distance, &reached, p->graph, centre, radius));
        if (reached > p->nodes / 2)
            break;
        TRY(stage(s, p, distance, centre, NULL));
        TRY(look(row, s, NULL));
        *found = equal_rows(row, expected, p->classes);
        if (*found)
            break;
        strike(s);
        *s = empty;
    }
done:
    mem_free(row);
    return st;
}

consm_status setting_open(struct setting *out, struct consm_predictor *predictor,
                          const struct problem *problem, struct backend *backend, int64_t centre,
                          const uint64_t *key, const float *mean)
{
    consm_status st = CONSM_OK;
    const struct consm_model *model = predictor->model;
    int32_t *distance = NULL, number = (int32_t)centre;
    float *logits = NULL;
    int64_t reached;
    *out = (struct setting){.model = model,
                            .backend = backend,
                            .predictor = predictor,
                            .by_part = !key && gap_possible(predictor),
                            .mean = mean};
    bool found = out->by_part;
    for (int64_t i = 0; i < predictor->parts && !out->by_part; i++)
        out->held = out->held || holds(&predictor->part[i]);
    TRY(NEW(distance, problem->nodes));
    if (out->by_part) { /* one step more: the degrees there count */
        TRY(measure(distance, &reached, problem->graph, centre, gap_reach(predictor) + 1));
        TRY(stage(out, problem, distance, centre, NULL));
    } else if (!key) {
        TRY(NEW(logits, problem->classes));
        TRY(predictor_logits(logits, predictor, &number, 1));
        TRY(find_ball(&found, out, problem, centre, distance, logits));
    }
    if (!found) {
        out->whole = true;
        TRY(measure(distance, &reached, problem->graph, centre, -1));
        TRY(stage(out, problem, distance, centre, key));
    }
done:
    mem_free(distance);
    mem_free(logits);
    if (st < 0)
        setting_close(out);
    return st;
}

/* ---- taking away --------------------------------------------------------- */

/* The setting's graph without the occluded items. */
static consm_status thin(struct csr **out, const struct setting *s, const struct occlusion *o)
{
    consm_status st = CONSM_OK;
    int32_t *left = NULL, *right = NULL;
    float *weight = NULL;
    int64_t count = 0;
    *out = NULL;
    TRY(NEW(left, s->edges));
    TRY(NEW(right, s->edges));
    if (s->weight)
        TRY(NEW(weight, s->edges));
    for (int64_t e = 0; e < s->edges; e++) {
        if (o && (e == o->edge || s->left[e] == o->neighbour || s->right[e] == o->neighbour))
            continue;
        left[count] = s->left[e];
        right[count] = s->right[e];
        if (s->weight)
            weight[count] = s->weight[e];
        count++;
    }
    TRY(csr_from_edges(out, s->nodes, s->nodes, count, left, right, weight, CSR_UNDIRECTED, NULL));
done:
    mem_free(left);
    mem_free(right);
    mem_free(weight);
    return st;
}

/* Swaps a column of the setting's features with (entries) stored values: to remove it, and to
 * restore it. */
static void swap_column(struct setting *s, int64_t features, int64_t column, float *kept)
{
    int64_t k = 0;
    if (s->dense) {
        for (int64_t i = 0; i < s->nodes; i++) {
            float value = s->dense[i * features + column];
            s->dense[i * features + column] = kept[i];
            kept[i] = value;
        }
        return;
    }
    for (int64_t i = 0; i < s->nodes; i++) {
        int64_t e = csr_find(s->sparse, i, (int32_t)column);
        if (e >= 0) {
            float value = s->sparse->val[e];
            s->sparse->val[e] = kept[k];
            kept[k++] = value;
        }
    }
    csr_touch(s->sparse);
    csr_drop_transpose(s->sparse); /* it may be of the values before */
}

/* A part's edges that carry messages, each once, without the occluded items. */
static consm_status thin_messages(struct csr **out, const struct csr *graph,
                                  const struct setting *s, const struct occlusion *o)
{
    consm_status st = CONSM_OK;
    int32_t *left = NULL, *right = NULL;
    float *weight = NULL;
    int64_t count = 0, gone = o ? o->neighbour : -1;
    int32_t a = o && o->edge >= 0 ? s->left[o->edge] : -1;
    int32_t b = o && o->edge >= 0 ? s->right[o->edge] : -1;
    *out = NULL;
    TRY(NEW(left, graph->nnz / 2 + 1));
    TRY(NEW(right, graph->nnz / 2 + 1));
    if (graph->val)
        TRY(NEW(weight, graph->nnz / 2 + 1));
    for (int32_t i = 0; i < graph->rows; i++)
        for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++) {
            int32_t k = graph->col[e];
            if (i >= k || i == gone || k == gone || (i == a && k == b))
                continue;
            left[count] = i;
            right[count] = k;
            if (weight)
                weight[count] = graph->val[e];
            count++;
        }
    TRY(csr_from_edges(out, s->nodes, s->nodes, count, left, right, weight, CSR_UNDIRECTED, NULL));
done:
    mem_free(left);
    mem_free(right);
    mem_free(weight);
    return st;
}

/* The centre's logits (c) by a model whose messages go along a graph, with the setting's current
 * features; structural ones or NULL. */
static consm_status evaluate(float *row, const struct setting *s, const struct consm_model *m,
                             const struct csr *graph, const float *structural)
{
    consm_status st = CONSM_OK;
    struct views *views = NULL;
    float *logits = NULL;
    TRY(views_new(&views, graph));
    struct problem problem = {.nodes = s->nodes,
                              .features = m->features,
                              .classes = m->classes,
                              .graph = graph,
                              .sparse = structural ? NULL : s->sparse,
                              .dense = structural ? structural : s->dense,
                              .views = views};
    TRY(model_logits(&logits, m, &problem, s->backend));
    memcpy(row, logits + s->centre * m->classes, (size_t)m->classes * sizeof *row);
done:
    views_free(views);
    mem_free(logits);
    return st;
}

/* The same by a part, over the edges that it chose, without the occluded items. */
static consm_status evaluate_part(float *row, const struct setting *s, int64_t part,
                                  const struct csr *graph, const float *structural,
                                  const struct occlusion *without)
{
    consm_status st = CONSM_OK;
    struct consm_model held = *s->predictor->part[part].model; /* with edges that are chosen */
    struct csr *messages = NULL;
    held.companions = 0;
    if (s->messages[part]) {
        held.config.drop_below = held.config.add_above = 0;
        TRY(thin_messages(&messages, s->messages[part], s, without));
    }
    TRY(evaluate(row, s, &held, messages ? messages : graph, structural));
done:
    csr_free(messages);
    return st;
}

static consm_status evaluate_parts(float *row, const struct setting *s, const struct csr *graph,
                                   const float *structural, const struct occlusion *without)
{
    consm_status st = CONSM_OK;
    int32_t c = s->model->classes;
    double *mean = NULL;
    float *probability = NULL;
    TRY(ZNEW(mean, c));
    TRY(NEW(probability, c));
    for (int64_t i = 0; i < s->predictor->parts; i++) {
        TRY(evaluate_part(row, s, i, graph, structural, without));
        if (model_mixes(s->model))
            model_mix(mean, probability, s->model, s->predictor->part[i].model, row, c);
    }
    if (model_mixes(s->model))
        model_mixed(row, mean, c);
done:
    mem_free(mean);
    mem_free(probability);
    return st;
}

static consm_status look_at_part(float *row, struct setting *s, const struct occlusion *without)
{
    struct gap gap = {-1, -1, -1, -1};
    if (without && without->edge >= 0) {
        gap.left = s->node[s->left[without->edge]];
        gap.right = s->node[s->right[without->edge]];
    }
    if (without && without->neighbour >= 0)
        gap.neighbour = s->node[without->neighbour];
    if (without)
        gap.feature = without->feature;
    return gap_logits(row, s->predictor, s->node[s->centre], without ? &gap : NULL, s->mean);
}

static consm_status look(float *row, struct setting *s, const struct occlusion *without)
{
    consm_status st = CONSM_OK;
    struct csr *graph = NULL;
    float *kept = NULL, *structural = NULL;
    int64_t column = without ? without->feature : -1;
    if (s->by_part)
        return look_at_part(row, s, without);
    TRY(thin(&graph, s, without));
    if (s->key) {
        TRY(NEW(structural, s->nodes * STRUCTURAL_FEATURES));
        TRY(structural_features(structural, graph, s->key));
    }
    if (column >= 0) {
        TRY(NEW(kept, s->nodes));
        for (int64_t i = 0; i < s->nodes; i++)
            kept[i] = s->dense ? s->mean[column] : 0;
        swap_column(s, s->model->features, column, kept);
    }
    st = s->held ? evaluate_parts(row, s, graph, structural, without)
                 : evaluate(row, s, s->model, graph, structural);
    if (column >= 0)
        swap_column(s, s->model->features, column, kept);
done:
    csr_free(graph);
    mem_free(structural);
    mem_free(kept);
    return st;
}

consm_status setting_probability(float *probability, double *log_odds, int32_t label,
                                 struct setting *s, const struct occlusion *without)
{
    consm_status st = CONSM_OK;
    float *row;
    TRY(NEW(row, s->model->classes));
    TRY(look(row, s, without));
    model_probabilities(probability, s->model, row, 1);
    for (int32_t k = 0; k < s->model->classes; k++)
        if (!isfinite(probability[k]))
            TRY(status_fail(CONSM_ENUMERIC, "a probability is not a number: features of this graph "
                                            "or parameters of the model are too large"));
    if (label < 0)
        label = metrics_decide(probability, s->model->classes, &s->model->decision);
    *log_odds = model_log_odds(s->model, row, label);
done:
    mem_free(row);
    return st;
}
