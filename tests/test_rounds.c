/* What rounds pass on: new guesses, the parameters and coefficients of the best epoch so far, and
 * pairs of two classes. Models that alternate phases (ConSM, GAM) are observed from outside, update
 * by update. */
#include "training.h"

#include "match/matcher_inside.h"
#include "train/coefficients.h"
#include "train/consm/consm.h"

#include <math.h>
#include <string.h>

static struct train_options rounds_of(const char *name, int64_t warmup, int64_t steps)
{
    const struct model_def *model;
    OK(model_find(&model, name));
    struct train_options o = options_for(model, warmup + 3 * steps);
    o.config.warmup = warmup;
    o.config.gnn_steps = steps;
    o.config.rounds = 3;
    o.config.match_steps = 5;
    OK(config_set(&o.config, "backbone", "gcn"));
    return o;
}

static double apart(const float *a, const float *b, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(sum);
}

/* ---- guesses ------------------------------------------------------------- */

/* Guesses are made anew: a node that is not among this round's most confident has no weight in it.
 */
static void guesses_are_made_anew(void **state)
{
    (void)state;
    struct scene scene;
    struct backend *backend;
    struct session *s;
    scene_small(&scene);
    struct train_options options = rounds_of("consm", 3, 1);
    options.config.guesses = GUESSES_YES;
    options.config.grow = 10;
    options.config.grow_confidence = 0;
    OK(backend_open(&backend, NULL, 1));
    OK(session_new(&s, &scene.problem, &options, backend));
    const struct consm_guesses *g = &((const struct consm *)s->own)->guesses;
    uint8_t *first = calloc((size_t)scene.problem.nodes, 1);
    int64_t left = 0;
    for (int turn = 0; turn < 2; turn++) {
        OK(params_init(session_params(s), (uint64_t)turn + 50)); /* another opinion */
        OK(consm_guess(s, 1));
        consm_heed_guesses(s, true);
        int64_t sure = 0;
        for (int64_t i = 0; i < scene.problem.nodes; i++) {
            sure += g->weight[i] > 0;
            left += turn == 1 && first[i] && g->weight[i] == 0;
            first[i] = g->weight[i] > 0;
            assert_false(g->weight[i] > 0 && scene.problem.role[i] == SPLIT_TRAIN);
        }
        assert_in_range(sure, 1, 10);
    }
    assert_true(left > 0); /* the two opinions differ, or this test shows nothing */
    free(first);
    session_free(s);
    backend_close(backend);
    scene_close(&scene);
}

/* ---- entropy ------------------------------------------------------------- */

/* A run that may use the entropy, and the same one without. */
struct entropy_pair {
    struct outcome open, without;
    double taken; /* γ that the open run ended with */
};

static void entropy_runs(struct entropy_pair *out, const char *graph)
{
    struct scene scene;
    struct backend *backend;
    struct session *s;
    scene_open(&scene, graph, 10);
    struct train_options options = rounds_of("consm", 60, 40);
    options.config.epochs = 1000;
    options.config.rounds = 1;
    options.config.lambda = 0;
    options.config.guesses = GUESSES_NO;
    OK(config_set(&options.config, "backbone", "appnp"));
    OK(backend_open(&backend, NULL, 1));
    OK(session_new(&s, &scene.problem, &options, backend));
    finish_training(&out->open, s, &scene.problem);
    out->taken = s->options.config.entropy;
    session_free(s);
    options.config.entropy = 0;
    train_with(&out->without, &scene.problem, &options, backend);
    backend_close(backend);
    scene_close(&scene);
}

/* The entropy is an arm: it continues if validation is better with it; otherwise the run equals the
 * one without, to the bit. */
static void entropy_is_taken_when_it_validates(void **state)
{
    (void)state;
    struct entropy_pair p;
    entropy_runs(&p,
                 "csbm:nodes=300,classes=3,degree=4,features=20,signal=1.2,homophily=0.8,seed=3");
    assert_true(p.taken == 1);
    assert_true(p.open.result.val_acc > p.without.result.val_acc);
    outcome_free(&p.open);
    outcome_free(&p.without);
    entropy_runs(&p,
                 "csbm:nodes=300,classes=3,degree=4,features=20,signal=1.2,homophily=0.8,seed=15");
    assert_true(p.taken == 0);
    assert_same(&p.open, &p.without, "entropy that was given up");
    outcome_free(&p.open);
    outcome_free(&p.without);
}

