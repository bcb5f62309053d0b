/* Explanations against removal by hand: the graph is written again without the edge, the neighbour
 * or the feature, and the public prediction must change as the explanation says. No other edge of
 * the graph may have a larger effect than the first one listed. */
#include "failing_memory.h"

#include "app/predictor.h"
#include <math.h>

struct case_ {
    struct consm_dataset *data;
    struct consm_model *model;
};

static void case_open(struct case_ *c, const char *dataset, const char *model, const char *ensemble)
{
    struct consm_options *options;
    OK(consm_dataset_open(&c->data, dataset, NULL));
    OK(consm_options_new(&options, model));
    OK(consm_options_set(options, "per_class", "8"));
    OK(consm_options_set(options, "epochs", "40"));
    OK(consm_options_set(options, "hidden", "8"));
    OK(consm_options_set(options, "ensemble", ensemble));
    OK(consm_train(&c->model, c->data, options));
    consm_options_free(options);
}

static void case_close(struct case_ *c)
{
    consm_model_free(c->model);
    consm_dataset_free(c->data);
}

/* What is left out of the copy of a graph; -1: nothing. */
struct gap {
    int64_t a, b;    /* the edge between them */
    int64_t node;    /* all its edges */
    int64_t feature; /* that column */
};

static bool missing(const struct gap *gap, int64_t a, int64_t b)
{
    return (a == gap->a && b == gap->b) || (a == gap->b && b == gap->a) || a == gap->node ||
           b == gap->node;
}

/* p(label) of a node of the graph with a gap. */
static double probability_without(const struct case_ *c, const struct gap *gap, int64_t of,
                                  int32_t label)
{
    const struct dataset *d = c->data->data;
    struct consm_arrays a = {.size = sizeof a,
                             .nodes = d->nodes,
                             .features = d->features,
                             .node_id = (const char *const *)d->node_id};
    struct consm_dataset *copy;
    struct consm_prediction *guess;
    int32_t *from = malloc((size_t)d->edges * 4), *to = malloc((size_t)d->edges * 4);
    float *weight = malloc((size_t)d->edges * 4);
    float *x = calloc((size_t)(d->nodes * d->features + 1), 4);
    for (int64_t e = 0; e < d->edges; e++)
        if (!missing(gap, d->from[e], d->to[e])) {
            from[a.edges] = d->from[e];
            to[a.edges] = d->to[e];
            weight[a.edges++] = d->weight ? d->weight[e] : 1;
        }
    for (int64_t i = 0; i < d->nodes && d->features; i++) {
        for (int64_t k = 0; k < d->features && d->dense; k++)
            x[i * d->features + k] = d->dense[i * d->features + k];
        for (int64_t e = d->sparse ? d->sparse->start[i] : 0;
             d->sparse && e < d->sparse->start[i + 1]; e++)
            x[i * d->features + d->sparse->col[e]] = d->sparse->val ? d->sparse->val[e] : 1;
    }
    for (int64_t i = 0; gap->feature >= 0 && i < d->nodes; i++) {
        double mean = 0;
        for (int64_t j = 0; d->dense && j < d->nodes; j++)
            mean += (double)d->dense[j * d->features + gap->feature] / (double)d->nodes;
        x[i * d->features + gap->feature] = (float)mean;
    }
    a.from = from;
    a.to = to;
    a.weight = d->weight ? weight : NULL;
    a.feature = d->features ? x : NULL;
    OK(consm_dataset_from_arrays(&copy, &a));
    OK(consm_predict(&guess, c->model, copy, 1));
    double p = (double)guess->probability[of * guess->classes + label];
    consm_prediction_free(guess);
    consm_dataset_free(copy);
    free(from);
    free(to);
    free(weight);
    free(x);
    return p;
}

static const struct gap nothing = {-1, -1, -1, -1};

/* Log-odds of a probability before shrinking. */
static double odds(const struct case_ *c, double p)
{
    double q = (p - c->model->doubt / c->model->classes) / (1 - c->model->doubt);
    return log(q / (1 - q));
}

