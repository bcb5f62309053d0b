/* The linear transport embedding, and plans of many point sets on a team of threads: first costs,
 * divided by nodes; then sets, one by one. One thread computes each number in a fixed order, so the
 * result does not depend on the team's size. */
#include "ot/linear_ot.h"

#include "base/alloc.h"
#include "ot/cost.h"
#include "ot/exact.h"
#include "ot/monge.h"
#include "ot/scaling.h"
#include "ot/sinkhorn.h"
#include <math.h>
#include <string.h>

/* The factor of a scale: 1, sqrt(c) or c. */
static double ot_scale_factor(enum consm_ot_scale scale, int64_t c)
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

/* ---- sets one by one ----------------------------------------------------- */

/* The scratch memory of one thread for one set. */
struct seat {
    double *cost, *plan; /* (c, largest set) */
    struct ot_exact_work *exact;
    struct ot_scaling *scaling; /* Sinkhorn: tried first */
    struct ot_sinkhorn_work *sinkhorn;
    int64_t unconverged;
};

struct ot_plans {
    int64_t n, c;
    bool sparse;     /* few nodes are here: node arrays are sparse memory */
    int64_t largest; /* set */
    struct consm_ot_options options;
    double *node_cost;     /* (n, c) */
    int32_t *node_nearest; /* (n) */
    double *node_kernel;   /* (n, c) for Sinkhorn, as the next two */
    double *potential;     /* (c) of a sample of all nodes */
    double epsilon;        /* one for all sets */
    int seats;
    struct seat *seat;
};

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
    if (method == CONSM_OT_SINKHORN) {
        TRY(ot_scaling_new(&seat->scaling, c, largest));
        TRY(ot_sinkhorn_work_new(&seat->sinkhorn, c, largest));
    }
done:
    return st;
}

/* Allocates the arrays over nodes. */
static consm_status node_rooms(struct ot_plans *p)
{
    consm_status st = CONSM_OK;
    size_t costs = (size_t)(p->n * p->c);
    bool kernels = p->options.method == CONSM_OT_SINKHORN;
    if (p->sparse) {
        p->node_cost = mem_sparse_alloc(costs, sizeof *p->node_cost);
        p->node_nearest = mem_sparse_alloc((size_t)p->n, sizeof *p->node_nearest);
        p->node_kernel = kernels ? mem_sparse_alloc(costs, sizeof *p->node_kernel) : NULL;
        bool made = p->node_cost && p->node_nearest && (p->node_kernel || !kernels);
        return made ? CONSM_OK : CONSM_ENOMEM;
    }
    TRY(NEW(p->node_cost, costs));
    TRY(NEW(p->node_nearest, p->n));
    if (kernels)
        TRY(NEW(p->node_kernel, costs));
done:
    return st;
}

static consm_status plans_new(struct ot_plans **out, int64_t n, int64_t c, int64_t largest,
                              const struct consm_ot_options *options, int threads, bool sparse)
{
    consm_status st = CONSM_OK;
    struct ot_plans *p = NULL;
    *out = NULL;
    TRY(ot_check_sizes(c, n));
    TRY(ot_check_options(options));
    TRY(ZNEW(p, 1));
    p->n = n;
    p->c = c;
    p->largest = largest;
    p->options = *options;
    p->sparse = sparse;
    TRY(node_rooms(p));
    if (options->method == CONSM_OT_SINKHORN)
        TRY(NEW(p->potential, c));
    TRY(ZNEW(p->seat, threads));
    p->seats = threads;
    for (int t = 0; t < threads; t++)
        TRY(prepare_seat(&p->seat[t], options->method, c, largest));
    *out = p;
    p = NULL;
done:
    ot_plans_free(p);
    return st;
}

consm_status ot_plans_new(struct ot_plans **out, int64_t n, int64_t c, int64_t largest,
                          const struct consm_ot_options *options, int threads)
{
    return plans_new(out, n, c, largest, options, threads, false);
}

consm_status ot_plans_new_sparse(struct ot_plans **out, int64_t n, int64_t c, int64_t largest,
                                 const struct consm_ot_options *options, int threads)
{
    return plans_new(out, n, c, largest, options, threads, true);
}

