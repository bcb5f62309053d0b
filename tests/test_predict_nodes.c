/* Predictions of a few nodes have the bits of a prediction of the whole graph: every model, several
 * backbones of ConSM, dropped or weighted edges, ensembles, prediction sets, weighted graphs and
 * sparse features; node by node, all at once, and from several threads. THREADED */
#include "check.h"
#include "narrow.h"

#include "app/predictor.h"
#include "backends/plugin.h"
#include "base/rng.h"
#include "models/model.h"
#include <pthread.h>

static struct consm_dataset *open_graph(void)
{
    struct consm_dataset *d;
    OK(consm_dataset_open(
        &d, "csbm:nodes=500,classes=3,degree=3,features=12,signal=1.5,homophily=0.8,seed=4", NULL));
    return d;
}

/* A user's own graph with ids, weights and words: features that stay sparse. */
static struct consm_dataset *open_own(void)
{
    enum { N = 300, M = 420, F = 40 };
    static int32_t from[M], to[M], label[N];
    static float weight[M], x[N * F];
    static char text[N][16];
    static const char *id[N];
    struct rng r;
    struct consm_dataset *d;
    rng_init(&r, 7, 1);
    for (int k = 0; k < M; k++) {
        from[k] = (int32_t)rng_below(&r, N);
        to[k] = (int32_t)rng_below(&r, N);
        weight[k] = 0.1f + (float)rng_uniform(&r);
    }
    for (int i = 0; i < N; i++) {
        label[i] = i % 3 ? i % 2 : -1;
        snprintf(text[i], sizeof text[i], "n%d", i);
        id[i] = text[i];
    }
    for (int k = 0; k < N * F; k++)
        x[k] = rng_below(&r, 8) ? 0 : (float)rng_uniform(&r);
    struct consm_arrays a = {.size = sizeof a,
                             .nodes = N,
                             .edges = M,
                             .features = F,
                             .classes = 2,
                             .from = from,
                             .to = to,
                             .weight = weight,
                             .feature = x,
                             .label = label,
                             .node_id = id};
    OK(consm_dataset_from_arrays(&d, &a));
    return d;
}

/* settings: "name=value name=value …" */
static struct consm_model *train(const char *model, const struct consm_dataset *d,
                                 const char *settings)
{
    static const char *const small[][2] = {NARROW};
    struct consm_options *o;
    struct consm_model *m;
    char text[256], *rest = text;
    OK(consm_options_new(&o, model));
    OK(consm_options_set(o, "epochs", "4"));
    OK(consm_options_set(o, "threads", "1"));
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        OK(consm_options_set(o, small[i][0], small[i][1]));
    snprintf(text, sizeof text, "%s", settings);
    for (char *one = strtok_r(text, " ", &rest); one; one = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(one, '=');
        *value = 0;
        OK(consm_options_set(o, one, value + 1));
    }
    OK(consm_train(&m, d, o));
    consm_options_free(o);
    return m;
}

static void same_row(const struct consm_prediction *some, int64_t k,
                     const struct consm_prediction *all, int64_t i)
{
    size_t c = (size_t)all->classes;
    assert_int_equal(some->label[k], all->label[i]);
    assert_memory_equal(some->confidence + k, all->confidence + i, sizeof(float));
    assert_memory_equal(some->probability + (size_t)k * c, all->probability + (size_t)i * c,
                        c * sizeof(float));
    assert_memory_equal(some->log_odds + (size_t)k * c, all->log_odds + (size_t)i * c,
                        c * sizeof(float));
    assert_int_equal(!some->in_set, !all->in_set);
    if (all->in_set)
        assert_memory_equal(some->in_set + (size_t)k * c, all->in_set + (size_t)i * c, c);
    assert_int_equal(!some->seen, !all->seen);
    if (all->seen)
        assert_int_equal(some->seen[k], all->seen[i]);
}

static void ask(struct consm_predictor *p, const struct consm_prediction *all,
                const int64_t *number, int64_t count)
{
    struct consm_prediction *some;
    OK(consm_predictor_nodes(&some, p, number, count));
    assert_int_equal(some->nodes, count);
    for (int64_t k = 0; k < count; k++)
        same_row(some, k, all, number[k]);
    consm_prediction_free(some);
}

/* Nodes one by one and all at once, on their part of the graph only; and through the whole. */
static void check_model(const struct consm_model *m, const struct consm_dataset *d)
{
    enum { SINGLE = 12 };
    struct consm_prediction *all;
    struct consm_predictor *p;
    OK(consm_predict(&all, m, d, 1));
    int64_t *every = mem_alloc((size_t)all->nodes, sizeof *every);
    for (int64_t i = 0; i < all->nodes; i++)
        every[i] = all->nodes - 1 - i;
    OK(consm_predictor_new(&p, m, d, 1));
    predictor_set_largest(p, 1);
    for (int64_t k = 0; k < SINGLE; k++)
        ask(p, all, &every[k * all->nodes / SINGLE], 1);
    ask(p, all, every, all->nodes);
    assert_false(predictor_is_whole(p));
    predictor_set_largest(p, 0);
    ask(p, all, every, 5);
    assert_true(predictor_is_whole(p));
    consm_predictor_free(p);
    consm_prediction_free(all);
    mem_free(every);
}

