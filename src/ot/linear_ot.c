/* Linear transport embedding, and plans of many point sets on a team of threads: costs first, each
 * thread some nodes; then sets, handed out one by one. Every number is made by one thread in a
 * fixed order, so the team's size never shows. */
#include "ot/linear_ot.h"

#include "base/alloc.h"
#include "ot/cost.h"
#include "ot/exact.h"
#include "ot/monge.h"
#include "ot/sinkhorn.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

double ot_scale_factor(enum consm_ot_scale scale, int64_t c)
{
    switch (scale) {
    case CONSM_OT_SCALE_SQRT: return sqrt((double)c);
    case CONSM_OT_SCALE_MASS: return (double)c;
    default: return 1;
    }
}

void ot_linear(float *image, double *sums, const double *plan, const float *h, int64_t c, int64_t n,
               int64_t f, enum consm_ot_scale scale)
{
    double factor = ot_scale_factor(scale, c);
    for (int64_t k = 0; k < c; k++) {
        memset(sums, 0, (size_t)f * sizeof *sums);
        for (int64_t l = 0; l < n; l++) {
            double p = plan[k * n + l];
            for (int64_t d = 0; d < f && p != 0; d++)
                sums[d] += p * (double)h[l * f + d];
        }
        for (int64_t d = 0; d < f; d++)
            image[k * f + d] = (float)(factor * sums[d]);
    }
}

/* ---- many sets ---------------------------------------------------------------------------------
 */

/* What one thread needs for one set. */
struct seat {
    double *cost, *plan; /* (c, largest set) */
    struct ot_exact_work *exact;
    struct ot_sinkhorn_work *sinkhorn;
    int64_t unconverged;
};

struct job {
    int32_t *reference; /* one of the two outputs is NULL */
    float *weight;
    const float *h, *r;
    int64_t n, c, f;
    const struct ot_sets *sets;
    const struct consm_ot_options *options;
    double *node_cost;     /* (n, c) */
    int32_t *node_nearest; /* (n) */
    struct seat *seat;     /* one per thread */
    atomic_int_fast64_t next;
};

static consm_status check_sets(const struct ot_sets *sets, int64_t n, int64_t *largest)
{
    *largest = 1;
    if (sets->count < 0 || sets->start[0] != 0)
        return status_fail(CONSM_EINVAL, "transport: %lld sets from entry %lld, expected from 0",
                           (long long)sets->count, (long long)sets->start[0]);
    for (int64_t i = 0; i < sets->count; i++) {
        int64_t size = sets->start[i + 1] - sets->start[i];
        if (size < 0 || size > INT32_MAX)
            return status_fail(CONSM_EINVAL, "transport: set %lld has %lld points", (long long)i,
                               (long long)size);
        *largest = size > *largest ? size : *largest;
    }
    for (int64_t e = 0; e < sets->start[sets->count]; e++) {
        int64_t point = sets->point ? sets->point[e] : e;
        if (point < 0 || point >= n)
            return status_fail(CONSM_EINVAL,
                               "transport: entry %lld of the sets is point %lld, expected one of "
                               "%lld",
                               (long long)e, (long long)point, (long long)n);
    }
    return CONSM_OK;
}

static int64_t point_of(const struct ot_sets *sets, int64_t entry)
{
    return sets->point ? sets->point[entry] : entry;
}

/* Costs of this thread's nodes: a node's row is one column of its own small problem. */
static void node_costs(void *arg, struct worker who)
{
    struct job *job = arg;
    int64_t from, to, c = job->c;
    team_range(who, job->n, 16, &from, &to);
    for (int64_t i = from; i < to; i++) {
        ot_cost_matrix(job->node_cost + i * c, job->r, job->h + i * job->f, c, 1, job->f,
                       job->options->metric);
        ot_nearest(job->node_nearest + i, job->node_cost + i * c, c, 1);
    }
}

static void nearest_set(struct job *job, int64_t first, int64_t size)
{
    for (int64_t l = 0; l < size; l++) {
        int32_t k = job->node_nearest[point_of(job->sets, first + l)];
        if (job->reference)
            job->reference[first + l] = k;
        for (int64_t i = 0; job->weight && i < job->c; i++)
            job->weight[job->c * first + i * size + l] = i == k ? 1 / (float)size : 0;
    }
}

