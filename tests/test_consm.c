/* ConSM as a whole: its matching module learns which edges mislead, reports if it does not, and the
 * parts of its loss and trust weights are right. */
#include "narrow.h"
#include "training.h"

#include "base/rng.h"
#include "match/matcher_inside.h"
#include "train/consm/consm.h"
#include "train/supervised.h"
#include <math.h>
#include <string.h>

static struct train_options consm_options(int64_t epochs)
{
    const struct model_def *model;
    OK(model_find(&model, "consm"));
    struct train_options o = options_for(model, epochs);
    o.config.backbone = BACKBONE_GCN;
    return o;
}

/* ---- what M knows ---------------------------------------------------------------------------- */

static void train_consm(struct train_result *result, struct trust *trust, struct scene *scene,
                        const struct train_options *options)
{
    struct backend *backend;
    struct session *s;
    const float *kept;
    OK(backend_open(&backend, NULL, 2));
    OK(session_new(&s, &scene->problem, options, backend));
    OK(session_train(s, result));
    OK(params_read(&kept, session_params(s), PLACE_VALUE));
    kept += session_params(s)->item[params_find(session_params(s), CONSM_TRUST)].offset;
    trust_read(trust, kept);
    session_free(s);
    backend_close(backend);
}

/* Most edges mislead: M must learn its pairs and generalise to others. It did neither when it saw
 * only means over two hops through a ReLU that died. */
static void matching_learns_where_edges_lie(void **state)
{
    (void)state;
    struct scene scene;
    struct train_result result;
    struct trust trust;
    scene_open(&scene, "csbm:homophily=0.1", 20);
    struct train_options options = consm_options(9);
    train_consm(&result, &trust, &scene, &options);
    assert_true(result.match.learned_auc > 0.95);
    assert_true(result.match.held_auc > 0.7);
    assert_true(result.match.known_auc > 0.7);
    assert_false(result.match.at_chance);
    assert_true(trust.by[1 + WITNESS_MATCH] != 0);
    scene_close(&scene);
}

/* Uninformative features: M memorises its pairs, this is detected, and it gets no weight in the
 * trust scores. */
static void matching_at_chance_is_left_out(void **state)
{
    (void)state;
    struct scene scene;
    struct train_result result;
    struct trust trust;
    scene_open(&scene, "csbm:homophily=0.2,signal=0", 20);
    struct train_options options = consm_options(9);
    train_consm(&result, &trust, &scene, &options);
    assert_true(result.match.learned_auc > 0.9);
    assert_true(fabs(result.match.held_auc - 0.5) < 0.15);
    assert_true(result.match.at_chance);
    assert_true(fabs(trust.by[1 + WITNESS_MATCH]) < 1e-3);
    scene_close(&scene);
}

/* Three labels a class: nothing can be held out, and nothing is claimed. */
static void few_labels_are_not_held_out(void **state)
{
    (void)state;
    struct scene scene;
    struct train_result result;
    struct trust trust;
    scene_open(&scene, "csbm:nodes=200,homophily=0.5", 3);
    struct train_options options = consm_options(6);
    train_consm(&result, &trust, &scene, &options);
    assert_true(isnan(result.match.held_auc));
    assert_false(result.match.at_chance);
    scene_close(&scene);
}

/* ---- L_SUP ----------------------------------------------------------------------------------- */

/* Equal coefficients: exactly ⌊ζ|E|⌋ edges attract, the earlier ones. */
static void ties_do_not_add_edges(void **state)
{
    (void)state;
    enum { EDGES = 101, NODES = 2 * EDGES };
    int32_t left[EDGES], right[EDGES];
    uint8_t role[NODES] = {0};
    float w[EDGES], slope[EDGES], constant;
    struct edges edges = {.count = EDGES, .left = left, .right = right};
    struct train_options o = consm_options(3);
    for (int e = 0; e < EDGES; e++) {
        left[e] = 2 * e;
        right[e] = 2 * e + 1;
        w[e] = 0.25f;
    }
    for (int share = 0; share <= 10; share++) {
        double zeta = share / 10.0;
        int confident = (int)floor(zeta * EDGES);
        OK(consm_propagation(slope, &constant, w, &edges, role, 1, zeta, &o.config, NULL));
        for (int e = 0; e < EDGES; e++)
            assert_int_equal(slope[e] < 0, e < confident);
    }
}

/* ---- guesses --------------------------------------------------------------------------------- */