/* The change of the log-odds, if the probabilities have enough digits. */
static void odds_hold(const struct case_ *c, const struct consm_explanation *e, double fall,
                      double p)
{
    double was = (double)e->probability;
    if (p > 0.05 && p < 0.9 && was > 0.05 && was < 0.9)
        assert_near(fall, odds(c, was) - odds(c, p), 2e-3);
}

/* Every effect as measured by hand, and the largest change over all edges. */
static void edges_hold(const struct case_ *c, const struct consm_explanation *e)
{
    const struct prepared *prepared;
    double largest = 0, named = 0;
    OK(dataset_prepared(&prepared, c->data));
    for (int64_t i = 0; i < e->edges; i++) {
        struct gap gap = {e->edge_from[i], e->edge_to[i], -1, -1};
        double p = probability_without(c, &gap, e->node, e->label);
        assert_near((double)e->edge_effect[i], (double)e->probability - p, 2e-5);
        odds_hold(c, e, (double)e->edge_log_odds[i], p);
        named = fmax(named, fabs((double)e->edge_effect[i]));
        assert_true(i == 0 || fabsf(e->edge_log_odds[i]) <= fabsf(e->edge_log_odds[i - 1]));
    }
    for (int64_t i = 0; i < prepared->graph->rows; i++)
        for (int64_t k = prepared->graph->start[i]; k < prepared->graph->start[i + 1]; k++) {
            struct gap gap = {i, prepared->graph->col[k], -1, -1};
            if (i > prepared->graph->col[k])
                continue;
            double p = probability_without(c, &gap, e->node, e->label);
            largest = fmax(largest, fabs((double)e->probability - p));
        }
    assert_true(largest > 1e-4); /* else there was nothing to find */
    assert_near(named, largest, 2e-5);
}

static void others_hold(const struct case_ *c, const struct consm_explanation *e)
{
    for (int64_t i = 0; i < e->neighbours; i++) {
        struct gap gap = {-1, -1, e->neighbour[i], -1};
        double p = probability_without(c, &gap, e->node, e->label);
        assert_near((double)e->neighbour_effect[i], (double)e->probability - p, 2e-5);
    }
    /* A feature that no node in reach has may be missing everywhere: the copy may lack it for all.
     */
    for (int64_t i = 0; i < e->features; i++) {
        struct gap gap = {-1, -1, -1, e->feature[i]};
        double p = probability_without(c, &gap, e->node, e->label);
        assert_near((double)e->feature_effect[i], (double)e->probability - p, 2e-5);
        odds_hold(c, e, (double)e->feature_log_odds[i], p);
        assert_true(i == 0 || fabsf(e->feature_log_odds[i]) <= fabsf(e->feature_log_odds[i - 1]));
    }
}

static void agrees(const char *dataset, const char *model, const char *ensemble, bool features)
{
    struct case_ c;
    struct consm_explanation *e;
    const struct prepared *prepared;
    int tried = 0;
    case_open(&c, dataset, model, ensemble);
    OK(dataset_prepared(&prepared, c.data));
    for (int64_t of = 5; of < 30 && tried < 2; of++) {
        struct consm_prediction *guess;
        if (prepared->graph->start[of + 1] - prepared->graph->start[of] < 2)
            continue;
        tried++;
        OK(consm_predict(&guess, c.model, c.data, 1));
        OK(consm_explain(&e, c.model, c.data, of, NULL));
        assert_int_equal(e->label, guess->label[of]);
        assert_near((double)e->probability, (double)guess->confidence[of], 1e-5);
        assert_near((double)e->probability, probability_without(&c, &nothing, of, e->label), 1e-5);
        assert_true(e->edges == e->edges_in_reach && e->neighbours > 0);
        assert_true((e->features > 0) == features);
        edges_hold(&c, e);
        others_hold(&c, e);
        consm_explanation_free(e);
        consm_prediction_free(guess);
    }
    assert_int_equal(tried, 2);
    case_close(&c);
}