/* ---- the best so far ----------------------------------------------------- */

struct watch {
    struct session *s;
    int64_t warmup, steps, checked;
    float *end, *best, *now, *w, *best_w; /* best_w: what the weights were at the best update */
    int64_t best_step, edges;
};

static void take_weights(void *ctx, const char *name, void *memory, size_t bytes)
{
    struct watch *w = ctx;
    if (strcmp(name, "gam.w") == 0) {
        w->edges = (int64_t)(bytes / sizeof(float));
        w->w = memory;
    }
}

static void copy_params(float *to, struct session *s, enum place place)
{
    const float *from;
    OK(params_read(&from, session_params(s), place));
    memcpy(to, from, (size_t)session_params(s)->size * sizeof *to);
}

/* After the last update of a phase the best and the last parameters are recorded; after the first
 * update of the next one the parameters must be closer to the best, if the two are far apart. */
static bool watch_rounds(void *ctx, const struct progress *p)
{
    struct watch *w = ctx;
    int64_t count = session_params(w->s)->size, behind = p->epoch - w->warmup;
    if (behind > 0 && behind % w->steps == 1 && w->best_step < p->epoch - 1) {
        copy_params(w->now, w->s, PLACE_VALUE);
        assert_true(apart(w->now, w->best, count) < apart(w->now, w->end, count) / 2);
        w->checked++;
    }
    if (behind >= 0 && behind % w->steps == 0) {
        copy_params(w->end, w->s, PLACE_VALUE);
        copy_params(w->best, w->s, PLACE_BEST);
        w->best_step = w->s->learner.best_step;
    }
    return false;
}

static void rounds_begin_at_the_best(void **state)
{
    (void)state;
    static const char *const name[] = {"consm", "gam"};
    for (int m = 0; m < 2; m++) {
        struct scene scene;
        struct backend *backend;
        struct train_result result;
        struct watch w = {.warmup = 40, .steps = 25};
        scene_small(&scene);
        struct train_options options = rounds_of(name[m], w.warmup, w.steps);
        options.config.lr = 0.1; /* so long that a phase is past its best at its end */
        options.config.prune_by = PRUNE_BY_NONE;
        options.config.lambda = 1;
        options.config.attract = ATTRACT_ZETA;
        options.config.guesses = GUESSES_NO;
        options.config.entropy = 0;
        options.config.grow = 0;
        options.progress = watch_rounds;
        options.progress_ctx = &w;
        OK(backend_open(&backend, NULL, 1));
        OK(session_new(&w.s, &scene.problem, &options, backend));
        int64_t count = session_params(w.s)->size;
        OK(NEW(w.end, count));
        OK(NEW(w.best, count));
        OK(NEW(w.now, count));
        OK(session_train(w.s, &result));
        assert_in_range(w.checked, 2, 3);     /* the warm-up's end and later ones */
        copy_params(w.now, w.s, PLACE_VALUE); /* the run ends there, too */
        assert_true(apart(w.now, w.best, count) <= apart(w.now, w.end, count));
        mem_free(w.end);
        mem_free(w.best);
        mem_free(w.now);
        session_free(w.s);
        backend_close(backend);
        scene_close(&scene);
    }
}

static bool watch_weights(void *ctx, const struct progress *p)
{
    struct watch *w = ctx;
    (void)p;
    OK(session_memory(w->s, take_weights, w));
    assert_true(w->edges > 0);
    if (!w->best_w)
        w->best_w = calloc((size_t)w->edges, sizeof *w->best_w);
    if (w->s->learner.best_step != w->best_step) {
        w->best_step = w->s->learner.best_step;
        memcpy(w->best_w, w->w, (size_t)w->edges * sizeof *w->w);
        w->checked += p->epoch > w->warmup + w->steps;
    }
    return false;
}

