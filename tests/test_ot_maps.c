/* Results of transport plans: assignments, weights, projections, pooling, references; many sets at
 * once give the same bits for any team. THREADED */
#include "ot_cases.h"

#include "ot/linear_ot.h"
#include "ot/monge.h"
#include "ot/references.h"

static struct problem p;

static void costs_equal_reference(void **state)
{
    (void)state;
    json_t *list = reference_file("cases"), *object;
    size_t index;
    json_array_foreach(list, index, object)
    {
        const double *a, *b;
        static double cost[MOST];
        read_case(&p, &a, &b, object);
        OK(consm_ot_cost_matrix(cost, p.r, p.h, p.c, p.n, p.f, case_metric(object)));
        for (int64_t i = 0; i < p.c * p.n; i++)
            assert_near(cost[i], p.cost[i], 1e-12);
    }
    json_decref(list);
}

static void cosine_of_zero_vectors(void **state)
{
    (void)state;
    float r[] = {0, 0, 1, 0}, h[] = {0, 0, -2, 0, 1e-20f, 0};
    double cost[6];
    OK(consm_ot_cost_matrix(cost, r, h, 2, 3, 2, CONSM_OT_COSINE));
    const double expected[] = {1, 1, 1, 1, 2, 0};
    for (int i = 0; i < 6; i++)
        assert_near(cost[i], expected[i], 1e-12);
}

static void projection_equals_reference(void **state)
{
    (void)state;
    json_t *list = reference_file("cases"), *object;
    size_t index;
    json_array_foreach(list, index, object)
    {
        const double *a, *b;
        static double expected[MOST];
        static float image[MOST], linear[MOST];
        uint8_t empty[16];
        const json_t *exact = json_object_get(object, "exact");
        read_case(&p, &a, &b, object);
        read_doubles(p.plan, json_object_get(exact, "plan"));
        read_doubles(expected, json_object_get(exact, "image"));
        OK(consm_ot_project(image, empty, p.plan, p.h, p.c, p.n, p.f));
        OK(consm_ot_linear(linear, p.plan, p.h, p.c, p.n, p.f, CONSM_OT_SCALE_NONE));
        for (int64_t i = 0; i < p.c * p.f; i++) {
            double mass = a ? a[i / p.f] : 1.0 / p.c;
            assert_near(image[i], expected[i], 1e-6);
            assert_near(linear[i], expected[i] * mass, 1e-6);
        }
        OK(consm_ot_linear(image, p.plan, p.h, p.c, p.n, p.f, CONSM_OT_SCALE_SQRT));
        for (int64_t i = 0; i < p.c * p.f; i++)
            assert_near(image[i], linear[i] * sqrt((double)p.c), 1e-6);
        OK(consm_ot_linear(image, p.plan, p.h, p.c, p.n, p.f, CONSM_OT_SCALE_MASS));
        for (int64_t i = 0; i < p.c * p.f; i++)
            assert_near(image[i], linear[i] * (double)p.c, 1e-6);
    }
    json_decref(list);
}

static void monge_by_hand(void **state)
{
    (void)state;
    /* Three references, the last without mass; point 3 is split evenly, point 4 has no mass. */
    const double plan[] = {0.2, 0, 0.1, 0.1, 0, /**/ 0, 0.2, 0.3, 0.1, 0, /**/ 0, 0, 0, 0, 0};
    const float h[] = {1, -1, 2, -2, 4, -8, 3, -5, 100, 100};
    const float mean[] = {2, -3, 3, -5, 0, 0}, sum[] = {4, -6, 6, -10, 0, 0},
                max[] = {3, -1, 4, -2, 0, 0},
                bary[] = {0.9f / 0.4f, -1.5f / 0.4f, 1.9f / 0.6f, -3.3f / 0.6f, 0, 0};
    const float *expected[] = {mean, sum, max};
    const int32_t assigned[] = {0, 1, 1, 0, -1};
    float image[6];
    int32_t assignment[5];
    uint8_t empty[3];
    for (int pooling = 0; pooling < 3; pooling++) {
        OK(consm_ot_monge(image, pooling ? assignment : NULL, empty, plan, h, 3, 5, 2,
                          (enum consm_ot_pooling)pooling));
        for (int i = 0; i < 6; i++)
            assert_near(image[i], expected[pooling][i], 1e-6);
        assert_true(!empty[0] && !empty[1] && empty[2]);
    }
    assert_memory_equal(assignment, assigned, sizeof assigned);
    OK(consm_ot_project(image, empty, plan, h, 3, 5, 2));
    for (int i = 0; i < 6; i++)
        assert_near(image[i], bary[i], 1e-6);
    assert_true(!empty[0] && !empty[1] && empty[2]);
}

