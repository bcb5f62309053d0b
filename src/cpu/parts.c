/* One table over the two halves of every kernel that sums over rows. */
#include "cpu/parts.h"

#include "cpu/kernels.h"
#include <string.h>

static int phases(const struct instr *in)
{
    switch (in->op) {
    case OP_MATMUL: return in->attr.transposed && !in->attr.other_transposed && in->src_rows[0] > 0;
    case OP_COL_SUM:
    case OP_SUM:
    case OP_DOT:
    case OP_HEAD_OUTER:
    case OP_NLL:
    case OP_BCE:
    case OP_L1:
    case OP_MSE:
    case OP_KEEP: return 1;
    default: return batch_phases(in);
    }
}

static struct sum_shape product_shape(const struct instr *in)
{
    int64_t length, blocks = gemm_blocks(in->rows, in->cols, in->src_rows[0], true, &length);
    size_t row = (size_t)in->cols * sizeof(float);
    if (blocks > 1)
        return (struct sum_shape){SUM_ROWS, length, blocks, (size_t)in->rows * row};
    int64_t tile = GEMM_PART_ROWS;
    return (struct sum_shape){SUM_RESULT, tile, block_count(in->rows, tile), (size_t)tile * row};
}

static struct sum_shape shape(const struct instr *in)
{
    int64_t elements = in->src_rows[0] * in->src_cols[0];
    size_t row = (size_t)in->cols * sizeof(float), pair = 2 * sizeof(double);
    switch (in->op) {
    case OP_MATMUL: return product_shape(in);
    case OP_SUM:
    case OP_DOT:
        return (struct sum_shape){SUM_ELEMENTS, REDUCE_BLOCK, block_count(elements, REDUCE_BLOCK),
                                  sizeof(double)};
    case OP_BCE:
    case OP_L1:
    case OP_MSE:
        return (struct sum_shape){SUM_ELEMENTS, LOSS_BLOCK, block_count(elements, LOSS_BLOCK),
                                  sizeof(double)};
    case OP_NLL:
        return (struct sum_shape){SUM_INDEXED, LOSS_BLOCK,
                                  block_count(in->attr.index->count, LOSS_BLOCK), pair};
    case OP_KEEP: return (struct sum_shape){SUM_INDEXED, 1, in->attr.index->count, pair};
    case OP_HEAD_OUTER: row *= (size_t)in->attr.heads; break;
    default: break;
    }
    return (struct sum_shape){SUM_ROWS, COL_BLOCK, block_count(in->src_rows[0], COL_BLOCK), row};
}

static size_t work_bytes(const struct instr *in)
{
    return batch_phases(in) ? (size_t)(BATCH_COLUMNS * in->cols) * sizeof(float) : 0;
}

/* ---- the first half ---- */

struct half {
    const struct instr *in;
    int phase;
    void *partial;
    float *work;
    int64_t first, last; /* blocks, or rows of the result */
};

static void block_worker(void *arg, struct worker who)
{
    const struct half *h = arg;
    const struct instr *in = h->in;
    int64_t from, to, rows = in->src_rows[0];
    team_range(who, h->last - h->first, 1, &from, &to);
    from += h->first;
    to += h->first;
    switch (in->op) {
    case OP_MATMUL: {
        struct gemm g = gemm_of(in);
        struct sum_shape s = shape(in);
        for (int64_t b = from; b < to; b++) {
            float *partial = (float *)h->partial + (size_t)b * s.bytes / sizeof(float);
            if (s.over == SUM_ROWS)
                gemm_block(&g, partial, b);
            else
                gemm_tile_into(&g, partial, b);
        }
        break;
    }
    case OP_COL_SUM:
        simd_best()->col_sum(h->partial, in->src[0], NULL, in->cols, rows, from, to);
        break;
    case OP_SUM:
    case OP_DOT:
        simd_best()->reduce(h->partial, in->src[0], in->src[1], rows * in->src_cols[0], from, to);
        break;
    case OP_HEAD_OUTER: head_outer_blocks(h->partial, in, from, to); break;
    case OP_NLL: nll_blocks(h->partial, in, from, to); break;
    case OP_BCE:
    case OP_L1:
    case OP_MSE: weighted_blocks(h->partial, in, from, to); break;
    case OP_KEEP:
        for (int64_t k = from; k < to; k++)
            ((struct judged *)h->partial)[k] = keep_judge(in, k);
        break;
    default: batch_blocks(h->partial, in, h->work, h->phase, from, to); break;
    }
}

static void blocks(struct team *team, const struct instr *in, int phase, void *partial, void *work,
                   int64_t first, int64_t last)
{
    struct half h = {in, phase, partial, work, first, last};
    if (last > first)
        team_run(team, block_worker, &h);
}

/* ---- the second ---- */

static void judge_all(const struct instr *in, const struct judged *one)
{
    struct judged all = {0};
    for (int64_t k = 0; k < in->attr.index->count; k++) {
        all.right += one[k].right;
        all.surprise += one[k].surprise;
    }
    keep_decide(in, all);
}

static void total_worker(void *arg, struct worker who)
{
    const struct half *h = arg;
    const struct instr *in = h->in;
    struct sum_shape s = shape(in);
    int64_t from, to, width = in->op == OP_HEAD_OUTER ? in->attr.heads * in->cols : in->cols;
    team_range(who, width, 16, &from, &to);
    switch (in->op) {
    case OP_MATMUL: {
        struct gemm g = gemm_of(in);
        if (s.over == SUM_ROWS)
            gemm_add_blocks(&g, h->partial, who);
        else if (who.id == 0)
            memcpy(in->out, h->partial, (size_t)(in->rows * in->cols) * sizeof(float));
        break;
    }
    case OP_COL_SUM:
    case OP_HEAD_OUTER:
        simd_best()->col_combine(in->out, h->partial, s.blocks, width, 1, from, to);
        break;
    case OP_NLL:
        if (who.id == 0)
            nll_total(in, h->partial, s.blocks);
        break;
    case OP_KEEP:
        if (who.id == 0)
            judge_all(in, h->partial);
        break;
    case OP_SUM:
    case OP_DOT:
    case OP_BCE:
    case OP_L1:
    case OP_MSE:
        if (who.id == 0)
            simd_best()->reduce_combine(in->out, h->partial, s.blocks);
        break;
    default: batch_total(in, h->partial, h->work, h->phase, from, to); break;
    }
}

static void total(struct team *team, const struct instr *in, int phase, void *partial, void *work)
{
    struct half h = {in, phase, partial, work, 0, 0};
    team_run(team, total_worker, &h);
}

static void rows_worker(void *arg, struct worker who)
{
    const struct half *h = arg;
    int64_t from, to;
    share_rows(h->last - h->first, who, &from, &to);
    batch_rows(h->in, h->work, h->first + from, h->first + to);
}

static void rows(struct team *team, const struct instr *in, void *work, int64_t first, int64_t last)
{
    struct half h = {in, 0, NULL, work, first, last};
    if (last > first)
        team_run(team, rows_worker, &h);
}

const struct sums cpu_sums = {phases, shape, work_bytes, blocks, total, rows};
