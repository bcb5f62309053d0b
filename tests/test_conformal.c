/* Prediction sets: scores, thresholds and sets by hand, and the guarantee: over many draws of
 * calibration nodes the mean coverage is ⌈(m+1)·coverage⌉/(m+1), as in theory, with and without
 * smoothing, for a good model and for an uninformed one. */
#include "check.h"

#include <math.h>

#include "app/prepare.h"
#include "base/rng.h"
#include "data/generate/generate.h"
#include "stats/conformal.h"

/* A path 0 - 1 - 2 and a lone node 3. */
static const int64_t path_start[] = {0, 1, 3, 4, 4};
static const int32_t path_col[] = {1, 0, 2, 1};
static const float path_p[] = {0.7f, 0.2f, 0.1f, 0.25f, 0.5f, 0.25f,
                               0.1f, 0.1f, 0.8f, 0.2f,  0.2f, 0.6f};

static struct conformal_data path(void)
{
    return (struct conformal_data){
        .nodes = 4, .classes = 3, .probability = path_p, .start = path_start, .col = path_col};
}

static void scores_by_hand(void **state)
{
    (void)state;
    struct conformal_data d = path();
    float s[12], smooth[12];
    OK(conformal_scores(s, &d, 0));
    /* u of node 0 follows from its best class; the others from u. */
    double u = s[0] / 0.7;
    assert_true(u > 0 && u < 1);
    assert_near(s[1], 0.7 + u * 0.2, 1e-6);
    assert_near(s[2], 0.9 + u * 0.1, 1e-6);
    u = s[4] / 0.5; /* classes 0 and 2 are equal: the smaller number comes first */
    assert_near(s[3], 0.5 + u * 0.25, 1e-6);
    assert_near(s[5], 0.75 + u * 0.25, 1e-6);
    OK(conformal_scores(smooth, &d, 0.5));
    for (int y = 0; y < 3; y++) {
        assert_near(smooth[y], 0.5 * s[y] + 0.5 * s[3 + y], 1e-6);
        assert_near(smooth[3 + y], 0.5 * s[3 + y] + 0.25 * (s[y] + s[6 + y]), 1e-6);
        assert_near(smooth[9 + y], s[9 + y], 0); /* no neighbours */
    }
    float again[12], other[12];
    OK(conformal_scores(again, &d, 0.5));
    assert_memory_equal(again, smooth, sizeof again);
    d.seed = 1;
    OK(conformal_scores(other, &d, 0.5));
    assert_true(memcmp(other, smooth, sizeof other) != 0);
}

/* The draw belongs to the node's key, wherever the node is. */
static void order_of_nodes(void **state)
{
    (void)state;
    static const uint64_t key[] = {11, 22, 33, 44}, turned[] = {44, 33, 22, 11};
    struct conformal_data d = path(), back = path();
    float p[12], s[12], t[12];
    static const int64_t start[] = {0, 0, 1, 3, 4};
    static const int32_t col[] = {2, 1, 3, 2};
    for (int i = 0; i < 4; i++)
        memcpy(p + 3 * i, path_p + 3 * (3 - i), 3 * sizeof *p);
    d.key = key;
    back.key = turned;
    back.probability = p;
    back.start = start;
    back.col = col;
    OK(conformal_scores(s, &d, 0.5));
    OK(conformal_scores(t, &back, 0.5));
    for (int i = 0; i < 4; i++)
        assert_memory_equal(s + 3 * i, t + 3 * (3 - i), 3 * sizeof *s);
}

