/* The studies' statistics against SciPy and scikit-learn (tests/reference/stats.json), and in cases
 * where those give errors. */
#include "check.h"

#include <jansson.h>
#include <math.h>

#include "stats/stats.h"

static json_t *reference;

static int load(void **state)
{
    json_error_t error;
    (void)state;
    reference = json_load_file(TESTS_DIR "/reference/stats.json", 0, &error);
    return reference ? 0 : -1;
}

static int unload(void **state)
{
    (void)state;
    json_decref(reference);
    return 0;
}

static double at(const json_t *array, size_t i)
{
    return json_number_value(json_array_get(array, i));
}

static double field(const json_t *object, const char *name)
{
    assert_non_null(json_object_get(object, name));
    return json_number_value(json_object_get(object, name));
}

/* object[name] as numbers; the caller's array is long enough for every list of the file. */
static int64_t numbers(double out[static 100], const json_t *object, const char *name)
{
    const json_t *array = json_object_get(object, name);
    size_t n = json_array_size(array);
    assert_true(n > 0 && n <= 100);
    for (size_t i = 0; i < n; i++)
        out[i] = at(array, i);
    return (int64_t)n;
}

static void distributions_match_scipy(void **state)
{
    size_t i;
    json_t *row;
    (void)state;
    json_array_foreach(json_object_get(reference, "beta"), i, row)
    {
        double found = stats_incomplete_beta(at(row, 0), at(row, 1), at(row, 2));
        assert_near(found, at(row, 3), 1e-12);
        if (at(row, 3) > 1e-250) /* far tails keep their digits too */
            assert_near(found / at(row, 3), 1, 1e-9);
    }
    json_array_foreach(json_object_get(reference, "t"), i, row)
        assert_near(stats_t_cdf(at(row, 0), at(row, 1)), at(row, 2), 1e-12);
    json_array_foreach(json_object_get(reference, "t_quantile"), i, row)
        assert_near(stats_t_quantile(at(row, 0), at(row, 1)), at(row, 2), 1e-10);
    assert_true(isnan(stats_incomplete_beta(1, 1, 1.5)));
    assert_true(isnan(stats_t_quantile(1, 3)));
    assert_near(stats_t_cdf(0, 3), 0.5, 0);
    assert_near(stats_normal_cdf(1.959963984540054), 0.975, 1e-12);
}

static void means_and_intervals_match_scipy(void **state)
{
    size_t i;
    json_t *sample;
    double x[100];
    (void)state;
    json_array_foreach(json_object_get(reference, "samples"), i, sample)
    {
        int64_t n = numbers(x, sample, "x");
        struct stats_interval t = stats_t_interval(x, n, 0.95);
        assert_near(stats_mean(x, n), field(sample, "mean"), 1e-14);
        assert_near(stats_std(x, n), field(sample, "std"), 1e-14);
        assert_near(t.low, field(sample, "low"), 1e-11);
        assert_near(t.high, field(sample, "high"), 1e-11);
    }
    struct stats_interval wilson = stats_wilson(7, 30, 0.95);
    assert_near(wilson.low, at(json_object_get(reference, "wilson"), 0), 1e-7);
    assert_near(wilson.high, at(json_object_get(reference, "wilson"), 1), 1e-7);
    assert_true(isnan(stats_mean(x, 0)) && isnan(stats_std(x, 1)));
    assert_true(isnan(stats_t_interval(x, 1, 0.95).low) && isnan(stats_wilson(0, 0, 0.95).low));
}

static void wilcoxon_matches_scipy(void **state)
{
    size_t i;
    json_t *test;
    double a[100], b[100];
    struct stats_wilcoxon found;
    (void)state;
    json_array_foreach(json_object_get(reference, "wilcoxon"), i, test)
    {
        int64_t n = numbers(a, test, "a");
        assert_int_equal(numbers(b, test, "b"), n);
        OK(stats_wilcoxon(&found, a, b, n));
        assert_near(found.p, field(test, "p"), 1e-10);
        assert_int_equal(found.exact, found.used <= 25);
        assert_near(found.plus + found.minus, (double)(found.used * (found.used + 1)) / 2, 1e-12);
    }
}

static void wilcoxon_at_the_edges(void **state)
{
    /* Two differences that are one tie in truth; rounding makes them differ in the last bits. */
    double a[] = {0.3, 0.2, 0.5}, b[] = {0.2, 0.1, 0.5}, lost[] = {NAN, 0, 0};
    struct stats_wilcoxon found;
    (void)state;
    assert_true(a[0] - b[0] != a[1] - b[1]);
    OK(stats_wilcoxon(&found, a, b, 3));
    assert_int_equal(found.used, 2);
    assert_near(found.plus, 3, 0);
    assert_near(found.p, 0.5, 0);
    OK(stats_wilcoxon(&found, a, a, 3));
    assert_near(found.p, 1, 0);
    OK(stats_wilcoxon(&found, a, b, 0));
    assert_near(found.p, 1, 0);
    FAILS(stats_wilcoxon(&found, lost, b, 3), CONSM_EINVAL, "pair 0");
}

static void holm_steps_down(void **state)
{
    const json_t *expected = json_object_get(reference, "holm");
    double p[100], adjusted[100], right[100], gaps[] = {0.01, NAN, 0.02};
    int64_t n = numbers(p, expected, "p");
    (void)state;
    numbers(right, expected, "adjusted");
    OK(stats_holm(adjusted, p, n));
    for (int64_t i = 0; i < n; i++)
        assert_near(adjusted[i], right[i], 1e-14);
    OK(stats_holm(gaps, gaps, 3)); /* in place, with a test that could not be made */
    assert_near(gaps[0], 0.02, 1e-14);
    assert_true(isnan(gaps[1]));
    assert_near(gaps[2], 0.02, 1e-14);
}