static void every_model(void **state)
{
    struct consm_dataset *d = open_graph(), *own = open_own();
    (void)state;
    for (const struct model_def *const *def = model_list(); *def; def++) {
        const char *settings = strcmp((*def)->name, "consm") ? "" : "backbone=gcn";
        struct consm_model *m = train((*def)->name, d, settings);
        check_model(m, d);
        consm_model_free(m);
        m = train((*def)->name, own, settings);
        check_model(m, own);
        consm_model_free(m);
    }
    consm_dataset_free(own);
    consm_dataset_free(d);
}

static void every_kind_of_answer(void **state)
{
    static const struct {
        const char *model, *settings;
    } tried[] = {
        {"gcn", "layers=3 norm=batch residual=yes normalize_features=standard"},
        {"gcn", "norm=layer normalize_features=row coverage=0.8"},
        {"grand", "normalize_features=scale feature_gate=yes norm=batch"},
        {"gat", "layers=3 heads=4 hidden=16 coverage=0.9 coverage_by=class"},
        {"h2gcn", "layers=3"},
        {"fagcn", "self_loops=no"},
        {"gcn", "propagation=ngm"},
        {"gcn", "ensemble=3"},
        {"gcn", "threshold_for=1"},
        {"consm", "backbone=gat"},
        {"consm", "backbone=h2gcn"},
        {"consm", "backbone=fagcn ensemble=2"},
    };
    struct consm_dataset *d = open_graph();
    (void)state;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        struct consm_model *m = train(tried[i].model, d, tried[i].settings);
        check_model(m, d);
        consm_model_free(m);
    }
    consm_dataset_free(d);
}

/* Models that use other edges than the graph's: these thresholds drop, add or weigh edges, whatever
 * training chose. */
static void edges_that_do_not_count(void **state)
{
    struct consm_dataset *d = open_graph();
    struct consm_model *m = train("consm", d, "backbone=gcn");
    const struct {
        double drop_below, add_above;
        enum config_messages messages;
    } tried[] = {{0.5, 0, MESSAGES_NONE},
                 {0, 0.5, MESSAGES_NONE},
                 {0.5, 0.5, MESSAGES_NONE},
                 {0, 0, MESSAGES_WEIGHTED}};
    (void)state;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        struct consm_prediction *plain, *changed;
        m->config.drop_below = m->config.drop_first = m->config.add_above = 0;
        m->config.messages = MESSAGES_NONE;
        OK(consm_predict(&plain, m, d, 1));
        m->config.drop_below = m->config.drop_first = tried[i].drop_below;
        m->config.add_above = tried[i].add_above;
        m->config.messages = tried[i].messages;
        OK(consm_predict(&changed, m, d, 1));
        assert_memory_not_equal(plain->probability, changed->probability,
                                (size_t)(plain->nodes * plain->classes) * sizeof(float));
        check_model(m, d);
        consm_prediction_free(plain);
        consm_prediction_free(changed);
    }
    consm_model_free(m);
    consm_dataset_free(d);
}

static void trees(void **state)
{
    const struct boost_library *library;
    const struct plugin_services *services;
    (void)state;
    if (plugin_boost(&library, &services) < 0) {
        printf("trees: skipped, %s\n", consm_errmsg());
        return;
    }
    struct consm_dataset *d = open_graph();
    struct consm_model *m = train("trees", d, "");
    check_model(m, d);
    consm_model_free(m);
    consm_dataset_free(d);
}

/* A graph without features: structural ones read far, and are computed once. */
static void features_from_the_structure(void **state)
{
    struct consm_dataset *d;
    (void)state;
    OK(consm_dataset_open(&d, "karate", NULL));
    struct consm_model *m = train("gcn", d, "per_class=4");
    check_model(m, d);
    consm_model_free(m);
    consm_dataset_free(d);
}

/* ---- how much is computed ------------------------------------------------ */

static void a_small_part_is_enough(void **state)
{
    struct consm_dataset *d = open_graph();
    struct consm_model *m = train("gcn", d, "");
    struct consm_predictor *p;
    struct consm_prediction *all;
    const int64_t number = 123;
    (void)state;
    OK(consm_predict(&all, m, d, 1));
    OK(consm_predictor_new(&p, m, d, 1));
    assert_int_equal(p->part[0].reach, 2);
    ask(p, all, &number, 1); /* a quarter of the graph is allowed */
    assert_false(predictor_is_whole(p));
    consm_predictor_free(p);
    consm_prediction_free(all);
    consm_model_free(m);
    consm_dataset_free(d);
}