void ot_plans_free(struct ot_plans *p)
{
    if (!p)
        return;
    for (int t = 0; t < p->seats; t++) {
        mem_free(p->seat[t].cost);
        mem_free(p->seat[t].plan);
        ot_exact_work_free(p->seat[t].exact);
        ot_scaling_free(p->seat[t].scaling);
        ot_sinkhorn_work_free(p->seat[t].sinkhorn);
    }
    mem_free(p->seat);
    void (*release)(void *) = p->sparse ? mem_sparse_free : mem_free;
    release(p->node_cost);
    release(p->node_nearest);
    release(p->node_kernel);
    mem_free(p->potential);
    mem_free(p);
}

struct costing {
    struct ot_plans *p;
    const float *h, *r;
    int64_t f;
    const int32_t *node; /* (count) whose costs; NULL: all */
    bool packed;         /* row i of h is node[i], not node i */
    int64_t count;
};

/* Costs of this thread's nodes: a node's row is one column of its own small problem. */
static void node_costs(void *arg, struct worker who)
{
    const struct costing *q = arg;
    struct ot_plans *p = q->p;
    int64_t from, to, c = p->c;
    team_range(who, q->count, 16, &from, &to);
    for (int64_t i = from; i < to; i++) {
        const int64_t at = q->node ? q->node[i] : i;
        double *cost = p->node_cost + at * c;
        ot_cost_matrix(cost, q->r, q->h + (q->packed ? i : at) * q->f, c, 1, q->f,
                       p->options.metric);
        ot_nearest(p->node_nearest + at, cost, c, 1);
    }
}

static int64_t point_of(const int32_t *point, int64_t l)
{
    return point ? point[l] : l;
}

static void gather_costs(struct ot_plans *p, struct seat *seat, const int32_t *point, int64_t size)
{
    for (int64_t l = 0; l < size; l++) {
        const double *cost = p->node_cost + point_of(point, l) * p->c;
        for (int64_t k = 0; k < p->c; k++)
            seat->cost[k * size + l] = cost[k];
    }
}

/* Solves the set whose costs the seat holds. */
static void solve_set(struct ot_plans *p, struct seat *seat, int64_t size)
{
    struct consm_ot_result result;
    struct consm_ot_options options = p->options;
    options.epsilon = p->epsilon;
    options.relative = false;
    if (p->options.method == CONSM_OT_EXACT)
        ot_exact_solve(seat->exact, seat->plan, NULL, NULL, &result, seat->cost, NULL, NULL, p->c,
                       size);
    else
        ot_sinkhorn_solve(seat->sinkhorn, seat->plan, &result, seat->cost, NULL, NULL, p->c, size,
                          &options);
    seat->unconverged += !result.converged;
}

/* The kernel starts from the potentials of evenly spaced nodes, as many as a set may have. */
static int64_t sample_size(const struct ot_plans *p)
{
    return p->largest < p->n ? p->largest : p->n;
}

static void solve_sample(struct ot_plans *p)
{
    struct seat *seat = &p->seat[0];
    int64_t size = sample_size(p), c = p->c, unconverged = seat->unconverged;
    for (int64_t l = 0; l < size; l++)
        for (int64_t k = 0; k < c; k++)
            seat->cost[k * size + l] = p->node_cost[l * p->n / size * c + k];
    solve_set(p, seat, size);
    seat->unconverged = unconverged; /* count only the caller's sets */
    ot_sinkhorn_potentials(seat->sinkhorn, p->potential);
}

static void node_kernels(void *arg, struct worker who)
{
    const struct costing *q = arg;
    struct ot_plans *p = q->p;
    int64_t from, to, c = p->c;
    team_range(who, q->count, 16, &from, &to);
    for (int64_t l = from; l < to; l++) {
        int64_t i = q->node ? q->node[l] : l;
        ot_scaling_kernel(p->node_kernel + i * c, p->node_cost + i * c, p->potential, p->epsilon,
                          c);
    }
}

void ot_plans_costs(struct ot_plans *p, const float *h, const float *r, int64_t f,
                    struct team *team)
{
    struct costing q = {p, h, r, f, NULL, false, p->n};
    team_run_or_alone(team, node_costs, &q);
    if (p->options.method == CONSM_OT_SINKHORN) {
        p->epsilon = ot_epsilon(p->node_cost, p->c, p->n, &p->options);
        solve_sample(p);
        team_run_or_alone(team, node_kernels, &q);
    }
}