static void rankings_match_sklearn(void **state)
{
    size_t i;
    json_t *test;
    double buffer[100], auc;
    float score[100];
    uint8_t positive[100];
    struct stats_top top;
    struct stats_reliability bins;
    (void)state;
    json_array_foreach(json_object_get(reference, "rankings"), i, test)
    {
        int64_t n = numbers(buffer, test, "score");
        for (int64_t j = 0; j < n; j++)
            score[j] = (float)buffer[j];
        numbers(buffer, test, "positive");
        for (int64_t j = 0; j < n; j++)
            positive[j] = (uint8_t)buffer[j];
        OK(stats_auc(&auc, score, positive, n));
        assert_near(auc, field(test, "auc"), 1e-12);
        if (json_object_get(test, "k")) {
            OK(stats_top_k(&top, score, positive, n, (int64_t)field(test, "k")));
            assert_near(top.f1, field(test, "f1"), 1e-12);
            assert_near(top.precision, top.recall, 1e-12);
        }
        OK(stats_reliability(&bins, score, positive, n, 10));
        assert_near(bins.ece, field(test, "ece"), 1e-12);
        assert_near(bins.brier, field(test, "brier"), 1e-7);
    }
}

static void rankings_at_the_edges(void **state)
{
    float constant[] = {0.5F, 0.5F, 0.5F, 0.5F}, bad[] = {0.5F, NAN}, outside[] = {1.5F};
    uint8_t one[] = {1, 0, 0, 0}, none[4] = {0};
    double auc;
    struct stats_top top;
    struct stats_reliability bins;
    (void)state;
    OK(stats_auc(&auc, constant, one, 4));
    assert_near(auc, 0.5, 0);
    OK(stats_auc(&auc, constant, none, 4));
    assert_true(isnan(auc));
    OK(stats_auc(&auc, constant, one, 0));
    assert_true(isnan(auc));
    OK(stats_top_k(&top, constant, one, 4, 1));
    assert_near(top.f1, 0.25, 0);
    OK(stats_top_k(&top, constant, none, 4, 0));
    assert_true(isnan(top.f1) && isnan(top.precision));
    FAILS(stats_top_k(&top, constant, one, 4, 5), CONSM_EINVAL, "top 5 of 4");
    FAILS(stats_auc(&auc, bad, one, 2), CONSM_ENUMERIC, "score 1");
    FAILS(stats_reliability(&bins, outside, one, 1, 10), CONSM_ENUMERIC, "expected 0 to 1");
    FAILS(stats_reliability(&bins, constant, one, 4, 51), CONSM_EINVAL, "1 to 50");
    OK(stats_reliability(&bins, constant, one, 0, 10));
    assert_true(isnan(bins.ece) && isnan(bins.observed[0]));
}

static void power_laws_match_scipy(void **state)
{
    const json_t *expected = json_object_get(reference, "power");
    double x[100], y[100];
    int64_t n = numbers(x, expected, "x");
    (void)state;
    numbers(y, expected, "y");
    struct stats_power_fit fit = stats_fit_power(x, y, n);
    double half = field(expected, "half");
    assert_near(fit.exponent, field(expected, "exponent"), 1e-12);
    assert_near(fit.factor / field(expected, "factor"), 1, 1e-10);
    assert_near(fit.r_squared, field(expected, "r_squared"), 1e-12);
    assert_near(fit.exponent_interval.high - fit.exponent, half, 1e-9);
    y[1] = NAN;
    x[2] = -1;
    fit = stats_fit_power(x, y, n);
    assert_int_equal(fit.used, 3);
    fit = stats_fit_power(x, y, 1);
    assert_true(isnan(fit.exponent));
}

/* y = 3 + 2 a exactly; b would need a negative coefficient, so it gets none. */
static void terms_by_hand(void **state)
{
    (void)state;
    static const double x[] = {1, 1, 5, 1, 10, 4, 1, 100, 3, 1, 1000, 2};
    static const double y[] = {5, 23, 203, 2003};
    static const double falling[] = {5, 23, 203, 0};
    double c[3];
    OK(stats_fit_terms(c, x, y, 4, 3));
    assert_true(fabs(c[0] - 3) < 1e-6 && fabs(c[1] - 2) < 1e-6 && c[2] >= 0 && c[2] < 1e-6);
    assert_int_equal(stats_fit_terms(c, x, falling, 4, 3), CONSM_EINVAL);
    /* A constant explains what falls with its only term: 0, not a negative coefficient. */
    static const double one[] = {1, 1, 1, 2}, less[] = {2, 1};
    OK(stats_fit_terms(c, one, less, 2, 2));
    assert_true(c[1] == 0 && fabs(c[0] - sqrt(2)) < 1e-6); /* as far from 1 as from 2 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_by_hand),
        cmocka_unit_test(distributions_match_scipy),
        cmocka_unit_test(means_and_intervals_match_scipy),
        cmocka_unit_test(wilcoxon_matches_scipy),
        cmocka_unit_test(wilcoxon_at_the_edges),
        cmocka_unit_test(holm_steps_down),
        cmocka_unit_test(rankings_match_sklearn),
        cmocka_unit_test(rankings_at_the_edges),
        cmocka_unit_test(power_laws_match_scipy),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
