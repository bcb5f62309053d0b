/*
 * Propagation losses in training: they change what is learned, on any model, alike on any number of
 * threads; GAM's growing set of labels never reads hidden labels. THREADED
 */
#include "programs.h"

#include "app/prepare.h"
#include "backends/ranks.h"
#include "data/generate/generate.h"
#include "data/split.h"
#include "train/session.h"

struct scene {
    struct dataset *data;
    struct prepared prepared;
    uint8_t role[150];
    struct problem problem;
};

static void scene_open(struct scene *s)
{
    struct split_options o = split_defaults();
    o.per_class = 8;
    OK(generate_named(&s->data, "csbm:nodes=150,classes=3,degree=5,features=14,seed=9"));
    OK(prepare(&s->prepared, s->data));
    OK(split_make(s->role, s->data, "random", 2, &o));
    s->problem = prepare_problem(&s->prepared, s->role);
}

static void scene_close(struct scene *s)
{
    prepare_free(&s->prepared);
    dataset_free(s->data);
}

static struct train_options options_for(const char *model, const char *propagation)
{
    struct train_options o = {.seed = 4};
    OK(model_find(&o.model, model));
    model_defaults(o.model, &o.config);
    OK(config_set(&o.config, "propagation", propagation));
    o.config.epochs = 8;
    o.config.warmup = o.config.gnn_steps = 5;
    o.config.rounds = 3;
    o.config.round_patience = 0;
    o.config.match_steps = 4;
    o.config.grow = 12;
    o.config.grow_confidence = 0;
    return o;
}

/* Trains and returns a copy of the parameters, followed by the last loss. */
static float *train(const struct problem *problem, const struct train_options *o, int threads,
                    int64_t *count)
{
    struct backend *backend;
    struct session *s;
    struct train_result result;
    float *copy;
    OK(backend_open(&backend, NULL, threads));
    OK(session_new(&s, problem, o, backend));
    OK(session_train(s, &result));
    *count = session_params(s)->size + 1;
    OK(NEW(copy, *count));
    memcpy(copy, param_values(session_params(s)), (size_t)(*count - 1) * sizeof *copy);
    copy[*count - 1] = (float)result.loss;
    session_free(s);
    backend_close(backend);
    return copy;
}

static bool same(const struct problem *a, const struct train_options *oa, int threads_a,
                 const struct problem *b, const struct train_options *ob, int threads_b)
{
    int64_t na, nb;
    float *x = train(a, oa, threads_a, &na), *y = train(b, ob, threads_b, &nb);
    bool equal = na == nb && memcmp(x, y, (size_t)na * sizeof *x) == 0;
    mem_free(x);
    mem_free(y);
    return equal;
}

static void every_kind_works_on_any_model(void **state)
{
    (void)state;
    static const char *const kinds[] = {"ngm", "p-reg", "gam"};
    static const char *const models[] = {"mlp", "gat", "ptdnet"};
    struct scene s;
    scene_open(&s);
    for (size_t m = 0; m < 3; m++)
        for (size_t k = 0; k < 3; k++) {
            struct train_options plain = options_for(models[m], "none");
            struct train_options with = options_for(models[m], kinds[k]);
            assert_false(same(&s.problem, &plain, 1, &s.problem, &with, 1));
            assert_true(same(&s.problem, &with, 1, &s.problem, &with, 3));
        }
    scene_close(&s);
}

static void distances_differ(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s);
    struct train_options logits = options_for("gcn", "ngm"), squared = logits, mean = logits;
    OK(config_set(&squared.config, "distance", "squared"));
    OK(config_set(&mean.config, "lambda_per", "sum"));
    assert_false(same(&s.problem, &logits, 1, &s.problem, &squared, 1));
    assert_false(same(&s.problem, &logits, 1, &s.problem, &mean, 1));
    scene_close(&s);
}

/* For a graph in parts the loss is a quadratic form of a matrix: the same number and the same
 * learning up to rounding. One process with all rows simulates the parts. */
static void a_graph_in_parts_pulls_alike(void **state)
{
    (void)state;
    static const char *const ways[][2] = {
        {"ngm", "logits"}, {"ngm", "probabilities"}, {"ngm", "squared"}, {"p-reg", "logits"}};
    struct scene s;
    scene_open(&s);
    const int64_t cut[] = {0, s.problem.nodes};
    const struct partition partition = {.high = s.problem.nodes,
                                        .gather = ranks_alone.gather,
                                        .parts = 1,
                                        .cut = cut,
                                        .swap = ranks_alone.swap};
    struct csr graph = *s.problem.graph;
    struct problem parts = s.problem;
    graph.partition = &partition;
    parts.graph = &graph;
    for (size_t k = 0; k < 4; k++) {
        struct train_options o = options_for("mlp", ways[k][0]);
        int64_t count, other;
        OK(config_set(&o.config, "distance", ways[k][1]));
        OK(config_set(&o.config, "lambda", "3"));
        float *x = train(&s.problem, &o, 1, &count), *y = train(&parts, &o, 1, &other);
        assert_int_equal(count, other);
        for (int64_t i = 0; i < count; i++)
            assert_float_equal(x[i], y[i], 2e-4);
        mem_free(x);
        mem_free(y);
    }
    scene_close(&s);
}

/* Nodes join the labelled set with their predicted label: changing test labels changes nothing. */
static void growing_reads_no_hidden_label(void **state)
{
    (void)state;
    struct scene s;
    int32_t label[150];
    scene_open(&s);
    struct problem other = s.problem;
    for (int64_t i = 0; i < s.problem.nodes; i++)
        label[i] = s.role[i] == SPLIT_TEST ? (s.problem.label[i] + 1) % 3 : s.problem.label[i];
    other.label = label;
    struct train_options grow = options_for("gam", "gam"), stay = grow;
    stay.config.grow = 0;
    assert_true(same(&s.problem, &grow, 1, &other, &grow, 1));
    assert_false(same(&s.problem, &grow, 1, &s.problem, &stay, 1));
    scene_close(&s);
}

static void consm_brings_its_own(void **state)
{
    (void)state;
    struct scene s;
    struct backend *backend;
    struct session *session;
    scene_open(&s);
    struct train_options o = options_for("consm", "ngm");
    OK(backend_open(&backend, NULL, 1));
    FAILS(session_new(&session, &s.problem, &o, backend), CONSM_EINVAL, "consm has its own");
    assert_null(session);
    backend_close(backend);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_works_on_any_model),
        cmocka_unit_test(distances_differ),
        cmocka_unit_test(a_graph_in_parts_pulls_alike),
        cmocka_unit_test(growing_reads_no_hidden_label),
        cmocka_unit_test(consm_brings_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