static void nearest_with_ties(void **state)
{
    (void)state;
    const double tied[] = {1, 2, 3, /**/ 1, 1, 3, /**/ 0, 1, 3};
    int32_t reference[1000];
    ot_nearest(reference, tied, 3, 3);
    assert_int_equal(reference[0], 2);
    assert_int_equal(reference[1], 1);
    assert_int_equal(reference[2], 0);
    for (int n = 1; n <= 200; n += 33) { /* across the blocks' borders */
        random_problem(&p, 9, n, 3, (uint64_t)n);
        ot_nearest(reference, p.cost, 9, n);
        for (int l = 0; l < n; l++)
            for (int k = 0; k < 9; k++)
                assert_true(p.cost[k * n + l] >= p.cost[reference[l] * n + l]);
    }
}

/* With as many points as references the optimal plan is a permutation: each gets one point. */
static void assignment_follows_the_method(void **state)
{
    (void)state;
    struct consm_ot_options options = {.size = sizeof options};
    int32_t nearest[40], exact[40], sinkhorn[40];
    int load[8] = {0};
    random_problem(&p, 8, 40, 2, 3);
    for (int i = 0; i < 80; i++)
        p.h[i] = p.h[i] * 0.3f + 2; /* all on one side: nearest overloads a reference */
    consm_ot_defaults(&options);
    OK(consm_ot_assign(exact, p.r, p.h, 8, 40, 2, &options));
    options.method = CONSM_OT_SINKHORN;
    options.epsilon = 1e-4;
    OK(consm_ot_assign(sinkhorn, p.r, p.h, 8, 40, 2, &options));
    options.method = CONSM_OT_NEAREST;
    OK(consm_ot_assign(nearest, p.r, p.h, 8, 40, 2, &options));
    for (int l = 0; l < 40; l++) {
        load[exact[l]]++;
        assert_int_equal(exact[l], sinkhorn[l]);
    }
    for (int k = 0; k < 8; k++)
        assert_int_equal(load[k], 5);
    assert_true(memcmp(nearest, exact, sizeof nearest) != 0);
    OK(consm_ot_cost_matrix(p.cost, p.r, p.h, 8, 40, 2, CONSM_OT_SQUARED_EUCLIDEAN));
    ot_nearest(sinkhorn, p.cost, 8, 40);
    assert_memory_equal(nearest, sinkhorn, sizeof nearest);
}

/* ---- many sets ----------------------------------------------------------- */

enum { NODES = 120, SETS = 40, CLASSES = 5, WIDTH = 6, ENTRIES = SETS * 30 };

static int64_t start[SETS + 1];
static int32_t point[ENTRIES];
static float nodes[NODES * WIDTH], centres[CLASSES * WIDTH];

static void make_sets(void)
{
    struct rng rng;
    rng_init(&rng, 21, 0);
    random_floats(nodes, NODES * WIDTH, &rng);
    random_floats(centres, CLASSES * WIDTH, &rng);
    for (int i = 0; i < SETS; i++) {
        int64_t size = i % 9 == 0 ? i % 2 : (int64_t)rng_below(&rng, 30);
        start[i + 1] = start[i] + size;
        for (int64_t e = start[i]; e < start[i + 1]; e++)
            point[e] = (int32_t)rng_below(&rng, NODES);
    }
}

/* The options that give a single set the ε that all sets share. */
static struct consm_ot_options shared_epsilon(const struct consm_ot_options *options)
{
    static double cost[CLASSES * NODES];
    struct consm_ot_options o = *options;
    double sum = 0;
    OK(consm_ot_cost_matrix(cost, centres, nodes, CLASSES, NODES, WIDTH, o.metric));
    for (int i = 0; i < CLASSES * NODES; i++)
        sum += cost[i];
    o.epsilon *= sum / (CLASSES * NODES);
    o.relative = false;
    return o;
}

