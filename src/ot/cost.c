/* Cost matrices and input checks. Distances are summed in double over fixed lanes. */
#include "ot/cost.h"

#include "base/processor.h"
#include "ot/lanes.h"
#include <float.h>
#include <math.h>

static const double LARGEST_COST = 1e150;    /* sums of a few thousand stay far from overflow */
static const double TOTALS_TOLERANCE = 1e-6; /* totals typed or summed in float still match */

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE double squared_distance(const float *x, const float *y, int64_t f)
{
    double lane[LANES] = {0};
    int64_t d = 0;
    for (; d + LANES <= f; d += LANES)
        for (int i = 0; i < LANES; i++) {
            double difference = (double)x[d + i] - (double)y[d + i];
            lane[i] += difference * difference;
        }
    for (int i = 0; d + i < f; i++) {
        double difference = (double)x[d + i] - (double)y[d + i];
        lane[i] += difference * difference;
    }
    return sum_lanes(lane);
}

ALWAYS_INLINE double dot(const float *x, const float *y, int64_t f)
{
    double lane[LANES] = {0};
    int64_t d = 0;
    for (; d + LANES <= f; d += LANES)
        for (int i = 0; i < LANES; i++)
            lane[i] += (double)x[d + i] * (double)y[d + i];
    for (int i = 0; d + i < f; i++)
        lane[i] += (double)x[d + i] * (double)y[d + i];
    return sum_lanes(lane);
}

/* Base x86-64 converts only two floats at a time to double, after a shuffle. With AVX2 the same
 * lanes go four by four, with the same bits. */
#if defined(__x86_64__)
__attribute__((target("avx2"))) static double squared_distance_wide(const float *x, const float *y,
                                                                    int64_t f)
{
    return squared_distance(x, y, f);
}
__attribute__((target("avx2"))) static double dot_wide(const float *x, const float *y, int64_t f)
{
    return dot(x, y, f);
}
#define BY_WIDTH(name, x, y, f) \
    (processor_width() >= PROCESSOR_AVX2 ? name##_wide(x, y, f) : name(x, y, f))
#else
#define BY_WIDTH(name, x, y, f) name(x, y, f)
#endif

double ot_squared_distance(const float *x, const float *y, int64_t f)
{
    return BY_WIDTH(squared_distance, x, y, f);
}

static double ot_dot(const float *x, const float *y, int64_t f)
{
    return BY_WIDTH(dot, x, y, f);
}

static double cosine_distance(const float *x, const float *y, int64_t f, double norms)
{
    if (norms == 0)
        return 1;
    double distance = 1 - ot_dot(x, y, f) / norms;
    return distance < 0 ? 0 : distance > 2 ? 2 : distance;
}

void ot_cost_matrix(double *cost, const float *r, const float *h, int64_t c, int64_t n, int64_t f,
                    enum consm_ot_metric metric)
{
    if (metric == CONSM_OT_SQUARED_EUCLIDEAN) {
        for (int64_t l = 0; l < n; l++)
            for (int64_t k = 0; k < c; k++)
                cost[k * n + l] = ot_squared_distance(r + k * f, h + l * f, f);
        return;
    }
    for (int64_t l = 0; l < n; l++) {
        double length = sqrt(ot_dot(h + l * f, h + l * f, f));
        for (int64_t k = 0; k < c; k++) {
            double norms = length * sqrt(ot_dot(r + k * f, r + k * f, f));
            cost[k * n + l] = cosine_distance(r + k * f, h + l * f, f, norms);
        }
    }
}

consm_status ot_check_sizes(int64_t c, int64_t n)
{
    if (c < 1 || n < 1)
        return status_fail(CONSM_EINVAL,
                           "transport: %lld references and %lld points, expected at least 1 each",
                           (long long)c, (long long)n);
    if (c > INT32_MAX || n > INT32_MAX)
        return status_fail(CONSM_ELIMIT,
                           "transport: %lld references and %lld points, expected at most %d each",
                           (long long)c, (long long)n, INT32_MAX);
    return CONSM_OK;
}

/* Adds up the masses; refuses invalid ones. */
static consm_status check_masses(double *total, const double *mass, int64_t count, const char *side)
{
    *total = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!(mass[i] >= 0 && mass[i] <= LARGEST_COST))
            return status_fail(CONSM_EINVAL,
                               "transport: mass of %s %lld is %g, expected a number from 0 to %g",
                               side, (long long)i, mass[i], LARGEST_COST);
        *total += mass[i];
    }
    if (!(*total >= 1 / LARGEST_COST))
        return status_fail(CONSM_EINVAL,
                           "transport: the masses of all %ss sum to %g: expected a positive sum",
                           side, *total);
    return CONSM_OK;
}

