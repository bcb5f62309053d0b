/* The validation metric: every metric against its definition written out pair by pair, ties, `auto`
 * by class sizes, and that a run keeps the epoch with the best metric. THREADED */
#include "base/rng.h"
#include "base/threads.h"
#include "check.h"
#include "stats/rank.h"
#include "train/judge.h"
#include "training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 60, CLASSES = 3 };

struct scene3 {
    float logit[NODES * CLASSES];
    int32_t label[NODES];
    uint8_t role[NODES];
    struct problem problem;
};

/* Coarse logits: many ties. The last ten nodes are of another role. */
static void scene3_open(struct scene3 *s, uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed, 1);
    for (int i = 0; i < NODES; i++) {
        s->label[i] = (int32_t)rng_below(&rng, CLASSES);
        s->role[i] = i < NODES - 10 ? SPLIT_VAL : SPLIT_TEST;
        for (int k = 0; k < CLASSES; k++)
            s->logit[i * CLASSES + k] = (float)rng_below(&rng, 4) - 1 + (s->label[i] == k);
    }
    s->label[3] = -1;
    s->problem =
        (struct problem){.nodes = NODES, .classes = CLASSES, .label = s->label, .role = s->role};
}

static double score(const struct scene3 *s, enum config_metric metric, int32_t positive)
{
    struct judge j;
    OK(judge_open(&j, &s->problem, metric, positive));
    double found = judge_score(&j, s->logit, false);
    judge_close(&j);
    return found;
}

static bool counts(const struct scene3 *s, int i)
{
    return s->role[i] == SPLIT_VAL && s->label[i] >= 0;
}

static double probability(const struct scene3 *s, int i, int k)
{
    double sum = 0;
    for (int j = 0; j < CLASSES; j++)
        sum += exp((double)s->logit[i * CLASSES + j]);
    return exp((double)s->logit[i * CLASSES + k]) / sum;
}

/* Whether a is ahead of b, with a little room for rounding. */
static bool ahead(double a, double b)
{
    return a > b + 1e-9;
}

/* Every pair of a node of class k and another; half for a tie. */
static double slow_auc(const struct scene3 *s, int k)
{
    double won = 0, pairs = 0;
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < NODES; j++) {
            if (!counts(s, i) || !counts(s, j) || s->label[i] != k || s->label[j] == k)
                continue;
            double a = probability(s, i, k), b = probability(s, j, k);
            won += ahead(a, b) ? 1 : ahead(b, a) ? 0 : 0.5;
            pairs++;
        }
    return won / pairs;
}

/* The mean over the positives of the precision at their score. */
static double slow_precision(const struct scene3 *s, int k)
{
    double sum = 0, positives = 0;
    for (int i = 0; i < NODES; i++) {
        double taken = 0, hits = 0;
        if (!counts(s, i) || s->label[i] != k)
            continue;
        for (int j = 0; j < NODES; j++)
            if (counts(s, j) && !ahead(probability(s, i, k), probability(s, j, k))) {
                taken++;
                hits += s->label[j] == k;
            }
        sum += hits / taken;
        positives++;
    }
    return sum / positives;
}

static int said(const struct scene3 *s, int i)
{
    int best = 0;
    for (int k = 1; k < CLASSES; k++)
        if (s->logit[i * CLASSES + k] > s->logit[i * CLASSES + best])
            best = k;
    return best;
}

static void metrics_are_their_definitions(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct scene3 s;
        double right = 0, rows = 0, log_p = 0, recall = 0, f1 = 0, area = 0;
        scene3_open(&s, seed);
        for (int i = 0; i < NODES; i++)
            if (counts(&s, i)) {
                right += said(&s, i) == s.label[i];
                log_p += log(probability(&s, i, s.label[i]));
                rows++;
            }
        for (int k = 0; k < CLASSES; k++) {
            double both = 0, are = 0, guessed = 0;
            for (int i = 0; i < NODES; i++)
                if (counts(&s, i)) {
                    are += s.label[i] == k;
                    guessed += said(&s, i) == k;
                    both += s.label[i] == k && said(&s, i) == k;
                }
            recall += both / are / CLASSES;
            f1 += 2 * both / (are + guessed) / CLASSES;
            area += slow_auc(&s, k) / CLASSES;
            assert_near(score(&s, METRIC_AVERAGE_PRECISION, k), slow_precision(&s, k), 1e-9);
        }
        assert_near(score(&s, METRIC_ACCURACY, -1), right / rows, 1e-12);
        assert_near(score(&s, METRIC_BALANCED_ACCURACY, -1), recall, 1e-12);
        assert_near(score(&s, METRIC_MACRO_F1, -1), f1, 1e-12);
        assert_near(score(&s, METRIC_ROC_AUC, -1), area, 1e-9);
        assert_near(score(&s, METRIC_LOG_LIKELIHOOD, -1), exp(log_p / rows), 1e-7);
    }
}

