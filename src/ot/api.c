/* The public functions of optimal transport: check the caller's arguments, then call the solvers.
 */
#include "base/alloc.h"
#include "base/given.h"
#include "base/sized.h"
#include "ot/cost.h"
#include "ot/exact.h"
#include "ot/linear_ot.h"
#include "ot/monge.h"
#include "ot/references.h"
#include "ot/sinkhorn.h"

static struct consm_ot_options defaults(void)
{
    return (struct consm_ot_options){
        .size = sizeof(struct consm_ot_options),
        .method = CONSM_OT_EXACT,
        .metric = CONSM_OT_SQUARED_EUCLIDEAN,
        .epsilon = 0.05,
        .relative = true,
        .tolerance = 1e-6,
        .max_iterations = 10000,
    };
}

enum { LEAST_OPTIONS = SIZED_UP_TO(struct consm_ot_options, max_iterations) };

consm_status consm_ot_defaults(struct consm_ot_options *options)
{
    struct consm_ot_options whole = defaults();
    consm_status st = GIVEN(options);
    return st < 0 ? st : sized_give(options, &whole, sizeof whole, LEAST_OPTIONS);
}

/* The caller's options, or the defaults; checked. */
static consm_status read_options(struct consm_ot_options *out, const struct consm_ot_options *in)
{
    consm_status st = CONSM_OK;
    *out = defaults();
    if (in)
        TRY(sized_take(out, sizeof *out, in, LEAST_OPTIONS));
    TRY(ot_check_options(out));
done:
    return st;
}

consm_status consm_ot_cost_matrix(double *cost, const float *references, const float *points,
                                  int64_t c, int64_t n, int64_t f, enum consm_ot_metric metric)
{
    consm_status st = CONSM_OK;
    struct consm_ot_options options = defaults();
    options.metric = metric;
    TRY(GIVEN(cost, references, points));
    TRY(ot_check_options(&options));
    TRY(ot_check_sizes(c, n));
    TRY(ot_check_points(references, c, f, "reference"));
    TRY(ot_check_points(points, n, f, "point"));
    ot_cost_matrix(cost, references, points, c, n, f, metric);
done:
    return st;
}

consm_status consm_ot_exact(double *plan, double *dual_r, double *dual_h,
                            struct consm_ot_result *result, const double *cost, const double *a,
                            const double *b, int64_t c, int64_t n)
{
    consm_status st = CONSM_OK;
    struct ot_exact_work *work = NULL;
    TRY(GIVEN(plan, result, cost));
    TRY(ot_check_problem(cost, a, b, c, n));
    TRY(ot_exact_work_new(&work, c, n));
    ot_exact_solve(work, plan, dual_r, dual_h, result, cost, a, b, c, n);
done:
    ot_exact_work_free(work);
    return st;
}

consm_status consm_ot_sinkhorn(double *plan, struct consm_ot_result *result, const double *cost,
                               const double *a, const double *b, int64_t c, int64_t n,
                               const struct consm_ot_options *options)
{
    consm_status st = CONSM_OK;
    struct ot_sinkhorn_work *work = NULL;
    struct consm_ot_options whole;
    TRY(GIVEN(plan, result, cost));
    TRY(read_options(&whole, options));
    TRY(ot_check_problem(cost, a, b, c, n));
    TRY(ot_sinkhorn_work_new(&work, c, n));
    ot_sinkhorn_solve(work, plan, result, cost, a, b, c, n, &whole);
done:
    ot_sinkhorn_work_free(work);
    return st;
}

consm_status consm_ot_sinkhorn_batch(double *plans, struct consm_ot_result *results,
                                     const double *costs, const int64_t *start, int64_t count,
                                     int64_t c, const struct consm_ot_options *options, int threads)
{
    consm_status st = CONSM_OK;
    struct team *team = NULL;
    struct consm_ot_options whole;
    TRY(GIVEN(plans, results, costs, start));
    TRY(read_options(&whole, options));
    if (count < 0 || (count > 0 && start[0] != 0))
        TRY(status_fail(CONSM_EINVAL, "transport: %lld problems start at point %lld: expected 0",
                        (long long)count, (long long)(count > 0 ? start[0] : 0)));
    for (int64_t i = 0; i < count; i++) {
        if (start[i + 1] < start[i])
            TRY(status_fail(CONSM_EINVAL,
                            "transport: problem %lld has %lld points: expected 0 or more",
                            (long long)i, (long long)(start[i + 1] - start[i])));
        if (start[i + 1] > start[i])
            TRY(ot_check_problem(costs + c * start[i], NULL, NULL, c, start[i + 1] - start[i]));
    }
    TRY(team_new(&team, threads));
    TRY(ot_sinkhorn_batch(plans, results, costs, start, count, c, &whole, team));
done:
    team_free(team);
    return st;
}

