/* examples/consm_in_one_file.c does what the library does. Both start from the same parameters on
 * the same small graph, without dropout: the losses of the first steps, the coefficients of all
 * edges and the final classes are equal. check_one_file.sh adds whole runs. */
#include "programs.h"

#include "base/rng.h"
#include "graph/views.h"
#include "match/matcher_inside.h"
#include "models/model.h"
#include "nn/layers.h"
#include "train/consm/consm.h"

#pragma GCC diagnostic ignored "-Wshadow"
int one_file_main(int count, char **argument);
#define main one_file_main
#include "../examples/consm_in_one_file.c"
#undef main

enum { NODES = 90, CLASSES = 3, FEATURES = 7, PER_CLASS = 8, TRIED = 10 };
static const double ZETA = 0.6;

struct scene {
    struct csr *graph;
    struct edges *edges;
    struct views *views;
    struct backend *backend;
    float features[NODES * FEATURES];
    int32_t label[NODES], labelled[NODES];
    uint8_t split_role[NODES];
};

/* Three classes with their own means; two edges of three stay within a class. */
static void scene_make(struct scene *s)
{
    int32_t ends[2][4 * NODES];
    struct rng rng;
    rng_init(&rng, 3, 0);
    for (int i = 0; i < NODES; i++) {
        s->label[i] = i % CLASSES;
        for (int k = 0; k < FEATURES; k++)
            s->features[i * FEATURES + k] =
                (float)(rng_uniform(&rng) - 0.5) + (k % CLASSES == s->label[i] ? 0.6f : 0);
    }
    for (int e = 0; e < 4 * NODES; e++) {
        ends[0][e] = (int32_t)rng_below(&rng, NODES);
        ends[1][e] = (int32_t)rng_below(&rng, NODES);
        if (e % 3)
            ends[1][e] = ends[1][e] / CLASSES * CLASSES + ends[0][e] % CLASSES;
    }
    OK(csr_from_edges(&s->graph, NODES, NODES, 4 * NODES, ends[0], ends[1], NULL,
                      CSR_UNDIRECTED | CSR_DROP_LOOPS, NULL));
    OK(edges_new(&s->edges, s->graph));
    OK(views_new(&s->views, s->graph));
    OK(backend_open(&s->backend, "cpu", 1));
}

/* The same for the one file, which then divides the nodes. */
static void scene_hand_over(struct scene *s)
{
    n = NODES, c = CLASSES, f = FEATURES, m = (int)s->edges->count;
    for (int e = 0; e < m; e++)
        from[e] = s->edges->left[e], to[e] = s->edges->right[e];
    for (int i = 0; i < n; i++) {
        y[i] = s->label[i];
        memcpy(x[i], s->features + i * FEATURES, FEATURES * sizeof(float));
    }
    connect_and_split(PER_CLASS);
    assert_int_equal(l, PER_CLASS * CLASSES);
    for (int t = 0; t < l; t++)
        s->labelled[t] = train[t];
    for (int i = 0; i < n; i++)
        s->split_role[i] = (uint8_t)role[i];
    drop_rate = 0;
    start_networks();
}

/* The library's parameters become the one file's. */
static void take_over(struct weights *w, struct params *params, const char *name)
{
    const struct parameter *item = &params->item[params_find(params, name)];
    assert_int_equal(item->rows, w->rows);
    assert_int_equal(item->cols, w->cols);
    memcpy(w->value, param_values(params) + item->offset,
           (size_t)(w->rows * w->cols) * sizeof(float));
}

static void expect_near(double mine, double expected, double tolerance, const char *what, int at)
{
    if (!(fabs(mine - expected) <= tolerance))
        fail_msg("%s %d: the one file has %.7g, the library %.7g", what, at, mine, expected);
}

static struct config paper_config(void)
{
    struct config config;
    const struct model_def *model;
    OK(model_find(&model, "consm"));
    model_defaults(model, &config);
    OK(config_set(&config, "transport", "nearest"));
    OK(config_set(&config, "match_error", "l1"));
    OK(config_set(&config, "match_ego", "no"));
    OK(config_set(&config, "match_update", "batch"));
    config.match_slope = config.match_dropout = 0;
    config.match_pairs = PAIRS;
    config.two_hop_cap = 0;
    assert_int_equal(config.match_width, D);
    assert_int_equal(config.match_hidden, HIDDEN);
    return config;
}