/* Validation without some class: means are over the classes that it has. */
static void classes_that_validation_lacks(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct scene3 s;
        scene3_open(&s, seed);
        for (int i = 0; i < NODES; i++)
            if (s.label[i] == 2)
                s.label[i] = s.role[i] == SPLIT_VAL ? -1 : 2;
        double recall = 0;
        for (int k = 0; k < 2; k++) {
            double both = 0, are = 0;
            for (int i = 0; i < NODES; i++)
                if (counts(&s, i)) {
                    are += s.label[i] == k;
                    both += s.label[i] == k && said(&s, i) == k;
                }
            recall += both / are / 2;
        }
        assert_near(score(&s, METRIC_ROC_AUC, -1), (slow_auc(&s, 0) + slow_auc(&s, 1)) / 2, 1e-9);
        assert_near(score(&s, METRIC_BALANCED_ACCURACY, -1), recall, 1e-12);
    }
}

/* The order of floats of all kinds, and the way back. */
static void ranking_sorts_any_float(void **state)
{
    (void)state;
    static const float given[] = {0,    -0.0f, 1,    -1,    1e-40f, -1e-40f,   3e38f, -3e38f,  2,
                                  1.5f, -7e5,  7e5f, 0.25f, 1,      -INFINITY, NAN,   INFINITY};
    enum { COUNT = sizeof given / sizeof *given };
    uint64_t item[COUNT], spare[COUNT];
    for (int i = 0; i < COUNT; i++) {
        item[i] = rank_item(given[i], i % 3 == 0);
        if (!isnan(given[i]))
            assert_true(rank_score(item[i]) == given[i]);
    }
    rank_sort(item, spare, COUNT);
    for (int i = 1; i < COUNT; i++)
        assert_true(rank_score(item[i - 1]) >= rank_score(item[i]));
    assert_true(rank_score(item[0]) == INFINITY);
}

/* The k highest floats of all kinds, as a count of those before each one says. */
static void choices_are_of_the_highest(void **state)
{
    (void)state;
    static const float given[] = {0,    -0.0f, 1,    -1,    1e-40f, -1e-40f,   3e38f, 2,       2,
                                  1.5f, -7e5,  7e5f, 0.25f, 1,      -INFINITY, NAN,   INFINITY};
    enum { COUNT = sizeof given / sizeof *given };
    struct team *three;
    OK(team_new(&three, 3));
    for (int64_t k = -1; k <= COUNT + 1; k++) {
        struct rank_choice choice;
        rank_choose(&choice, given, COUNT, k, k % 2 ? three : NULL);
        for (int i = 0; i < COUNT; i++) {
            const uint64_t own = rank_item(given[i], false);
            int64_t before = 0;
            for (int o = 0; o < COUNT; o++) {
                const uint64_t other = rank_item(given[o], false);
                before += other < own || (other == own && o < i);
            }
            if (before == k - 1)
                assert_int_equal(choice.bar, own);
            assert_int_equal(rank_takes(&choice, given[i], i), before < k);
        }
    }
    team_free(three);
}