static void a_ball_is_enough(void **state)
{
    (void)state;
    agrees("csbm:nodes=400,degree=2,features=20,homophily=0.9,seed=3", "gcn", "1", true);
}

static void sparse_features(void **state)
{
    (void)state;
    agrees("csbm:nodes=60,degree=3,features=30,words=4,homophily=0.9", "gat", "1", true);
}

static void methods_that_read_far(void **state)
{
    (void)state;
    agrees("csbm:nodes=60,degree=3,features=6,homophily=0.8", "appnp", "1", true);
}

static void features_from_the_structure(void **state)
{
    (void)state;
    agrees("csbm:nodes=60,features=0,degree=3,homophily=0.9", "gcn", "1", false);
}

static void ensembles(void **state)
{
    (void)state;
    agrees("csbm:nodes=60,degree=3,features=6,homophily=0.8", "gcn", "3", true);
}

/* The edges that carry a model's messages as a graph of their own, and the model without a choice
 * of edges. */
static void case_settle(struct case_ *c)
{
    const struct dataset *d = c->data->data;
    struct consm_predictor *p;
    struct consm_dataset *settled;
    OK(consm_predictor_new(&p, c->model, c->data, 1));
    const struct csr *graph = views_get(p->part[0].views, VIEW_ADJACENCY);
    assert_true(graph->nnz != p->problem.graph->nnz);
    int32_t *from = malloc((size_t)graph->nnz * 4), *to = malloc((size_t)graph->nnz * 4);
    struct consm_arrays a = {.size = sizeof a,
                             .nodes = d->nodes,
                             .features = d->features,
                             .feature = d->features ? d->dense : NULL,
                             .from = from,
                             .to = to};
    for (int32_t i = 0; i < graph->rows; i++)
        for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++)
            if (i < graph->col[e]) {
                from[a.edges] = i;
                to[a.edges++] = graph->col[e];
            }
    OK(consm_dataset_from_arrays(&settled, &a));
    consm_predictor_free(p);
    consm_dataset_free(c->data);
    c->data = settled;
    c->model->config.drop_below = c->model->config.add_above = 0;
    free(from);
    free(to);
}

/* ConSM drops edges: which ones does not change with what is removed for an explanation. Otherwise
 * an edge near the threshold would make everything else seem important. h2gcn reads more than rows.
 */
static void left_out_edges_stay_left_out(void **state)
{
    (void)state;
    static const char *const backbones[] = {"gcn", "h2gcn"};
    for (int b = 0; b < 2; b++) {
        struct case_ c;
        struct consm_options *options;
        struct consm_explanation *e;
        int64_t matter = 0;
        OK(consm_dataset_open(&c.data, "csbm:nodes=80,degree=5,features=6,homophily=0.7", NULL));
        OK(consm_options_new(&options, "consm"));
        const char *const set[][2] = {{"backbone", backbones[b]}, {"per_class", "5"},
                                      {"warmup", "20"},           {"rounds", "1"},
                                      {"gnn_steps", "5"},         {"match_steps", "5"},
                                      {"drop_share", "0.3"},      {"hidden", "8"}};
        for (size_t i = 0; i < sizeof set / sizeof *set; i++)
            OK(consm_options_set(options, set[i][0], set[i][1]));
        OK(consm_train(&c.model, c.data, options));
        consm_options_free(options);
        assert_true(c.model->config.drop_below > 0);
        OK(consm_explain(&e, c.model, c.data, 7, NULL));
        case_settle(&c);
        assert_near((double)e->probability, probability_without(&c, &nothing, 7, e->label), 1e-5);
        for (int64_t i = 0; i < e->edges; i++) {
            struct gap gap = {e->edge_from[i], e->edge_to[i], -1, -1};
            double p = probability_without(&c, &gap, 7, e->label);
            assert_near((double)e->edge_effect[i], (double)e->probability - p, 2e-5);
            matter += e->edge_log_odds[i] != 0;
        }
        others_hold(&c, e);
        assert_true(matter > 3 && e->edges > 3 && e->neighbours > 1);
        consm_explanation_free(e);
        case_close(&c);
    }
}