/* GAM's coefficients are those that were used when its best epoch was trained. */
static void gam_keeps_the_best_epochs_weights(void **state)
{
    (void)state;
    struct scene scene;
    struct backend *backend;
    struct train_result result;
    struct watch w = {.warmup = 3, .steps = 12};
    scene_small(&scene);
    struct train_options options = rounds_of("gam", w.warmup, w.steps);
    struct edges *edges;
    options.progress = watch_weights;
    options.progress_ctx = &w;
    OK(backend_open(&backend, NULL, 1));
    OK(session_new(&w.s, &scene.problem, &options, backend));
    OK(session_train(w.s, &result));
    assert_true(w.checked > 0); /* the best epoch is of a later round than the first */
    OK(edges_new(&edges, scene.problem.graph));
    float *found = calloc((size_t)edges->count, sizeof *found);
    OK(session_coefficients(w.s, found, edges));
    assert_int_equal(edges->count, w.edges);
    assert_memory_equal(found, w.best_w, (size_t)w.edges * sizeof *found);
    free(found);
    free(w.best_w);
    edges_free(edges);
    session_free(w.s);
    backend_close(backend);
    scene_close(&scene);
}

/* ---- ties ---------------------------------------------------------------- */

/* Ties between epochs are broken by the loss of validation nodes only, written out here. */
static void ties_go_by_validations_loss(void **state)
{
    (void)state;
    struct scene scene;
    struct backend *backend;
    struct session *s;
    const struct model_def *model;
    double loss, found;
    scene_small(&scene);
    OK(model_find(&model, "gcn"));
    struct train_options options = options_for(model, 10);
    options.config.ties = TIES_LOSS;
    OK(backend_open(&backend, NULL, 1));
    OK(session_new(&s, &scene.problem, &options, backend));
    const struct problem *p = &scene.problem;
    for (int step = 0; step < 5; step++) {
        const float *logits;
        double sum[4] = {0}, count[4] = {0};
        OK(session_step(s, &loss));
        s->learner.best = -1; /* so that this one is the best */
        OK(session_validate(&found, s));
        OK(session_logits(&logits, s));
        for (int64_t i = 0; i < p->nodes; i++) {
            const float *x = logits + i * p->classes;
            double total = 0;
            for (int32_t k = 0; k < p->classes; k++)
                total += exp((double)x[k]);
            if (p->label[i] >= 0) {
                sum[p->role[i]] += log(total) - (double)x[p->label[i]];
                count[p->role[i]]++;
            }
        }
        assert_near(s->learner.best_loss, sum[SPLIT_VAL] / count[SPLIT_VAL], 1e-6);
        assert_true(fabs(sum[SPLIT_TRAIN] / count[SPLIT_TRAIN] - s->learner.best_loss) > 1e-4);
    }
    session_free(s);
    backend_close(backend);
    scene_close(&scene);
}

/* ---- pairs --------------------------------------------------------------- */

/* Positive pairs are two nodes of one class, negative ones of two classes, in every update mode. */
static void pairs_are_what_they_are_called(void **state)
{
    (void)state;
    static const char *const update[] = {"ego", "batch", "pair"};
    for (int u = 0; u < 3; u++) {
        struct scene scene;
        struct backend *backend;
        struct session *s;
        struct train_result result;
        int64_t seen[2] = {0};
        scene_small(&scene);
        struct train_options options = rounds_of("consm", 2, 1);
        options.config.rounds = 1;
        OK(config_set(&options.config, "match_update", update[u]));
        OK(backend_open(&backend, NULL, 1));
        OK(session_new(&s, &scene.problem, &options, backend));
        OK(session_train(s, &result));
        struct matcher *m = ((struct consm *)s->own)->matcher;
        const struct match_data *d = &m->data;
        for (int turn = 0; turn < 40; turn++) {
            OK(matcher_draw_pairs(m));
            for (int64_t k = 0; k < m->pairs; k++) {
                int32_t left = d->label[d->train[m->left->row[k]]];
                int32_t right = d->label[d->train[m->right->row[k]]];
                assert_true((left == right) == (m->target[k] == 1));
                assert_int_not_equal(m->left->row[k], m->right->row[k]);
                seen[m->target[k] == 1]++;
            }
        }
        assert_true(seen[0] > 0 && seen[1] > 0);
        session_free(s);
        backend_close(backend);
        scene_close(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guesses_are_made_anew),
        cmocka_unit_test(entropy_is_taken_when_it_validates),
        cmocka_unit_test(rounds_begin_at_the_best),
        cmocka_unit_test(gam_keeps_the_best_epochs_weights),
        cmocka_unit_test(ties_go_by_validations_loss),
        cmocka_unit_test(pairs_are_what_they_are_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