/* Among many ties, in more pieces than one and by threads. */
static void ties_go_to_the_earlier(void **state)
{
    (void)state;
    enum { COUNT = 3001 };
    static float score[COUNT];
    struct team *three;
    OK(team_new(&three, 3));
    for (int i = 0; i < COUNT; i++)
        score[i] = (float)(i * 7 % 5);
    for (int64_t k = 1; k <= COUNT; k += 13) {
        struct rank_choice choice, alone;
        int64_t taken = 0, last = -1, least = 5;
        rank_choose(&choice, score, COUNT, k, three);
        rank_choose(&alone, score, COUNT, k, NULL);
        assert_int_equal(choice.bar, alone.bar);
        assert_int_equal(choice.until, alone.until);
        for (int i = 0; i < COUNT; i++)
            if (rank_takes(&choice, score[i], i)) {
                taken++;
                least = (int64_t)score[i] < least ? (int64_t)score[i] : least;
            }
        assert_int_equal(taken, k);
        for (int i = 0; i < COUNT; i++)
            if ((int64_t)score[i] == least && rank_takes(&choice, score[i], i))
                last = i;
        for (int i = 0; i < COUNT; i++)
            assert_true((int64_t)score[i] < least || i > last || rank_takes(&choice, score[i], i));
    }
    team_free(three);
}

/* Thresholds by hand: scores 9 8 7 6 5, positives at 9, 7 and 5. */
static void thresholds_are_chosen(void **state)
{
    (void)state;
    uint64_t item[5], spare[5];
    struct consm_curve_point p;
    for (int i = 0; i < 5; i++)
        item[i] = rank_item((float)(5 + i), i % 2 == 0);
    rank_sort(item, spare, 5);
    assert_true(rank_threshold(&p, item, 5, 0.6, 0));
    assert_near(p.threshold, 5, 0);
    assert_near(p.precision, 0.6, 1e-12);
    assert_near(p.recall, 1, 1e-12);
    assert_true(rank_threshold(&p, item, 5, 0.65, 0));
    assert_near(p.threshold, 7, 0);
    assert_true(rank_threshold(&p, item, 5, 0, 0.5));
    assert_near(p.threshold, 7, 0);
    assert_true(rank_threshold(&p, item, 5, 0, 0)); /* F1: 1/2, 2/5, 2/3, 4/7, 3/4 */
    assert_near(p.threshold, 5, 0);
    item[0] &= ~(uint64_t)1;
    assert_false(rank_threshold(&p, item, 5, 0.9, 0));
    assert_near(rank_hits(item, 5, 3), 1, 0);
}

/* Class sizes decide what auto means, and only those of nodes that train or validate. */
static void auto_looks_at_class_sizes(void **state)
{
    (void)state;
    static const struct {
        int of[CLASSES]; /* validation nodes of each class, of 1000 */
        int32_t positive;
        enum config_metric metric;
        int32_t speaks_of;
    } cases[] = {
        {{500, 500, 0}, -1, METRIC_ACCURACY, -1},
        {{640, 360, 0}, -1, METRIC_ACCURACY, -1},
        {{780, 220, 0}, -1, METRIC_ROC_AUC, -1},
        {{110, 890, 0}, -1, METRIC_ROC_AUC, -1},
        {{910, 90, 0}, -1, METRIC_AVERAGE_PRECISION, 1},
        {{10, 990, 0}, -1, METRIC_AVERAGE_PRECISION, 0},
        {{500, 460, 40}, -1, METRIC_MACRO_F1, -1},
        {{400, 300, 300}, -1, METRIC_ACCURACY, -1},
        {{400, 300, 300}, 2, METRIC_AVERAGE_PRECISION, 2},
        {{1000, 0, 0}, -1, METRIC_ACCURACY, -1},
    };
    int32_t label[1100];
    uint8_t role[1100];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int64_t n = 0;
        for (int32_t k = 0; k < CLASSES; k++)
            for (int i = 0; i < cases[c].of[k]; i++) {
                role[n] = SPLIT_VAL;
                label[n++] = k;
            }
        for (; n < 1100; n++) { /* the sizes among test nodes must not matter */
            role[n] = SPLIT_TEST;
            label[n] = 2;
        }
        struct problem problem = {.nodes = n, .classes = CLASSES, .label = label, .role = role};
        enum config_metric metric = METRIC_AUTO;
        int32_t positive = cases[c].positive;
        OK(judge_choose(&metric, &positive, &problem));
        assert_int_equal(metric, cases[c].metric);
        assert_int_equal(positive, cases[c].speaks_of);
    }
    struct problem none = {.nodes = 1100, .classes = CLASSES, .label = label, .role = role};
    struct judge j;
    FAILS(judge_open(&j, &none, METRIC_AVERAGE_PRECISION, 1), CONSM_EINVAL,
          "no validation node has the positive class");
}