/* Algorithm 1: ten losses, then the coefficients; w (edges) */
static void match_both(struct scene *s, const struct config *config, float *w)
{
    static const char *const name[MATCH_WEIGHTS] = {"w1", "b1", "w3", "w3r", "b3",
                                                    "w4", "b4", "w5", "b5"};
    static int a[2 * PAIRS * NODES], b[2 * PAIRS * NODES];
    struct match_data data = {.nodes = NODES,
                              .features = FEATURES,
                              .classes = CLASSES,
                              .graph = s->graph,
                              .edges = s->edges,
                              .dense = s->features,
                              .label = s->label,
                              .train = s->labelled,
                              .labelled = l};
    struct matcher *matcher;
    float *mine = mem_alloc((size_t)m, sizeof *mine);
    OK(matcher_new(&matcher, &data, config, 5, s->backend));
    for (int i = 0; i < MATCH_WEIGHTS; i++)
        take_over(&theta_sm[i], matcher_params(matcher), name[i]);
    for (int step = 0; step < TRIED; step++) {
        double expected;
        OK(matcher_prune(matcher, ZETA, NULL));
        OK(matcher_train(matcher, 1, &expected));
        for (int64_t p = 0; p < matcher->pairs; p++) {
            a[p] = train[matcher->left->row[p]];
            b[p] = train[matcher->right->row[p]];
        }
        expect_near(matching_step(ZETA, a, b, (int)matcher->pairs), expected, 2e-4,
                    "the matching loss of step", step);
    }
    OK(matcher_score(matcher, w));
    coefficients(mine);
    for (int e = 0; e < m; e++)
        expect_near((double)mine[e], (double)w[e], 2e-3, "the coefficient of edge", e);
    mem_free(mine);
    matcher_free(matcher);
}

/* Algorithm 2's inner loop: ten losses with these coefficients, and the classes after a hundred. */
static void learn_both(struct scene *s, const struct config *config, const float *w)
{
    static const char *const name[GNN_WEIGHTS] = {"w1", "b1", "w2", "b2"};
    static const struct adam_options adam_rule = {0.005, 0.9, 0.999, 1e-8, 5e-4};
    static float slope[M], fixed;
    static bool top[M];
    struct index *labelled, *one_end, *other_end;
    struct params *params;
    struct program *p;
    OK(consm_propagation(slope, &fixed, w, s->edges, s->split_role, 1, ZETA, config, NULL));
    top_edges(top, w, ZETA);
    OK(index_new(&labelled, l, n));
    OK(index_set(labelled, s->labelled));
    OK(index_new(&one_end, m, n));
    OK(index_set(one_end, s->edges->left));
    OK(index_new(&other_end, m, n));
    OK(index_set(other_end, s->edges->right));
    OK(params_new(&params));
    OK(program_new(&p, params, true));
    const struct csr *adjacency = views_get(s->views, VIEW_GCN);
    node in = input(p, s->features, n, f);
    node logits = graph_conv(p, "2", adjacency, relu(p, graph_conv(p, "1", adjacency, in, D)), c);
    node pull = dot(p, pair_cosine(p, logits, one_end, other_end), input(p, slope, m, 1));
    node loss = add(p, nll(p, logits, labelled, s->label, NULL), pull);
    program_keep(p, logits);
    loss = program_minimize(p, add(p, loss, input(p, &fixed, 1, 1)));
    program_optimize(p, &adam_rule);
    OK(program_compile(p, s->backend));
    OK(params_init(params, 9));
    for (int i = 0; i < GNN_WEIGHTS; i++)
        take_over(&theta_g[i], params, name[i]);
    for (int step = 0; step < 100; step++) {
        OK(program_run(p, &(struct step){1, (uint64_t)step}));
        double mine = gnn_step(w, top);
        if (step < TRIED)
            expect_near(mine, (double)*value_of(p, loss), 2e-4, "the GNN's loss of step", step);
    }
    OK(program_run(p, &(struct step){1, 100}));
    const float *expected = value_of(p, logits);
    int right[2] = {0};
    gnn_forward(false);
    for (int i = 0; i < n; i++) {
        int best = 0, theirs = 0;
        for (int k = 1; k < c; k++) {
            best = z[i][k] > z[i][best] ? k : best;
            theirs = expected[i * c + k] > expected[i * c + theirs] ? k : theirs;
        }
        right[0] += role[i] == TEST && best == y[i];
        right[1] += role[i] == TEST && theirs == y[i];
    }
    expect_near(right[0], right[1], 1, "test nodes that are right of", n);
    assert_true(right[0] > 0);
    program_free(p);
    params_free(params);
    index_free(labelled);
    index_free(one_end);
    index_free(other_end);
}

static void does_what_the_library_does(void **state)
{
    static struct scene s;
    (void)state;
    scene_make(&s);
    scene_hand_over(&s);
    struct config config = paper_config();
    float *w = mem_alloc((size_t)m, sizeof *w);
    match_both(&s, &config, w);
    learn_both(&s, &config, w);
    mem_free(w);
    for (int i = 0; i < MATCH_WEIGHTS; i++)
        free(theta_sm[i].value);
    for (int i = 0; i < GNN_WEIGHTS; i++) {
        free(theta_g[i].value);
        free(saved[i].value);
    }
    backend_close(s.backend);
    views_free(s.views);
    edges_free(s.edges);
    csr_free(s.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(does_what_the_library_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
