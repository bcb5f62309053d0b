/* Small decisions, each against values counted by hand: exact thresholds, ties, empty sets. Nothing
 * is trained. */
#include "check.h"

#include "app/cost.h"
#include "app/defaults.h"
#include "app/learned.h"
#include "app/limits.h"
#include "app/matched.h"
#include "app/rare.h"
#include "backends/open.h"
#include "base/clock.h"
#include "graph/structural.h"
#include "match/pooling.h"
#include "train/consm/clean.h"
#include "train/consm/race.h"
#include "train/folds.h"

#include <math.h>

/* ---- the race ------------------------------------------------------------ */

static struct config consm_config(int64_t warmup)
{
    const struct model_def *consm;
    struct config c;
    OK(model_find(&consm, "consm"));
    model_defaults(consm, &c);
    c.warmup = warmup;
    c.metric = METRIC_ACCURACY;
    return c;
}

static void rungs_are(const struct config *c, const int64_t expected[RACE_RUNGS])
{
    for (int k = 0; k < RACE_RUNGS; k++)
        assert_int_equal(race_updates(c, k), expected[k]);
}

/* A fifth and two fifths of the length, at least 60 and 120 updates, at most all. */
static void rungs_by_hand(void **state)
{
    (void)state;
    struct config c = consm_config(1000);
    assert_int_equal(race_length(&c), 1000);
    rungs_are(&c, (int64_t[]){5, 200, 400, 1000, 1000});
    c.metric = METRIC_AUTO;
    rungs_are(&c, (int64_t[]){5, 200, 400, 1000, 1000});
    c.metric = METRIC_MACRO_F1;
    rungs_are(&c, (int64_t[]){5, 400, 800, 1000, 1000});
    c.warmup = 200;
    rungs_are(&c, (int64_t[]){5, 120, 200, 200, 200});
    c.metric = METRIC_ACCURACY;
    rungs_are(&c, (int64_t[]){5, 60, 120, 200, 200});
    c.warmup = 4;
    rungs_are(&c, (int64_t[]){4, 4, 4, 4, 4});
    c.warmup = 0;
    assert_int_equal(race_length(&c), 1);
    c.warmup = 300;
    c.epochs = 299;
    assert_int_equal(race_length(&c), 299);
    c.epochs = 301;
    assert_int_equal(race_length(&c), 300);
}

static void few_candidates_stay(void **state)
{
    (void)state;
    static const int64_t usual[] = {CONSM_CANDIDATES, 8, 4, 1, 1};
    static const int64_t quick[] = {CONSM_CANDIDATES, 4, 2, 1, 1};
    struct csr graph = {.nnz = CONSM_MILLION_ENTRIES};
    struct problem problem = {.graph = &graph};
    struct session s = {.problem = &problem};
    s.options.config = consm_config(100);
    assert_false(race_quick(&s));
    for (int k = 0; k < RACE_RUNGS; k++)
        assert_int_equal(race_stay(&s, k), usual[k]);
    s.options.config.candidates = CANDIDATES_FEW;
    assert_true(race_quick(&s));
    for (int k = 0; k < RACE_RUNGS; k++)
        assert_int_equal(race_stay(&s, k), quick[k]);
    s.options.config.candidates = CANDIDATES_ALL;
    graph.nnz++;
    assert_true(race_quick(&s));
}

/* A quarter of the length without anything better, at least 100 updates. */
static void idle_by_hand(void **state)
{
    (void)state;
    struct config c = consm_config(1000);
    struct learner l = {.best_step = 100, .steps = 349};
    assert_false(consm_idle(&c, &l));
    l.steps = 350;
    assert_true(consm_idle(&c, &l));
    c.warmup = 200; /* a quarter is 50 */
    l.steps = 199;
    assert_false(consm_idle(&c, &l));
    l.steps = 200;
    assert_true(consm_idle(&c, &l));
    l.best_step = 1;
    assert_true(consm_idle(&c, &l));
    l.best_step = 0; /* it was never validated */
    assert_false(consm_idle(&c, &l));
}

