/* Sinkhorn: against another solver, at every ε and cost scale, one by one and in batches. THREADED
 */
#include "ot_cases.h"

static struct problem p;

static struct consm_ot_options at(double epsilon, double tolerance, int iterations)
{
    struct consm_ot_options options = {.size = sizeof options};
    consm_ot_defaults(&options);
    options.epsilon = epsilon;
    options.relative = false;
    options.tolerance = tolerance;
    options.max_iterations = iterations;
    return options;
}

static struct consm_ot_result solve(const double *a, const double *b,
                                    struct consm_ot_options options)
{
    struct consm_ot_result result;
    OK(consm_ot_sinkhorn(p.plan, &result, p.cost, a, b, p.c, p.n, &options));
    assert_true(isfinite(result.cost) && isfinite(result.marginal_error));
    assert_int_equal(result.converged, result.marginal_error <= options.tolerance);
    assert_true(result.iterations <= options.max_iterations + 1);
    return result;
}

static void equals_reference(void **state)
{
    (void)state;
    json_t *list = reference_file("cases"), *object, *run;
    size_t index, which;
    json_array_foreach(list, index, object)
    {
        const double *a, *b;
        read_case(&p, &a, &b, object);
        json_array_foreach(json_object_get(object, "sinkhorn"), which, run)
        {
            static double plan[MOST];
            double epsilon = json_number_value(json_object_get(run, "epsilon"));
            struct consm_ot_result result = solve(a, b, at(epsilon, 1e-11, 200000));
            assert_true(result.converged);
            assert_near(result.cost, json_number_value(json_object_get(run, "cost")), 1e-8);
            read_doubles(plan, json_object_get(run, "plan"));
            for (int64_t i = 0; i < p.c * p.n; i++)
                assert_near(p.plan[i], plan[i], 1e-8);
            assert_marginals(p.plan, a, b, p.c, p.n, 1e-10);
        }
    }
    json_decref(list);
}

/* The optimum has the form exp((f_k + g_l - cost_kl) / ε): all 2 × 2 cross ratios are those of
 * exp(-cost / ε). Together with the marginals that proves it. */
static void has_the_gibbs_form(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        random_problem(&p, 5, 17, 3, seed);
        double epsilon = 0.3 + 0.2 * (double)seed;
        assert_true(solve(p.a, p.b, at(epsilon, 1e-12, 100000)).converged);
        for (int k = 1; k < 5; k++)
            for (int l = 1; l < 17; l++) {
                const double *x = p.plan, *y = p.cost;
                double ratio = log(x[0]) + log(x[k * 17 + l]) - log(x[l]) - log(x[k * 17]);
                double costs = y[0] + y[k * 17 + l] - y[l] - y[k * 17];
                assert_near(ratio, -costs / epsilon, 1e-9);
            }
    }
}

static void approaches_the_exact_cost(void **state)
{
    (void)state;
    struct consm_ot_result exact;
    random_problem(&p, 6, 25, 2, 2);
    OK(consm_ot_exact(p.plan, NULL, NULL, &exact, p.cost, p.a, p.b, 6, 25));
    double before = INFINITY;
    for (double epsilon = 10; epsilon > 2e-3; epsilon /= 4) {
        struct consm_ot_result result = solve(p.a, p.b, at(epsilon, 1e-9, 1000000));
        assert_true(result.converged);
        assert_true(result.cost <= before + 1e-6 && result.cost >= exact.cost - 1e-6);
        assert_true(result.cost - exact.cost <= epsilon * log(6.0 * 25));
        before = result.cost;
    }
    assert_near(before, exact.cost, 1e-3);
}

/* ε from 1e-6 to 1e3, costs up to 1e8: finite plans with exact columns, always; converged where
 * the arithmetic allows. */
