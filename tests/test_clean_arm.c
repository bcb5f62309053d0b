/* Training without distrusted edges: taken if validation is better, without any effect if not, and
 * repeated to the bit by a loaded model. */
#include "narrow.h"
#include "training.h"

#include "train/consm/candidates.h"
#include "train/consm/clean.h"
#include "train/edge_trust.h"

#include <math.h>
#include <string.h>

/* Two in five of these edges join two classes. */
static const char *const false_edges =
    "csbm:nodes=400,classes=4,degree=6,features=40,signal=1.5,homophily=0.6,seed=8";

static struct train_options clean_options(const char *backbone, double share)
{
    const struct model_def *model;
    OK(model_find(&model, "consm"));
    struct train_options o = {.model = model, .seed = 11};
    model_defaults(model, &o.config);
    o.config.warmup = 80;
    o.config.gnn_steps = 40;
    o.config.rounds = 2;
    o.config.match_steps = 20;
    o.config.match_width = 16; /* so that it does not take long */
    o.config.match_hidden = 8;
    o.config.hidden = 16;
    o.config.drop_share = share;
    OK(config_set(&o.config, "backbone", backbone));
    return o;
}

/* A saved model's session: the store and the rest of a model file. */
static struct session *reopen(struct session *s, const struct problem *problem,
                              struct backend *backend)
{
    struct session *again;
    struct train_options options = s->options;
    float *taught, *to, trust[TRUST_NUMBERS];
    const float *from;
    OK(session_taught(&taught, &options.taughts, s));
    options.taught = taught;
    options.eval_only = true;
    options.shift = s->shift;
    options.scale = s->scale;
    OK(session_new(&again, problem, &options, backend));
    OK(params_read(&from, session_params(s), PLACE_VALUE));
    OK(params_write(&to, session_params(again), PLACE_VALUE));
    for (int i = 0; i < session_params(again)->count; i++) {
        const struct parameter *p = &session_params(again)->item[i];
        int same = params_find(session_params(s), p->name);
        assert_true(same >= 0);
        memcpy(to + p->offset, from + session_params(s)->item[same].offset,
               (size_t)(p->rows * p->cols) * sizeof *to);
    }
    OK(session_loaded(again));
    if (session_answers_weights(trust, s))
        OK(session_tell_answers(again, trust, NULL));
    mem_free(taught);
    return again;
}

static void assert_repeats(struct session *s, const struct problem *problem, int threads)
{
    struct backend *backend;
    struct edge_trust trained, loaded;
    const float *was, *is;
    OK(backend_open(&backend, NULL, threads));
    struct session *again = reopen(s, problem, backend);
    OK(session_logits(&was, s));
    OK(session_logits(&is, again));
    assert_memory_equal(was, is, (size_t)(problem->nodes * problem->classes) * sizeof *was);
    OK(session_trust(&trained, s));
    OK(session_trust(&loaded, again));
    assert_memory_equal(trained.score, loaded.score,
                        (size_t)trained.edges->count * sizeof *loaded.score);
    edge_trust_free(&trained);
    edge_trust_free(&loaded);
    session_free(again);
    backend_close(backend);
}

/* Validation prefers the graph without the least trusted edges; share and thresholds are stored,
 * and a loaded model repeats answers and trust. */
static void it_is_taken_where_it_validates(void **state)
{
    (void)state;
    struct scene scene;
    struct backend *backend;
    struct session *s;
    struct outcome open, all, threaded;
    scene_open(&scene, false_edges, 15);
    struct train_options options = clean_options("appnp", NAN);
    OK(backend_open(&backend, NULL, 1));
    OK(session_new(&s, &scene.problem, &options, backend));
    finish_training(&open, s, &scene.problem);
    const struct config *c = &s->options.config;
    assert_true(c->drop_share > 0.05 && c->drop_share <= 0.45);
    assert_true(c->drop_below > 0 && c->drop_first > 0);
    assert_true(open.result.arm.dropped == c->drop_share);
    assert_true(open.result.val_score == judge_score(&s->judge, open.logit, false));
    assert_repeats(s, &scene.problem, 1);
    assert_repeats(s, &scene.problem, 3);
    session_free(s);
    options.config.drop_share = 0;
    train_with(&all, &scene.problem, &options, backend);
    assert_true(open.result.val_acc > all.result.val_acc);
    assert_true(all.result.arm.dropped == 0);
    options.config.drop_share = NAN;
    train_on(&threaded, &scene.problem, &options, 3);
    assert_same(&open, &threaded, "three threads");
    outcome_free(&open);
    outcome_free(&all);
    outcome_free(&threaded);
    backend_close(backend);
    scene_close(&scene);
}