consm_status ot_check_problem(const double *cost, const double *a, const double *b, int64_t c,
                              int64_t n)
{
    consm_status st = CONSM_OK;
    double sum_a = 1, sum_b = 1;
    TRY(ot_check_sizes(c, n));
    for (int64_t i = 0; i < c * n; i++)
        if (!(fabs(cost[i]) <= LARGEST_COST))
            TRY(status_fail(CONSM_EINVAL,
                            "transport: cost of reference %lld and point %lld is %g, expected a "
                            "number of magnitude at most %g",
                            (long long)(i / n), (long long)(i % n), cost[i], LARGEST_COST));
    if (a)
        TRY(check_masses(&sum_a, a, c, "reference"));
    if (b)
        TRY(check_masses(&sum_b, b, n, "point"));
    if (a && b && fabs(sum_a - sum_b) > TOTALS_TOLERANCE * sum_a)
        TRY(status_fail(
            CONSM_EINVAL,
            "transport: the mass of references is %.9g, of points %.9g: expected equal masses",
            sum_a, sum_b));
done:
    return st;
}

double ot_total_mass(const double *a, const double *b, int64_t c, int64_t n)
{
    const double *mass = a ? a : b;
    double total = 0;
    if (!mass)
        return 1;
    for (int64_t i = 0; i < (a ? c : n); i++)
        total += mass[i];
    return total;
}

consm_status ot_check_points(const float *x, int64_t n, int64_t f, const char *what)
{
    if (f < 1 || f > INT32_MAX)
        return status_fail(CONSM_EINVAL, "transport: %lld features, expected 1 to %d", (long long)f,
                           INT32_MAX);
    for (int64_t i = 0; i < n * f; i++)
        if (!isfinite(x[i]))
            return status_fail(CONSM_EINVAL,
                               "transport: feature %lld of %s %lld is %g, expected a finite number",
                               (long long)(i % f), what, (long long)(i / f), (double)x[i]);
    return CONSM_OK;
}

double ot_epsilon_of(double sum, int64_t count, const struct consm_ot_options *options)
{
    if (!options->relative)
        return options->epsilon;
    double epsilon = sum > 0 ? options->epsilon * (sum / (double)count) : options->epsilon;
    return epsilon > DBL_MIN ? epsilon : DBL_MIN;
}

double ot_epsilon(const double *cost, int64_t c, int64_t n, const struct consm_ot_options *options)
{
    double sum = 0;
    for (int64_t i = 0; options->relative && i < c * n; i++)
        sum += fabs(cost[i]);
    return ot_epsilon_of(sum, c * n, options);
}

consm_status ot_check_options(const struct consm_ot_options *o)
{
    if ((unsigned)o->method > CONSM_OT_EXACT || (unsigned)o->metric > CONSM_OT_COSINE)
        return status_fail(CONSM_EINVAL, "transport: method %d with metric %d does not exist",
                           (int)o->method, (int)o->metric);
    if (!(o->epsilon >= 1e-300 && o->epsilon <= 1e150))
        return status_fail(CONSM_EINVAL, "transport: epsilon is %g, expected a positive number",
                           o->epsilon);
    if (!(o->tolerance >= 0) || o->max_iterations < 1)
        return status_fail(CONSM_EINVAL,
                           "transport: tolerance %g and %d iterations, expected a number of at "
                           "least 0 and at least one iteration",
                           o->tolerance, o->max_iterations);
    return CONSM_OK;
}
