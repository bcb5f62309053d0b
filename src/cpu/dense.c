/* Dense algebra and elementwise operations: each binds an operation to its vector kernel. */
#include "cpu/gemm.h"
#include "cpu/kernels.h"

#include "base/rng.h"
#include <math.h>
#include <string.h>

size_t scratch_dense(const struct instr *in)
{
    if (in->op == OP_MATMUL) {
        bool ta = in->attr.transposed, tb = in->attr.other_transposed;
        return gemm_scratch_bytes(in->rows, in->cols, ta ? in->src_rows[0] : in->src_cols[0], ta,
                                  tb);
    }
    if (in->op == OP_COL_SUM)
        return (size_t)(block_count(in->src_rows[0], COL_BLOCK) * in->cols) * sizeof(float);
    if (in->op == OP_SUM || in->op == OP_DOT)
        return (size_t)block_count(in->src_rows[0] * in->src_cols[0], REDUCE_BLOCK) *
               sizeof(double);
    return 0;
}

KERNEL(fill)
{
    int64_t from, to;
    (void)step;
    range_elements(in, who, &from, &to);
    simd_best()->fill(in->out, in->attr.a, from, to);
}

KERNEL(anneal)
{
    if (who.id == 0)
        in->out[0] = (float)(in->attr.a * pow(in->attr.b, (double)step->number));
}

/* Uniform in (0,1): element s of the stream is word s%4 of Philox(seed; s/4, step, stream). */
static void draw_noise(float *out, int64_t count, uint64_t first, const struct instr *in,
                       const struct step *step)
{
    uint32_t key[2] = {(uint32_t)step->seed, (uint32_t)(step->seed >> 32)}, word[4];
    for (int64_t e = 0; e < count; e++) {
        uint64_t at = first + (uint64_t)e, block = at / 4;
        uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32) | 0x80000000u,
                               (uint32_t)step->number, in->attr.stream};
        if (e == 0 || at % 4 == 0)
            philox4x32(word, counter, key);
        out[e] = ((float)(word[at % 4] >> 9) + 0.5f) * 0x1p-23f;
    }
}

KERNEL(noise)
{
    int64_t from, to;
    const int64_t *number = in->attr.number;
    if (!number) {
        range_elements(in, who, &from, &to);
        draw_noise(in->out + from, to - from, (uint64_t)from, in, step);
        return;
    }
    range_rows(in->rows, who, &from, &to);
    for (int64_t r = from; r < to; r++)
        draw_noise(in->out + r * in->cols, in->cols, (uint64_t)(number[r] * in->cols), in, step);
}

struct gemm gemm_of(const struct instr *in)
{
    bool ta = in->attr.transposed, tb = in->attr.other_transposed;
    return (struct gemm){.c = in->out,
                         .a = in->src[0],
                         .b = in->src[1],
                         .m = in->rows,
                         .n = in->cols,
                         .k = ta ? in->src_rows[0] : in->src_cols[0],
                         .ta = ta,
                         .tb = tb,
                         .alpha = 1};
}

KERNEL(matmul)
{
    struct gemm g = gemm_of(in);
    (void)step;
    gemm_run(&g, in->scratch, who);
}

KERNEL(axpby)
{
    int64_t from, to;
    (void)step;
    range_elements(in, who, &from, &to);
    simd_best()->axpby(in->out, in->attr.a, in->src[0], in->attr.b, in->src[1], from, to);
}

KERNEL(scale)
{
    int64_t from, to;
    (void)step;
    range_elements(in, who, &from, &to);
    simd_best()->scale(in->out, in->attr.a, in->src[0], from, to);
}

KERNEL(mul)
{
    int64_t from, to;
    (void)step;
    range_elements(in, who, &from, &to);
    simd_best()->mul(in->out, in->src[0], in->src[1], from, to);
}

KERNEL(scale_by)
{
    int64_t from, to;
    (void)step;
    range_elements(in, who, &from, &to);
    simd_best()->scale(in->out, in->src[1][0], in->src[0], from, to);
}

KERNEL(scale_rows)
{
    int64_t from, to;
    (void)step;
    range_rows(in->rows, who, &from, &to);
    simd_best()->row_scale(in->out, in->src[1], in->src[0], in->cols, from, to);
}

KERNEL(add_bias)
{
    int64_t from, to;
    (void)step;
    range_rows(in->rows, who, &from, &to);
    simd_best()->col_affine(in->out, NULL, in->src[0], NULL, NULL, in->src[1], in->cols, from, to);
}

KERNEL(bias_relu_dropout)
{
    int64_t from, to;
    struct dropout drop = dropout_at(in, step);
    bool drops = in->attr.a > 0, numbered = drops && in->attr.number;
    struct epilogue end = {
        .scale = 1, .bias = in->src[1], .relu = true, .drop = drops && !numbered ? &drop : NULL};
    range_rows(in->rows, who, &from, &to);
    simd_best()->bias_act(in->out, in->src[0], in->cols, &end, from, to);
    if (numbered)
        drop_numbered(in->out, in->out, in, step, from, to);
}

KERNEL(bias_relu_dropout_grad)
{
    int64_t from, to;
    float scale = in->attr.a > 0 ? dropout_at(in, step).scale : 1;
    range_elements(in, who, &from, &to);
    simd_best()->relu_grad(in->out, in->src[0], in->src[1], scale, from, to);
}

KERNEL(concat)
{
    int64_t from, to, left = in->src_cols[0], right = in->src_cols[1];
    (void)step;
    range_rows(in->rows, who, &from, &to);
    simd_best()->copy_cols(in->out, in->cols, in->src[0], left, left, from, to);
    simd_best()->copy_cols(in->out + left, in->cols, in->src[1], right, right, from, to);
}