static bool count_trials(void *ctx, const struct progress *p)
{
    *(int64_t *)ctx += p->candidate > CONSM_CANDIDATES;
    return false;
}

/* If the trial fails, or trust finds almost nothing to drop, the run equals the one over all edges,
 * to the bit. */
static void given_up_it_leaves_no_trace(void **state)
{
    (void)state;
    static const char *const graph[] = {
        "csbm:nodes=300,classes=3,degree=4,features=20,signal=3,homophily=0.1,seed=4",
        "csbm:nodes=300,classes=3,degree=6,features=40,signal=3,homophily=1,seed=3"};
    for (int g = 0; g < 2; g++) {
        struct scene scene;
        struct outcome open, all;
        int64_t trials = 0;
        scene_open(&scene, graph[g], 15);
        struct train_options options = clean_options("h2gcn", NAN);
        options.progress = count_trials;
        options.progress_ctx = &trials;
        train_on(&open, &scene.problem, &options, 1);
        assert_int_equal(trials > 0, g == 0);
        options.config.drop_share = 0;
        train_on(&all, &scene.problem, &options, 1);
        assert_true(open.result.arm.dropped == 0);
        open.result.loss = all.result.loss; /* of the last update that was tried */
        assert_same(&open, &all, graph[g]);
        outcome_free(&open);
        outcome_free(&all);
        scene_close(&scene);
    }
}

/* A share or threshold that the user sets is used, whatever validation says. */
static void what_is_given_is_done(void **state)
{
    (void)state;
    struct scene scene;
    struct backend *backend;
    struct session *s;
    struct outcome out;
    scene_open(&scene, false_edges, 15);
    OK(backend_open(&backend, NULL, 1));
    for (int by_threshold = 0; by_threshold < 2; by_threshold++) {
        struct train_options options = clean_options("gcn", by_threshold ? NAN : 0.5);
        options.config.drop_below = by_threshold ? 0.7 : 0;
        OK(session_new(&s, &scene.problem, &options, backend));
        finish_training(&out, s, &scene.problem);
        const struct config *c = &s->options.config;
        const struct consm_clean *clean = &((const struct consm *)s->own)->clean;
        assert_true(clean->on && clean->settled->graph->nnz < scene.problem.graph->nnz);
        double kept = (double)clean->settled->graph->nnz / (double)scene.problem.graph->nnz;
        assert_near(c->drop_share, 1 - kept, 1e-9);
        if (by_threshold)
            assert_true(c->drop_below == 0.7);
        else
            assert_near(c->drop_share, 0.5, 0.05);
        outcome_free(&out);
        session_free(s);
    }
    backend_close(backend);
    scene_close(&scene);
}

/* The threshold is for edges: on another graph as many are dropped as it has bad ones. */
static void another_graph_is_judged_by_the_same_rule(void **state)
{
    (void)state;
    struct scene scene, clean;
    struct backend *backend;
    struct session *s;
    struct outcome out;
    scene_open(&scene, false_edges, 15);
    scene_open(&clean,
               "csbm:nodes=400,classes=4,degree=6,features=40,signal=1.5,homophily=1,seed=5", 15);
    struct train_options options = clean_options("appnp", 0.25);
    OK(backend_open(&backend, NULL, 1));
    OK(session_new(&s, &scene.problem, &options, backend));
    finish_training(&out, s, &scene.problem);
    struct session *other = reopen(s, &clean.problem, backend);
    assert_true(((const struct consm *)s->own)->clean.left_out > 0.24);
    assert_true(((const struct consm *)other->own)->clean.left_out < 0.15);
    outcome_free(&out);
    session_free(other);
    session_free(s);
    backend_close(backend);
    scene_close(&clean);
    scene_close(&scene);
}

