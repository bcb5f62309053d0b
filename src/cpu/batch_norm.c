/* Batch normalisation: column statistics in phases, each a sum over fixed blocks of rows, then
 * every row separately. A phase ends where the next one needs its sums. */
#include "cpu/kernels.h"

#include <math.h>

static const float VARIANCE_FLOOR = 1e-5f;
static const float RUNNING_SHARE = 0.1f;

/* Columns of numbers at the start of the scratch. */
struct statistics {
    float *mean, *inverse;          /* of x, 1/sqrt(variance + floor) */
    float *slope, *slope2, *offset; /* coefficients of a row */
    float *partial;                 /* (blocks, f) */
};

static struct statistics statistics(const struct instr *in, float *work)
{
    int64_t f = in->cols;
    return (struct statistics){work,         work + f,     work + 2 * f,
                               work + 3 * f, work + 4 * f, work + BATCH_COLUMNS * f};
}

size_t scratch_batch(const struct instr *in)
{
    if (in->op != OP_BATCH_NORM && in->op != OP_BATCH_NORM_XHAT && in->op != OP_BATCH_NORM_GRAD)
        return 0;
    return (size_t)((block_count(in->rows, COL_BLOCK) + BATCH_COLUMNS) * in->cols) * sizeof(float);
}

int batch_phases(const struct instr *in)
{
    switch (in->op) {
    case OP_BATCH_NORM: return in->attr.running ? 0 : 2;
    case OP_BATCH_NORM_XHAT: return 2;
    case OP_BATCH_NORM_GRAD: return 4;
    default: return 0;
    }
}

/* Σ x, Σ (x - mean)², and for the gradient Σ G, Σ G∘x */
void batch_blocks(float *partial, const struct instr *in, float *work, int phase, int64_t from,
                  int64_t to)
{
    const float *g = in->src[0], *x = in->src[in->op == OP_BATCH_NORM_GRAD];
    const int64_t f = in->cols, n = in->rows;
    if (phase == 1)
        simd_best()->col_var(partial, x, statistics(in, work).mean, f, n, from, to);
    else
        simd_best()->col_sum(partial, phase == 0 ? x : g, phase == 3 ? x : NULL, f, n, from, to);
}

/* Updates the running statistics; they store the unbiased variance, as in PyTorch. */
static void update_running(const struct instr *in, const struct statistics *s, int64_t c)
{
    float *mean = in->update[0], *variance = in->update[1];
    float unbias = in->rows > 1 ? (float)in->rows / (float)(in->rows - 1) : 1;
    float batch = 1 / (s->inverse[c] * s->inverse[c]) - VARIANCE_FLOOR;
    mean[c] += RUNNING_SHARE * (s->mean[c] - mean[c]);
    variance[c] += RUNNING_SHARE * (batch * unbias - variance[c]);
}

/* y = γ(x - mean)·inverse + β as slope·x + offset */
static void make_line(const struct instr *in, const struct statistics *s, int64_t c, float mean,
                      float inverse)
{
    s->slope[c] = in->src[1][c] * inverse;
    s->offset[c] = in->src[2][c] - mean * s->slope[c];
}

/* x̄ = γ/σ·(G - mean(G) - x̂·mean(G∘x̂)), written as a·G + b·x + d per column */
static void make_gradient(const struct instr *in, const struct statistics *s, int64_t c)
{
    float mean_g = s->slope[c], mean_gx = s->slope2[c];
    float with_xhat = s->inverse[c] * (mean_gx - s->mean[c] * mean_g);
    float a = in->src[2][c] * s->inverse[c], b = -a * s->inverse[c] * with_xhat;
    s->offset[c] = -a * mean_g - b * s->mean[c];
    s->slope[c] = a;
    s->slope2[c] = b;
}

void batch_total(const struct instr *in, const float *partial, float *work, int phase, int64_t left,
                 int64_t right)
{
    struct statistics s = statistics(in, work);
    float *const out[] = {s.mean, s.inverse, s.slope, s.slope2};
    const int64_t n = in->rows;
    simd_best()->col_combine(out[phase], partial, block_count(n, COL_BLOCK), in->cols,
                             n > 0 ? 1 / (float)n : 0, left, right);
    for (int64_t c = left; c < right && phase == 1; c++) {
        s.inverse[c] = 1 / sqrtf(s.inverse[c] + VARIANCE_FLOOR);
        if (in->op == OP_BATCH_NORM) {
            make_line(in, &s, c, s.mean[c], s.inverse[c]);
            update_running(in, &s, c);
        } else if (in->op == OP_BATCH_NORM_XHAT) {
            s.slope[c] = s.inverse[c];
            s.offset[c] = -s.mean[c] * s.inverse[c];
        }
    }
    for (int64_t c = left; c < right && phase == 3; c++)
        make_gradient(in, &s, c);
}

void batch_rows(const struct instr *in, float *work, int64_t from, int64_t to)
{
    struct statistics s = statistics(in, work);
    bool gradient = in->op == OP_BATCH_NORM_GRAD;
    simd_best()->col_affine(in->out, s.slope, in->src[0], gradient ? s.slope2 : NULL,
                            gradient ? in->src[1] : NULL, s.offset, in->cols, from, to);
}

KERNEL(batch_norm)
{
    int64_t from, to, left, right;
    float *work = in->scratch;
    struct statistics s = statistics(in, work);
    (void)step;
    team_range(who, in->cols, 16, &left, &right);
    team_range(who, block_count(in->rows, COL_BLOCK), 1, &from, &to);
    for (int phase = 0; phase < batch_phases(in); phase++) {
        batch_blocks(s.partial, in, work, phase, from, to);
        team_barrier(who);
        batch_total(in, s.partial, work, phase, left, right);
        team_barrier(who);
    }
    if (batch_phases(in) == 0) { /* by the running statistics */
        for (int64_t c = left; c < right; c++)
            make_line(in, &s, c, in->src[3][c], 1 / sqrtf(in->src[4][c] + VARIANCE_FLOOR));
        team_barrier(who);
    }
    range_rows(in->rows, who, &from, &to);
    batch_rows(in, work, from, to);
}

KERNEL(batch_norm_xhat)
{
    run_batch_norm(in, step, who);
}

KERNEL(batch_norm_grad)
{
    run_batch_norm(in, step, who);
}