KERNEL(slice)
{
    int64_t from, to;
    (void)step;
    range_rows(in->rows, who, &from, &to);
    simd_best()->copy_cols(in->out, in->cols, in->src[0] + in->attr.column, in->src_cols[0],
                           in->cols, from, to);
}

KERNEL(pad)
{
    int64_t from, to;
    (void)step;
    range_rows(in->rows, who, &from, &to);
    simd_best()->fill(in->out, 0, from * in->cols, to * in->cols);
    simd_best()->copy_cols(in->out + in->attr.column, in->cols, in->src[0], in->src_cols[0],
                           in->src_cols[0], from, to);
}

KERNEL(reshape)
{
    int64_t from, to;
    (void)step;
    range_elements(in, who, &from, &to);
    memcpy(in->out + from, in->src[0] + from, (size_t)(to - from) * sizeof(float));
}

KERNEL(col_sum)
{
    int64_t from, to, blocks = block_count(in->src_rows[0], COL_BLOCK);
    (void)step;
    team_range(who, blocks, 1, &from, &to);
    simd_best()->col_sum(in->scratch, in->src[0], NULL, in->cols, in->src_rows[0], from, to);
    team_barrier(who);
    team_range(who, in->cols, 16, &from, &to);
    simd_best()->col_combine(in->out, in->scratch, blocks, in->cols, 1, from, to);
}

KERNEL(row_sum)
{
    int64_t from, to;
    (void)step;
    range_rows(in->rows, who, &from, &to);
    simd_best()->row_dot(in->out, in->src[0], NULL, in->src_cols[0], from, to);
}

/* Σ x, or Σ x∘y with a second source */
static void reduce_all(const struct instr *in, struct worker who)
{
    int64_t from, to, count = in->src_rows[0] * in->src_cols[0];
    int64_t blocks = block_count(count, REDUCE_BLOCK);
    double *partial = (double *)in->scratch;
    team_range(who, blocks, 1, &from, &to);
    simd_best()->reduce(partial, in->src[0], in->src[1], count, from, to);
    team_barrier(who);
    if (who.id == 0)
        simd_best()->reduce_combine(in->out, partial, blocks);
}

KERNEL(sum)
{
    (void)step;
    reduce_all(in, who);
}

KERNEL(dot)
{
    (void)step;
    reduce_all(in, who);
}

KERNEL(expand)
{
    int64_t from, to, cols = in->cols;
    const float *x = in->src[0];
    bool one_row = in->src_rows[0] == 1, one_col = in->src_cols[0] == 1;
    (void)step;
    range_rows(in->rows, who, &from, &to);
    for (int64_t r = from; r < to; r++) {
        const float *row = x + (one_row ? 0 : r * in->src_cols[0]);
        if (one_col)
            simd_best()->fill(in->out, row[0], r * cols, (r + 1) * cols);
        else
            memcpy(in->out + r * cols, row, (size_t)cols * sizeof(float));
    }
}

/* ---- element by element -------------------------------------------------- */

/* The vector kernel of an operation; -1 for the two that have none. */
static int unary_of(enum op op)
{
    switch (op) {
    case OP_RELU: return UNARY_RELU;
    case OP_LEAKY_RELU: return UNARY_LEAKY_RELU;
    case OP_ELU: return UNARY_ELU;
    case OP_TANH: return UNARY_TANH;
    case OP_SIGMOID: return UNARY_SIGMOID;
    case OP_LOG_SIGMOID: return UNARY_LOG_SIGMOID;
    case OP_EXP: return UNARY_EXP;
    case OP_SQUARE: return UNARY_SQUARE;
    case OP_ABS: return UNARY_ABS;
    default: return -1;
    }
}

/* ELU's alpha is 1; the others read their parameter from attr.a. */
static float unary_parameter(const struct instr *in, enum op op)
{
    return op == OP_ELU ? 1 : in->attr.a;
}

KERNEL(unary)
{
    int64_t from, to;
    int kind = unary_of(in->op);
    const float *x = in->src[0];
    (void)step;
    range_elements(in, who, &from, &to);
    if (kind >= 0)
        simd_best()->unary((enum unary)kind, in->out, x, unary_parameter(in, in->op), from, to);
    else if (in->op == OP_LOG)
        for (int64_t e = from; e < to; e++)
            in->out[e] = logf(x[e] > in->attr.a ? x[e] : in->attr.a);
    else
        for (int64_t e = from; e < to; e++)
            in->out[e] = x[e] < in->attr.a ? in->attr.a : x[e] > in->attr.b ? in->attr.b : x[e];
}

KERNEL(unary_grad)
{
    int64_t from, to;
    enum op op = in->attr.function;
    int kind = unary_of(op);
    const float *g = in->src[0], *x = in->src[1];
    (void)step;
    range_elements(in, who, &from, &to);
    if (kind >= 0) {
        const float *saved = unary_grad_takes_input((enum unary)kind) ? x : in->src[2];
        simd_best()->unary_grad((enum unary)kind, in->out, g, saved, unary_parameter(in, op), from,
                                to);
    } else if (op == OP_LOG) {
        for (int64_t e = from; e < to; e++)
            in->out[e] = x[e] > in->attr.a ? g[e] / x[e] : 0;
    } else {
        for (int64_t e = from; e < to; e++)
            in->out[e] = x[e] >= in->attr.a && x[e] <= in->attr.b ? g[e] : 0;
    }
}

KERNEL(dropout)
{
    int64_t from, to;
    struct dropout drop = dropout_at(in, step);
    if (in->attr.number) {
        range_rows(in->rows, who, &from, &to);
        drop_numbered(in->out, in->src[0], in, step, from, to);
        return;
    }
    range_elements(in, who, &from, &to);
    simd_best()->dropout(in->out, in->src[0], &drop, from, to);
}