/* A refit on all labels drops the same edges and trains for the chosen length. */
static void a_refit_is_clean_too(void **state)
{
    (void)state;
    struct scene scene;
    struct backend *backend;
    struct session *s;
    struct train_result first, second;
    float trust[TRUST_NUMBERS];
    scene_open(&scene, false_edges, 15);
    struct train_options options = clean_options("appnp", 0.25);
    OK(backend_open(&backend, NULL, 1));
    OK(session_new(&s, &scene.problem, &options, backend));
    OK(session_train(s, &first));
    options.config = s->options.config;
    trust_write(trust, &((const struct consm *)s->own)->clean.trust);
    session_free(s);
    for (int64_t i = 0; i < scene.problem.nodes; i++)
        scene.role[i] = scene.role[i] == SPLIT_VAL ? SPLIT_TRAIN : scene.role[i];
    options.trust = trust;
    train_repeat(&options, &first.lengths);
    OK(session_new(&s, &scene.problem, &options, backend));
    OK(session_train(s, &second));
    int64_t all = train_updates(&first.lengths);
    assert_true(all > first.lengths.updates[0]);
    assert_int_equal(second.epochs, 2 * all - first.lengths.updates[0]);
    assert_true(s->options.config.drop_below == options.config.drop_below);
    assert_true(((const struct consm *)s->own)->clean.left_out > 0.1);
    assert_repeats(s, &scene.problem, 1);
    session_free(s);
    backend_close(backend);
    scene_close(&scene);
}

/* Pairs without an edge are added if validation is better with them; otherwise the run equals the
 * previous one, over all edges or over some of them (the last case). */
static void missing_edges_are_an_arm(void **state)
{
    (void)state;
    static const char *const graph[] = {
        "csbm:nodes=300,classes=3,degree=2,features=40,signal=1.5,homophily=0.9,seed=8",
        "csbm:nodes=300,classes=3,degree=2,features=40,signal=1.5,homophily=0.9,seed=2",
        "csbm:nodes=300,classes=3,degree=6,features=40,signal=1.5,homophily=0.8,seed=17",
        "csbm:nodes=300,classes=3,degree=2,features=40,signal=1.5,homophily=0.8,seed=4"};
    for (int g = 0; g < 4; g++) {
        struct scene scene;
        struct outcome open, without;
        int64_t trials = 0;
        scene_open(&scene, graph[g], 15);
        struct train_options options = clean_options("gcn", g == 3 ? 0.1 : 0);
        options.config.trust_pairs = TRUST_PAIRS_NO; /* the graphs were chosen so */
        options.progress = count_trials;
        options.progress_ctx = &trials;
        train_on(&open, &scene.problem, &options, 1);
        assert_int_equal(trials > 0, g != 2); /* the third is not sparse */
        options.config.add_share = 0;
        train_on(&without, &scene.problem, &options, 1);
        if (g == 0) {
            assert_true(open.result.arm.added > 0.05 && open.result.arm.dropped == 0);
            assert_true(open.result.val_acc > without.result.val_acc);
        } else {
            assert_true(open.result.arm.added == 0);
            open.result.loss = without.result.loss;
            assert_same(&open, &without, graph[g]);
        }
        outcome_free(&open);
        outcome_free(&without);
        scene_close(&scene);
    }
}

/* A run that adds a share of pairs, on the graph with false edges. */
struct added {
    struct scene scene;
    struct backend *backend;
    struct session *s;
    struct outcome out;
};

static void added_open(struct added *a, const char *backbone, double drop_share, double add_share)
{
    struct train_options options = clean_options(backbone, drop_share);
    options.config.add_share = add_share;
    scene_open(&a->scene, false_edges, 15);
    OK(backend_open(&a->backend, NULL, 1));
    OK(session_new(&a->s, &a->scene.problem, &options, a->backend));
    finish_training(&a->out, a->s, &a->scene.problem);
}

static void added_close(struct added *a)
{
    outcome_free(&a->out);
    session_free(a->s);
    backend_close(a->backend);
    scene_close(&a->scene);
}

/* A share of less than one pair adds the pairs with the highest score. */
static void less_than_a_pair_is_the_best_one(void **state)
{
    (void)state;
    struct added a;
    added_open(&a, "gcn", 0, 1e-6);
    const struct config *c = &a.s->options.config;
    assert_true(c->add_above > 0.5 && c->add_above <= 1);
    assert_true(c->add_share > 0 && c->add_share < 0.02);
    added_close(&a);
}

