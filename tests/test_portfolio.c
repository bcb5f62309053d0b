/* ConSM's candidate backbones: the table, the user's settings, what a graph allows, how long each
 * is trained and which are dropped. */
#include "check.h"
#include "narrow.h"
#include "train/consm/candidates.h"
#include "train/consm/race.h"
#include "train/portfolio_work.h"
#include "training.h"
#include <math.h>

static struct config consm_config(void)
{
    const struct model_def *model;
    struct config c;
    OK(model_find(&model, "consm"));
    model_defaults(model, &c);
    return c;
}

/* Every row of the table can be applied and names a backbone; all are different. */
static void every_candidate_is_a_configuration(void **state)
{
    (void)state;
    struct config made[CONSM_CANDIDATES];
    for (int i = 0; i < CONSM_CANDIDATES; i++) {
        made[i] = consm_config();
        OK(consm_apply_candidate(&made[i], i, NULL));
        assert_true(made[i].backbone != BACKBONE_AUTO);
        for (int k = 0; k < i; k++)
            assert_true(memcmp(&made[k], &made[i], sizeof made[i]) != 0);
    }
}

/* The user's settings hold for all candidates; everything else is the candidate's. */
static void what_was_set_holds(void **state)
{
    (void)state;
    bool given[CONFIG_ROWS] = {0};
    int others = 0;
    given[CONFIG_ROW_hidden] = given[CONFIG_ROW_lr] = true;
    for (int i = 0; i < CONSM_CANDIDATES; i++) {
        struct config c = consm_config();
        c.hidden = 24;
        c.lr = 0.0625;
        c.weight_decay = 0.125;
        OK(consm_apply_candidate(&c, i, given));
        assert_int_equal(c.hidden, 24);
        assert_true(c.lr == 0.0625);
        others += c.weight_decay != 0.125;
    }
    assert_int_equal(others, CONSM_CANDIDATES);
}

/* Columns without a common scale stay standardised. */
static void standardised_columns_stay(void **state)
{
    (void)state;
    for (int i = 0; i < CONSM_CANDIDATES; i++) {
        struct config c = consm_config();
        c.normalize_features = FEATURES_STANDARD;
        OK(consm_apply_candidate(&c, i, NULL));
        assert_int_equal(c.normalize_features, FEATURES_STANDARD);
    }
}

/* The first candidate whose settings contain the text. */
static int64_t number_of(const char *settings)
{
    int64_t number = 0;
    while (!strstr(consm_candidate_settings(number), settings))
        number++;
    return number;
}

static int fitting(const struct problem *problem)
{
    struct session s = {.problem = problem, .options = {.config = consm_config()}};
    int count = 0;
    for (int i = 0; i < CONSM_CANDIDATES; i++)
        count += consm_candidate_fits(&s, i);
    return count;
}

/* With few labels deep and wide networks are left out, on a dense graph the two-hop matrix, on a
 * large one all that carry many columns over its edges. */
static void graphs_and_labels_decide_who_takes_part(void **state)
{
    (void)state;
    struct scene few, many, dense;
    scene_open(&few, "csbm:nodes=600,classes=3,degree=4,features=10,seed=1", 10);
    scene_open(&many, "csbm:nodes=600,classes=3,degree=4,features=10,seed=1", 60);
    scene_open(&dense, "csbm:nodes=2600,classes=3,degree=100,features=10,seed=1", 60);
    int with_few = fitting(&few.problem), with_many = fitting(&many.problem);
    assert_int_equal(with_many, CONSM_CANDIDATES);
    assert_true(with_few < with_many && with_few >= CONSM_CANDIDATES / 2);
    /* This one has exactly as many products as four plain classifiers of so many classes. */
    struct problem classes = few.problem;
    classes.classes = 400;
    struct session s = {.problem = &classes, .options = {.config = consm_config()}};
    assert_true(consm_candidate_fits(&s, number_of("hidden=64 layers=3 reach=1")));
    struct problem dense_problem = dense.problem;
    assert_true(fitting(&dense_problem) < with_many);
    struct csr large = *many.problem.graph;
    struct problem large_problem = many.problem;
    large.nnz = 600000;
    large_problem.graph = &large;
    int on_large = fitting(&large_problem);
    assert_true(on_large > 0 && on_large < with_many);
    scene_close(&few);
    scene_close(&many);
    scene_close(&dense);
}

