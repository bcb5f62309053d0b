/* Metrics and temperature scaling against scikit-learn and SciPy (tests/reference/metrics.json),
 * and in cases where those give errors: no rows, one class. */
#include "reference.h"

#include "graph/roles.h"
#include "train/metrics.h"
#include <math.h>

/* A case of the file as arrays. Node 0 and the last have another role and must not count. */
struct sample {
    struct predicted p;
    float *logits, *probability;
    int32_t *label;
    uint8_t *role;
};

static void sample_read(struct sample *s, const json_t *entry)
{
    const json_t *logits = ref_get(entry, "logits"), *label = ref_get(entry, "label");
    int64_t rows = (int64_t)json_array_size(label);
    int32_t classes = (int32_t)json_integer_value(ref_get(entry, "classes"));
    OK(ZNEW(s->logits, (rows + 2) * classes));
    OK(ZNEW(s->probability, (rows + 2) * classes));
    OK(ZNEW(s->label, rows + 2));
    OK(ZNEW(s->role, rows + 2));
    for (int64_t i = 0; i < rows; i++) {
        s->label[i + 1] = (int32_t)json_integer_value(json_array_get(label, (size_t)i));
        s->role[i + 1] = SPLIT_VAL;
        for (int32_t k = 0; k < classes; k++)
            s->logits[(i + 1) * classes + k] =
                (float)json_number_value(json_array_get(logits, (size_t)(i * classes + k)));
    }
    s->role[0] = SPLIT_TEST;
    metrics_softmax(s->probability, s->logits, 1, rows + 2, classes);
    s->p =
        (struct predicted){s->probability, s->label, s->role, SPLIT_VAL, rows + 2, classes, NULL};
}

static void sample_free(struct sample *s)
{
    mem_free(s->logits);
    mem_free(s->probability);
    mem_free(s->label);
    mem_free(s->role);
}

static double value(const json_t *entry, const char *key)
{
    return json_number_value(ref_get(entry, key));
}

static double item(const json_t *entry, const char *key, size_t i)
{
    const json_t *found = json_array_get(ref_get(entry, key), i);
    return json_is_null(found) ? NAN : json_number_value(found);
}

static void figures_match_scikit_learn(void **state)
{
    (void)state;
    json_t *root = ref_open("metrics"), *entry;
    size_t number;
    json_array_foreach(root, number, entry)
    {
        struct sample s;
        struct metrics m;
        sample_read(&s, entry);
        OK(metrics_measure(&m, &s.p));
        assert_int_equal(m.all.nodes, s.p.nodes - 2);
        assert_near(m.all.accuracy, value(entry, "accuracy"), 1e-12);
        assert_near(m.all.macro_f1, value(entry, "macro_f1"), 1e-12);
        assert_near(m.all.balanced_accuracy, value(entry, "balanced_accuracy"), 1e-12);
        assert_near(m.all.roc_auc, value(entry, "roc_auc"), 1e-12);
        assert_near(m.all.nll, value(entry, "nll"), 1e-6);
        assert_near(m.all.ece, value(entry, "ece"), 1e-6);
        for (int32_t k = 0; k < m.all.classes; k++) {
            assert_near(m.of[k].precision, item(entry, "precision", (size_t)k), 1e-12);
            assert_near(m.of[k].recall, item(entry, "recall", (size_t)k), 1e-12);
            assert_near(m.of[k].f1, item(entry, "f1", (size_t)k), 1e-12);
            assert_int_equal(m.of[k].support, item(entry, "support", (size_t)k));
            if (isnan(item(entry, "areas", (size_t)k)))
                assert_true(isnan(m.of[k].roc_auc));
            else
                assert_near(m.of[k].roc_auc, item(entry, "areas", (size_t)k), 1e-12);
        }
        int64_t *confusion = malloc((size_t)(m.all.classes * m.all.classes) * sizeof *confusion);
        consm_metrics_confusion(confusion, &m.all);
        for (size_t k = 0; k < (size_t)(m.all.classes * m.all.classes); k++)
            assert_int_equal(confusion[k], item(entry, "confusion", k));
        free(confusion);
        metrics_free(&m);
        sample_free(&s);
    }
    json_decref(root);
}