/* Every fifth update, all of the last tenth, and the last one. */
static void looks_by_hand(void **state)
{
    (void)state;
    struct config c = consm_config(100);
    static const int64_t yes[] = {5, 10, 90, 91, 99, 100}, no[] = {1, 4, 6, 86, 89};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(consm_looks(&c, yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(consm_looks(&c, no[i]));
    c.warmup = 7; /* a tenth is nothing */
    assert_true(consm_looks(&c, 5));
    assert_false(consm_looks(&c, 6));
    assert_true(consm_looks(&c, 7));
}

static void a_given_backbone_tries_two_features(void **state)
{
    (void)state;
    struct config c = consm_config(100);
    bool given[CONFIG_ROWS] = {false};
    c.backbone = BACKBONE_GCN;
    OK(race_choose(&c, 0, given));
    assert_int_equal(c.normalize_features, FEATURES_NONE);
    OK(race_choose(&c, 1, given));
    assert_int_equal(c.normalize_features, FEATURES_ROW);
    assert_int_equal(c.backbone, BACKBONE_GCN);
    c.backbone = BACKBONE_AUTO;
    OK(race_choose(&c, 0, given));
    assert_int_not_equal(c.backbone, BACKBONE_AUTO);
}

/* By validation, then by loss, then the earlier number. */
static void candidates_are_ordered(void **state)
{
    (void)state;
    static const int64_t order[] = {4, 1, 0, 3, 2};
    struct candidate_choice c = {.count = 5};
    static const struct trial trial[] = {{.number = 0, .val = 0.5, .loss = 0.3},
                                         {.number = 1, .val = 0.5, .loss = 0.2},
                                         {.number = 2, .val = -1, .loss = 0.1},
                                         {.number = 3, .val = 0.5, .loss = 0.3},
                                         {.number = 4, .val = 0.75, .loss = 0.9}};
    for (int i = 0; i < 5; i++)
        c.trial[i] = trial[(3 * i) % 5]; /* 0, 3, 1, 4, 2 */
    choice_order(&c);
    for (int i = 0; i < 5; i++)
        assert_int_equal(c.trial[i].number, order[i]);
    choice_keep(&c, 3);
    assert_int_equal(c.count, 3);
    choice_keep(&c, 4);
    assert_int_equal(c.count, 3);
}

static void numbers_are(const struct candidate_choice *c, int64_t a, int64_t b, int64_t d)
{
    assert_int_equal(c->trial[0].number, a);
    assert_int_equal(c->trial[1].number, b);
    assert_int_equal(c->trial[2].number, d);
}

/* Four positives of five nodes: an error of a quarter around one half. */
static void the_likeliest_by_hand(void **state)
{
    (void)state;
    int32_t label[31] = {1, 1, 0, 1, 1};
    struct judge j = {.metric = METRIC_AVERAGE_PRECISION, .positive = 1, .rows = 5, .label = label};
    const struct candidate_choice before = {.count = 3,
                                            .trial = {{.number = 0, .val = 0.5, .loss = 0.75},
                                                      {.number = 1, .val = 0.25, .loss = 0.5},
                                                      {.number = 2, .val = 0.125, .loss = 0.25}}};
    struct candidate_choice c = before;
    consm_take_likeliest(&c, &j);
    numbers_are(&c, 1, 0, 2);
    c = before;
    c.trial[1].diverged = true;
    consm_take_likeliest(&c, &j);
    numbers_are(&c, 0, 1, 2);
    c = before;
    c.trial[1].loss = 0.75; /* no better */
    consm_take_likeliest(&c, &j);
    numbers_are(&c, 0, 1, 2);
    c = before;
    j.rows = 1; /* an error of one half: every one is near */
    consm_take_likeliest(&c, &j);
    numbers_are(&c, 2, 0, 1);
    c = before;
    j.metric = METRIC_ACCURACY;
    consm_take_likeliest(&c, &j);
    numbers_are(&c, 0, 1, 2);
    j.metric = METRIC_AVERAGE_PRECISION;
    j.positive = 2; /* nobody */
    consm_take_likeliest(&c, &j);
    numbers_are(&c, 0, 1, 2);
    for (int i = 0; i < 31; i++)
        label[i] = 2;
    j.rows = 30; /* enough; an error of 0.09 */
    c.trial[1].val = 0.45;
    consm_take_likeliest(&c, &j);
    numbers_are(&c, 0, 1, 2);
    j.rows = 29;
    consm_take_likeliest(&c, &j);
    numbers_are(&c, 1, 0, 2);
}

static void the_best_in_folds_comes_first(void **state)
{
    (void)state;
    struct candidate_choice c = {.count = 3,
                                 .trial = {{.number = 0, .fold = 0.25},
                                           {.number = 1, .fold = 0.5},
                                           {.number = 2, .fold = 0.5}}};
    consm_take_folded(&c);
    numbers_are(&c, 1, 0, 2);
    c.trial[2].fold = 0.75;
    c.count = 2;
    consm_take_folded(&c);
    numbers_are(&c, 1, 0, 2);
    c.count = 3;
    consm_take_folded(&c);
    numbers_are(&c, 2, 1, 0);
}

static void margins_by_hand(void **state)
{
    (void)state;
    const struct train_candidate *second;
    bool folds;
    struct train_result r = {.candidates = 1,
                             .candidate = {{.val = 0.75, .fold = 0.5},
                                           {.val = -1, .fold = -1},
                                           {.val = 0.5, .fold = 0.25},
                                           {.val = 0.625, .fold = 0.375}}};
    assert_true(train_margin(&second, &folds, &r) == 0 && !second && !folds);
    r.candidates = 2; /* the other one diverged */
    assert_true(train_margin(&second, &folds, &r) == 0 && !second && !folds);
    r.candidates = 4;
    assert_true(train_margin(&second, &folds, &r) == 0.125);
    assert_true(second == &r.candidate[3] && folds);
    r.candidate[2].fold = 0.375; /* of two equal ones the first */
    train_margin(&second, &folds, &r);
    assert_ptr_equal(second, &r.candidate[2]);
    r.candidate[0].fold = -1;
    assert_true(train_margin(&second, &folds, &r) == 0.25);
    assert_true(second == &r.candidate[2] && !folds);
    r.candidate[0].fold = r.candidate[2].fold = 0;
    r.candidate[3].fold = -1;
    assert_true(train_margin(&second, &folds, &r) == 0);
    assert_true(second == &r.candidate[2] && folds);
}

/* Laplace's rule: four of four are 5/6. */
static void errors_of_folds_by_hand(void **state)
{
    (void)state;
    int32_t label[] = {1, 0, 1, 1};
    struct judge j = {.metric = METRIC_ACCURACY, .positive = 1, .rows = 4, .label = label};
    assert_near(folds_error(1, &j), sqrt(5.0 / 6 / 6 / 4), 1e-15);
    assert_near(folds_error(0.5, &j), 0.25, 1e-15);
    j.metric = METRIC_AVERAGE_PRECISION; /* three of the class */
    assert_near(folds_error(0.5, &j), sqrt(0.25 / 3), 1e-15);
    j.positive = 2;
    assert_true(folds_error(0.5, &j) == 1);
    j.rows = 0;
    j.metric = METRIC_ACCURACY;
    assert_true(folds_error(0.5, &j) == 1);
}

static void labels_a_class_by_hand(void **state)
{
    (void)state;
    static const uint8_t role[] = {SPLIT_TRAIN, SPLIT_TRAIN, SPLIT_VAL, SPLIT_TRAIN, SPLIT_TRAIN};
    static const int32_t label[] = {0, -1, 1, 1, 0};
    struct problem p = {.nodes = 5, .classes = 2, .role = role, .label = label};
    assert_true(consm_labels_a_class(&p) == 1.5);
}

static void the_warm_ups_best(void **state)
{
    (void)state;
    struct consm own = {.place = {.fork_best = 0.75}};
    struct session s = {.own = &own, .learner = {.best = 0.5}};
    assert_true(consm_warm_best(&s) == 0.5);
    own.place.fork_updates = 1;
    assert_true(consm_warm_best(&s) == 0.75);
}

/* Four rounds: the first and three more, each half as long if patience may end it. */
static void the_time_after_the_choice(void **state)
{
    (void)state;
    struct config c = consm_config(100);
    struct outlook o = {.examined = true, .match = 2, .round = {.update = 0.5, .updates = 1}};
    c.rounds = 4;
    c.gnn_steps = 20;
    c.round_patience = 0;
    assert_int_equal(consm_later_updates(&c), 20);
    assert_true(consm_after_choice(&o, &c) ==
                0.5 * (double)(consm_round_updates(&c, 1) + 3 * 20) + 2 * 4);
    c.round_patience = 1;
    assert_int_equal(consm_later_updates(&c), 10);
    assert_true(consm_after_choice(&o, &c) ==
                0.5 * (double)(consm_round_updates(&c, 1) + 3 * 10) + 2 * 4);
}

/* The share of the time after 1,000 s, if `left` seconds remain. */
static void fraction_is(struct session *s, double left)
{
    struct consm *own = s->own;
    own->outlook.begun = clock_seconds() - 1000;
    assert_near(consm_fraction(s), left < 0 ? 0 : 1000 / (1000 + left), 1e-3);
}

/* Seconds of an update of the warm-up: 1 and a fifth of a validation; of a round: 8. A matching
 * takes 400 s. */
static void shares_of_the_time(void **state)
{
    (void)state;
    struct consm own = {.outlook = {.examined = true,
                                    .match = 400,
                                    .look = 5,
                                    .warmup = {.update = 1, .look = 5},
                                    .round = {.update = 8, .updates = 1}}};
    struct session s = {.own = &own};
    struct config *c = &s.options.config;
    struct consm_place *at = &own.place;
    *c = consm_config(200);
    c->rounds = 10;
    c->gnn_steps = 20;
    c->round_patience = 2;
    c->epochs = 1000000;
    at->left = 100; /* of the warm-up */
    fraction_is(&s, 100 * 2 + consm_after_choice(&own.outlook, c));
    own.outlook.look = 0; /* nothing was measured */
    fraction_is(&s, -1);
    own.outlook.look = 5;
    at->round = 3;
    at->left = 10;
    at->updates = 500;
    fraction_is(&s, 8 * (10 + 7 * 10) + 7 * 400); /* all rounds, half as long */
    at->idle = 1; /* one more round without anything better ends it */
    fraction_is(&s, 8 * (10 + 1 * 10) + 1 * 400);
    c->round_patience = 0;
    fraction_is(&s, 8 * (10 + 7 * 20) + 7 * 400);
    at->round = 9;
    c->round_patience = 5; /* the last round comes first */
    fraction_is(&s, 8 * (10 + 1 * 10) + 1 * 400);
    c->epochs = 504;
    fraction_is(&s, 8 * 4 + 400);
    c->epochs = 499;
    fraction_is(&s, 400);
    c->epochs = 1000000;
    at->choosing = 1; /* the first round's arms */
    at->fork_updates = 497;
    fraction_is(&s, 8 * (double)(consm_round_updates(c, 1) - 3 + 10) + 400);
    c->time_budget = 1100;
    fraction_is(&s, 100);
    c->time_budget = 900;
    fraction_is(&s, 0);
}

/* ---- edges --------------------------------------------------------------- */

/* The path 0-1-2 with weights 1 and 3: without its first edge and with 0-2, whose weight is the
 * mean. */
static void an_added_pair_has_the_mean_weight(void **state)
{
    (void)state;
    static const int32_t from[] = {0, 1}, to[] = {1, 2};
    static const float weight[] = {1, 3};
    static const uint8_t dropped[] = {1, 0};
    int32_t left[] = {0}, right[] = {2};
    struct consm_pairs added = {1, left, right};
    struct csr *graph;
    struct edges *edges;
    struct consm_kept *kept;
    OK(csr_from_edges(&graph, 3, 3, 2, from, to, weight, CSR_UNDIRECTED, NULL));
    OK(edges_new(&edges, graph));
    struct problem whole = {.graph = graph, .nodes = 3};
    OK(consm_kept_new(&kept, &whole, edges, dropped, &added, NULL));
    const struct csr *k = kept->graph;
    assert_int_equal(k->nnz, 4);
    assert_int_equal(k->start[1], 1);
    assert_true(k->col[0] == 2 && k->val[0] == 2); /* 0-2 */
    assert_true(k->col[1] == 2 && k->val[1] == 3); /* 1-2 */
    assert_true(k->col[2] == 0 && k->val[2] == 2);
    assert_true(k->col[3] == 1 && k->val[3] == 3);
    consm_kept_free(kept);
    edges_free(edges);
    csr_free(graph);
}

/* A share drops whole edges with the least trust; a threshold those strictly below it. */
static void dropped_edges_by_hand(void **state)
{
    (void)state;
    static const float trust[] = {0.5f, 0.25f, 0.75f, 0.25f, 0.125f};
    struct edges edges = {.count = 5};
    uint8_t dropped[5];
    struct consm own = {.edges = &edges, .clean = {.share = 0.4}};
    struct session s = {.own = &own};
    OK(backend_open(&s.backend, NULL, 2));
    consm_mark_dropped(dropped, trust, &s);
    assert_int_equal(dropped[4], 1);
    assert_int_equal(dropped[1] + dropped[3], 1);
    assert_int_equal(dropped[0] + dropped[2], 0);
    own.clean.share = 0.39; /* one edge and 0.95 of another */
    consm_mark_dropped(dropped, trust, &s);
    assert_int_equal(dropped[0] + dropped[1] + dropped[2] + dropped[3], 0);
    assert_int_equal(dropped[4], 1);
    own.clean.share = NAN;
    s.options.config.drop_below = 0.25;
    consm_mark_dropped(dropped, trust, &s);
    assert_int_equal(dropped[0] + dropped[1] + dropped[2] + dropped[3], 0);
    assert_int_equal(dropped[4], 1);
    backend_close(s.backend);
}

/* Two sets, {1, 3} and {2}, with two classes; the last two places of the list are not used: they
 * point to the row behind the last. */
static void members_are_listed(void **state)
{
    (void)state;
    int64_t start[] = {0, 2, 3};
    int32_t set[] = {1, 3, 2}, place[] = {9, 5, 6, 7};
    static const int32_t reference[] = {1, 0, 1};
    struct subgraphs s = {.count = 2, .start = start, .member = set};
    struct index *member, *row;
    OK(index_new(&member, 5, 10));
    OK(index_new(&row, 5, 2 * 2 + 1));
    OK(pooling_list(member, row, &s, reference, 2, place));
    assert_memory_equal(member->row, ((int32_t[]){5, 7, 6, 0, 0}), 5 * sizeof(int32_t));
    assert_memory_equal(row->row, ((int32_t[]){1, 0, 3, 4, 4}), 5 * sizeof(int32_t));
    index_free(member);
    index_free(row);
}

/* ---- models and data ----------------------------------------------------- */

static void memory_by_hand(void **state)
{
    (void)state;
    struct csr words = {.nnz = 7};
    float dense[1] = {0};
    struct dataset d = {
        .name = "d", .nodes = 10, .edges = 20, .features = 5, .classes = 3, .dense = dense};
    struct config c = consm_config(1);
    c.hidden = 4;
    c.layers = 2;
    struct cost_range held;
    struct cost_sizes sizes = {.nodes = 10, .edges = 20, .columns = 5, .classes = 3};
    OK(cost_forecast(&held, COST_GCN_BYTES, &sizes));
    int64_t none = limits_training(&d, &c, 2, 0, 1);
    assert_int_equal(none, (int64_t)held.usual);
    /* each job: parameters 960, all ten nodes' hidden values 480 (two labels and four neighbours of
     * each), with one label five nodes' */
    assert_int_equal(limits_training(&d, &c, 2, 1, 1), none + 1440);
    assert_int_equal(limits_training(&d, &c, 2, 2, 1), none + 2880);
    assert_int_equal(limits_training(&d, &c, 1, 1, 1), none + 1200);
    c.layers = 1; /* 20 (5 4 + 4 3) */
    assert_int_equal(limits_training(&d, &c, 2, 1, 1), none + 640);
    d.sparse = &words;
    d.dense = NULL;
    sizes.columns = 0.7; /* 7 of 10 nodes */
    OK(cost_forecast(&held, COST_GCN_BYTES, &sizes));
    assert_int_equal(limits_training(&d, &c, 2, 0, 1), (int64_t)held.usual);
    OK(limits_check(&d, &c, 2, 1, 1));
    OK(limits_check_trees(&d, 10));
    FAILS(limits_check_trees(&d, INT64_C(1) << 50), CONSM_ELIMIT,
          "; use fewer training and validation nodes");
    d.nodes = INT64_C(1) << 50;
    FAILS(limits_check(&d, &c, 2, 1, 1), CONSM_ELIMIT, " GB");
    d.nodes = 10;
    c.layers = 2;
    c.hidden = 1 << 30;
    FAILS(limits_check(&d, &c, 2, 1, 1), CONSM_ELIMIT, "; reduce --hidden");
    c.hidden = 4;
    d.sparse = NULL;
    d.features = 0;
    sizes.columns = STRUCTURAL_FEATURES;
    OK(cost_forecast(&held, COST_GCN_BYTES, &sizes));
    assert_int_equal(limits_training(&d, &c, 2, 1, 1),
                     (int64_t)held.usual + 80 * STRUCTURAL_FEATURES + 320 + 240 + 480);
}

/* GCN on 300 million edges had a peak of 14.9 GB: it is not refused where 24 are. */
static void memory_of_a_large_graph(void **state)
{
    (void)state;
    float dense[1] = {0};
    struct dataset d = {.name = "d",
                        .nodes = 10000000,
                        .edges = 300000000,
                        .features = 16,
                        .classes = 4,
                        .dense = dense};
    struct config c = consm_config(1);
    c.hidden = 64;
    c.layers = 2;
    double needed = (double)limits_training(&d, &c, 80, 1, 1);
    assert_true(needed > 13.4e9 && needed < 16.4e9);
}

static void defaults_by_hand(void **state)
{
    (void)state;
    bool given[CONFIG_ROWS] = {false};
    float dense[1] = {0};
    struct dataset d = {.dense = dense};
    struct config c = consm_config(1), before = c;
    assert_true(defaults_known("cora") && defaults_known("karate") && !defaults_known("./mine"));
    assert_string_equal(defaults_split(true), "random");
    assert_string_equal(defaults_split(false), "auto");
    defaults_config(&c, &d, true, given);
    assert_int_equal(c.normalize_features, before.normalize_features);
    assert_int_equal(c.ties, before.ties);
    defaults_config(&c, &d, false, given);
    assert_int_equal(c.normalize_features, FEATURES_STANDARD);
    assert_int_equal(c.ties, TIES_LOSS);
    c = before;
    given[CONFIG_ROW_normalize_features] = given[CONFIG_ROW_ties] = true;
    defaults_config(&c, &d, false, given);
    assert_int_equal(c.normalize_features, before.normalize_features);
    assert_int_equal(c.ties, before.ties);
    given[CONFIG_ROW_normalize_features] = false;
    d.dense = NULL;
    defaults_config(&c, &d, false, given);
    assert_int_equal(c.normalize_features, before.normalize_features);
}

/* Without features no trees train beside ConSM, unless they were asked for; a user's own graph gets
 * the split "auto". */
static void options_are_filled_in(void **state)
{
    (void)state;
    static const struct {
        const char *data, *given, *trees, *split;
    } of[] = {{TESTS_DIR "/data/formats/g.edgelist", NULL, "no", "auto"},
              {TESTS_DIR "/data/formats/g.edgelist", "yes", "yes", "auto"},
              {"csbm:nodes=40,features=4", NULL, "auto", "random"},
              {TESTS_DIR "/data/models/graph", NULL, "auto", "auto"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct consm_dataset *d;
        struct consm_options *o;
        char buffer[32];
        OK(consm_dataset_open(&d, of[i].data, NULL));
        OK(consm_options_new(&o, "consm"));
        if (of[i].given)
            OK(consm_options_set(o, "with_trees", of[i].given));
        OK(options_resolve(o, d));
        assert_string_equal(consm_options_get(o, "with_trees", buffer), of[i].trees);
        assert_string_equal(consm_options_get(o, "split", buffer), of[i].split);
        consm_options_free(o);
        consm_dataset_free(d);
    }
}

/* Nodes 0 (trains), 1 (validates) and 3 (calibrates) of four; ids decide on another graph. */
static void learned_nodes_by_hand(void **state)
{
    (void)state;
    static char *id[] = {"a", "b", "c", "d"}, *other[] = {"c", "d", "e"};
    uint8_t role[] = {SPLIT_TRAIN, SPLIT_VAL, SPLIT_TEST, SPLIT_NONE}, calibrates[] = {0, 0, 0, 1};
    uint8_t *seen;
    struct roles roles = {.role = role, .calibrates = calibrates};
    struct dataset d = {.name = "d", .nodes = 4, .node_id = id};
    struct consm_model m = {.dataset = "d"};
    OK(learned_note(&m, &d, &roles));
    assert_int_equal(m.learned_count, 3);
    assert_true(m.learned_named);
    assert_true(m.learned[0] < m.learned[1] && m.learned[1] < m.learned[2]);
    assert_true(learned_has(&m, structural_key("d")) && !learned_has(&m, structural_key("c")));
    OK(learned_mark(&seen, &m, &d, NULL, 4));
    assert_memory_equal(seen, ((uint8_t[]){1, 1, 0, 1}), 4);
    mem_free(seen);
    OK(learned_mark(&seen, &m, &d, (int32_t[]){2, 3}, 2));
    assert_memory_equal(seen, ((uint8_t[]){0, 1}), 2);
    mem_free(seen);
    d.node_id = other;
    d.nodes = 3;
    OK(learned_mark(&seen, &m, &d, NULL, 3));
    assert_memory_equal(seen, ((uint8_t[]){0, 1, 0}), 3);
    mem_free(seen);
    d.node_id = NULL; /* numbers mean nothing for a model that knows ids */
    OK(learned_mark(&seen, &m, &d, NULL, 3));
    assert_null(seen);
    m.learned_named = false; /* nor on another file */
    OK(learned_mark(&seen, &m, &d, NULL, 3));
    assert_null(seen);
    d.name = m.dataset = "karate";
    OK(learned_mark(&seen, &m, &d, NULL, 3));
    assert_non_null(seen);
    mem_free(seen);
    strcpy(d.sha256, "1");
    OK(learned_mark(&seen, &m, &d, NULL, 3));
    assert_null(seen);
    mem_free(m.learned);
}

static void classes_are_found_by_name(void **state)
{
    (void)state;
    static char *ours[] = {"b", "a"}, *theirs[] = {"a", "c", "b"};
    int32_t place[3];
    struct consm_model m = {.classes = 2, .class_name = ours};
    struct dataset d = {.classes = 3, .class_name = theirs};
    model_match_classes(place, &m, &d);
    assert_true(place[0] == 1 && place[1] == -1 && place[2] == 0);
}

/* Columns x, y, z in the file, z and x in the model; node 1 has no entry of these. */
static void sparse_columns_are_found_by_name(void **state)
{
    (void)state;
    static char *columns[] = {"x", "y", "z"}, *wanted[] = {"z", "x"};
    static const int32_t row[] = {0, 0, 1, 2}, col[] = {0, 1, 1, 2};
    static const float value[] = {5, 6, 7, 8};
    struct dataset d = {.name = "d", .nodes = 3, .features = 3, .feature_name = columns};
    struct prepared p = {.data = &d};
    struct consm_model m = {.features = 2, .feature_name = wanted, .classes = 2};
    for (int weighted = 0; weighted < 2; weighted++) {
        struct matched found = {0};
        OK(csr_from_edges(&d.sparse, 3, 3, 4, row, col, weighted ? value : NULL, CSR_DIRECTED,
                          NULL));
        OK(matched_open(&found, &m, &p));
        assert_non_null(found.sparse);
        assert_int_equal(found.sparse->nnz, 2);
        assert_int_equal(found.sparse->cols, 2);
        assert_memory_equal(found.sparse->start, ((int64_t[]){0, 1, 1, 2}), 4 * sizeof(int64_t));
        assert_true(found.sparse->col[0] == 1 && found.sparse->col[1] == 0);
        assert_true(found.sparse->val[0] == (weighted ? 5 : 1));
        assert_true(found.sparse->val[1] == (weighted ? 8 : 1));
        matched_free(&found, &p);
        csr_free(d.sparse);
    }
}

/* Nine nodes of the class, eight predicted as it, six of them right. */
static void rare_classes_by_hand(void **state)
{
    (void)state;
    char text[96];
    struct rare_facts f;
    struct consm_class_metrics of[] = {{.support = 20, .predicted = 21, .recall = 0.5},
                                       {.support = 9, .predicted = 8, .recall = 6.0 / 9}};
    struct consm_model m = {.positive = 2};
    m.metrics[SPLIT_VAL].all.nodes = 29;
    m.metrics[SPLIT_VAL].of = of;
    assert_true(rare_measure(&f, &m));
    assert_true(f.class_index == 1 && f.positives == 9 && f.said == 8 && f.hits == 6);
    struct stats_interval recall = stats_wilson(6, 9, 0.95), precision = stats_wilson(6, 8, 0.95);
    assert_true(f.recall.low == recall.low && f.recall.high == recall.high);
    assert_true(f.precision.low == precision.low && f.precision.high == precision.high);
    m.decision.made = true; /* its class comes first */
    assert_true(rare_measure(&f, &m) && f.class_index == 0 && f.hits == 10);
    m.decision.made = false;
    m.positive = 0;
    assert_false(rare_measure(&f, &m));
    m.positive = 1;
    m.metrics[SPLIT_VAL].all.nodes = 0;
    assert_false(rare_measure(&f, &m));
    assert_string_equal(rare_share(text, 0, 0, &recall), "unknown (0 of 0)");
    assert_string_equal(rare_share(text, 1, 4, &(struct stats_interval){.low = 0.125, .high = 0.5}),
                        "0.250 (1 of 4; 95 % interval 0.125 to 0.500)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rungs_by_hand),
        cmocka_unit_test(few_candidates_stay),
        cmocka_unit_test(idle_by_hand),
        cmocka_unit_test(looks_by_hand),
        cmocka_unit_test(a_given_backbone_tries_two_features),
        cmocka_unit_test(candidates_are_ordered),
        cmocka_unit_test(the_likeliest_by_hand),
        cmocka_unit_test(the_best_in_folds_comes_first),
        cmocka_unit_test(margins_by_hand),
        cmocka_unit_test(errors_of_folds_by_hand),
        cmocka_unit_test(labels_a_class_by_hand),
        cmocka_unit_test(the_warm_ups_best),
        cmocka_unit_test(the_time_after_the_choice),
        cmocka_unit_test(shares_of_the_time),
        cmocka_unit_test(an_added_pair_has_the_mean_weight),
        cmocka_unit_test(dropped_edges_by_hand),
        cmocka_unit_test(members_are_listed),
        cmocka_unit_test(memory_by_hand),
        cmocka_unit_test(memory_of_a_large_graph),
        cmocka_unit_test(defaults_by_hand),
        cmocka_unit_test(options_are_filled_in),
        cmocka_unit_test(learned_nodes_by_hand),
        cmocka_unit_test(classes_are_found_by_name),
        cmocka_unit_test(sparse_columns_are_found_by_name),
        cmocka_unit_test(rare_classes_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