static void thresholds_are_exact(void **state)
{
    (void)state;
    float score[200];
    static const struct {
        int64_t count;
        double coverage, expected; /* scores are 1 … count in another order */
    } known[] = {{9, 0.9, 9},          {8, 0.9, INFINITY}, {10, 0.9, 10},   {19, 0.9, 18},
                 {99, 0.9, 90},        {99, 0.95, 95},     {100, 0.95, 96}, {19, 0.95, 19},
                 {18, 0.95, INFINITY}, {3, 0.5, 2},        {4, 0.5, 3},     {0, 0.5, INFINITY}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        for (int64_t k = 0; k < known[i].count; k++)
            score[k] = (float)((k * 7 + 3) % known[i].count + 1);
        assert_true(known[i].count == 0 || known[i].count % 7 != 0); /* each number once */
        double q = conformal_threshold(score, known[i].count, known[i].coverage);
        if (q != known[i].expected)
            fail_msg("%d scores, coverage %g: %g instead of %g", (int)known[i].count,
                     known[i].coverage, q, known[i].expected);
    }
    assert_int_equal(conformal_least(0.9), 9);
    assert_int_equal(conformal_least(0.95), 19);
    assert_int_equal(conformal_least(0.99), 99);
    assert_int_equal(conformal_least(0.5), 1);
}

static void sets_are_never_empty(void **state)
{
    (void)state;
    static const float score[] = {0.3f, 0.9f, 0.6f, 0.95f, 0.8f, 0.9f};
    uint8_t set[6];
    conformal_sets(set, score, 0.6f, 2, 3);
    assert_true(set[0] && !set[1] && set[2]);
    assert_true(!set[3] && set[4] && !set[5]); /* the least, though it is above */
    conformal_sets(set, score, INFINITY, 2, 3);
    for (int i = 0; i < 6; i++)
        assert_true(set[i]);
}

static void too_few_labels_hold_everything(void **state)
{
    (void)state;
    struct conformal_data d = path();
    static const int32_t label[] = {0, 1, 2, -1};
    static const uint8_t all[] = {1, 1, 1, 1};
    struct conformal c;
    uint8_t set[12];
    OK(conformal_fit(&c, &d, label, all, 0.9, 0.5));
    assert_int_equal(c.calibrated, 3); /* the unlabelled one does not count */
    assert_true(isinf(c.threshold));
    OK(conformal_apply(set, &c, &d));
    for (int i = 0; i < 12; i++)
        assert_true(set[i]);
    OK(conformal_fit(&c, &d, label, all, 0.5, 0.5));
    assert_true(isfinite(c.threshold));
}

/* ---- the promise --------------------------------------------------------- */

enum { CALIBRATING = 50, DRAWS = 600 };

/* Probabilities of a model that sees a noisy hint of the label; 0: none at all. */
static void guess(float *p, const struct dataset *d, double hint)
{
    struct rng rng;
    rng_init(&rng, 5, 1);
    for (int64_t i = 0; i < d->nodes; i++) {
        double sum = 0;
        for (int32_t k = 0; k < d->classes; k++)
            sum += p[i * d->classes + k] = (float)exp(hint * (d->label[i] == k) + rng_normal(&rng));
        for (int32_t k = 0; k < d->classes; k++)
            p[i * d->classes + k] /= (float)sum;
    }
}

struct measured {
    double covered; /* by scores up to the threshold: the quantity of the theory */
    double held;    /* by the sets, which always hold at least one class */
    double size;
};

/* Means over the nodes that did not calibrate, and over many draws of those that did. */
static struct measured measure(const struct conformal_data *d, const struct dataset *data,
                               double coverage, double smoothing)
{
    struct measured all = {0};
    int32_t *order = mem_alloc((size_t)d->nodes, sizeof *order);
    uint8_t *calibrates = mem_alloc((size_t)d->nodes, 1);
    uint8_t *set = mem_alloc((size_t)(d->nodes * d->classes), 1);
    float *score = mem_alloc((size_t)(d->nodes * d->classes), sizeof *score);
    for (int draw = 0; draw < DRAWS; draw++) {
        struct rng rng;
        struct conformal c;
        struct conformal_data other = *d;
        int64_t covered = 0, held = 0, size = 0;
        rng_init(&rng, (uint64_t)draw, 2);
        other.seed = (uint64_t)draw;
        for (int64_t i = 0; i < d->nodes; i++)
            order[i] = (int32_t)i;
        rng_shuffle(&rng, order, d->nodes);
        memset(calibrates, 0, (size_t)d->nodes);
        for (int i = 0; i < CALIBRATING; i++)
            calibrates[order[i]] = 1;
        OK(conformal_fit(&c, &other, data->label, calibrates, coverage, smoothing));
        assert_int_equal(c.calibrated, CALIBRATING);
        OK(conformal_apply(set, &c, &other));
        OK(conformal_scores(score, &other, smoothing));
        for (int64_t i = 0; i < d->nodes; i++) {
            if (calibrates[i])
                continue;
            covered += (double)score[i * d->classes + data->label[i]] <= c.threshold;
            held += set[i * d->classes + data->label[i]];
            for (int32_t k = 0; k < d->classes; k++)
                size += set[i * d->classes + k];
        }
        double others = (double)(d->nodes - CALIBRATING);
        all.covered += (double)covered / others / DRAWS;
        all.held += (double)held / others / DRAWS;
        all.size += (double)size / others / DRAWS;
    }
    mem_free(order);
    mem_free(calibrates);
    mem_free(set);
    mem_free(score);
    return all;
}

