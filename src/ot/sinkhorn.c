/* Sinkhorn on the potentials f of the references, in the log domain. */

/*
 * With exact column sums,
 *
 *     P_kl = b_l exp((f_k - cost_kl) / ε) / Σ_k' exp((f_k' - cost_k'l) / ε)
 *
 * and the row update is f_k += ε log(a_k / Σ_l P_kl). rebuild() computes K = P for the current f, a
 * softmax per column, so K ≤ b and every column keeps its mass. Then u and v scale it, K_kl u_k
 * v_l: one multiplicative iteration is one pass over K. When some u leaves [1/DRIFT, DRIFT], it is
 * absorbed into f and K is computed anew. Entries of K that underflow are negligible for any u in
 * that range. A row that underflows as a whole is updated with a log-sum-exp instead.
 */
#include "ot/sinkhorn.h"

#include "base/alloc.h"
#include "ot/cost.h"
#include "ot/lanes.h"
#include "ot/newton.h"
#include <math.h>
#include <string.h>

enum { STAGE_FACTOR = 4, STAGE_ITERATIONS = 100 };
enum { NEWTON_REFERENCES = 64, NEWTON_AFTER = 10, NEWTON_TRIES = 6 };

static const double DRIFT = 1e100, TINY_ROW = 1e-200;
static const double NEWTON_SHRINK = 0.9; /* of the error is a success */
static const double NEWTON_GAIN = 1e-3;  /* of what the slope promises */
static const double NEWTON_REACH = 10;   /* ε a step, beyond which the model means nothing */
static const double STAGE_TOLERANCE = 1e-2, FIRST_STAGE = 0.1; /* of the cost's range */

struct ot_sinkhorn_work {
    int64_t c, n, stride; /* stride: n rounded up to whole lanes */
    double epsilon, tolerance;
    int64_t iterations, max_iterations;
    const double *cost; /* (c, n) */
    double *kernel;     /* (c, stride); the columns after n hold 1 and have no mass */
    double *a, *b;      /* (c), (stride) masses, of total 1 */
    double *f;          /* (c) potentials of the references */
    double *u, *v;      /* (c), (stride) scaling of the kernel */
    double *row;        /* (c, LANES) partial sums of Σ_l K_kl v_l */
    double *g, *sum; /* (stride) of rebuild(): maxima of the columns, sums of their exponentials */
    double *hessian; /* (c, c) for Newton; none above NEWTON_REFERENCES */
    double *step, *old; /* (c) Newton's step and the potentials before it */
};

void ot_sinkhorn_work_free(struct ot_sinkhorn_work *w)
{
    if (!w)
        return;
    void *blocks[] = {w->kernel, w->a, w->b,   w->f,       w->u,    w->v,
                      w->row,    w->g, w->sum, w->hessian, w->step, w->old};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        mem_free(blocks[i]);
    mem_free(w);
}

consm_status ot_sinkhorn_work_new(struct ot_sinkhorn_work **out, int64_t c, int64_t n)
{
    consm_status st = CONSM_OK;
    struct ot_sinkhorn_work *w = NULL;
    int64_t stride = whole_lanes(n);
    *out = NULL;
    TRY(ZNEW(w, 1));
    TRY(NEW(w->kernel, c * stride));
    TRY(NEW(w->a, c));
    TRY(NEW(w->b, stride));
    TRY(NEW(w->f, c));
    TRY(NEW(w->u, c));
    TRY(NEW(w->v, stride));
    TRY(NEW(w->row, c * LANES));
    TRY(NEW(w->g, stride));
    TRY(NEW(w->sum, stride));
    TRY(NEW(w->step, c));
    TRY(NEW(w->old, c));
    if (c <= NEWTON_REFERENCES)
        TRY(NEW(w->hessian, c * c));
    *out = w;
    return CONSM_OK;
done:
    ot_sinkhorn_work_free(w);
    return st;
}

/* K_kl = b_l softmax_k((f_k - cost_kl) / ε); u = 1. Row by row, so that memory is read in order. */
static void rebuild(struct ot_sinkhorn_work *w)
{
    int64_t c = w->c, n = w->n;
    for (int64_t l = 0; l < n; l++) {
        w->g[l] = -INFINITY;
        w->sum[l] = 0;
    }
    for (int64_t k = 0; k < c; k++)
        for (int64_t l = 0; l < n; l++) {
            double x = w->f[k] - w->cost[k * n + l];
            w->g[l] = x > w->g[l] ? x : w->g[l];
        }
    for (int64_t k = 0; k < c; k++)
        for (int64_t l = 0; l < n; l++) {
            double e = exp((w->f[k] - w->cost[k * n + l] - w->g[l]) / w->epsilon);
            w->kernel[k * w->stride + l] = e;
            w->sum[l] += e;
        }
    for (int64_t l = 0; l < n; l++)
        w->v[l] = w->b[l] / w->sum[l];
    for (int64_t k = 0; k < c; k++) {
        for (int64_t l = 0; l < n; l++)
            w->kernel[k * w->stride + l] *= w->v[l];
        w->u[k] = 1;
    }
}