/* Most confident first, in the classes' shares, among untaken nodes with enough confidence. */
static void guesses_keep_the_classes_shares(void **state)
{
    (void)state;
    enum { NODES = 8, CLASSES = 2 };
    float logits[NODES * CLASSES] = {0};
    uint8_t taken[NODES] = {0};
    double share[CLASSES] = {0.75, 0.25};
    struct guess found[NODES];
    int64_t left[CLASSES];
    float bar[CLASSES];
    struct guess_room room = {found, left, bar};
    struct team *team;
    OK(team_new(&team, 2));
    for (int i = 0; i < NODES; i++) /* even nodes: class 0; the later the surer; node 0 undecided */
        logits[i * CLASSES + i % 2] = (float)i;
    taken[6] = 1;
    int64_t count;
    OK(guess_surest(&count, &room, logits, NODES, CLASSES, taken, share, 4, 0.6, NULL, team));
    assert_int_equal(count, 3);
    assert_int_equal(found[0].node, 7);
    assert_int_equal(found[1].node, 4);
    assert_int_equal(found[2].node, 2);
    for (int64_t i = 0; i < count; i++)
        assert_int_equal(found[i].label, found[i].node % 2);
    team_free(team);
}

/* Of many guesses, many of them equally sure, the same ones as sorting all of them gives. */
static void few_of_many_guesses_are_the_surest(void **state)
{
    (void)state;
    enum { NODES = 5000, CLASSES = 3, MOST = 50 };
    static float logits[NODES * CLASSES];
    static uint8_t taken[NODES], chosen[NODES];
    static struct guess found[NODES];
    const double share[CLASSES] = {0.5, 0.41, 0.01};
    int64_t left[CLASSES], count, of[CLASSES] = {0};
    float bar[CLASSES];
    struct guess_room room = {found, left, bar};
    struct team *team;
    struct rng r;
    OK(team_new(&team, 3));
    rng_init(&r, 3, 3);
    for (int i = 0; i < NODES * CLASSES; i++)
        logits[i] = (float)rng_below(&r, 9);
    for (int i = 0; i < NODES; i++)
        taken[i] = rng_below(&r, 5) == 0;
    OK(guess_surest(&count, &room, logits, NODES, CLASSES, taken, share, MOST, 0.4, NULL, team));
    for (int64_t g = 0; g < count; g++) {
        const struct guess *a = &found[g], *b = &found[g + 1 < count ? g + 1 : g];
        assert_false(taken[a->node]);
        assert_true(a->chance > b->chance || (a->chance == b->chance && a->node <= b->node));
        chosen[a->node] = 1;
        of[a->label]++;
    }
    for (int k = 0; k < CLASSES; k++)
        assert_int_equal(of[k], (int64_t)(share[k] * MOST));
    for (int64_t i = 0; i < NODES; i++) { /* nobody left out is ahead of one that was chosen */
        int best = 0;
        double sum = 0;
        for (int k = 1; k < CLASSES; k++)
            best = logits[i * CLASSES + k] > logits[i * CLASSES + best] ? k : best;
        for (int k = 0; k < CLASSES; k++)
            sum += exp((double)(logits[i * CLASSES + k] - logits[i * CLASSES + best]));
        const float chance = (float)(1 / sum);
        for (int64_t g = 0; !chosen[i] && !taken[i] && g < count; g++)
            assert_true(found[g].label != best || found[g].chance > chance ||
                        (found[g].chance == chance && found[g].node < i));
    }
    team_free(team);
}

/* The loss of labels and guesses is one mean over all of them, for every sample that a model
 * predicts; without guesses it equals the labels' loss to the bit. */
