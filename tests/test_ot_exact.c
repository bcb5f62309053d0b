/* The exact transport plan: against another solver, against all permutations, and against the
 * optimality conditions. */
#include "ot_cases.h"

#include "ot/exact.h"

static struct problem p;

/* Feasible plan, feasible duals, no gap between them: optimal, however it was found. */
static void assert_optimal(const double *cost, const double *plan, const double *u, const double *v,
                           const double *a, const double *b, int64_t c, int64_t n)
{
    double primal = 0, dual = 0, scale = 1e-300, highest = -INFINITY;
    for (int64_t i = 0; i < c * n; i++)
        scale = fabs(cost[i]) > scale ? fabs(cost[i]) : scale;
    assert_marginals(plan, a, b, c, n, 1e-14);
    for (int64_t k = 0; k < c; k++)
        for (int64_t l = 0; l < n; l++) {
            double slack = cost[k * n + l] - u[k] - v[l];
            assert_true(slack >= -1e-13 * scale);
            if (plan[k * n + l] > 0)
                assert_true(slack <= 1e-13 * scale);
            primal += plan[k * n + l] * cost[k * n + l];
        }
    for (int64_t k = 0; k < c; k++) {
        dual += u[k] * (a ? a[k] : 1.0 / c);
        highest = u[k] > highest ? u[k] : highest;
    }
    for (int64_t l = 0; l < n; l++)
        dual += v[l] * (b ? b[l] : 1.0 / n);
    assert_true(fabs(primal - dual) <= 1e-12 * scale);
    assert_true(highest == 0);
}

static double solve(const double *a, const double *b)
{
    struct consm_ot_result result;
    OK(consm_ot_exact(p.plan, p.dual_r, p.dual_h, &result, p.cost, a, b, p.c, p.n));
    assert_true(result.converged);
    assert_optimal(p.cost, p.plan, p.dual_r, p.dual_h, a, b, p.c, p.n);
    return result.cost;
}

static void equals_reference(void **state)
{
    (void)state;
    json_t *list = reference_file("cases"), *object;
    size_t index;
    json_array_foreach(list, index, object)
    {
        const double *a, *b;
        static double plan[MOST];
        const json_t *exact = json_object_get(object, "exact");
        read_case(&p, &a, &b, object);
        assert_near(solve(a, b), json_number_value(json_object_get(exact, "cost")), 1e-10);
        read_doubles(plan, json_object_get(exact, "plan"));
        for (int64_t i = 0; i < p.c * p.n; i++) /* the cases are generic: one optimum */
            assert_near(p.plan[i], plan[i], 1e-10);
    }
    json_decref(list);
}

/* Least cost over all assignments of n points to n references, by recursion. */
static double best_permutation(int64_t row, unsigned taken)
{
    double best = INFINITY;
    if (row == p.n)
        return 0;
    for (int64_t l = 0; l < p.n; l++)
        if (!(taken >> l & 1)) {
            double cost = p.cost[row * p.n + l] / p.n + best_permutation(row + 1, taken | 1u << l);
            best = cost < best ? cost : best;
        }
    return best;
}

static void equals_best_permutation(void **state)
{
    (void)state;
    for (int size = 1; size <= 7; size++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            random_problem(&p, size, size, 2, seed);
            if (seed % 2) /* many ties */
                for (int i = 0; i < size * size; i++)
                    p.cost[i] = floor(p.cost[i]);
            assert_near(solve(NULL, NULL), best_permutation(0, 0), 1e-12);
        }
}

/* Sizes around each other, uniform and not, generic costs and many ties. */
static void optimal_everywhere(void **state)
{
    (void)state;
    const int sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {2, 3},  {3, 2},    {7, 50},
                            {5, 5}, {4, 8}, {8, 4}, {7, 64}, {10, 300}, {40, 30}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (uint64_t seed = 0; seed < 12; seed++) {
            random_problem(&p, sizes[s][0], sizes[s][1], 3, seed);
            if (seed % 3 == 1)
                for (int64_t i = 0; i < p.c * p.n; i++)
                    p.cost[i] = floor(p.cost[i] / 2);
            if (seed % 3 == 2) /* negative and large */
                for (int64_t i = 0; i < p.c * p.n; i++)
                    p.cost[i] = (p.cost[i] - 5) * 1e8;
            solve(NULL, NULL);
            solve(p.a, p.b);
            solve(p.a, NULL);
            solve(NULL, p.b);
        }
}