/* v_l = b_l / Σ_k K_kl u_k, then row_k = Σ_l K_kl v_l, in one pass over the kernel. */
static void scale_columns(struct ot_sinkhorn_work *w)
{
    int64_t c = w->c, stride = w->stride;
    memset(w->row, 0, (size_t)(c * LANES) * sizeof *w->row);
    for (int64_t l = 0; l < stride; l += LANES) {
        double sum[LANES] = {0}, v[LANES];
        for (int64_t k = 0; k < c; k++)
            for (int i = 0; i < LANES; i++)
                sum[i] += w->u[k] * w->kernel[k * stride + l + i];
        for (int i = 0; i < LANES; i++)
            w->v[l + i] = v[i] = sum[i] > 0 ? w->b[l + i] / sum[i] : 0;
        for (int64_t k = 0; k < c; k++)
            for (int i = 0; i < LANES; i++)
                w->row[k * LANES + i] += w->kernel[k * stride + l + i] * v[i];
    }
    for (int64_t k = 0; k < c; k++) {
        w->row[k] = sum_lanes(w->row + k * LANES);
    }
}

/* Σ_k |Σ_l P_kl - a_k| of the current scaling. */
static double marginal_error(const struct ot_sinkhorn_work *w)
{
    double error = 0;
    for (int64_t k = 0; k < w->c; k++)
        error += fabs(w->u[k] * w->row[k] - w->a[k]);
    return error;
}

static double log_sum_exp(const double *g, const double *cost, int64_t n, double epsilon)
{
    double highest = -INFINITY, sum = 0;
    for (int64_t l = 0; l < n; l++)
        highest = g[l] - cost[l] > highest ? g[l] - cost[l] : highest;
    for (int64_t l = 0; l < n; l++)
        sum += exp((g[l] - cost[l] - highest) / epsilon);
    return highest + epsilon * log(sum);
}

/* One whole iteration in the log domain: g_l = ε log b_l - ε log Σ_k exp((f_k - cost_kl) / ε), then
 * f_k the same over l. */
static void log_step(struct ot_sinkhorn_work *w)
{
    int64_t c = w->c, n = w->n;
    double epsilon = w->epsilon;
    rebuild(w);
    for (int64_t l = 0; l < n; l++)
        w->g[l] = w->b[l] > 0 ? epsilon * log(w->b[l] / w->sum[l]) - w->g[l] : -INFINITY;
    for (int64_t k = 0; k < c; k++)
        if (w->a[k] > 0)
            w->f[k] = epsilon * log(w->a[k]) - log_sum_exp(w->g, w->cost + k * n, n, epsilon);
    w->iterations++;
}

/* u_k = a_k / row_k. False if the kernel must be rebuilt first; u is absorbed then. */
static bool scale_rows(struct ot_sinkhorn_work *w)
{
    bool inside = true, vanished = false;
    for (int64_t k = 0; k < w->c; k++) {
        if (w->a[k] == 0)
            continue;
        if (w->row[k] < TINY_ROW) {
            vanished = true;
            continue;
        }
        w->u[k] = w->a[k] / w->row[k];
        inside = inside && w->u[k] < DRIFT && w->u[k] > 1 / DRIFT;
    }
    w->iterations++;
    if (inside && !vanished)
        return true;
    for (int64_t k = 0; k < w->c; k++)
        w->f[k] += w->epsilon * log(w->u[k]);
    if (vanished)
        log_step(w);
    return false;
}

static void absorb(struct ot_sinkhorn_work *w)
{
    for (int64_t k = 0; k < w->c; k++)
        w->f[k] += w->epsilon * log(w->u[k]);
}

/* Puts u and v into K, so that K is the plan. */
static void fold_scaling(struct ot_sinkhorn_work *w)
{
    for (int64_t k = 0; k < w->c; k++) {
        for (int64_t l = 0; l < w->n; l++)
            w->kernel[k * w->stride + l] *= w->u[k] * w->v[l];
        w->row[k] *= w->u[k];
    }
    absorb(w);
    for (int64_t k = 0; k < w->c; k++)
        w->u[k] = 1;
}

/* The dual in f alone, Σ_k a_k f_k - ε Σ_l b_l log Σ_k exp((f_k - cost_kl) / ε), of the f of the
 * last rebuild(). */
static double dual_value(const struct ot_sinkhorn_work *w)
{
    double value = 0, spread = 0;
    for (int64_t k = 0; k < w->c; k++)
        value += w->a[k] > 0 ? w->a[k] * w->f[k] : 0;
    for (int64_t l = 0; l < w->n; l++)
        if (w->b[l] > 0) {
            value -= w->b[l] * w->g[l];
            spread += w->b[l] * log(w->sum[l]);
        }
    return value - w->epsilon * spread;
}

/* Makes f = old + t · step and its kernel; returns the marginal error there. */
static double move_potentials(struct ot_sinkhorn_work *w, double t)
{
    for (int64_t k = 0; k < w->c; k++)
        w->f[k] = t == 0 ? w->old[k] : w->old[k] + t * w->step[k];
    rebuild(w);
    scale_columns(w);
    return marginal_error(w);
}