static void temperature_matches_scipy(void **state)
{
    (void)state;
    json_t *root = ref_open("metrics"), *entry;
    size_t number;
    json_array_foreach(root, number, entry)
    {
        struct sample s;
        sample_read(&s, entry);
        s.p.probability = s.logits;
        double t = metrics_temperature(&s.p);
        assert_near(t, value(entry, "temperature"), 1e-5);
        assert_near(metrics_nll(&s.p, t), value(entry, "nll_after"), 1e-7);
        assert_near(metrics_nll(&s.p, 1), value(entry, "nll"), 1e-10);
        assert_true(t == metrics_temperature(&s.p));
        sample_free(&s);
    }
    json_decref(root);
}

/* Few rows, all right: confidence grows, but not without bound. */
static void few_right_rows_do_not_make_certain(void **state)
{
    (void)state;
    float logits[8] = {0.5f, 0, 0, 0.5f, 0.5f, 0, 0, 0.5f};
    int32_t label[4] = {0, 1, 0, 1};
    uint8_t role[4] = {SPLIT_VAL, SPLIT_VAL, SPLIT_VAL, SPLIT_VAL};
    struct predicted p = {logits, label, role, SPLIT_VAL, 4, 2, NULL};
    double t = metrics_temperature(&p);
    assert_true(t > 0.1 && t < 0.9);
}

static void nothing_to_measure(void **state)
{
    (void)state;
    float probability[4] = {0.5f, 0.5f, 1, 0};
    int32_t label[2] = {-1, 1};
    uint8_t role[2] = {SPLIT_VAL, SPLIT_TEST};
    struct predicted p = {probability, label, role, SPLIT_VAL, 2, 2, NULL};
    struct metrics m;
    OK(metrics_measure(&m, &p));
    assert_int_equal(m.all.nodes, 0);
    assert_true(isnan(m.all.accuracy) && isnan(m.all.ece) && isnan(m.all.roc_auc));
    assert_true(metrics_temperature(&p) == 1);
    metrics_free(&m);
}

/* Certain and wrong: log(0) must not spoil the figure. */
static void certain_mistakes_stay_finite(void **state)
{
    (void)state;
    float probability[4] = {1, 0, 1, 0};
    int32_t label[2] = {1, 0};
    uint8_t role[2] = {SPLIT_TEST, SPLIT_TEST};
    struct predicted p = {probability, label, role, SPLIT_TEST, 2, 2, NULL};
    struct metrics m;
    OK(metrics_measure(&m, &p));
    assert_true(isfinite(m.all.nll) && m.all.nll > 10);
    assert_near(m.all.ece, 0.5, 1e-12);
    assert_near(m.all.roc_auc, 0.5, 1e-12); /* all tied */
    metrics_free(&m);
}

/* The precision and recall of a threshold are those of the labels that it decides, also if several
 * nodes are exactly at it. */
static void thresholds_keep_their_word(void **state)
{
    (void)state;
    enum { ROWS = 90, OF = 3 };
    float probability[ROWS * OF];
    int32_t label[ROWS];
    uint8_t role[ROWS];
    uint32_t random = 3;
    for (int i = 0; i < ROWS; i++) {
        random = random * 1664525u + 1013904223u;
        label[i] = (int32_t)(random >> 16) % OF;
        role[i] = i % 5 ? SPLIT_VAL : SPLIT_TEST;
        random = random * 1664525u + 1013904223u;
        float p = (float)((random >> 16) % 5 + (label[i] == 1 ? 2 : 0)) / 8; /* many ties */
        probability[i * OF + 1] = p;
        probability[i * OF] = (1 - p) * 0.6f;
        probability[i * OF + 2] = (1 - p) * 0.4f;
    }
    struct predicted p = {probability, label, role, SPLIT_VAL, ROWS, OF, NULL};
    static const double asked[][2] = {{0, 0}, {0.5, 0}, {0.7, 0}, {0, 0.5}, {0, 0.9}, {0, 1}};
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        struct decision d;
        struct metrics m;
        double are = 0, said = 0, both = 0;
        OK(metrics_threshold(&d, &p, 1, asked[k][0], asked[k][1]));
        for (int i = 0; i < ROWS; i++)
            if (role[i] == SPLIT_VAL) {
                bool yes = metrics_decide(probability + i * OF, OF, &d) == 1;
                are += label[i] == 1;
                said += yes;
                both += yes && label[i] == 1;
            }
        assert_near(d.precision, both / said, 1e-12);
        assert_near(d.recall, both / are, 1e-12);
        struct predicted decided = p;
        decided.decision = &d;
        OK(metrics_measure(&m, &decided));
        assert_near(m.of[1].precision, d.precision, 1e-12);
        assert_near(m.of[1].recall, d.recall, 1e-12);
        metrics_free(&m);
    }
}