/* The work by sizes: the same candidates take part as in a run; work grows with the graph. */
static void work_by_sizes(void **state)
{
    (void)state;
    const char *name = "csbm:nodes=600,classes=3,degree=4,features=10,seed=1";
    struct config c = consm_config();
    struct portfolio_work few, many, large;
    for (int64_t labels = 10; labels <= 60; labels += 50) {
        struct scene scene;
        scene_open(&scene, name, labels);
        struct portfolio_sizes sizes = {.nodes = 600,
                                        .entries = (double)scene.problem.graph->nnz,
                                        .two_hop = portfolio_two_hop(scene.problem.graph),
                                        .labels_a_class = (double)labels,
                                        .columns = 10,
                                        .classes = 3};
        OK(portfolio_work(labels == 10 ? &few : &many, &c, &sizes));
        assert_int_equal((labels == 10 ? few : many).candidates, fitting(&scene.problem));
        sizes.entries = 2e6;
        OK(portfolio_work(&large, &c, &sizes));
        scene_close(&scene);
    }
    /* 300 updates: 5, up to 60 for all, up to 120 for 8, all 300 for 4. */
    assert_true(few.updates == 60 * few.candidates + 60 * 8 + 180 * 4);
    /* 60 labels: sqrt(3) times as long, 520 updates. */
    assert_true(many.updates == 104 * many.candidates + 104 * 8 + 312 * 4);
    /* On a large graph half as many stay, and no two-hop matrix or wide network takes part. */
    assert_true(large.candidates < many.candidates);
    assert_true(large.updates == 104 * large.candidates + 104 * 4 + 312 * 2);
    assert_true(many.moved > few.moved && many.multiplied > few.multiplied);
    assert_true(few.layers * few.width > large.layers * large.width && large.layers > 1);
    assert_true(few.widths > large.widths);
    assert_int_equal(few.tracks, 1);
}

/* 2^16 nodes of 16 KB each: half of 2 GiB. Entries count, too. */
static void tracks_by_sizes(void **state)
{
    (void)state;
    assert_int_equal(race_host_tracks(1, 100, 500), 1);
    assert_int_equal(race_host_tracks(2, 100, 500), 2);
    assert_int_equal(race_host_tracks(3, 100, 500), 2);
    assert_int_equal(race_host_tracks(6, 100, 500), 3);
    assert_int_equal(race_host_tracks(64, 100, 500), 4);
    assert_int_equal(race_host_tracks(64, 1 << 16, 0), 2);
    assert_int_equal(race_host_tracks(64, 1 << 16, 2), 1);
    assert_int_equal(race_host_tracks(64, 1e9, 1e10), 1);
}

static int64_t warmup_with(int64_t per_class, bool given_warmup, double stretch)
{
    struct scene scene;
    bool given[CONFIG_ROWS] = {0};
    given[CONFIG_ROW_warmup] = given_warmup;
    scene_open(&scene, "csbm:nodes=1200,classes=3,degree=4,features=10,seed=1", per_class);
    struct session s = {.problem = &scene.problem,
                        .options = {.config = consm_config(), .given = given}};
    s.options.config.stretch = stretch;
    consm_settle_length(&s);
    scene_close(&scene);
    return s.options.config.warmup;
}

/* 300 updates up to 20 labels a class, twice as many with 80, and never against the user's setting.
 */
static void labels_stretch_the_warm_up(void **state)
{
    (void)state;
    assert_int_equal(warmup_with(5, false, NAN), 300);
    assert_int_equal(warmup_with(20, false, NAN), 300);
    assert_int_equal(warmup_with(80, false, NAN), 600);
    assert_int_equal(warmup_with(80, true, NAN), 300);
    assert_int_equal(warmup_with(80, true, 1.5), 450);
}