/* f + t · Newton's step for t = 1, 1/4, 1/16, …, until the error falls or the dual rises enough.
 * False: f is unchanged. The kernel is fresh either way. */
static bool newton_step(struct ot_sinkhorn_work *w, double error, int64_t last_iteration)
{
    double slope = 0, longest = 0, t, before = INFINITY;
    fold_scaling(w);
    memcpy(w->old, w->f, (size_t)w->c * sizeof *w->f);
    bool usable =
        ot_newton_step(w->step, w->hessian, w->kernel, w->row, w->a, w->b, w->c, w->n, w->stride);
    for (int64_t k = 0; k < w->c; k++) {
        slope += (w->a[k] - w->row[k]) * w->step[k];
        longest = fabs(w->step[k]) > longest ? fabs(w->step[k]) : longest;
    }
    t = w->epsilon * (longest > NEWTON_REACH ? NEWTON_REACH / longest : 1);
    for (int tries = 0; usable && tries < NEWTON_TRIES && w->iterations < last_iteration; tries++) {
        w->iterations++;
        if (move_potentials(w, t) < NEWTON_SHRINK * error)
            return true;
        double there = dual_value(w);
        if (tries == 0) {
            move_potentials(w, 0);
            before = dual_value(w);
        }
        if (there - before > NEWTON_GAIN * t * slope) {
            if (tries == 0)
                move_potentials(w, t);
            return true;
        }
        t /= 4;
    }
    move_potentials(w, 0);
    return false;
}

/* Iterates at the current ε until the marginals are met or the iterations are used up. Leaves a
 * valid kernel with u and v; f is not yet absorbed. */
static double run_stage(struct ot_sinkhorn_work *w, double tolerance, int64_t last_iteration)
{
    double error;
    int plain = 0; /* iterations since the last Newton step that failed */
    rebuild(w);
    for (;;) {
        scale_columns(w);
        error = marginal_error(w);
        if (error <= tolerance || w->iterations >= last_iteration)
            return error;
        if (plain >= NEWTON_AFTER && w->hessian && w->c <= NEWTON_REFERENCES) {
            if (newton_step(w, error, last_iteration))
                continue;
            plain = 0;
            scale_columns(w);
        }
        plain++;
        if (!scale_rows(w))
            rebuild(w);
    }
}

/* The widest spread of costs within one column, the scale of ε. */
static double cost_range(const struct ot_sinkhorn_work *w)
{
    double range = 0;
    for (int64_t l = 0; l < w->n; l++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t k = 0; k < w->c; k++) {
            double x = w->cost[k * w->n + l];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        range = high - low > range ? high - low : range;
    }
    return range;
}

static void load(struct ot_sinkhorn_work *w, const double *cost, const double *a, const double *b,
                 int64_t c, int64_t n)
{
    double sum_a = 0, sum_b = 0;
    w->c = c;
    w->n = n;
    w->stride = whole_lanes(n);
    w->cost = cost;
    w->iterations = 0;
    for (int64_t k = 0; k < c; k++)
        sum_a += a ? a[k] : 1;
    for (int64_t l = 0; l < n; l++)
        sum_b += b ? b[l] : 1;
    for (int64_t k = 0; k < c; k++) {
        w->a[k] = (a ? a[k] : 1) / sum_a;
        w->f[k] = w->a[k] > 0 ? 0 : -INFINITY; /* no mass goes to a reference without any */
        for (int64_t l = n; l < w->stride; l++)
            w->kernel[k * w->stride + l] = 1;
    }
    for (int64_t l = 0; l < w->stride; l++)
        w->b[l] = l < n ? (b ? b[l] : 1) / sum_b : 0;
}

void ot_sinkhorn_solve(struct ot_sinkhorn_work *w, double *plan, struct consm_ot_result *result,
                       const double *cost, const double *a, const double *b, int64_t c, int64_t n,
                       const struct consm_ot_options *options)
{
    double target = ot_epsilon(cost, c, n, options), mass = ot_total_mass(a, b, c, n), total = 0;
    int64_t limit = options->max_iterations;
    load(w, cost, a, b, c, n);
    for (double stage = FIRST_STAGE * cost_range(w); stage > STAGE_FACTOR * target;
         stage /= STAGE_FACTOR) {
        int64_t last = w->iterations + STAGE_ITERATIONS;
        w->epsilon = stage;
        run_stage(w, STAGE_TOLERANCE, last < limit ? last : limit);
        absorb(w);
    }
    w->epsilon = target;
    result->marginal_error = run_stage(w, options->tolerance, limit);
    result->converged = result->marginal_error <= options->tolerance;
    result->iterations = w->iterations;
    for (int64_t k = 0; k < c; k++)
        for (int64_t l = 0; l < n; l++) {
            double p = w->u[k] * w->kernel[k * w->stride + l] * w->v[l] * mass;
            plan[k * n + l] = p;
            total += p * cost[k * n + l];
        }
    result->cost = total;
}

void ot_sinkhorn_potentials(const struct ot_sinkhorn_work *w, double *f)
{
    for (int64_t k = 0; k < w->c; k++)
        f[k] = w->f[k] + w->epsilon * log(w->u[k]);
}
