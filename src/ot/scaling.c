/* Finds the factors u of the references: Sinkhorn's updates first, then Newton's on log u. Each is
 * one pass over the set's kernel. */
#include "ot/scaling.h"

#include "base/alloc.h"
#include "ot/lanes.h"
#include "ot/newton.h"
#include <math.h>
#include <string.h>

enum { PLAIN_FIRST = 2, MOST_PASSES = 100, NEWTON_REFERENCES = 64 };

static const double DRIFT = 1e100;       /* of u; K below 1 / DRIFT would begin to count */
static const double NEWTON_SHRINK = 0.9; /* of the error is a success */
static const double NEWTON_REACH = 10;   /* of log u, beyond which the model means nothing */

struct ot_scaling {
    int64_t c, n, stride; /* stride: n rounded up to whole lanes */
    double *kernel;       /* (c, stride) of the set; the columns after n hold 1 and have no mass */
    double *mass, *v;     /* (stride) 1, and 1 / Σ_k u_k K_kl */
    double *u, *row;      /* (c) factors, and Σ_l u_k K_kl v_l */
    double *a;            /* (c) what row should be: n / c */
    double *lane;         /* (c, LANES) partial sums of row */
    double *plan;         /* (c, stride) for Newton, as the next two */
    double *hessian;      /* (c, c) */
    double *step;         /* (c) of log u */
    double *old;          /* (c) u before a step */
};

void ot_scaling_free(struct ot_scaling *s)
{
    if (!s)
        return;
    void *blocks[] = {s->kernel, s->mass, s->v,       s->u,    s->row, s->a,
                      s->lane,   s->plan, s->hessian, s->step, s->old};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        mem_free(blocks[i]);
    mem_free(s);
}

consm_status ot_scaling_new(struct ot_scaling **out, int64_t c, int64_t n)
{
    consm_status st = CONSM_OK;
    struct ot_scaling *s = NULL;
    int64_t stride = whole_lanes(n);
    *out = NULL;
    TRY(ZNEW(s, 1));
    s->c = c;
    TRY(NEW(s->kernel, c * stride));
    TRY(NEW(s->mass, stride));
    TRY(NEW(s->v, stride));
    TRY(NEW(s->u, c));
    TRY(NEW(s->row, c));
    TRY(NEW(s->a, c));
    TRY(NEW(s->lane, c * LANES));
    TRY(NEW(s->old, c));
    if (c <= NEWTON_REFERENCES) {
        TRY(NEW(s->plan, c * stride));
        TRY(NEW(s->hessian, c * c));
        TRY(NEW(s->step, c));
    }
    *out = s;
    s = NULL;
done:
    ot_scaling_free(s);
    return st;
}

void ot_scaling_kernel(double *kernel, const double *cost, const double *f, double epsilon,
                       int64_t c)
{
    double highest = -INFINITY, sum = 0;
    for (int64_t k = 0; k < c; k++)
        highest = f[k] - cost[k] > highest ? f[k] - cost[k] : highest;
    for (int64_t k = 0; k < c; k++)
        sum += kernel[k] = exp((f[k] - cost[k] - highest) / epsilon);
    for (int64_t k = 0; k < c; k++)
        kernel[k] /= sum;
}

static void load(struct ot_scaling *s, const double *kernel, const int32_t *point, int64_t size)
{
    int64_t c = s->c, stride = whole_lanes(size);
    s->n = size;
    s->stride = stride;
    for (int64_t l = 0; l < size; l++) {
        const double *of_point = kernel + (point ? point[l] : l) * c;
        s->mass[l] = 1;
        for (int64_t k = 0; k < c; k++)
            s->kernel[k * stride + l] = of_point[k];
    }
    for (int64_t l = size; l < stride; l++) {
        s->mass[l] = 0;
        for (int64_t k = 0; k < c; k++)
            s->kernel[k * stride + l] = 1;
    }
    for (int64_t k = 0; k < c; k++) {
        s->u[k] = 1;
        s->a[k] = (double)size / (double)c;
    }
}