static void guesses_are_labels_among_labels(void **state)
{
    (void)state;
    enum { NODES = 6, CLASSES = 3, SAMPLES = 2 };
    const int32_t given[] = {0, 3}, both[] = {0, 1, 3, 4, 5}, truth[NODES] = {2, 0, 0, 1, 0, 0};
    int32_t guess[NODES] = {0, 1, 0, 0, 2, 1}, all[NODES] = {2, 1, 0, 1, 2, 1};
    float sure[NODES] = {0, 1, 0, 0, 1, 1}, weight[NODES], logits[NODES * CLASSES * SAMPLES];
    int32_t row[NODES] = {0, 1, 2, 3, 4, 5};
    struct index *labelled, *joined, *everyone;
    struct problem problem = {.nodes = NODES, .classes = CLASSES};
    struct backend *backend;
    struct params *params;
    struct program *p;
    const float *value;
    OK(index_new(&labelled, 2, NODES));
    OK(index_new(&joined, 5, NODES));
    OK(index_new(&everyone, NODES, NODES));
    OK(index_set(labelled, given));
    OK(index_set(joined, both));
    OK(index_set(everyone, row));
    for (int i = 0; i < NODES * CLASSES * SAMPLES; i++)
        logits[i] = (float)((i * 7) % 11) / 4;
    struct consm own = {
        .guesses = {.label = guess, .sure = sure, .weight = weight, .everyone = everyone}};
    struct session s = {.own = &own, .problem = &problem, .labelled = labelled};
    for (int heed = 0; heed < 2; heed++) {
        consm_heed_guesses(&s, heed);
        OK(backend_open(&backend, NULL, 1));
        OK(params_new(&params));
        OK(program_new(&p, params, false));
        node x = input(p, logits, NODES, CLASSES * SAMPLES);
        node labels = supervised_loss(p, x, CLASSES, labelled, truth, NULL);
        node with = consm_guess_loss(&s, p, labels, x);
        node mean = heed ? supervised_loss(p, x, CLASSES, joined, all, NULL) : labels;
        node apart = concat(p, with, mean);
        program_keep(p, apart);
        OK(program_compile(p, backend));
        OK(program_run(p, &(struct step){0}));
        OK(program_read(&value, p, apart));
        assert_near(value[0], value[1], heed ? 1e-6 : 0);
        program_free(p);
        params_free(params);
        backend_close(backend);
    }
    index_free(labelled);
    index_free(joined);
    index_free(everyone);
}

/* ---- entropy --------------------------------------------------------------------------------- */

/* γ times the mean entropy of the nodes that do not train; with γ = 0 the loss is unchanged. */
static void the_entropy_is_of_unlabelled_nodes(void **state)
{
    (void)state;
    enum { NODES = 5, CLASSES = 3 };
    float unlabelled[NODES] = {1, 0, 1, 1, 0}, logits[NODES * CLASSES];
    struct problem problem = {.nodes = NODES, .classes = CLASSES};
    double expected = 0;
    for (int i = 0; i < NODES; i++) {
        double total = 0;
        for (int k = 0; k < CLASSES; k++) {
            logits[i * CLASSES + k] = (float)(i * 5 + k * k) / 7;
            total += exp((double)logits[i * CLASSES + k]);
        }
        for (int k = 0; k < CLASSES && unlabelled[i] > 0; k++) {
            double p = exp((double)logits[i * CLASSES + k]) / total;
            expected -= p * log(p) / 3;
        }
    }
    struct consm own = {.entropy = {.unlabelled = unlabelled, .count = 3}};
    struct session s = {.own = &own, .problem = &problem};
    for (int gamma = 0; gamma < 3; gamma++) {
        struct backend *backend;
        struct params *params;
        struct program *p;
        const float *value;
        consm_weigh_entropy(&s, gamma);
        OK(backend_open(&backend, NULL, 1));
        OK(params_new(&params));
        OK(program_new(&p, params, false));
        node loss =
            consm_entropy_loss(&s, p, fill(p, 0.25f, 1, 1), input(p, logits, NODES, CLASSES));
        program_keep(p, loss);
        OK(program_compile(p, backend));
        OK(program_run(p, &(struct step){0}));
        OK(program_read(&value, p, loss));
        assert_near(value[0], 0.25 + gamma * expected, gamma ? 1e-6 : 0);
        program_free(p);
        params_free(params);
        backend_close(backend);
    }
}

/* The cost of the first round with 100 updates: four strengths and the best of them over all edges
 * for ten; the best, one with the entropy and two with guesses for thirty; one for all. The two
 * best pulls if guesses are given; nothing to choose. */
