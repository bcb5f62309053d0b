/* ConSM's arms: how they are ordered, which one is tried over all edges, and what a checkpoint may
 * say about them. */
#include "training.h"

#include "train/consm/consm.h"

#include <math.h>

/* A warm-up of five updates, three rounds. */
static struct train_options options_of(int64_t steps)
{
    const struct model_def *model;
    OK(model_find(&model, "consm"));
    struct train_options o = options_for(model, 5 + 3 * steps);
    o.config.warmup = 5;
    o.config.gnn_steps = steps;
    o.config.rounds = 3;
    o.config.match_steps = 5;
    OK(config_set(&o.config, "backbone", "gcn"));
    return o;
}

/* Two arms in both orders: `first` must come first. */
static void comes_before(struct consm_tried first, struct consm_tried second)
{
    for (int turned = 0; turned < 2; turned++) {
        struct consm_tried t[] = {turned ? second : first, turned ? first : second};
        consm_order_arms(t, 2);
        assert_int_equal(t[0].number, first.number);
        assert_int_equal(t[1].number, second.number);
    }
}

/* Arms by later discovery, then by validation, then the weaker pull; guesses have a credit of one
 * point. */
static void arms_are_ordered(void **state)
{
    (void)state;
    comes_before((struct consm_tried){.number = 2, .found = 7, .val = 0.5},
                 (struct consm_tried){.number = 1, .found = 6, .val = 0.9});
    comes_before((struct consm_tried){.number = 2, .found = 7, .val = 0.6},
                 (struct consm_tried){.number = 1, .found = 7, .val = 0.5});
    comes_before((struct consm_tried){.number = 1, .found = 7, .val = 0.5},
                 (struct consm_tried){.number = 2, .found = 7, .val = 0.5});
    comes_before((struct consm_tried){.number = 3, .joined = 1, .val = 0.495},
                 (struct consm_tried){.number = 1, .found = 9, .val = 0.5});
    comes_before((struct consm_tried){.number = 1, .val = 0.5},
                 (struct consm_tried){.number = 3, .joined = 1, .found = 9, .val = 0.485});
    struct consm_tried t[] = {{.number = 4, .val = 0.1},
                              {.number = 2, .val = 0.3},
                              {.number = 3, .val = 0.3},
                              {.number = 0, .val = 0.2},
                              {.number = 1, .val = 0.3}};
    consm_order_arms(t, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(t[i].number, ((const int[]){1, 2, 3, 0, 4})[i]);
}

/* ---- the best strength over all edges ------------------------------------ */

struct looking {
    struct session *s;
    int seen, none_first;
};

/* While that arm runs: its strength is the first one in the order of the first look that is not 0.
 */
static bool look_at_wide(void *ctx, const struct progress *progress)
{
    (void)progress;
    enum { STRENGTHS = 4 };
    struct looking *l = ctx;
    const struct consm *own = l->s->own;
    struct consm_arm arm[CONSM_ARMS];
    if (!own || !own->place.choosing || own->place.look != LOOK_WIDE)
        return false;
    consm_arms(arm, &l->s->options.config);
    bool none_first = arm[own->tried[0].number].lambda == 0;
    const struct consm_arm *wide = &arm[own->tried[STRENGTHS].number];
    assert_true(wide->all && !wide->guesses && wide->entropy == 0);
    assert_true(wide->lambda == arm[own->tried[none_first].number].lambda);
    l->seen++;
    l->none_first += none_first;
    return false;
}

static void the_best_strength_is_tried_over_all_edges(void **state)
{
    (void)state;
    struct scene scene;
    struct backend *backend;
    struct train_result result;
    int none_first = 0, pull_first = 0;
    scene_open(&scene,
               "csbm:nodes=200,classes=3,degree=6,features=8,signal=0.8,homophily=0.9,seed=3", 5);
    OK(backend_open(&backend, NULL, 1));
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct looking l = {0};
        struct train_options options = options_of(160);
        options.config.rounds = 1;
        options.config.drop_share = options.config.add_share = 0;
        options.seed = seed;
        options.progress = look_at_wide;
        options.progress_ctx = &l;
        OK(session_new(&l.s, &scene.problem, &options, backend));
        OK(session_train(l.s, &result));
        assert_int_equal(l.seen, 16); /* updates: two twentieths of 160 */
        none_first += l.none_first > 0;
        pull_first += l.none_first == 0;
        session_free(l.s);
    }
    assert_true(none_first > 0 && pull_first > 0); /* both cases were there */
    backend_close(backend);
    scene_close(&scene);
}

/* ---- what a checkpoint may hold ------------------------------------------ */

static bool sound(const struct session *s)
{
    return s->procedure->sound(s);
}

/* Each number of a run's place at its bounds, and one beyond. `choosing` needs more than one arm.
 */
static void places_must_be_possible(void **state)
{
    (void)state;
    struct scene scene;
    struct backend *backend;
    struct session *s;
    struct train_result result;
    scene_small(&scene);
    OK(backend_open(&backend, NULL, 1));
    for (int open = 0; open < 2; open++) {
        struct train_options options = options_of(4);
        OK(config_set(&options.config, "attract", "zeta"));
        OK(config_set(&options.config, "guesses", "no"));
        OK(config_set(&options.config, "entropy", "0"));
        OK(session_new(&s, &scene.problem, &options, backend));
        OK(session_train(s, &result));
        s->options.config.lambda = open ? NAN : 1;
        struct consm *own = s->own;
        struct consm_place *at = &own->place, before;
        struct consm_arm arm[CONSM_ARMS];
        int arms = consm_arms(arm, &s->options.config);
        assert_int_equal(arms, open ? 4 : 1);
        at->round = 1;
        at->left = at->idle = at->best_round = at->arm = 0;
        assert_true(sound(s));
        at->choosing = 1;
        assert_int_equal(sound(s), open);
        at->choosing = 0;
        before = *at;
        const struct {
            int64_t *number, low, high;
        } bound[] = {{&at->begun, 0, 1},       {&at->choosing, 0, open},
                     {&at->best_round, 0, 1},  {&at->left, 0, 4},
                     {&at->idle, 0, 1},        {&at->before, 0, LEARNER_MOST_STEPS},
                     {&at->arm, 0, arms - 1},  {&at->updates, 0, LEARNER_MOST_STEPS},
                     {&at->over, 0, 1},        {&at->fork_steps, 0, LEARNER_MOST_STEPS},
                     {&at->running, 0, 1},     {&at->fork_updates, 0, LEARNER_MOST_STEPS},
                     {&at->look, 0, LOOKS - 1}};
        for (size_t i = 0; i < sizeof bound / sizeof *bound; i++) {
            for (int step = -1; step <= 2; step++) {
                *bound[i].number = step < 1 ? bound[i].low + step : bound[i].high + step - 1;
                if (sound(s) != (step == 0 || step == 1))
                    fail_msg("number %zu as %lld", i, (long long)*bound[i].number);
            }
            *at = before;
        }
        at->round = 0; /* the warm-up has five updates */
        at->left = 5;
        assert_true(sound(s));
        at->left = 6;
        assert_false(sound(s));
        *at = before;
        at->round = 3;
        assert_true(sound(s));
        at->round = 4;
        assert_false(sound(s));
        *at = before;
        at->quality.held_auc = 1.5;
        assert_false(sound(s));
        session_free(s);
    }
    backend_close(backend);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arms_are_ordered),
        cmocka_unit_test(the_best_strength_is_tried_over_all_edges),
        cmocka_unit_test(places_must_be_possible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