/* A run keeps the epoch with the best metric: a session judged by likelihood at every epoch. */
struct heard {
    double best;
    int64_t at;
};

static bool hear(void *ctx, const struct progress *p)
{
    struct heard *heard = ctx;
    if (p->val_acc > heard->best) {
        heard->best = p->val_acc;
        heard->at = p->epoch;
    }
    return false;
}

static void a_run_goes_by_its_metric(void **state)
{
    (void)state;
    static const enum config_metric metrics[] = {METRIC_ACCURACY, METRIC_AVERAGE_PRECISION,
                                                 METRIC_ROC_AUC, METRIC_LOG_LIKELIHOOD};
    struct scene scene;
    scene_open(&scene, "karate", 4);
    for (size_t m = 0; m < sizeof metrics / sizeof *metrics; m++) {
        struct heard heard = {-1, 0};
        struct train_options options = {.progress = hear, .progress_ctx = &heard};
        struct train_result result;
        OK(model_find(&options.model, "gcn"));
        model_defaults(options.model, &options.config);
        options.config.epochs = 60;
        options.config.metric = metrics[m];
        OK(train_once(&result, &scene.problem, &options, 1));
        assert_int_equal(result.best_epoch, heard.at);
        assert_true(result.val_score == heard.best);
    }
    scene_close(&scene);
}

/* Two classes are ranked once, by the difference of their logits. */
static void two_classes_have_one_area(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    float logit[2 * COUNT];
    int32_t label[COUNT];
    uint8_t role[COUNT];
    struct rng rng;
    struct judge j;
    double won = 0, pairs = 0;
    rng_init(&rng, 3, 1);
    for (int i = 0; i < COUNT; i++) {
        label[i] = (int32_t)rng_below(&rng, 3) == 0;
        role[i] = SPLIT_VAL;
        for (int k = 0; k < 2; k++)
            logit[2 * i + k] = (float)rng_below(&rng, 5) + 0.5f * (float)(label[i] == k);
    }
    for (int a = 0; a < COUNT; a++)
        for (int b = 0; b < COUNT; b++)
            if (label[a] == 1 && label[b] == 0) {
                float x = logit[2 * a + 1] - logit[2 * a], y = logit[2 * b + 1] - logit[2 * b];
                won += x > y ? 1 : x == y ? 0.5 : 0;
                pairs++;
            }
    struct problem problem = {.nodes = COUNT, .classes = 2, .label = label, .role = role};
    OK(judge_open(&j, &problem, METRIC_ROC_AUC, -1));
    assert_true(pairs > 0 && judge_score(&j, logit, false) == won / pairs);
    judge_close(&j);
}

/* log(p / (1 - p)) of a class, by the C library. */
static float odds_of(const float *row, int32_t classes, int32_t of)
{
    double top = -INFINITY, sum = 0;
    if (classes == 2)
        return row[of] - row[1 - of];
    for (int32_t k = 0; k < classes; k++)
        top = k != of && (double)row[k] > top ? (double)row[k] : top;
    for (int32_t k = 0; k < classes; k++)
        sum += k != of ? exp((double)row[k] - top) : 0;
    return (float)((double)row[of] - top - log(sum));
}

/* The metric by sorting all rows, class by class; of two classes by the first. */
static double sorted_metric(const struct problem *p, const float *logit, enum config_metric metric,
                            int32_t positive)
{
    const bool precision = metric == METRIC_AVERAGE_PRECISION;
    uint64_t *item = calloc((size_t)p->nodes, sizeof *item);
    uint64_t *spare = calloc((size_t)p->nodes, sizeof *spare);
    double sum = 0, classes = 0;
    assert_true(item && spare);
    for (int32_t k = 0; k < p->classes; k++) {
        if (precision ? k != positive : p->classes == 2 && k == 1)
            continue;
        for (int64_t i = 0; i < p->nodes; i++)
            item[i] = rank_item(odds_of(logit + i * p->classes, p->classes, k), p->label[i] == k);
        rank_sort(item, spare, p->nodes);
        const double found =
            precision ? rank_average_precision(item, p->nodes) : rank_auc(item, p->nodes);
        sum += isnan(found) ? 0 : found;
        classes += !isnan(found);
    }
    free(item);
    free(spare);
    return classes > 0 ? sum / classes : 0;
}