static bool stop_at_seven(void *ctx, const struct consm_progress *p)
{
    int64_t *heard = ctx;
    *heard = p->epoch;
    return p->epoch == 7 && p->epochs > 7;
}

static void limits_classes_and_faults(void **state)
{
    (void)state;
    struct case_ c;
    struct consm_explanation *e;
    struct consm_explain_options o = {.size = sizeof o, .limit = 4};
    int64_t heard = 0;
    char buffer[24];
    case_open(&c, "csbm:nodes=60,degree=6,features=30,words=4", "gcn", "1");
    OK(consm_explain(&e, c.model, c.data, 3, &o));
    assert_true(e->edges == 4 && e->edges_in_reach > 4 && e->features == 4);
    for (int64_t i = 0; i < e->edges; i++)
        assert_true(e->edge_from[i] == 3 || e->edge_to[i] == 3);
    int32_t other = e->label == 0;
    consm_explanation_free(e);
    o.of_label = true;
    o.label = other;
    OK(consm_explain(&e, c.model, c.data, 3, &o));
    assert_int_equal(e->label, other);
    assert_near((double)e->probability, probability_without(&c, &nothing, 3, other), 1e-5);
    consm_explanation_free(e);
    o.label = 99;
    FAILS(consm_explain(&e, c.model, c.data, 3, &o), CONSM_EINVAL, "label 99: expected 0 to");
    o = (struct consm_explain_options){.size = sizeof o, .limit = -1};
    FAILS(consm_explain(&e, c.model, c.data, 3, &o), CONSM_EINVAL, "limit -1");
    FAILS(consm_explain(&e, c.model, c.data, 60, NULL), CONSM_ENOTFOUND, "node 60 does not exist");
    FAILS(consm_explain(&e, c.model, c.data, -1, NULL), CONSM_ENOTFOUND, "node -1 does not exist");
    o = (struct consm_explain_options){
        .size = sizeof o, .progress = stop_at_seven, .progress_ctx = &heard};
    FAILS(consm_explain(&e, c.model, c.data, 3, &o), CONSM_ECANCEL, "stopped after 7 of");
    assert_int_equal(heard, 7);
    assert_null(e);
    assert_string_equal(consm_model_feature(c.model, 5, buffer), "5");
    case_close(&c);
}

/* A model that is almost certain still has reasons. */
static void certain_models_have_reasons(void **state)
{
    struct consm_model m = {.classes = 3, .temperature = 2};
    const float sure[] = {90, 0, 10}, less[] = {60, 0, 10};
    float p[3], q[3];
    (void)state;
    model_probabilities(p, &m, sure, 1);
    model_probabilities(q, &m, less, 1);
    assert_true(p[0] == 1 && q[0] == 1); /* no difference of probabilities is left */
    assert_near(model_log_odds(&m, sure, 0), 40 - log1p(exp(-5)), 1e-9);
    assert_near(model_log_odds(&m, sure, 0) - model_log_odds(&m, less, 0), 15, 1e-9);
    assert_near(model_log_odds(&m, sure, 1), -45 - log1p(exp(-40)), 1e-9);
}

/* The edges of some nodes have the trust that they have among all, bit for bit. */
static void edges_of_nodes(struct consm_predictor *p, const struct consm_model *m,
                           const struct consm_dataset *d)
{
    static const int64_t asked[] = {3, 17, 3, 40};
    struct consm_edge_scores *some, *all;
    int64_t expected = 0;
    OK(consm_score_edges(&all, m, d, 1));
    OK(consm_predictor_edges(&some, p, asked, 4));
    for (int64_t e = 0; e < all->edges; e++) {
        bool mine = false;
        for (int k = 0; k < 4; k++)
            mine = mine || all->from[e] == asked[k] || all->to[e] == asked[k];
        if (!mine)
            continue;
        int64_t at = expected++;
        assert_true(at < some->edges);
        assert_true(some->from[at] == all->from[e] && some->to[at] == all->to[e]);
        assert_true(some->score[at] == all->score[e] && some->kept[at] == all->kept[e]);
        assert_true(some->low[at] == all->low[e] || (isnan(some->low[at]) && isnan(all->low[e])));
    }
    assert_true(expected > 4 && some->edges == expected);
    consm_edge_scores_free(some);
    consm_edge_scores_free(all);
}