static void extremes_stay_finite(void **state)
{
    (void)state;
    for (double scale = 1e-8; scale < 2e8; scale *= 1e4)
        for (double epsilon = 1e-6; epsilon < 2e3; epsilon *= 1e3) {
            random_problem(&p, 7, 30, 3, 11);
            for (int64_t i = 0; i < p.c * p.n; i++)
                p.cost[i] *= scale;
            for (int weighted = 0; weighted < 2; weighted++) {
                const double *a = weighted ? p.a : NULL, *b = weighted ? p.b : NULL;
                struct consm_ot_result result = solve(a, b, at(epsilon, 1e-6, 2000));
                for (int64_t l = 0; l < p.n; l++) {
                    double sum = 0;
                    for (int64_t k = 0; k < p.c; k++) {
                        assert_true(p.plan[k * p.n + l] >= 0);
                        sum += p.plan[k * p.n + l];
                    }
                    assert_near(sum, b ? b[l] : 1.0 / p.n, 1e-12);
                }
                assert_true(result.marginal_error < 0.5);
                if (scale <= epsilon * 20)
                    assert_true(result.converged);
            }
        }
    random_problem(&p, 3, 5, 2, 1);
    for (int i = 0; i < 15; i++)
        p.cost[i] = i % 2 ? 1e150 : -1e150;
    solve(NULL, NULL, at(1e-300, 1e-6, 50));
    for (int i = 0; i < 15; i++)
        p.cost[i] = i % 4 * 1e-310;
    struct consm_ot_options relative = at(1e-300, 1e-6, 50);
    relative.relative = true;
    solve(NULL, NULL, relative);
}

/* A row whose whole kernel underflows at first is still reached. */
static void far_reference_gets_its_mass(void **state)
{
    (void)state;
    random_problem(&p, 3, 12, 2, 5);
    for (int l = 0; l < 12; l++)
        p.cost[2 * 12 + l] += 1e7;
    struct consm_ot_result result = solve(p.a, p.b, at(0.5, 1e-9, 5000));
    assert_true(result.converged);
    assert_marginals(p.plan, p.a, p.b, 3, 12, 1e-8);
}

static void degenerate_problems(void **state)
{
    (void)state;
    random_problem(&p, 4, 9, 2, 6);
    p.a[1] = 0; /* masses of zero */
    p.b[3] = p.b[8] = 0;
    double sum_a = p.a[0] + p.a[2] + p.a[3], sum_b = 0;
    for (int l = 0; l < 9; l++)
        sum_b += p.b[l];
    for (int k = 0; k < 4; k++)
        p.a[k] /= sum_a;
    for (int l = 0; l < 9; l++)
        p.b[l] /= sum_b;
    assert_true(solve(p.a, p.b, at(0.2, 1e-9, 10000)).converged);
    assert_marginals(p.plan, p.a, p.b, 4, 9, 1e-8);
    memset(p.cost, 0, sizeof p.cost); /* zero costs: the product of the masses, at any ε */
    struct consm_ot_options options = {.size = sizeof options};
    consm_ot_defaults(&options);
    solve(p.a, p.b, options);
    for (int k = 0; k < 4; k++)
        for (int l = 0; l < 9; l++)
            assert_near(p.plan[k * 9 + l], p.a[k] * p.b[l], 1e-12);
    random_problem(&p, 1, 9, 2, 6);
    assert_true(solve(NULL, p.b, at(1e-6, 1e-12, 10)).converged);
    random_problem(&p, 9, 1, 2, 6);
    assert_true(solve(p.a, NULL, at(1e-6, 1e-12, 100)).converged);
    assert_marginals(p.plan, p.a, NULL, 9, 1, 1e-12);
}

/* A mass so small that its row of the kernel underflows: the log-domain step takes over. */
static void vanishing_masses(void **state)
{
    (void)state;
    for (double mass = 1e-100; mass > 1e-320; mass *= 1e-69) {
        random_problem(&p, 4, 30, 2, 7);
        p.a[2] += p.a[0] - mass;
        p.a[0] = mass;
        assert_true(solve(p.a, p.b, at(0.05, 1e-9, 20000)).converged);
        assert_marginals(p.plan, p.a, p.b, 4, 30, 1e-8);
    }
}

static void tells_when_it_did_not_converge(void **state)
{
    (void)state;
    random_problem(&p, 7, 40, 2, 9);
    struct consm_ot_result result = solve(p.a, p.b, at(0.05, 1e-12, 3));
    assert_false(result.converged);
    assert_true(result.marginal_error > 1e-12);
    assert_true(result.iterations >= 3);
}