/* No threshold reaches the request: it is the one with the highest precision, 2 of 3 at 0.75, where
 * two nodes are tied; the lower one with 3 of 5 is not. */
static void the_highest_precision_by_hand(void **state)
{
    (void)state;
    const float of[] = {0.875F, 0.75F, 0.75F, 0.5F, 0.25F};
    const int32_t label[] = {0, 1, 1, 0, 1};
    const uint8_t role[5] = {0};
    float probability[10];
    struct decision d;
    for (int i = 0; i < 5; i++) {
        probability[2 * i] = 1 - of[i];
        probability[2 * i + 1] = of[i];
    }
    struct predicted p = {probability, label, role, 0, 5, 2, NULL};
    OK(metrics_threshold(&d, &p, 1, 0.875, 0));
    assert_true(d.made && !d.reached && d.positive == 1);
    assert_true(d.threshold == 0.75);
    assert_near(d.precision, 2.0 / 3, 1e-15);
    assert_near(d.recall, 2.0 / 3, 1e-15);
    OK(metrics_threshold(&d, &p, 1, 0.625, 0)); /* 3 of 5 is too little */
    assert_true(d.reached && d.threshold == 0.75);
    p.nodes = 1; /* nobody of the class */
    FAILS(metrics_threshold(&d, &p, 1, 0.5, 0), CONSM_EINVAL, "no validation node has this class");
}

/* Nodes of a class that the model does not know are wrong, whatever it predicts. */
static void foreign_classes_are_wrong(void **state)
{
    const float probability[] = {0.9F, 0.1F, 0.2F, 0.8F, 0.7F, 0.3F, 0.6F, 0.4F};
    const int32_t label[] = {0, 1, METRICS_FOREIGN, -1};
    const uint8_t role[4] = {0};
    struct predicted p = {probability, label, role, 0, 4, 2, NULL};
    struct metrics m;
    (void)state;
    OK(metrics_measure(&m, &p));
    assert_true(m.all.nodes == 3 && m.all.foreign == 1);
    assert_near(m.all.accuracy, 2.0 / 3, 1e-12);
    assert_near(m.all.balanced_accuracy, 2.0 / 3, 1e-12); /* three classes, one never found */
    assert_true(m.of[0].support == 1 && m.of[0].predicted == 2);
    assert_near(m.of[0].precision, 0.5, 1e-12);
    assert_near(m.of[0].f1, 2.0 / 3, 1e-12);
    assert_near(m.all.macro_f1, (2.0 / 3 + 1) / 3, 1e-12);
    assert_near(m.all.nll, -(log(0.9) + log(0.8)) / 2, 1e-6);
    metrics_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_match_scikit_learn),
        cmocka_unit_test(temperature_matches_scipy),
        cmocka_unit_test(few_right_rows_do_not_make_certain),
        cmocka_unit_test(nothing_to_measure),
        cmocka_unit_test(thresholds_keep_their_word),
        cmocka_unit_test(the_highest_precision_by_hand),
        cmocka_unit_test(foreign_classes_are_wrong),
        cmocka_unit_test(certain_mistakes_stay_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