/* v_l = 1 / Σ_k u_k K_kl and row_k = Σ_l u_k K_kl v_l; the error Σ_k |row_k - a_k| as a share. */
static double pass(struct ot_scaling *s)
{
    int64_t c = s->c, stride = s->stride;
    double error = 0;
    memset(s->lane, 0, (size_t)(c * LANES) * sizeof *s->lane);
    for (int64_t l = 0; l < stride; l += LANES) {
        double sum[LANES] = {0}, v[LANES];
        for (int64_t k = 0; k < c; k++)
            for (int i = 0; i < LANES; i++)
                sum[i] += s->u[k] * s->kernel[k * stride + l + i];
        for (int i = 0; i < LANES; i++)
            s->v[l + i] = v[i] = s->mass[l + i] / sum[i];
        for (int64_t k = 0; k < c; k++)
            for (int i = 0; i < LANES; i++)
                s->lane[k * LANES + i] += s->kernel[k * stride + l + i] * v[i];
    }
    for (int64_t k = 0; k < c; k++) {
        s->row[k] = s->u[k] * sum_lanes(s->lane + k * LANES);
        error += fabs(s->row[k] - s->a[k]);
    }
    return error / (double)s->n;
}

/* Sinkhorn's update. */
static void plain_step(struct ot_scaling *s)
{
    for (int64_t k = 0; k < s->c; k++)
        s->u[k] *= s->a[k] / s->row[k];
}

/* log u += Newton's step, shortened where it reaches too far. */
static bool newton_step(struct ot_scaling *s)
{
    double longest = 0;
    for (int64_t k = 0; k < s->c; k++)
        for (int64_t l = 0; l < s->stride; l++)
            s->plan[k * s->stride + l] = s->u[k] * s->kernel[k * s->stride + l] * s->v[l];
    if (!ot_newton_step(s->step, s->hessian, s->plan, s->row, s->a, NULL, s->c, s->n, s->stride))
        return false;
    for (int64_t k = 0; k < s->c; k++)
        longest = fabs(s->step[k]) > longest ? fabs(s->step[k]) : longest;
    for (int64_t k = 0; k < s->c; k++)
        s->u[k] *= exp(longest > NEWTON_REACH ? s->step[k] * (NEWTON_REACH / longest) : s->step[k]);
    return true;
}

static bool inside(const struct ot_scaling *s)
{
    for (int64_t k = 0; k < s->c; k++)
        if (!(s->u[k] < DRIFT && s->u[k] > 1 / DRIFT))
            return false;
    return true;
}

bool ot_scaling_solve(struct ot_scaling *s, const double *kernel, const int32_t *point,
                      int64_t size, double tolerance)
{
    load(s, kernel, point, size);
    double error = pass(s);
    int plain = 0; /* steps since the last of Newton's that failed */
    for (int passes = 1; error > tolerance; passes++) {
        if (passes > MOST_PASSES)
            return false;
        bool newton = plain >= PLAIN_FIRST && s->c <= NEWTON_REFERENCES;
        memcpy(s->old, s->u, (size_t)s->c * sizeof *s->u);
        if (newton && newton_step(s) && inside(s)) {
            double there = pass(s);
            if (there < NEWTON_SHRINK * error) {
                error = there;
                continue;
            }
        }
        if (newton) {
            memcpy(s->u, s->old, (size_t)s->c * sizeof *s->u);
            pass(s);
            plain = 0;
        }
        plain_step(s);
        plain++;
        if (!inside(s))
            return false;
        error = pass(s);
    }
    return isfinite(error);
}

void ot_scaling_assign(const struct ot_scaling *s, int32_t *reference)
{
    for (int64_t first = 0; first < s->stride; first += LANES) {
        double most[LANES];
        int64_t best[LANES] = {0};
        for (int i = 0; i < LANES; i++)
            most[i] = s->u[0] * s->kernel[first + i];
        for (int64_t k = 1; k < s->c; k++)
            for (int i = 0; i < LANES; i++) {
                double x = s->u[k] * s->kernel[k * s->stride + first + i];
                int64_t more = -(int64_t)(x > most[i]); /* all bits or none */
                best[i] = (best[i] & ~more) | (k & more);
                most[i] = x > most[i] ? x : most[i];
            }
        for (int i = 0; i < LANES && first + i < s->n; i++)
            reference[first + i] = (int32_t)best[i];
    }
}

void ot_scaling_plan(const struct ot_scaling *s, float *plan)
{
    for (int64_t k = 0; k < s->c; k++)
        for (int64_t l = 0; l < s->n; l++)
            plan[k * s->n + l] =
                (float)(s->u[k] * s->kernel[k * s->stride + l] * s->v[l] / (double)s->n);
}