static void a_choice_has_its_price(void **state)
{
    (void)state;
    struct config c = consm_options(9).config;
    struct consm_arm arm[CONSM_ARMS];
    c.gnn_steps = 100;
    assert_int_equal(consm_arms(arm, &c), 21);
    assert_true(arm[0].lambda == 0 && !arm[6].guesses && arm[7].lambda == 0 && arm[13].guesses);
    assert_true(arm[13].entropy == 0 && arm[14].entropy > 0 && !arm[20].guesses);
    assert_int_equal(consm_round_updates(&c, 1), 5 * 10 + 20 + 3 * 30 + 70);
    assert_int_equal(consm_round_updates(&c, 2), 100);
    c.entropy = 0;
    assert_int_equal(consm_round_updates(&c, 1), 5 * 10 + 20 + 2 * 30 + 70);
    c.guesses = GUESSES_NO;
    assert_int_equal(consm_round_updates(&c, 1), 5 * 10 + 2 * 20 + 70);
    c.guesses = GUESSES_AUTO;
    c.lambda = 5;
    c.attract = ATTRACT_ZETA;
    assert_int_equal(consm_round_updates(&c, 1), 10 + 20 + 30 + 70);
    c.guesses = GUESSES_YES;
    assert_int_equal(consm_round_updates(&c, 1), 100);
    c.entropy = NAN;
    assert_int_equal(consm_round_updates(&c, 1), 10 + 20 + 30 + 70);
}

/* Half a point behind, guesses continue; two points behind, or never run, they do not. */
static void guesses_have_some_credit(void **state)
{
    (void)state;
    assert_true(consm_guesses_go_on(0.7, 0.6) && consm_guesses_go_on(0.7, 0.7));
    assert_true(consm_guesses_go_on(0.695, 0.7));
    assert_false(consm_guesses_go_on(0.68, 0.7));
    assert_false(consm_guesses_go_on(-1, 0.7));
}

/* The parameters at the end of the warm-up, the best then, and after the first round's first
 * update. */
struct watch {
    struct session *s;
    int64_t warmup, best_step;
    float *end, *best, *first;
};

static void copy_params(float *to, struct session *s, enum place place)
{
    const float *from;
    OK(params_read(&from, session_params(s), place));
    memcpy(to, from, (size_t)session_params(s)->size * sizeof *to);
}

static bool watch_update(void *ctx, const struct progress *progress)
{
    struct watch *w = ctx;
    if (progress->epoch == w->warmup) {
        copy_params(w->end, w->s, PLACE_VALUE);
        copy_params(w->best, w->s, PLACE_BEST);
        w->best_step = w->s->learner.best_step;
    } else if (progress->epoch == w->warmup + 1) {
        copy_params(w->first, w->s, PLACE_VALUE);
    }
    return false;
}

static double apart(const float *a, const float *b, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(sum);
}

/* With steps so large that the warm-up ends past its best, the first round goes back to the best.
 */
static void rounds_begin_at_the_warm_ups_best(void **state)
{
    (void)state;
    struct scene scene;
    struct train_result result;
    struct backend *backend;
    struct watch w = {.warmup = 40};
    scene_small(&scene);
    struct train_options options = consm_options(45);
    options.config.warmup = w.warmup;
    options.config.prune_by = PRUNE_BY_NONE;
    options.config.match_steps = 5;
    options.config.lr = 0.1;
    options.config.lambda = 1;
    options.config.attract = ATTRACT_ZETA;
    options.config.guesses = GUESSES_NO;
    options.config.entropy = 0;
    options.progress = watch_update;
    options.progress_ctx = &w;
    OK(backend_open(&backend, NULL, 1));
    OK(session_new(&w.s, &scene.problem, &options, backend));
    int64_t count = session_params(w.s)->size;
    OK(NEW(w.end, count));
    OK(NEW(w.best, count));
    OK(NEW(w.first, count));
    OK(session_train(w.s, &result));
    assert_true(w.best_step > 0 && w.best_step < w.warmup);
    assert_true(apart(w.first, w.best, count) < apart(w.first, w.end, count) / 2);
    mem_free(w.end);
    mem_free(w.best);
    mem_free(w.first);
    session_free(w.s);
    backend_close(backend);
    scene_close(&scene);
}

/* Updates of the GNN and of the matching module in three rounds after a warm-up of five. The GNN
 * does not change, so no round improves. */
struct spent {
    int64_t gnn, matching;
};

static struct spent three_idle_rounds(int64_t round_patience)
{
    struct scene scene;
    struct train_result result;
    struct backend *backend;
    struct session *s;
    scene_small(&scene);
    struct train_options options = consm_options(100);
    options.config.lr = 0;
    options.config.warmup = 5;
    options.config.rounds = 3;
    options.config.gnn_steps = 20;
    options.config.match_steps = 8;
    options.config.round_patience = round_patience;
    options.config.lambda = 1;
    options.config.attract = ATTRACT_ZETA;
    options.config.guesses = GUESSES_NO;
    options.config.entropy = 0;
    OK(backend_open(&backend, NULL, 1));
    OK(session_new(&s, &scene.problem, &options, backend));
    OK(session_train(s, &result));
    struct spent spent = {result.epochs, ((const struct consm *)s->own)->matcher->learner.steps};
    session_free(s);
    backend_close(backend);
    scene_close(&scene);
    return spent;
}