/* As the table of docs/how-to/serving.md says. */
static void models_read_as_far_as_their_layers(void **state)
{
    static const struct {
        const char *model, *settings;
        int64_t reach;
    } tried[] = {{"mlp", "layers=3", 0},
                 {"gcn", "layers=3", 3},
                 {"gat", "", 2},
                 {"gin", "", 2},
                 {"fagcn", "layers=4", 4},
                 {"dropedge", "", 3},
                 {"appnp", "hops=5", 5},
                 {"grand", "hops=3", 3},
                 {"gcnii", "layers=6", 6},
                 {"ptdnet", "layers=2", 4},
                 {"h2gcn", "layers=2", 4},
                 {"h2gcn", "reach=1", 2},
                 {"consm", "backbone=gcn", 2}};
    struct consm_dataset *d = open_graph();
    (void)state;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        struct consm_model *m = train(tried[i].model, d, tried[i].settings);
        struct consm_predictor *p;
        OK(consm_predictor_new(&p, m, d, 1));
        if (p->part[0].reach != tried[i].reach)
            fail_msg("%s %s reads %lld steps: expected %lld", tried[i].model, tried[i].settings,
                     (long long)p->part[0].reach, (long long)tried[i].reach);
        consm_predictor_free(p);
        consm_model_free(m);
    }
    consm_dataset_free(d);
}

/* ---- threads, lives, faults ---------------------------------------------- */

struct crowd {
    struct consm_predictor *p;
    const struct consm_prediction *all;
    int64_t first;
};

static void *ask_many(void *arg)
{
    const struct crowd *c = arg;
    for (int64_t k = 0; k < 40; k++) {
        int64_t number[2] = {(c->first + 11 * k) % c->all->nodes, k};
        ask(c->p, c->all, number, 2);
    }
    return NULL;
}

static void threads_ask_at_once(void **state)
{
    enum { THREADS = 4 };
    struct consm_dataset *d = open_graph();
    struct consm_model *m = train("gat", d, "");
    struct consm_prediction *all;
    pthread_t thread[THREADS];
    struct crowd crowd[THREADS];
    struct consm_predictor *p;
    (void)state;
    OK(consm_predict(&all, m, d, 1));
    OK(consm_predictor_new(&p, m, d, 1));
    consm_dataset_free(d); /* the predictor holds it */
    for (int i = 0; i < THREADS; i++) {
        crowd[i] = (struct crowd){p, all, 100 * i};
        assert_int_equal(pthread_create(&thread[i], NULL, ask_many, &crowd[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    consm_predictor_free(p);
    consm_prediction_free(all);
    consm_model_free(m);
}

static void ids_and_faults(void **state)
{
    struct consm_dataset *own = open_own(), *d = open_graph();
    struct consm_model *m = train("gcn", own, "");
    struct consm_prediction *guess;
    const char *const id[] = {"n299", "n0", "n17"}, *const strange[] = {"n1", "m1"};
    const char *const named[] = {"499", "0"}, *const no_number[] = {"500"}, *const odd[] = {"07"};
    int64_t found[3];
    (void)state;
    OK(consm_dataset_find(found, own, id, 3));
    assert_int_equal(found[0], 299);
    assert_int_equal(found[1], 0);
    assert_int_equal(found[2], 17);
    assert_int_equal(consm_dataset_find(found, own, strange, 2), CONSM_ENOTFOUND);
    assert_non_null(strstr(consm_errmsg(), "has no node \"m1\""));
    OK(consm_dataset_find(found, d, named, 2));
    assert_int_equal(found[0], 499);
    assert_int_equal(consm_dataset_find(found, d, no_number, 1), CONSM_ENOTFOUND);
    assert_int_equal(consm_dataset_find(found, d, odd, 1), CONSM_ENOTFOUND);
    found[0] = 300;
    assert_int_equal(consm_predict_nodes(&guess, m, own, found, 1, 1), CONSM_ENOTFOUND);
    assert_null(guess);
    assert_non_null(strstr(consm_errmsg(), "no node number 300: expected 0 to 299"));
    assert_int_equal(consm_predict_nodes(&guess, m, own, found, 0, 1), CONSM_EINVAL);
    found[0] = 3;
    assert_int_equal(consm_predict_nodes(&guess, m, d, found, 1, 1), CONSM_EINVAL);
    assert_non_null(strstr(consm_errmsg(), "12 features, but the model was trained on 40"));
    OK(consm_predict_nodes(&guess, m, own, found, 1, 1));
    consm_prediction_free(guess);
    consm_model_free(m);
    consm_dataset_free(own);
    consm_dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model),
        cmocka_unit_test(every_kind_of_answer),
        cmocka_unit_test(edges_that_do_not_count),
        cmocka_unit_test(trees),
        cmocka_unit_test(features_from_the_structure),
        cmocka_unit_test(a_small_part_is_enough),
        cmocka_unit_test(models_read_as_far_as_their_layers),
        cmocka_unit_test(threads_ask_at_once),
        cmocka_unit_test(ids_and_faults),
    };
    if (UNDER_TSAN) /* the others run on one thread */
        cmocka_set_test_filter("threads_ask_*");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