static void same_explanation(const struct consm_explanation *a, const struct consm_explanation *b)
{
    assert_true(a->label == b->label && a->edges == b->edges && a->features == b->features);
    assert_true(a->probability == b->probability && a->edges > 0 && a->neighbours > 0);
    assert_memory_equal(a->edge_log_odds, b->edge_log_odds, (size_t)a->edges * sizeof(float));
    assert_memory_equal(a->edge_trust, b->edge_trust, (size_t)a->edges * sizeof(float));
    assert_memory_equal(a->neighbour_probability, b->neighbour_probability,
                        (size_t)a->neighbours * sizeof(float));
    assert_memory_equal(a->feature_log_odds, b->feature_log_odds,
                        (size_t)a->features * sizeof(float));
}

/* An open predictor explains and scores as the calls that open everything anew, also on a graph
 * that has grown since. */
static void predictors_answer(void **state)
{
    (void)state;
    static const char *const models[][2] = {{"gcn", "1"}, {"consm", "1"}, {"gat", "2"}};
    for (int i = 0; i < 3; i++) {
        struct case_ c;
        struct consm_predictor *p;
        struct consm_graph *g;
        struct consm_dataset *later;
        struct consm_explanation *e, *other;
        const int64_t from[] = {3, 17}, to[] = {40, 40}, none[] = {99};
        struct consm_edge_scores *refused;
        case_open(&c, "csbm:nodes=60,degree=6,features=8", models[i][0], models[i][1]);
        OK(consm_predictor_new(&p, c.model, c.data, 1));
        edges_of_nodes(p, c.model, c.data);
        OK(consm_explain(&e, c.model, c.data, 3, NULL));
        OK(consm_predictor_explain(&other, p, 3, NULL));
        same_explanation(e, other);
        consm_explanation_free(other);
        FAILS(consm_predictor_explain(&other, p, 60, NULL), CONSM_ENOTFOUND, "does not exist");
        FAILS(consm_predictor_edges(&refused, p, none, 1), CONSM_ENOTFOUND, "99");
        consm_explanation_free(e);
        consm_predictor_free(p);
        OK(consm_graph_new(&g, c.data));
        OK(consm_predictor_new_on(&p, c.model, g, 1));
        edges_of_nodes(p, c.model, c.data);
        OK(consm_graph_add_edges(g, from, to, NULL, 2));
        OK(consm_graph_dataset(&later, g));
        edges_of_nodes(p, c.model, later);
        OK(consm_explain(&e, c.model, later, 3, NULL));
        OK(consm_predictor_explain(&other, p, 3, NULL));
        same_explanation(e, other);
        consm_explanation_free(e);
        consm_explanation_free(other);
        consm_predictor_free(p);
        consm_graph_free(g);
        consm_dataset_free(later);
        case_close(&c);
    }
}