static void degenerate_masses(void **state)
{
    (void)state;
    random_problem(&p, 6, 40, 2, 3);
    for (int l = 0; l < 40; l++) /* zero masses, equal masses, masses that fit exactly */
        p.b[l] = l % 4 == 0 ? 0 : 1.0 / 32;
    for (int k = 0; k < 6; k++)
        p.a[k] = k < 2 ? 0 : k < 4 ? 0.25 : k == 4 ? 0.5 : 0;
    p.b[1] = 1.0 / 32 + 2.0 / 32;
    double sum = 0;
    for (int l = 0; l < 40; l++)
        sum += p.b[l];
    for (int l = 0; l < 40; l++)
        p.b[l] /= sum;
    solve(p.a, p.b);
    for (int k = 0; k < 6; k++)
        p.a[k] = k == 3;
    solve(p.a, p.b); /* everything to one reference */
    for (int l = 0; l < 40; l++)
        p.b[l] = l == 17;
    solve(p.a, p.b); /* one cell */
    assert_near(p.plan[3 * 40 + 17], 1, 1e-15);
    random_masses(p.b, 40, &(struct rng){{1, 2}, {0}, {0}, 4});
    p.b[0] += 1e-19; /* far below what an integer unit can hold */
    solve(NULL, p.b);
}

static void zero_costs_and_duplicates(void **state)
{
    (void)state;
    random_problem(&p, 5, 30, 2, 4);
    memset(p.cost, 0, sizeof p.cost);
    assert_true(solve(NULL, NULL) == 0);
    for (int l = 1; l < 30; l++)
        memcpy(p.h + 2 * l, p.h, 2 * sizeof *p.h);
    for (int k = 1; k < 4; k++)
        memcpy(p.r + 2 * k, p.r, 2 * sizeof *p.r);
    OK(consm_ot_cost_matrix(p.cost, p.r, p.h, 5, 30, 2, CONSM_OT_SQUARED_EUCLIDEAN));
    assert_near(solve(p.a, p.b), p.cost[0] * (1 - p.a[4]) + p.cost[4 * 30] * p.a[4], 1e-12);
}

/* Capacity scaling also finds an optimum, within the proven number of augmentations. */
static void scaling_agrees(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct ot_exact_work *work;
        struct consm_ot_result result;
        const double *a = seed % 2 ? p.a : NULL, *b = seed % 3 ? p.b : NULL;
        random_problem(&p, 2 + (int64_t)seed % 9, 3 + (int64_t)(seed * 7) % 90, 2, seed);
        double quick = solve(a, b);
        OK(ot_exact_work_new(&work, p.c, p.n));
        ot_exact_quick_limit(work, (int64_t)seed % 5); /* gives up at once or midway */
        ot_exact_solve(work, p.plan, p.dual_r, p.dual_h, &result, p.cost, a, b, p.c, p.n);
        ot_exact_work_free(work);
        assert_optimal(p.cost, p.plan, p.dual_r, p.dual_h, a, b, p.c, p.n);
        assert_near(result.cost, quick, 1e-12);
        assert_true(result.iterations <= 61 * (p.c > p.n ? p.c : p.n) + (int64_t)seed % 5);
    }
}

/* One scratch serves problems of any smaller size, one after another. */
static void scratch_is_reused(void **state)
{
    (void)state;
    struct ot_exact_work *work;
    struct consm_ot_result result;
    OK(ot_exact_work_new(&work, 10, 100));
    for (uint64_t seed = 0; seed < 40; seed++) {
        uint64_t before = consm_alloc_count();
        int64_t c = 1 + (int64_t)seed * 3 % 10, n = 1 + (int64_t)seed * 11 % 100;
        random_problem(&p, c, n, 2, seed);
        double alone = solve(p.a, p.b);
        before = consm_alloc_count();
        ot_exact_solve(work, p.plan, NULL, NULL, &result, p.cost, p.a, p.b, c, n);
        assert_int_equal(consm_alloc_count(), before);
        assert_true(result.cost == alone);
    }
    ot_exact_work_free(work);
}

static double squared_w2(const float *x, const float *y, int64_t c, int64_t n, int64_t f)
{
    struct consm_ot_result result;
    OK(consm_ot_cost_matrix(p.cost, x, y, c, n, f, CONSM_OT_SQUARED_EUCLIDEAN));
    OK(consm_ot_exact(p.plan, NULL, NULL, &result, p.cost, NULL, NULL, c, n));
    return result.cost;
}