/* Set i solved by itself must give the same assignments, and with Sinkhorn the same plan. */
static void equals_single(int i, const int32_t *reference, const float *weight,
                          const struct consm_ot_options *alone)
{
    static double cost[CLASSES * 30], plan[CLASSES * 30];
    static float own[30 * WIDTH];
    int32_t again[30];
    struct consm_ot_result result;
    int64_t size = start[i + 1] - start[i];
    for (int64_t l = 0; l < size; l++) {
        double sum = 0;
        for (int k = 0; k < CLASSES; k++)
            sum += weight[CLASSES * start[i] + k * size + l];
        assert_near(sum * size, 1, 1e-5);
        memcpy(own + l * WIDTH, nodes + point[start[i] + l] * WIDTH, WIDTH * sizeof *own);
    }
    if (size == 0)
        return;
    OK(consm_ot_assign(again, centres, own, CLASSES, size, WIDTH, alone));
    if (alone->method != CONSM_OT_SINKHORN) {
        assert_memory_equal(again, reference + start[i], (size_t)size * sizeof *again);
        return;
    }
    OK(consm_ot_cost_matrix(cost, centres, own, CLASSES, size, WIDTH, alone->metric));
    OK(consm_ot_sinkhorn(plan, &result, cost, NULL, NULL, CLASSES, size, alone));
    for (int64_t e = 0; e < CLASSES * size; e++)
        assert_near(weight[CLASSES * start[i] + e], plan[e], 1e-5);
    for (int64_t l = 0; l < size; l++) { /* equal shares, as of a single point, decide nothing */
        int32_t chosen = reference[start[i] + l];
        assert_true(plan[again[l] * size + l] - plan[chosen * size + l] < 1e-5);
    }
}

/* The plans of all sets, whose costs a team has computed. */
static void weigh(float *weight, const struct consm_ot_options *options, struct team *team)
{
    struct ot_plans *plans;
    OK(ot_plans_new(&plans, NODES, CLASSES, 30, options, 1));
    ot_plans_costs(plans, nodes, centres, WIDTH, team);
    for (int i = 0; i < SETS; i++)
        ot_plans_weigh(plans, 0, weight + CLASSES * start[i], point + start[i],
                       start[i + 1] - start[i]);
    ot_plans_free(plans);
}

static void sets_equal_singles_at_any_thread_count(void **state)
{
    (void)state;
    static int32_t reference[ENTRIES], again[ENTRIES];
    static float weight[CLASSES * ENTRIES], same[CLASSES * ENTRIES];
    const int threads[] = {1, 2, 3, 7};
    /* A shared kernel cannot reach the smallest ε: those sets use the log domain. */
    const struct {
        enum consm_ot_method method;
        double epsilon;
    } cases[] = {{CONSM_OT_NEAREST, 0.05},
                 {CONSM_OT_EXACT, 0.05},
                 {CONSM_OT_SINKHORN, 0.5},
                 {CONSM_OT_SINKHORN, 0.05},
                 {CONSM_OT_SINKHORN, 1e-4}};
    struct ot_sets sets = {SETS, start, point};
    struct consm_ot_options options = {.size = sizeof options};
    make_sets();
    size_t entries = (size_t)start[SETS];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t unconverged = -1;
        consm_ot_defaults(&options);
        options.method = cases[i].method;
        options.epsilon = cases[i].epsilon;
        OK(ot_assign(reference, &unconverged, nodes, centres, NODES, CLASSES, WIDTH, &sets,
                     &options, NULL));
        assert_int_equal(unconverged, 0);
        weigh(weight, &options, NULL);
        for (int t = 0; t < 4; t++) {
            struct team *team;
            OK(team_new(&team, threads[t]));
            memset(again, 0x7f, sizeof again);
            memset(same, 0x7f, sizeof same);
            OK(ot_assign(again, NULL, nodes, centres, NODES, CLASSES, WIDTH, &sets, &options,
                         team));
            weigh(same, &options, team);
            team_free(team);
            assert_memory_equal(reference, again, entries * sizeof *again);
            assert_memory_equal(weight, same, CLASSES * entries * sizeof *same);
        }
        struct consm_ot_options alone = shared_epsilon(&options);
        for (int set = 0; set < SETS; set++)
            equals_single(set, reference, weight, &alone);
    }
}

