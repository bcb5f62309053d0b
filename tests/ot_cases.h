/* Shared by the transport tests: random problems, marginals, and the reference file's cases. */
#ifndef TESTS_OT_CASES_H
#define TESTS_OT_CASES_H

#include "check.h"

#include "base/rng.h"
#include "consm_ot.h"
#include <jansson.h>
#include <math.h>

enum { MOST = 4096 };

/* A problem with room for all tests; static storage holds one at a time. */
struct problem {
    int64_t c, n, f;
    float r[MOST], h[4 * MOST];
    double cost[4 * MOST], a[MOST], b[MOST], plan[4 * MOST], dual_r[MOST], dual_h[MOST];
};

static inline void random_floats(float *x, int64_t count, struct rng *rng)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)rng_normal(rng);
}

static inline void random_masses(double *x, int64_t count, struct rng *rng)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i] = 0.05 + rng_uniform(rng);
    for (int64_t i = 0; i < count; i++)
        x[i] /= sum;
}

/* Points and references from a standard normal, squared Euclidean costs, random masses. */
static inline void random_problem(struct problem *p, int64_t c, int64_t n, int64_t f, uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed, 99);
    p->c = c;
    p->n = n;
    p->f = f;
    random_floats(p->r, c * f, &rng);
    random_floats(p->h, n * f, &rng);
    random_masses(p->a, c, &rng);
    random_masses(p->b, n, &rng);
    OK(consm_ot_cost_matrix(p->cost, p->r, p->h, c, n, f, CONSM_OT_SQUARED_EUCLIDEAN));
}

/* The plan is not negative and has row sums a and column sums b (NULL: uniform). */
static inline void assert_marginals(const double *plan, const double *a, const double *b, int64_t c,
                                    int64_t n, double tolerance)
{
    for (int64_t k = 0; k < c; k++) {
        double sum = 0;
        for (int64_t l = 0; l < n; l++) {
            assert_true(plan[k * n + l] >= 0);
            sum += plan[k * n + l];
        }
        if (fabs(sum - (a ? a[k] : 1.0 / c)) > tolerance)
            fail_msg("row %d holds %.17g", (int)k, sum);
    }
    for (int64_t l = 0; l < n; l++) {
        double sum = 0;
        for (int64_t k = 0; k < c; k++)
            sum += plan[k * n + l];
        if (fabs(sum - (b ? b[l] : 1.0 / n)) > tolerance)
            fail_msg("column %d holds %.17g", (int)l, sum);
    }
}

/* ---- tests/reference/ot.json --------------------------------------------- */

static inline json_t *reference_file(const char *key)
{
    json_error_t error;
    json_t *root = json_load_file(TESTS_DIR "/reference/ot.json", 0, &error), *list;
    if (!root)
        fail_msg("reference/ot.json: %s", error.text);
    list = json_incref(json_object_get(root, key));
    assert_true(json_array_size(list) > 0);
    json_decref(root);
    return list;
}

static inline size_t read_doubles(double *out, const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        out[i] = json_number_value(json_array_get(array, i));
    return json_array_size(array);
}

static inline size_t read_floats(float *out, const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        out[i] = (float)json_number_value(json_array_get(array, i));
    return json_array_size(array);
}

static inline int64_t read_size(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* A case's problem; *a and *b point into p, or are NULL if the case is uniform. The cost matrix
 * comes from the other program. */
static inline void read_case(struct problem *p, const double **a, const double **b,
                             const json_t *object)
{
    p->c = read_size(object, "c");
    p->n = read_size(object, "n");
    p->f = read_size(object, "f");
    read_floats(p->r, json_object_get(object, "references"));
    read_floats(p->h, json_object_get(object, "points"));
    assert_int_equal(read_doubles(p->cost, json_object_get(object, "cost")), p->c * p->n);
    *a = read_doubles(p->a, json_object_get(object, "a")) ? p->a : NULL;
    *b = read_doubles(p->b, json_object_get(object, "b")) ? p->b : NULL;
}

static inline enum consm_ot_metric case_metric(const json_t *object)
{
    return strcmp(json_string_value(json_object_get(object, "metric")), "cosine") == 0
               ? CONSM_OT_COSINE
               : CONSM_OT_SQUARED_EUCLIDEAN;
}

#endif