consm_status consm_ot_assign(int32_t *assignment, const float *references, const float *points,
                             int64_t c, int64_t n, int64_t f,
                             const struct consm_ot_options *options)
{
    consm_status st = CONSM_OK;
    int64_t start[2] = {0, n};
    struct ot_sets all = {1, start, NULL};
    struct consm_ot_options whole;
    TRY(GIVEN(assignment, references, points));
    TRY(read_options(&whole, options));
    TRY(ot_assign(assignment, NULL, points, references, n, c, f, &all, &whole, NULL));
done:
    return st;
}

/* Checks the input of the maps below: sizes, points, a plan of finite numbers from 0. */
static consm_status check_map(const double *plan, const float *points, int64_t c, int64_t n,
                              int64_t f)
{
    consm_status st = CONSM_OK;
    TRY(ot_check_sizes(c, n));
    TRY(ot_check_points(points, n, f, "point"));
    for (int64_t i = 0; i < c * n; i++)
        if (!(plan[i] >= 0 && plan[i] <= 1e150))
            TRY(status_fail(CONSM_EINVAL,
                            "transport: the plan gives reference %lld and point %lld the mass %g: "
                            "expected a number from 0 to 1e150",
                            (long long)(i / n), (long long)(i % n), plan[i]));
done:
    return st;
}

consm_status consm_ot_linear(float *image, const double *plan, const float *points, int64_t c,
                             int64_t n, int64_t f, enum consm_ot_scale scale)
{
    consm_status st = CONSM_OK;
    double *sums = NULL; /* (f) */
    TRY(GIVEN(image, plan, points));
    TRY(check_map(plan, points, c, n, f));
    if ((unsigned)scale > CONSM_OT_SCALE_MASS)
        TRY(status_fail(CONSM_EINVAL, "transport: scale %d does not exist", (int)scale));
    TRY(NEW(sums, f));
    ot_linear(image, sums, plan, points, c, n, f, scale);
done:
    mem_free(sums);
    return st;
}

consm_status consm_ot_project(float *image, uint8_t *empty, const double *plan, const float *points,
                              int64_t c, int64_t n, int64_t f)
{
    consm_status st = CONSM_OK;
    double *sums = NULL; /* (f) */
    TRY(GIVEN(image, plan, points));
    TRY(check_map(plan, points, c, n, f));
    TRY(NEW(sums, f));
    ot_project(image, empty, sums, plan, points, c, n, f);
done:
    mem_free(sums);
    return st;
}

consm_status consm_ot_monge(float *image, int32_t *assignment, uint8_t *empty, const double *plan,
                            const float *points, int64_t c, int64_t n, int64_t f,
                            enum consm_ot_pooling pooling)
{
    consm_status st = CONSM_OK;
    int32_t *own = NULL; /* (n), when the caller does not want the assignment */
    TRY(GIVEN(image, plan, points));
    TRY(check_map(plan, points, c, n, f));
    if ((unsigned)pooling > CONSM_OT_MAX)
        TRY(status_fail(CONSM_EINVAL, "transport: pooling %d does not exist", (int)pooling));
    if (!assignment)
        TRY(NEW(own, n));
    ot_monge_assign(assignment ? assignment : own, plan, c, n);
    TRY(ot_pool(image, empty, assignment ? assignment : own, points, c, n, f, pooling));
done:
    mem_free(own);
    return st;
}

consm_status consm_ot_kmeans(float *references, const float *points, int64_t c, int64_t n,
                             int64_t f, uint64_t seed)
{
    consm_status st = CONSM_OK;
    TRY(GIVEN(references, points));
    TRY(ot_check_sizes(c, n));
    TRY(ot_check_points(points, n, f, "point"));
    TRY(ot_kmeans(references, points, c, n, f, seed));
done:
    return st;
}

consm_status consm_ot_class_means(float *references, int64_t *count, const float *points,
                                  const int32_t *label, int64_t c, int64_t n, int64_t f)
{
    consm_status st = CONSM_OK;
    TRY(GIVEN(references, points, label));
    TRY(ot_check_sizes(c, n));
    TRY(ot_check_points(points, n, f, "point"));
    TRY(ot_class_means(references, count, points, label, c, n, f));
done:
    return st;
}

consm_status consm_ot_barycentres(float *references, const float *points, const int64_t *start,
                                  const int32_t *set_class, int64_t sets, int64_t c,
                                  int64_t support, int64_t f, uint64_t seed)
{
    consm_status st = CONSM_OK;
    TRY(GIVEN(references, points, start, set_class));
    TRY(ot_check_sizes(c, sets));
    TRY(ot_check_sizes(support, sets));
    if (start[0] != 0)
        TRY(status_fail(CONSM_EINVAL, "transport: the sets start at %lld, expected 0",
                        (long long)start[0]));
    for (int64_t i = 0; i < sets; i++)
        if (start[i + 1] < start[i] || set_class[i] >= c)
            TRY(status_fail(CONSM_EINVAL,
                            "transport: set %lld has %lld points and class %d: expected 0 or more "
                            "points, class below %lld",
                            (long long)i, (long long)(start[i + 1] - start[i]), set_class[i],
                            (long long)c));
    TRY(ot_check_points(points, start[sets], f, "point"));
    TRY(ot_class_barycentres(references, points, start, set_class, sets, c, support, f, seed));
done:
    return st;
}