/* Every share of a set's only point is 1/c, so the plan ties: the nearest reference wins, whatever
 * the rounding and the point's position. */
static void one_point_goes_to_the_nearest(void **state)
{
    (void)state;
    enum { C = 3, F = 4, N = 60 };
    static const enum consm_ot_method method[] = {CONSM_OT_EXACT, CONSM_OT_SINKHORN};
    struct consm_ot_options options = {.size = sizeof options};
    float x[N * F], r[C * F];
    int64_t first[N + 1];
    int32_t reference[N], nearest[N];
    uint32_t random = 5;
    for (int i = 0; i < C * F; i++)
        r[i] = (float)((random = random * 1664525u + 1013904223u) >> 8) * 0x1p-24f;
    for (int i = 0; i < N * F; i++)
        x[i] = (float)((random = random * 1664525u + 1013904223u) >> 8) * 0x1p-24f;
    for (int i = 0; i <= N; i++)
        first[i] = i;
    struct ot_sets sets = {.count = N, .start = first};
    OK(consm_ot_defaults(&options));
    int32_t only[N];
    for (int i = 0; i < N; i++)
        only[i] = i;
    sets.point = only;
    options.method = CONSM_OT_NEAREST;
    OK(ot_assign(nearest, NULL, x, r, N, C, F, &sets, &options, NULL));
    for (int m = 0; m < 2; m++)
        for (int tolerance = 0; tolerance < 2; tolerance++) {
            options.method = method[m];
            options.tolerance = tolerance ? 1e-3 : 1e-9;
            OK(ot_assign(reference, NULL, x, r, N, C, F, &sets, &options, NULL));
            assert_memory_equal(reference, nearest, sizeof nearest);
        }
}

static void sets_refuse_nonsense(void **state)
{
    (void)state;
    int32_t reference[4], bad_point[] = {0, 1, 7, 2};
    int64_t bounds[] = {0, 2, 4}, falling[] = {0, 3, 2};
    struct ot_sets sets = {2, bounds, bad_point};
    struct consm_ot_options options = {.size = sizeof options};
    float x[8] = {0};
    consm_ot_defaults(&options);
#define ASSIGN() ot_assign(reference, NULL, x, x, 4, 2, 2, &sets, &options, NULL)
    FAILS(ASSIGN(), CONSM_EINVAL, "entry 2 of the sets is point 7");
    bad_point[2] = -1;
    FAILS(ASSIGN(), CONSM_EINVAL, "entry 2 of the sets is point -1");
    bad_point[2] = 3;
    OK(ASSIGN());
    sets.start = falling;
    FAILS(ASSIGN(), CONSM_EINVAL, "set 1 has -1 points");
    sets.start = bounds;
    x[5] = INFINITY;
    FAILS(ASSIGN(), CONSM_EINVAL, "feature 1 of point 2");
    x[5] = 0;
    options.method = (enum consm_ot_method)9;
    FAILS(ASSIGN(), CONSM_EINVAL, "method 9");
}

/* ---- references ---------------------------------------------------------- */

static double spread(const float *r, const float *h, int64_t c, int64_t n, int64_t f)
{
    double sum = 0;
    OK(consm_ot_cost_matrix(p.cost, r, h, c, n, f, CONSM_OT_SQUARED_EUCLIDEAN));
    for (int64_t l = 0; l < n; l++) {
        double least = INFINITY;
        for (int64_t k = 0; k < c; k++)
            least = p.cost[k * n + l] < least ? p.cost[k * n + l] : least;
        sum += least;
    }
    return sum;
}