void ot_plans_some_costs(struct ot_plans *p, const float *h, const float *r, int64_t f,
                         const int32_t *node, int64_t count, struct team *team)
{
    struct costing q = {p, h, r, f, node, true, count};
    team_run_or_alone(team, node_costs, &q);
}

void ot_plans_sample(uint8_t *sample, const struct ot_plans *p)
{
    int64_t size = sample_size(p);
    for (int64_t l = 0; p->options.method == CONSM_OT_SINKHORN && l < size; l++)
        sample[l * p->n / size] = 1;
}

void ot_plans_costs_of(struct ot_plans *p, const float *h, const float *r, int64_t f,
                       const int32_t *row, int64_t count, struct team *team)
{
    struct costing q = {p, h, r, f, row, false, count};
    team_run_or_alone(team, node_costs, &q);
}

double ot_plans_magnitude(const struct ot_plans *p, int64_t row)
{
    double sum = 0;
    for (int64_t k = 0; k < p->c; k++)
        sum += fabs(p->node_cost[row * p->c + k]);
    return sum;
}

void ot_plans_settle(struct ot_plans *p, double magnitudes, const int32_t *row, int64_t count,
                     struct team *team)
{
    struct costing q = {p, NULL, NULL, 0, row, false, count};
    if (p->options.method != CONSM_OT_SINKHORN)
        return;
    p->epsilon = ot_epsilon_of(magnitudes, p->c * p->n, &p->options);
    solve_sample(p);
    team_run_or_alone(team, node_kernels, &q);
}

/* Whether u and the shared kernel give the set's plan; otherwise solve_set() must. */
static bool scale_set(struct ot_plans *p, struct seat *seat, const int32_t *point, int64_t size)
{
    return p->options.method == CONSM_OT_SINKHORN &&
           ot_scaling_solve(seat->scaling, p->node_kernel, point, size, p->options.tolerance);
}

void ot_plans_assign(struct ot_plans *p, int seat, int32_t *reference, const int32_t *point,
                     int64_t size)
{
    if (size == 0)
        return;
    /* With one point every reference gets the same share: the plan ties, and the nearest one wins.
     */
    if (p->options.method == CONSM_OT_NEAREST || size == 1) {
        for (int64_t l = 0; l < size; l++)
            reference[l] = p->node_nearest[point_of(point, l)];
    } else if (scale_set(p, &p->seat[seat], point, size)) {
        ot_scaling_assign(p->seat[seat].scaling, reference);
    } else {
        gather_costs(p, &p->seat[seat], point, size);
        solve_set(p, &p->seat[seat], size);
        ot_monge_assign(reference, p->seat[seat].plan, p->c, size);
        /* NaN costs (parameters may come from any file) give no plan. */
        for (int64_t l = 0; l < size; l++)
            reference[l] = reference[l] < 0 ? 0 : reference[l];
    }
}

void ot_plans_weigh(struct ot_plans *p, int seat, float *weight, const int32_t *point, int64_t size)
{
    if (size == 0)
        return;
    if (p->options.method == CONSM_OT_NEAREST) {
        for (int64_t k = 0; k < p->c; k++)
            for (int64_t l = 0; l < size; l++)
                weight[k * size + l] =
                    p->node_nearest[point_of(point, l)] == k ? 1 / (float)size : 0;
    } else if (size == 1) { /* there is only one plan */
        for (int64_t k = 0; k < p->c; k++)
            weight[k] = 1 / (float)p->c;
    } else if (scale_set(p, &p->seat[seat], point, size)) {
        ot_scaling_plan(p->seat[seat].scaling, weight);
    } else {
        gather_costs(p, &p->seat[seat], point, size);
        solve_set(p, &p->seat[seat], size);
        for (int64_t i = 0; i < p->c * size; i++)
            weight[i] = (float)p->seat[seat].plan[i];
    }
}

int64_t ot_plans_unconverged(const struct ot_plans *p)
{
    int64_t unfinished = 0;
    for (int t = 0; t < p->seats; t++)
        unfinished += p->seat[t].unconverged;
    return unfinished;
}