/* Rounds that validation does not end are complete, as in the paper. Otherwise later rounds train
 * the matching module a quarter as much, and end after a quarter without improvement. */
static void later_rounds_are_shorter(void **state)
{
    (void)state;
    struct spent whole = three_idle_rounds(0), shorter = three_idle_rounds(3);
    assert_int_equal(whole.gnn, 5 + 20 + 20 + 20);
    assert_int_equal(whole.matching, 8 + 8 + 8);
    assert_int_equal(shorter.gnn, 5 + 20 + 5 + 5);
    assert_int_equal(shorter.matching, 8 + 2 + 2);
    assert_int_equal(three_idle_rounds(1).gnn, 5 + 20);
}

/* With guesses as labels ConSM learns differently, but never from test labels: changing those
 * changes nothing. */
static void guesses_read_no_hidden_label(void **state)
{
    (void)state;
    struct scene scene;
    struct train_result result;
    struct trust heeded, changed, without;
    scene_small(&scene);
    struct train_options options = consm_options(30);
    options.config.lambda = 1;
    options.config.attract = ATTRACT_ZETA;
    options.config.guesses = GUESSES_YES;
    options.config.grow = 40;
    narrow(&options);
    options.config.entropy = 0;
    train_consm(&result, &heeded, &scene, &options);
    options.config.guesses = GUESSES_NO;
    train_consm(&result, &without, &scene, &options);
    assert_memory_not_equal(&heeded, &without, sizeof heeded);
    options.config.guesses = GUESSES_YES;
    for (int64_t i = 0; i < scene.data->nodes; i++)
        if (scene.role[i] == SPLIT_TEST)
            scene.data->label[i] = (scene.data->label[i] + 1) % 3;
    train_consm(&result, &changed, &scene, &options);
    assert_memory_equal(&heeded, &changed, sizeof heeded);
    scene_close(&scene);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Without a second class there are no negative pairs: those have weight 0, the others all. */
static void pairs_without_another_class_weigh_nothing(void **state)
{
    (void)state;
    struct scene scene;
    struct backend *backend;
    struct matcher *m;
    struct train_options o = consm_options(3);
    int32_t train[6], count = 0;
    scene_small(&scene);
    const struct problem *p = &scene.problem;
    for (int32_t i = 0; count < 6; i++)
        if (p->label[i] == 1)
            train[count++] = i;
    struct edges *edges;
    OK(edges_new(&edges, p->graph));
    struct match_data data = {.nodes = p->nodes,
                              .features = p->features,
                              .classes = p->classes,
                              .graph = p->graph,
                              .edges = edges,
                              .sparse = p->sparse,
                              .dense = p->dense,
                              .label = p->label,
                              .train = train,
                              .labelled = count};
    OK(backend_open(&backend, NULL, 1));
    OK(matcher_new(&m, &data, &o.config, 1, backend));
    int positive = 0, negative = 0;
    for (int64_t k = 0; k < m->pairs; k++) {
        assert_true(m->target[k] == 1 ? m->weight[k] > 0 : m->weight[k] == 0);
        positive += m->target[k] == 1;
        negative += m->target[k] == 0;
    }
    assert_int_equal(positive, m->pairs / 2);
    assert_int_equal(negative, m->pairs / 2);
    matcher_free(m);
    backend_close(backend);
    edges_free(edges);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matching_learns_where_edges_lie),
        cmocka_unit_test(matching_at_chance_is_left_out),
        cmocka_unit_test(few_labels_are_not_held_out),
        cmocka_unit_test(ties_do_not_add_edges),
        cmocka_unit_test(guesses_keep_the_classes_shares),
        cmocka_unit_test(few_of_many_guesses_are_the_surest),
        cmocka_unit_test(guesses_are_labels_among_labels),
        cmocka_unit_test(the_entropy_is_of_unlabelled_nodes),
        cmocka_unit_test(a_choice_has_its_price),
        cmocka_unit_test(guesses_have_some_credit),
        cmocka_unit_test(rounds_begin_at_the_warm_ups_best),
        cmocka_unit_test(later_rounds_are_shorter),
        cmocka_unit_test(guesses_read_no_hidden_label),
        cmocka_unit_test(pairs_without_another_class_weigh_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