static void is_a_distance(void **state)
{
    (void)state;
    struct rng rng;
    float x[30], y[45], z[24];
    rng_init(&rng, 5, 0);
    for (int round = 0; round < 50; round++) {
        random_floats(x, 30, &rng);
        random_floats(y, 45, &rng);
        random_floats(z, 24, &rng);
        double xy = squared_w2(x, y, 10, 15, 3), yx = squared_w2(y, x, 15, 10, 3);
        double yz = squared_w2(y, z, 15, 8, 3), xz = squared_w2(x, z, 10, 8, 3);
        assert_near(xy, yx, 1e-12);
        assert_true(sqrt(xz) <= sqrt(xy) + sqrt(yz) + 1e-12);
        assert_true(squared_w2(x, x, 10, 10, 3) == 0);
        assert_true(xy > 0);
    }
}

static void permutation_invariant(void **state)
{
    (void)state;
    int32_t order[60];
    static float shuffled[180];
    struct rng rng;
    rng_init(&rng, 6, 0);
    random_problem(&p, 7, 60, 3, 1);
    double before = solve(NULL, NULL);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 60; i++)
            order[i] = i;
        rng_shuffle(&rng, order, 60);
        for (int i = 0; i < 60; i++)
            memcpy(shuffled + 3 * i, p.h + 3 * order[i], 3 * sizeof *shuffled);
        assert_near(squared_w2(p.r, shuffled, 7, 60, 3), before, 1e-12);
    }
}

static void masses_of_any_total(void **state)
{
    (void)state;
    random_problem(&p, 4, 11, 2, 8);
    double one = solve(p.a, p.b);
    struct consm_ot_result result;
    for (int k = 0; k < 4; k++)
        p.a[k] *= 1e6;
    for (int l = 0; l < 11; l++)
        p.b[l] *= 1e6;
    OK(consm_ot_exact(p.plan, NULL, NULL, &result, p.cost, p.a, p.b, 4, 11));
    assert_near(result.cost, 1e6 * one, 1e-12);
    assert_marginals(p.plan, p.a, p.b, 4, 11, 1e-8);
}

static void refuses_nonsense(void **state)
{
    (void)state;
    struct consm_ot_result result;
    random_problem(&p, 3, 4, 2, 1);
#define EXACT(cost, a, b, c, n) consm_ot_exact(p.plan, NULL, NULL, &result, cost, a, b, c, n)
    FAILS(EXACT(p.cost, NULL, NULL, 0, 4), CONSM_EINVAL, "0 references");
    FAILS(EXACT(p.cost, NULL, NULL, 3, -1), CONSM_EINVAL, "-1 points");
    FAILS(EXACT(p.cost, NULL, NULL, 3, INT64_C(1) << 40), CONSM_ELIMIT, "at most");
    p.b[2] = -0.25;
    FAILS(EXACT(p.cost, NULL, p.b, 3, 4), CONSM_EINVAL, "mass of point 2 is -0.25");
    p.b[2] = NAN;
    FAILS(EXACT(p.cost, NULL, p.b, 3, 4), CONSM_EINVAL, "mass of point 2 is");
    memset(p.a, 0, 3 * sizeof *p.a);
    FAILS(EXACT(p.cost, p.a, NULL, 3, 4), CONSM_EINVAL, "sum to 0");
    p.a[0] = 1;
    for (int l = 0; l < 4; l++)
        p.b[l] = 0.5;
    FAILS(EXACT(p.cost, p.a, p.b, 3, 4), CONSM_EINVAL, "equal masses");
    p.cost[5] = NAN;
    FAILS(EXACT(p.cost, NULL, NULL, 3, 4), CONSM_EINVAL, "reference 1 and point 1");
    p.cost[5] = INFINITY;
    FAILS(EXACT(p.cost, NULL, NULL, 3, 4), CONSM_EINVAL, "reference 1 and point 1 is inf");
    struct ot_exact_work *work;
    FAILS(ot_exact_work_new(&work, 100000, 100000), CONSM_ELIMIT, "use Sinkhorn");
    assert_null(work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_reference),          cmocka_unit_test(equals_best_permutation),
        cmocka_unit_test(optimal_everywhere),        cmocka_unit_test(degenerate_masses),
        cmocka_unit_test(zero_costs_and_duplicates), cmocka_unit_test(scaling_agrees),
        cmocka_unit_test(scratch_is_reused),         cmocka_unit_test(is_a_distance),
        cmocka_unit_test(permutation_invariant),     cmocka_unit_test(masses_of_any_total),
        cmocka_unit_test(refuses_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