/* ConSM with this warm-up and one round of so many updates. */
static struct train_options short_run(int64_t warmup, int64_t updates)
{
    struct train_options options = {.seed = 1, .config = consm_config()};
    OK(model_find(&options.model, "consm"));
    options.config.warmup = warmup;
    options.config.rounds = 1;
    options.config.gnn_steps = updates;
    options.config.match_steps = 2;
    return options;
}

/* All are trained for 60 updates, eight for 120, four to the end, unless they stop improving
 * before; the winner comes first and validates best of those trained to the end. */
static void the_rungs_are_climbed(void **state)
{
    (void)state;
    struct scene scene;
    struct train_result result;
    struct train_options options = short_run(150, 1);
    scene_small(&scene);
    narrow(&options);
    options.config.student = STUDENT_NO;       /* it may take the place of a better winner */
    options.config.companions = COMPANIONS_NO; /* their mean may validate a little worse */
    options.config.prune_by = PRUNE_BY_NONE;
    options.config.lambda = 1;
    OK(train_once(&result, &scene.problem, &options, 2));
    assert_true(result.candidates > 8 && result.candidates <= CONSM_CANDIDATES);
    for (int i = 0; i < result.candidates; i++) {
        const struct train_candidate *c = &result.candidate[i];
        assert_true(c->updates <= (i < 4 ? 150 : i < 8 ? 120 : 60));
        assert_true(c->updates >= (i < 8 ? 100 : 60)); /* patience is 100 updates */
        assert_true(i == 0 || i >= 4 || c->val <= result.candidate[0].val);
        assert_true(strlen(c->settings) > 0);
    }
    assert_true(result.val_acc >= result.candidate[0].val);
    scene_close(&scene);
}

/* A candidate whose loss becomes infinite is dropped; the others continue. */
static void who_diverges_is_given_up(void **state)
{
    (void)state;
    struct scene scene;
    struct train_result result;
    const struct model_def *model;
    int diverged = 0;
    scene_small(&scene);
    float *x = mem_alloc((size_t)(scene.problem.nodes * scene.problem.features), sizeof *x);
    for (int64_t i = 0; i < scene.problem.nodes * scene.problem.features; i++)
        x[i] = scene.problem.dense[i] * 1e37f; /* rows divided by their sum can be learned from */
    struct problem huge = scene.problem;
    huge.dense = x;
    OK(model_find(&model, "consm"));
    struct train_options options = {.model = model, .seed = 1, .config = consm_config()};
    bool given[CONFIG_ROWS] = {false};
    given[CONFIG_ROW_lr] = true; /* a few steps as long as that are too much for such features */
    options.given = given;
    options.config.lr = 10;
    options.config.warmup = 10;
    options.config.rounds = 1;
    options.config.gnn_steps = 1;
    options.config.match_steps = 1;
    options.config.prune_by = PRUNE_BY_NONE;
    options.config.lambda = 1;
    consm_status st = train_once(&result, &huge, &options, 1);
    if (st == CONSM_OK)
        for (int i = 0; i < result.candidates; i++)
            diverged += result.candidate[i].val < 0;
    else
        fail_msg("%s", consm_errmsg());
    assert_true(diverged > 0 && diverged < result.candidates);
    assert_true(result.candidate[0].val >= 0);
    mem_free(x);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_candidate_is_a_configuration),
        cmocka_unit_test(what_was_set_holds),
        cmocka_unit_test(standardised_columns_stay),
        cmocka_unit_test(graphs_and_labels_decide_who_takes_part),
        cmocka_unit_test(work_by_sizes),
        cmocka_unit_test(tracks_by_sizes),
        cmocka_unit_test(labels_stretch_the_warm_up),
        cmocka_unit_test(the_rungs_are_climbed),
        cmocka_unit_test(who_diverges_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