static void kmeans_finds_clusters(void **state)
{
    (void)state;
    struct rng rng;
    static float h[400], r[8], again[8], before[8];
    rng_init(&rng, 2, 0);
    for (int l = 0; l < 200; l++) {
        h[2 * l] = (float)(20 * (l % 4) + rng_normal(&rng));
        h[2 * l + 1] = (float)(7 * (l % 2) + rng_normal(&rng));
    }
    for (uint64_t seed = 0; seed < 20; seed++) {
        bool found[4] = {0};
        OK(consm_ot_kmeans(r, h, 4, 200, 2, seed));
        OK(consm_ot_kmeans(again, h, 4, 200, 2, seed));
        assert_memory_equal(r, again, sizeof r);
        OK(ot_kmeans_start(before, h, 4, 200, 2, seed));
        assert_true(spread(r, h, 4, 200, 2) <= spread(before, h, 4, 200, 2) * 1.000001);
        for (int k = 0; k < 4; k++)
            found[(int)lroundf(r[2 * k] / 20) & 3] = true;
        assert_true(found[0] && found[1] && found[2] && found[3]);
    }
}

static void kmeans_with_too_few_points(void **state)
{
    (void)state;
    float h[] = {1, 1, 1, 1, 5, 5}, r[10];
    for (uint64_t seed = 0; seed < 10; seed++) {
        OK(consm_ot_kmeans(r, h, 5, 3, 2, seed));
        assert_true(spread(r, h, 5, 3, 2) == 0);
        for (int k = 0; k < 5; k++)
            assert_true(r[2 * k] == 1 || r[2 * k] == 5);
    }
    OK(consm_ot_kmeans(r, h, 1, 3, 2, 0));
    assert_near(r[0], 7.0 / 3, 1e-6);
}

static void class_means(void **state)
{
    (void)state;
    const float h[] = {1, 2, 3, 4, 5, 6, 100, 100};
    const int32_t label[] = {2, 0, 2, -1}, wrong[] = {0, 3, 0, 0};
    int64_t count[3];
    float r[6];
    OK(consm_ot_class_means(r, count, h, label, 3, 4, 2));
    const float expected[] = {3, 4, 0, 0, 3, 4};
    assert_memory_equal(r, expected, sizeof r);
    assert_true(count[0] == 1 && count[1] == 0 && count[2] == 2);
    FAILS(consm_ot_class_means(r, NULL, h, wrong, 3, 4, 2), CONSM_EINVAL, "label of point 1 is 3");
}

static void barycentres_equal_reference(void **state)
{
    (void)state;
    json_t *list = reference_file("barycentres"), *object;
    size_t index;
    json_array_foreach(list, index, object)
    {
        const json_t *sizes = json_object_get(object, "sizes");
        int64_t bounds[16] = {0}, support = read_size(object, "support");
        int64_t sets = (int64_t)json_array_size(sizes), f = read_size(object, "f");
        static double expected[MOST];
        double objective;
        float y[64];
        for (int64_t i = 0; i < sets; i++)
            bounds[i + 1] = bounds[i] + json_integer_value(json_array_get(sizes, (size_t)i));
        read_floats(p.h, json_object_get(object, "points"));
        read_doubles(expected, json_object_get(object, "centres"));
        OK(ot_barycentre(y, &objective, p.h, bounds, sets, support, f, 1));
        assert_near(objective, json_number_value(json_object_get(object, "objective")), 1e-5);
        for (int64_t k = 0; k < support; k++) { /* some order of the centres; all are far apart */
            double least = INFINITY;
            for (int64_t l = 0; l < support; l++) {
                double distance = 0;
                for (int64_t d = 0; d < f; d++)
                    distance += fabs(y[k * f + d] - expected[l * f + d]);
                least = distance < least ? distance : least;
            }
            assert_true(least < 1e-4);
        }
    }
    json_decref(list);
}

/* One set of as many points as the support: the barycentre is the set itself, and its classes
 * stay apart. */