static void coverage_is_what_was_promised(void **state)
{
    (void)state;
    struct dataset *data;
    struct prepared p;
    struct measured plain = {0}, smooth = {0};
    OK(generate_named(&data, "csbm:nodes=500,features=2,homophily=0.9"));
    OK(prepare(&p, data));
    float *probability = mem_alloc((size_t)(data->nodes * data->classes), sizeof *probability);
    struct conformal_data d = {.nodes = data->nodes,
                               .classes = data->classes,
                               .probability = probability,
                               .start = p.graph->start,
                               .col = p.graph->col};
    for (int hint = 0; hint <= 1; hint++) {
        guess(probability, data, 1.5 * hint);
        for (int level = 0; level < 2; level++) {
            double coverage = level ? 0.8 : 0.9;
            /* ⌈51·0.9⌉/51 = 46/51, ⌈51·0.8⌉/51 = 41/51. One draw's coverage spreads by 0.05 (beta
             * and the nodes it is counted on), the mean of 600 by 0.002. */
            double expected = ceil(51 * coverage) / 51;
            plain = measure(&d, data, coverage, 0);
            smooth = measure(&d, data, coverage, 0.5);
            assert_near(plain.covered, expected, 0.01);
            assert_near(smooth.covered, expected, 0.01);
            assert_true(plain.held >= plain.covered && smooth.held >= smooth.covered);
        }
    }
    assert_true(smooth.size < plain.size - 0.2); /* neighbours of one class help */
    mem_free(probability);
    prepare_free(&p);
    dataset_free(data);
}

static void smoothing_is_chosen_by_what_selects(void **state)
{
    (void)state;
    static const char *const name[] = {"csbm:nodes=600,features=2,homophily=0.9",
                                       "csbm:nodes=600,features=2,homophily=0.25"};
    for (int k = 0; k < 2; k++) {
        struct dataset *data;
        struct prepared p;
        double chosen;
        OK(generate_named(&data, name[k]));
        OK(prepare(&p, data));
        float *probability = mem_alloc((size_t)(data->nodes * data->classes), sizeof *probability);
        uint8_t *selects = mem_zalloc((size_t)data->nodes, 1);
        memset(selects, 1, 200);
        guess(probability, data, 1.5);
        struct conformal_data d = {.nodes = data->nodes,
                                   .classes = data->classes,
                                   .probability = probability,
                                   .start = p.graph->start,
                                   .col = p.graph->col};
        OK(conformal_choose(&chosen, &d, data->label, selects, 0.9));
        if (k == 0)
            assert_true(chosen >= 0.5);
        else
            assert_near(chosen, 0, 0); /* uninformative edges only blur */
        mem_free(probability);
        mem_free(selects);
        prepare_free(&p);
        dataset_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_by_hand),
        cmocka_unit_test(order_of_nodes),
        cmocka_unit_test(thresholds_are_exact),
        cmocka_unit_test(sets_are_never_empty),
        cmocka_unit_test(too_few_labels_hold_everything),
        cmocka_unit_test(coverage_is_what_was_promised),
        cmocka_unit_test(smoothing_is_chosen_by_what_selects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