static void refuses_nonsense(void **state)
{
    (void)state;
    struct consm_ot_result result;
    struct consm_ot_options bad = at(0, 1e-6, 10);
    random_problem(&p, 3, 4, 2, 1);
#define SINKHORN(options) \
    consm_ot_sinkhorn(p.plan, &result, p.cost, NULL, NULL, p.c, p.n, &(options))
    FAILS(SINKHORN(bad), CONSM_EINVAL, "epsilon is 0");
    bad = at(NAN, 1e-6, 10);
    FAILS(SINKHORN(bad), CONSM_EINVAL, "epsilon is");
    bad = at(1, -1, 10);
    FAILS(SINKHORN(bad), CONSM_EINVAL, "tolerance -1");
    bad = at(1, 1e-6, 0);
    FAILS(SINKHORN(bad), CONSM_EINVAL, "0 iterations");
    bad = at(1, 1e-6, 10);
    p.cost[7] = NAN;
    FAILS(SINKHORN(bad), CONSM_EINVAL, "reference 1 and point 3");
    int64_t start[] = {0, 4, 2};
    FAILS(consm_ot_sinkhorn_batch(p.plan, &result, p.cost, start, 2, 1, &bad, 1), CONSM_EINVAL,
          "problem 1 has -2 points");
    p.cost[7] = INFINITY;
    start[2] = 8;
    FAILS(consm_ot_sinkhorn_batch(p.plan, &result, p.cost, start, 2, 1, &bad, 1), CONSM_EINVAL,
          "reference 0 and point 3");
}

enum { PROBLEMS = 60, REFERENCES = 5, TOTAL = 2000 };

static int64_t make_batch(int64_t *start, double *costs)
{
    struct rng rng;
    rng_init(&rng, 12, 0);
    start[0] = 0;
    for (int i = 0; i < PROBLEMS; i++) /* also empty ones and single points */
        start[i + 1] = start[i] + (int64_t)rng_below(&rng, i % 7 == 0 ? 2 : 33);
    for (int64_t i = 0; i < REFERENCES * start[PROBLEMS]; i++)
        costs[i] = rng_uniform(&rng) * 3;
    return start[PROBLEMS];
}

static void batch_equals_singles_at_any_thread_count(void **state)
{
    (void)state;
    static double costs[REFERENCES * TOTAL], plans[REFERENCES * TOTAL], single[REFERENCES * TOTAL];
    static int64_t start[PROBLEMS + 1];
    struct consm_ot_result results[PROBLEMS], one[PROBLEMS];
    struct consm_ot_options options = {.size = sizeof options};
    const int threads[] = {1, 2, 3, 7};
    int64_t total = make_batch(start, costs);
    assert_true(total <= TOTAL);
    consm_ot_defaults(&options);
    for (int i = 0; i < PROBLEMS; i++)
        if (start[i + 1] > start[i])
            OK(consm_ot_sinkhorn(single + REFERENCES * start[i], &one[i],
                                 costs + REFERENCES * start[i], NULL, NULL, REFERENCES,
                                 start[i + 1] - start[i], &options));
    for (int t = 0; t < 4; t++) {
        memset(plans, 0xff, sizeof plans);
        memset(results, 0xff, sizeof results);
        OK(consm_ot_sinkhorn_batch(plans, results, costs, start, PROBLEMS, REFERENCES, &options,
                                   threads[t]));
        assert_memory_equal(plans, single, (size_t)(REFERENCES * total) * sizeof *plans);
        for (int i = 0; i < PROBLEMS; i++) {
            assert_true(results[i].converged);
            if (start[i + 1] == start[i])
                continue;
            assert_true(results[i].cost == one[i].cost);
            assert_int_equal(results[i].iterations, one[i].iterations);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_reference),
        cmocka_unit_test(has_the_gibbs_form),
        cmocka_unit_test(approaches_the_exact_cost),
        cmocka_unit_test(extremes_stay_finite),
        cmocka_unit_test(far_reference_gets_its_mass),
        cmocka_unit_test(degenerate_problems),
        cmocka_unit_test(vanishing_masses),
        cmocka_unit_test(tells_when_it_did_not_converge),
        cmocka_unit_test(refuses_nonsense),
        cmocka_unit_test(batch_equals_singles_at_any_thread_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
