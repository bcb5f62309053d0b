/* Softmax and the losses. Sums go through fixed blocks, so that they do not depend on the team. */
#include "cpu/kernels.h"

#include <math.h>

size_t scratch_loss(const struct instr *in)
{
    switch (in->op) {
    case OP_NLL:
        return (size_t)(2 * block_count(in->attr.index->count, LOSS_BLOCK)) * sizeof(double);
    case OP_BCE:
    case OP_L1:
    case OP_MSE:
        return (size_t)block_count(in->src_rows[0] * in->src_cols[0], LOSS_BLOCK) * sizeof(double);
    default: return 0;
    }
}

#define ROWWISE(name, ...)                                           \
    KERNEL(name)                                                     \
    {                                                                \
        int64_t from, to;                                            \
        (void)step;                                                  \
        range_rows(in->rows, who, &from, &to);                       \
        simd_best()->name(in->out, __VA_ARGS__, in->cols, from, to); \
    }

ROWWISE(softmax, in->src[0])
ROWWISE(log_softmax, in->src[0])
ROWWISE(softmax_grad, in->src[0], in->src[1])
ROWWISE(log_softmax_grad, in->src[0], in->src[1])

/* ---- negative log likelihood of labelled rows ---------------------------- */

static float row_maximum(const float *x, int64_t c)
{
    float most = x[0];
    for (int64_t i = 1; i < c; i++)
        most = x[i] > most ? x[i] : most;
    return most;
}

/* log Σ exp(x), with the largest term taken out. */
static float log_sum_exp(const float *x, int64_t c)
{
    float most = row_maximum(x, c), total = 0;
    for (int64_t i = 0; i < c; i++)
        total += expf(x[i] - most);
    return most + logf(total);
}

void nll_blocks(double *partial, const struct instr *in, int64_t from, int64_t to)
{
    int64_t c = in->src_cols[0], count = in->attr.index->count;
    for (int64_t b = from; b < to; b++) {
        int64_t last = (b + 1) * LOSS_BLOCK < count ? (b + 1) * LOSS_BLOCK : count;
        double *loss = &partial[2 * b], *weight = loss + 1;
        *loss = *weight = 0;
        for (int64_t k = b * LOSS_BLOCK; k < last; k++) {
            int32_t r = in->attr.index->row[k];
            float w = in->attr.weight ? in->attr.weight[k] : 1;
            const float *x = in->src[0] + r * c;
            if (w != 0)
                *loss += (double)w * (double)(log_sum_exp(x, c) - x[in->attr.label[r]]);
            *weight += (double)w;
        }
    }
}

void nll_total(const struct instr *in, const double *partial, int64_t blocks)
{
    double total = 0, weights = 0;
    for (int64_t b = 0; b < blocks; b++) {
        total += partial[2 * b];
        weights += partial[2 * b + 1];
    }
    in->out[0] = weights > 0 ? (float)(total / weights) : 0;
}

KERNEL(nll)
{
    int64_t from, to, blocks = block_count(in->attr.index->count, LOSS_BLOCK);
    double *partial = (double *)in->scratch;
    (void)step;
    team_range(who, blocks, 1, &from, &to);
    nll_blocks(partial, in, from, to);
    team_barrier(who);
    if (who.id == 0)
        nll_total(in, partial, blocks);
}

KERNEL(nll_grad)
{
    int64_t from, to, c = in->cols;
    const struct index *index = in->attr.index;
    const float *weight = in->attr.weight;
    double weights = weight ? 0 : (double)index->count;
    (void)step;
    for (int64_t k = 0; weight && k < index->count; k++)
        weights += (double)weight[k];
    range_rows(in->rows, who, &from, &to);
    simd_best()->fill(in->out, 0, from * c, to * c);
    for (int64_t r = from; r < to; r++) {
        const float *x = in->src[1] + r * c;
        float *out = in->out + r * c, w = 0;
        for (int64_t k = index->start[r]; k < index->start[r + 1]; k++)
            w += weight ? weight[index->item[k]] : 1;
        if (w == 0)
            continue;
        w *= in->src[0][0] / (float)weights;
        float normaliser = log_sum_exp(x, c);
        for (int64_t i = 0; i < c; i++)
            out[i] = w * (expf(x[i] - normaliser) - (i == in->attr.label[r] ? 1.0f : 0.0f));
    }
}

/* ---- values against targets, weighted ------------------------------------ */

/* max(x,0) - x·t + log(1 + exp(-|x|)): cross-entropy of sigmoid(x) without overflow */
static float bce_term(float x, float t)
{
    return (x > 0 ? x : 0) - x * t + log1pf(expf(-fabsf(x)));
}

static float bce_slope(float x, float t)
{
    return (x >= 0 ? 1 / (1 + expf(-x)) : expf(x) / (1 + expf(x))) - t;
}

static float l1_term(float x, float t)
{
    return fabsf(x - t);
}

static float l1_slope(float x, float t)
{
    return x > t ? 1.0f : x < t ? -1.0f : 0.0f;
}

static float mse_term(float x, float t)
{
    return (x - t) * (x - t);
}

static float mse_slope(float x, float t)
{
    return 2 * (x - t);
}

typedef float term_fn(float x, float t);

void weighted_blocks(double *partial, const struct instr *in, int64_t from, int64_t to)
{
    term_fn *term = in->op == OP_BCE ? bce_term : in->op == OP_L1 ? l1_term : mse_term;
    int64_t count = in->src_rows[0] * in->src_cols[0];
    for (int64_t b = from; b < to; b++) {
        int64_t last = (b + 1) * LOSS_BLOCK < count ? (b + 1) * LOSS_BLOCK : count;
        partial[b] = 0;
        for (int64_t k = b * LOSS_BLOCK; k < last; k++)
            partial[b] += (double)(in->src[2][k] * term(in->src[0][k], in->src[1][k]));
    }
}

static void weighted_sum(const struct instr *in, struct worker who)
{
    int64_t from, to, blocks = block_count(in->src_rows[0] * in->src_cols[0], LOSS_BLOCK);
    double *partial = (double *)in->scratch;
    team_range(who, blocks, 1, &from, &to);
    weighted_blocks(partial, in, from, to);
    team_barrier(who);
    if (who.id == 0)
        simd_best()->reduce_combine(in->out, partial, blocks);
}

static void weighted_slope(const struct instr *in, struct worker who, term_fn *slope)
{
    int64_t from, to;
    range_elements(in, who, &from, &to);
    for (int64_t k = from; k < to; k++)
        in->out[k] = in->src[0][0] * in->src[3][k] * slope(in->src[1][k], in->src[2][k]);
}

#define WEIGHTED(name)                         \
    KERNEL(name)                               \
    {                                          \
        (void)step;                            \
        weighted_sum(in, who);                 \
    }                                          \
    KERNEL(name##_grad)                        \
    {                                          \
        (void)step;                            \
        weighted_slope(in, who, name##_slope); \
    }

WEIGHTED(bce)
WEIGHTED(l1)
WEIGHTED(mse)