/* Logits of several kinds: any, coarse (many ties), of a model that is too sure (most intervals
 * are empty), and with rows that are not numbers or out of exp's range. */
static void draw_logits(float *logit, const int32_t *label, int n, int32_t classes, int kind)
{
    struct rng rng;
    rng_init(&rng, 5, (uint64_t)kind);
    for (int i = 0; i < n * classes; i++) {
        const float x = kind == 1 ? (float)rng_below(&rng, 3) : (float)rng_below(&rng, 1000) / 100;
        logit[i] = kind == 2 ? x * x * x : x;
    }
    for (int i = 0; i < n; i++)
        logit[i * classes + label[i]] += 2;
    for (int i = 0; i < n && kind == 3; i += 7) {
        static const float odd[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 2000, -2000};
        logit[i * classes + (int32_t)rng_below(&rng, (uint32_t)classes)] = odd[i / 7 % 7];
    }
}

static void check_metric(const struct problem *p, const float *logit, enum config_metric metric)
{
    static const int teams[] = {1, 2, 9};
    const int32_t positive = metric == METRIC_AVERAGE_PRECISION ? 1 : -1;
    struct judge j;
    OK(judge_open(&j, p, metric, positive));
    const double alone = judge_score(&j, logit, false);
    if (metric == METRIC_ROC_AUC || metric == METRIC_AVERAGE_PRECISION)
        assert_near(alone, sorted_metric(p, logit, metric, positive), p->classes == 2 ? 0 : 1e-7);
    for (int t = 0; t < 3; t++) {
        struct team *team;
        OK(team_new(&team, teams[t]));
        OK(judge_with_team(&j, team));
        struct score_room room;
        memset(j.scratch, t == 1 ? 255 : 0, /* what is there does not matter */
               score_room_lay(&room, NULL, judge_metric(&j), j.rows, j.classes, teams[t]));
        const double found = judge_score(&j, logit, false);
        assert_true(found == alone || (isnan(found) && isnan(alone)));
        team_free(team);
    }
    judge_close(&j);
}

/* Every metric: the same bits alone and on teams of several sizes. Those that rank: as by sorting
 * all rows. Few rows and many, more classes than threads, a class without rows, and more classes
 * than a block of logits has room for. */
static void a_team_finds_the_same(void **state)
{
    enum { MOST = 30000, SIZES = 5 };
    static const struct {
        int n;
        int32_t classes;
    } size[SIZES] = {{3, 2}, {MOST, 2}, {200, 5}, {MOST / 3, 3}, {MOST / 600, 600}};
    static float logit[2 * MOST];
    static int32_t label[MOST];
    static uint8_t role[MOST];
    struct rng rng;
    (void)state;
    rng_init(&rng, 5, 1);
    for (int s = 0; s < SIZES; s++)
        for (int kind = 0; kind < 4; kind++)
            for (int m = METRIC_ACCURACY; m <= METRIC_LOG_LIKELIHOOD; m++) {
                const int32_t classes = size[s].classes;
                for (int i = 0; i < size[s].n; i++) {
                    label[i] = i == 1 ? 1 : (int32_t)rng_below(&rng, (uint32_t)classes);
                    label[i] = classes > 2 && label[i] == classes - 1 ? 0 : label[i];
                    label[i] = classes == 2 && kind == 2 ? i % 9 == 1 : label[i];
                    role[i] = SPLIT_VAL;
                }
                draw_logits(logit, label, size[s].n, classes, kind);
                const struct problem p = {
                    .nodes = size[s].n, .classes = classes, .label = label, .role = role};
                check_metric(&p, logit, (enum config_metric)m);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_are_their_definitions),
        cmocka_unit_test(classes_that_validation_lacks),
        cmocka_unit_test(ranking_sorts_any_float),
        cmocka_unit_test(choices_are_of_the_highest),
        cmocka_unit_test(ties_go_to_the_earlier),
        cmocka_unit_test(thresholds_are_chosen),
        cmocka_unit_test(auto_looks_at_class_sizes),
        cmocka_unit_test(two_classes_have_one_area),
        cmocka_unit_test(a_team_finds_the_same),
        cmocka_unit_test(a_run_goes_by_its_metric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