static void class_barycentres(void **state)
{
    (void)state;
    const float h[] = {0, 0, 4, 0, 10, 10, 99, 99, 14, 10, 10, 20, 14, 20};
    const int64_t bounds[] = {0, 2, 3, 4, 5, 7};
    const int32_t class_of[] = {0, 1, -1, 1, 2};
    float r[12];
    OK(consm_ot_barycentres(r, h, bounds, class_of, 5, 3, 2, 2, 3));
    assert_near(r[0] + r[2], 4, 1e-6);
    assert_near(fabs(r[0] - r[2]), 4, 1e-6);
    for (int k = 2; k < 4;
         k++) { /* class 1: two single points; every support point is their mean */
        assert_near(r[2 * k], 12, 1e-6);
        assert_near(r[2 * k + 1], 10, 1e-6);
    }
    assert_near(fabs(r[8] - r[10]), 4, 1e-6);
    FAILS(consm_ot_barycentres(r, h, bounds, class_of, 5, 4, 2, 2, 3), CONSM_EINVAL,
          "class 3 has no point");
    FAILS(consm_ot_barycentres(r, h, bounds, class_of, 5, 2, 2, 2, 3), CONSM_EINVAL,
          "set 4 has 2 points and class 2");
}

/* With one support point the barycentre is the mean of the sets' means; each round lowers W2². */
static void single_support_is_the_mean_of_means(void **state)
{
    (void)state;
    struct rng rng;
    const int64_t bounds[] = {0, 3, 3, 10};
    float y[3];
    double objective, moved;
    rng_init(&rng, 4, 0);
    random_floats(p.h, 30, &rng);
    OK(ot_barycentre(y, &objective, p.h, bounds, 3, 1, 3, 9));
    for (int d = 0; d < 3; d++) {
        double first = 0, last = 0;
        for (int l = 0; l < 10; l++)
            *(l < 3 ? &first : &last) += p.h[3 * l + d];
        assert_near(y[d], first / 6 + last / 14, 1e-6);
    }
    for (int trial = 0; trial < 20; trial++) { /* no single point does better */
        moved = 0;
        for (int l = 0; l < 10; l++)
            for (int d = 0; d < 3; d++) {
                double x = y[d] + 0.1 * sin(trial + 3 * d) - p.h[3 * l + d];
                moved += x * x / (l < 3 ? 6 : 14);
            }
        assert_true(moved > objective);
    }
}

static void maps_refuse_nonsense(void **state)
{
    (void)state;
    float x[4] = {0}, image[4];
    double plan[4] = {0.5, 0, 0, -0.5};
    FAILS(consm_ot_project(image, NULL, plan, x, 2, 2, 2), CONSM_EINVAL, "reference 1 and point 1");
    FAILS(consm_ot_linear(image, plan, x, 2, 2, 2, CONSM_OT_SCALE_NONE), CONSM_EINVAL, "mass -0.5");
    plan[3] = 0.5;
    FAILS(consm_ot_linear(image, plan, x, 2, 2, 2, (enum consm_ot_scale)5), CONSM_EINVAL,
          "scale 5");
    FAILS(consm_ot_monge(image, NULL, NULL, plan, x, 2, 2, 2, (enum consm_ot_pooling)3),
          CONSM_EINVAL, "pooling 3");
    FAILS(consm_ot_monge(image, NULL, NULL, plan, x, 2, 2, 0, CONSM_OT_MEAN), CONSM_EINVAL,
          "0 features");
    FAILS(consm_ot_cost_matrix(plan, x, x, 2, 2, 2, (enum consm_ot_metric)7), CONSM_EINVAL,
          "metric 7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_equal_reference),
        cmocka_unit_test(cosine_of_zero_vectors),
        cmocka_unit_test(projection_equals_reference),
        cmocka_unit_test(monge_by_hand),
        cmocka_unit_test(nearest_with_ties),
        cmocka_unit_test(assignment_follows_the_method),
        cmocka_unit_test(sets_equal_singles_at_any_thread_count),
        cmocka_unit_test(one_point_goes_to_the_nearest),
        cmocka_unit_test(sets_refuse_nonsense),
        cmocka_unit_test(kmeans_finds_clusters),
        cmocka_unit_test(kmeans_with_too_few_points),
        cmocka_unit_test(class_means),
        cmocka_unit_test(barycentres_equal_reference),
        cmocka_unit_test(class_barycentres),
        cmocka_unit_test(single_support_is_the_mean_of_means),
        cmocka_unit_test(maps_refuse_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