static void plan_set(struct job *job, struct seat *seat, int64_t first, int64_t size)
{
    int64_t c = job->c;
    struct consm_ot_result result;
    for (int64_t l = 0; l < size; l++) {
        const double *cost = job->node_cost + point_of(job->sets, first + l) * c;
        for (int64_t k = 0; k < c; k++)
            seat->cost[k * size + l] = cost[k];
    }
    if (job->options->method == CONSM_OT_EXACT)
        ot_exact_solve(seat->exact, seat->plan, NULL, NULL, &result, seat->cost, NULL, NULL, c,
                       size);
    else
        ot_sinkhorn_solve(seat->sinkhorn, seat->plan, &result, seat->cost, NULL, NULL, c, size,
                          job->options);
    seat->unconverged += !result.converged;
    if (job->reference)
        ot_monge_assign(job->reference + first, seat->plan, c, size);
    for (int64_t i = 0; job->weight && i < c * size; i++)
        job->weight[c * first + i] = (float)seat->plan[i];
}

static void solve_sets(void *arg, struct worker who)
{
    struct job *job = arg;
    int64_t i;
    while ((i = atomic_fetch_add(&job->next, 1)) < job->sets->count) {
        int64_t first = job->sets->start[i], size = job->sets->start[i + 1] - first;
        if (job->options->method == CONSM_OT_NEAREST)
            nearest_set(job, first, size);
        else if (size > 0)
            plan_set(job, &job->seat[who.id], first, size);
    }
}

static void run(struct team *team, team_fn fn, struct job *job)
{
    if (team)
        team_run(team, fn, job);
    else
        fn(job, (struct worker){0, 1, NULL});
}

static consm_status prepare_seat(struct seat *seat, enum consm_ot_method method, int64_t c,
                                 int64_t largest)
{
    consm_status st = CONSM_OK;
    if (method == CONSM_OT_NEAREST)
        return CONSM_OK;
    TRY(NEW(seat->cost, c * largest));
    TRY(NEW(seat->plan, c * largest));
    if (method == CONSM_OT_EXACT)
        TRY(ot_exact_work_new(&seat->exact, c, largest));
    else
        TRY(ot_sinkhorn_work_new(&seat->sinkhorn, c, largest));
done:
    return st;
}

static consm_status solve_job(struct job *job, int64_t *unconverged, struct team *team)
{
    consm_status st = CONSM_OK;
    int threads = team ? team_size(team) : 1;
    int64_t largest, unfinished = 0;
    TRY(ot_check_sizes(job->c, job->n));
    TRY(ot_check_points(job->r, job->c, job->f, "reference"));
    TRY(ot_check_points(job->h, job->n, job->f, "point"));
    TRY(ot_check_options(job->options));
    TRY(check_sets(job->sets, job->n, &largest));
    TRY(NEW(job->node_cost, job->n * job->c));
    TRY(NEW(job->node_nearest, job->n));
    TRY(ZNEW(job->seat, threads));
    for (int t = 0; t < threads; t++)
        TRY(prepare_seat(&job->seat[t], job->options->method, job->c, largest));
    run(team, node_costs, job);
    run(team, solve_sets, job);
    for (int t = 0; t < threads; t++)
        unfinished += job->seat[t].unconverged;
    if (unconverged)
        *unconverged = unfinished;
done:
    for (int t = 0; job->seat && t < threads; t++) {
        mem_free(job->seat[t].cost);
        mem_free(job->seat[t].plan);
        ot_exact_work_free(job->seat[t].exact);
        ot_sinkhorn_work_free(job->seat[t].sinkhorn);
    }
    mem_free(job->seat);
    mem_free(job->node_cost);
    mem_free(job->node_nearest);
    return st;
}

consm_status ot_assign(int32_t *reference, int64_t *unconverged, const float *h, const float *r,
                       int64_t n, int64_t c, int64_t f, const struct ot_sets *sets,
                       const struct consm_ot_options *options, struct team *team)
{
    struct job job = {.reference = reference,
                      .h = h,
                      .r = r,
                      .n = n,
                      .c = c,
                      .f = f,
                      .sets = sets,
                      .options = options};
    return solve_job(&job, unconverged, team);
}

consm_status ot_plan_weights(float *weight, int64_t *unconverged, const float *h, const float *r,
                             int64_t n, int64_t c, int64_t f, const struct ot_sets *sets,
                             const struct consm_ot_options *options, struct team *team)
{
    struct job job = {
        .weight = weight, .h = h, .r = r, .n = n, .c = c, .f = f, .sets = sets, .options = options};
    return solve_job(&job, unconverged, team);
}