/* Some edges dropped and some pairs added. */
static void both_can_be(void **state)
{
    (void)state;
    struct added a;
    added_open(&a, "appnp", 0.25, 0.2);
    const struct config *c = &a.s->options.config;
    const struct problem *p = &a.scene.problem;
    assert_near(c->drop_share, 0.25, 0.05);
    assert_near(c->add_share, 0.2, 0.02);
    assert_true(c->add_above > 0);
    double entries = (double)((const struct consm *)a.s->own)->clean.settled->graph->nnz;
    assert_near(entries / (double)p->graph->nnz, 1 - c->drop_share + c->add_share, 1e-6);
    assert_repeats(a.s, p, 1);
    added_close(&a);
}

struct trials {
    int64_t all, without_edges;
};

static bool hear_trial(void *ctx, const struct progress *p)
{
    struct trials *t = ctx;
    if (p->candidate > CONSM_CANDIDATES) {
        t->all++;
        t->without_edges += strcmp(p->backbone, "mlp") == 0;
    }
    return false;
}

/* The best candidates are tried without distrusted edges, but never the MLP, which uses none. */
static void who_ignores_edges_is_not_tried(void **state)
{
    (void)state;
    struct scene scene;
    struct outcome out;
    struct trials trials = {0};
    bool among = false;
    scene_open(&scene,
               "csbm:nodes=200,classes=4,degree=6,features=40,signal=1,homophily=0.2,seed=4", 15);
    struct train_options options = clean_options("auto", NAN);
    narrow(&options);
    options.config.warmup = 30;
    options.config.gnn_steps = 10;
    options.progress = hear_trial;
    options.progress_ctx = &trials;
    train_on(&out, &scene.problem, &options, 1);
    for (int i = 0; i < CONSM_SPARES; i++)
        among |= strcmp(out.result.candidate[i].model, "mlp") == 0;
    assert_true(among); /* it would have been tried */
    assert_true(trials.all > 0);
    assert_int_equal(trials.without_edges, 0);
    outcome_free(&out);
    scene_close(&scene);
}

static void below_one_half_by_hand(void **state)
{
    (void)state;
    const float score[] = {0.4f, 0.5f, 0.6f, 0.1f, 0.9f};
    assert_true(consm_distrusted(score, 5) == 2 / 5.0);
    assert_true(consm_distrusted(score, 1) == 1);
    assert_true(consm_distrusted(score + 1, 2) == 0);
    assert_true(consm_distrusted(score, 0) == 0);
}

/* A round that finds nothing better leaves the edges of the best round, not its own. */
static void the_best_rounds_edges_stay(void **state)
{
    (void)state;
    struct scene scene;
    struct backend *backend;
    struct train_result result;
    struct session *s;
    struct train_options options = clean_options("appnp", 0.25);
    options.config.warmup = 60;
    options.config.gnn_steps = 6;
    options.config.match_steps = 5;
    options.config.rounds = 3;
    options.config.round_patience = 0;
    OK(config_set(&options.config, "lambda", "0"));
    scene_open(&scene,
               "csbm:nodes=200,classes=4,degree=6,features=40,signal=1.5,homophily=0.6,"
               "seed=5",
               10);
    OK(backend_open(&backend, NULL, 1));
    OK(session_new(&s, &scene.problem, &options, backend));
    OK(session_train(s, &result));
    const struct consm *own = s->own;
    assert_true(own->clean.on);
    assert_true(own->place.best_round < own->place.round);
    assert_memory_equal(own->clean.dropped, own->clean.best, (size_t)own->edges->count);
    session_free(s);
    backend_close(backend);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(below_one_half_by_hand),
        cmocka_unit_test(it_is_taken_where_it_validates),
        cmocka_unit_test(given_up_it_leaves_no_trace),
        cmocka_unit_test(what_is_given_is_done),
        cmocka_unit_test(another_graph_is_judged_by_the_same_rule),
        cmocka_unit_test(a_refit_is_clean_too),
        cmocka_unit_test(missing_edges_are_an_arm),
        cmocka_unit_test(less_than_a_pair_is_the_best_one),
        cmocka_unit_test(both_can_be),
        cmocka_unit_test(the_best_rounds_edges_stay),
        cmocka_unit_test(who_ignores_edges_is_not_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