/* The values behind the effects are those of the graph. */
static void effects_have_their_values(void **state)
{
    struct case_ c;
    struct consm_explanation *e;
    struct consm_edge_scores *scores;
    struct consm_prediction *guess;
    (void)state;
    case_open(&c, "csbm:nodes=60,degree=6,features=8", "gcn", "1");
    const struct dataset *d = c.data->data;
    OK(consm_explain(&e, c.model, c.data, 3, NULL));
    OK(consm_score_edges(&scores, c.model, c.data, 1));
    OK(consm_predict(&guess, c.model, c.data, 1));
    assert_true(e->edges > 0 && e->neighbours > 0 && e->features == 8);
    for (int64_t i = 0; i < e->edges; i++) {
        int64_t at = 0;
        while (scores->from[at] != e->edge_from[i] || scores->to[at] != e->edge_to[i])
            assert_true(++at < scores->edges);
        assert_true(e->edge_trust[i] == scores->score[at] && e->edge_weight[i] == 1);
    }
    for (int64_t i = 0; i < e->neighbours; i++) {
        int64_t other = e->neighbour[i];
        assert_int_equal(e->neighbour_label[i], d->label[other]);
        assert_int_equal(e->neighbour_said[i], guess->label[other]);
        assert_near((double)e->neighbour_probability[i],
                    (double)guess->probability[other * guess->classes + e->label], 1e-6);
        assert_true(e->neighbour_trust[i] >= 0 && e->neighbour_trust[i] <= 1);
    }
    for (int64_t k = 0; k < e->features; k++) {
        int64_t below = 0, above = 0, column = e->feature[k];
        for (int64_t i = 0; i < d->nodes; i++) {
            below += d->dense[i * d->features + column] < e->feature_low[k];
            above += d->dense[i * d->features + column] > e->feature_high[k];
        }
        assert_true(e->feature_value[k] == d->dense[3 * d->features + column]);
        assert_true(below <= 3 && above <= 3 && e->feature_low[k] < e->feature_high[k]);
    }
    consm_prediction_free(guess);
    consm_edge_scores_free(scores);
    consm_explanation_free(e);
    case_close(&c);
}

/* ---- memory --------------------------------------------------------------- */

/* Means and deviations are measured once for all questions of a predictor. */
static void columns_are_measured_once(void **state)
{
    struct case_ c;
    struct consm_predictor *p;
    const float *mean, *deviation, *again, *spread;
    (void)state;
    case_open(&c, "csbm:nodes=60,classes=2,features=4", "mlp", "1");
    OK(consm_predictor_new(&p, c.model, c.data, 1));
    OK(predictor_moments(&mean, &deviation, p));
    OK(predictor_moments(&again, &spread, p));
    assert_true(again == mean && spread == deviation);
    for (int64_t k = 0; k < 4; k++) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < 60; i++)
            sum += (double)p->problem.dense[4 * i + k] / 60;
        for (int64_t i = 0; i < 60; i++)
            squares += pow((double)p->problem.dense[4 * i + k] - sum, 2) / 60;
        assert_true(fabs(sum - (double)mean[k]) < 1e-6);
        assert_true(fabs(sqrt(squares) - (double)deviation[k]) < 1e-6);
    }
    consm_predictor_free(p);
    case_close(&c);
}

static consm_status whole_run(void)
{
    consm_status st;
    struct consm_dataset *data = NULL;
    struct consm_model *model = NULL;
    struct consm_explanation *e = NULL;
    struct consm_explain_options o = {.size = sizeof o, .limit = 2, .threads = 1};
    struct consm_options *options = NULL;
    TRY(consm_dataset_open(&data, "csbm:nodes=30,degree=2,features=5,homophily=0.9", NULL));
    TRY(consm_options_new(&options, "gcn"));
    TRY(consm_options_set(options, "per_class", "4"));
    TRY(consm_options_set(options, "epochs", "2"));
    TRY(consm_options_set(options, "hidden", "4"));
    TRY(consm_options_set(options, "threads", "1"));
    TRY(consm_train(&model, data, options));
    TRY(consm_explain(&e, model, data, 3, &o));
done:
    consm_explanation_free(e);
    consm_model_free(model);
    consm_options_free(options);
    consm_dataset_free(data);
    return st;
}

static void memory(void **state)
{
    (void)state;
    static consm_status (*const calls[])(void) = {whole_run};
    memory_runs_out(calls, 1, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_is_enough),
        cmocka_unit_test(sparse_features),
        cmocka_unit_test(methods_that_read_far),
        cmocka_unit_test(features_from_the_structure),
        cmocka_unit_test(ensembles),
        cmocka_unit_test(left_out_edges_stay_left_out),
        cmocka_unit_test(limits_classes_and_faults),
        cmocka_unit_test(certain_models_have_reasons),
        cmocka_unit_test(effects_have_their_values),
        cmocka_unit_test(predictors_answer),
        cmocka_unit_test(columns_are_measured_once),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
