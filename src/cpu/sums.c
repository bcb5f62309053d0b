/* A table of the two halves of every kernel that sums over rows. */
#include "cpu/sums.h"

#include "cpu/kernels.h"
#include <string.h>

/* A half being computed: the partial sums of blocks, or their total. */
struct half {
    const struct instr *in;
    int phase;
    void *partial;
    float *work;
    int64_t first, last; /* blocks, or rows of the result */
};

/* How an operation sums. */
struct summing {
    struct sum_shape (*shape)(const struct instr *in);
    void (*blocks)(const struct half *h, int64_t from, int64_t to);
    void (*total)(const struct half *h, struct worker who);
};

/* ---- shapes ---- */

static struct sum_shape product_shape(const struct instr *in)
{
    int64_t length, blocks = gemm_blocks(in->rows, in->cols, in->src_rows[0], true, &length);
    size_t row = (size_t)in->cols * sizeof(float);
    if (blocks > 1)
        return (struct sum_shape){SUM_ROWS, length, blocks, (size_t)in->rows * row};
    int64_t tile = GEMM_PART_ROWS;
    return (struct sum_shape){SUM_RESULT, tile, block_count(in->rows, tile), (size_t)tile * row};
}

static struct sum_shape terms_shape(const struct instr *in, int64_t length)
{
    int64_t elements = in->src_rows[0] * in->src_cols[0];
    return (struct sum_shape){SUM_ELEMENTS, length, block_count(elements, length), sizeof(double)};
}

static struct sum_shape reduce_shape(const struct instr *in)
{
    return terms_shape(in, REDUCE_BLOCK);
}

static struct sum_shape weighted_shape(const struct instr *in)
{
    return terms_shape(in, LOSS_BLOCK);
}

static struct sum_shape nll_shape(const struct instr *in)
{
    return (struct sum_shape){SUM_INDEXED, LOSS_BLOCK,
                              block_count(in->attr.index->count, LOSS_BLOCK), 2 * sizeof(double)};
}

/* Columns of partial sums: those of the result; for heads, its rows. */
static int64_t width(const struct instr *in)
{
    return in->op == OP_HEAD_OUTER ? in->attr.heads * in->cols : in->cols;
}

static struct sum_shape columns_shape(const struct instr *in)
{
    return (struct sum_shape){SUM_ROWS, COL_BLOCK, block_count(in->src_rows[0], COL_BLOCK),
                              (size_t)width(in) * sizeof(float)};
}

/* ---- the first half ---- */

static void product_partial(const struct half *h, int64_t from, int64_t to)
{
    struct gemm g = gemm_of(h->in);
    struct sum_shape s = product_shape(h->in);
    for (int64_t b = from; b < to; b++) {
        float *partial = (float *)h->partial + (size_t)b * s.bytes / sizeof(float);
        if (s.over == SUM_ROWS)
            gemm_block(&g, partial, b);
        else
            gemm_tile_into(&g, partial, b);
    }
}

static void columns_partial(const struct half *h, int64_t from, int64_t to)
{
    const struct instr *in = h->in;
    simd_best()->col_sum(h->partial, in->src[0], NULL, in->cols, in->src_rows[0], from, to);
}

static void reduce_partial(const struct half *h, int64_t from, int64_t to)
{
    const struct instr *in = h->in;
    simd_best()->reduce(h->partial, in->src[0], in->src[1], in->src_rows[0] * in->src_cols[0], from,
                        to);
}

static void heads_partial(const struct half *h, int64_t from, int64_t to)
{
    head_outer_blocks(h->partial, h->in, from, to);
}

static void nll_partial(const struct half *h, int64_t from, int64_t to)
{
    nll_blocks(h->partial, h->in, from, to);
}

static void weighted_partial(const struct half *h, int64_t from, int64_t to)
{
    weighted_blocks(h->partial, h->in, from, to);
}

static void batch_partial(const struct half *h, int64_t from, int64_t to)
{
    batch_blocks(h->partial, h->in, h->work, h->phase, from, to);
}

/* ---- the second ---- */

static void product_end(const struct half *h, struct worker who)
{
    const struct instr *in = h->in;
    struct gemm g = gemm_of(in);
    if (product_shape(in).over == SUM_ROWS)
        gemm_add_blocks(&g, h->partial, who);
    else if (who.id == 0)
        memcpy(in->out, h->partial, (size_t)(in->rows * in->cols) * sizeof(float));
}

static void columns_end(const struct half *h, struct worker who)
{
    int64_t from, to;
    team_range(who, width(h->in), 16, &from, &to);
    simd_best()->col_combine(h->in->out, h->partial, columns_shape(h->in).blocks, width(h->in), 1,
                             from, to);
}

static void reduce_end(const struct half *h, struct worker who)
{
    if (who.id == 0)
        simd_best()->reduce_combine(h->in->out, h->partial, reduce_shape(h->in).blocks);
}

static void weighted_end(const struct half *h, struct worker who)
{
    if (who.id == 0)
        simd_best()->reduce_combine(h->in->out, h->partial, weighted_shape(h->in).blocks);
}

static void nll_end(const struct half *h, struct worker who)
{
    if (who.id == 0)
        nll_total(h->in, h->partial, nll_shape(h->in).blocks);
}

static void batch_end(const struct half *h, struct worker who)
{
    int64_t from, to;
    team_range(who, h->in->cols, 16, &from, &to);
    batch_total(h->in, h->partial, h->work, h->phase, from, to);
}

/* ---- the table ---- */

static const struct summing summing[OP_COUNT] = {
    [OP_MATMUL] = {product_shape, product_partial, product_end},
    [OP_COL_SUM] = {columns_shape, columns_partial, columns_end},
    [OP_SUM] = {reduce_shape, reduce_partial, reduce_end},
    [OP_DOT] = {reduce_shape, reduce_partial, reduce_end},
    [OP_HEAD_OUTER] = {columns_shape, heads_partial, columns_end},
    [OP_NLL] = {nll_shape, nll_partial, nll_end},
    [OP_BCE] = {weighted_shape, weighted_partial, weighted_end},
    [OP_L1] = {weighted_shape, weighted_partial, weighted_end},
    [OP_MSE] = {weighted_shape, weighted_partial, weighted_end},
    [OP_BATCH_NORM] = {columns_shape, batch_partial, batch_end},
    [OP_BATCH_NORM_GRAD] = {columns_shape, batch_partial, batch_end},
    [OP_BATCH_NORM_XHAT] = {columns_shape, batch_partial, batch_end},
};

static int phases(const struct instr *in)
{
    if (in->op == OP_MATMUL)
        return in->attr.transposed && !in->attr.other_transposed && in->src_rows[0] > 0;
    return op_made(in->op) == MADE_SUM ? 1 : batch_phases(in);
}

static struct sum_shape shape(const struct instr *in)
{
    return summing[in->op].shape(in);
}

static size_t work_bytes(const struct instr *in)
{
    return batch_phases(in) ? (size_t)(BATCH_COLUMNS * in->cols) * sizeof(float) : 0;
}

static void block_worker(void *arg, struct worker who)
{
    const struct half *h = arg;
    int64_t from, to;
    team_range(who, h->last - h->first, 1, &from, &to);
    summing[h->in->op].blocks(h, from + h->first, to + h->first);
}

static void blocks(struct team *team, const struct instr *in, int phase, void *partial, void *work,
                   int64_t first, int64_t last)
{
    struct half h = {in, phase, partial, work, first, last};
    if (last > first)
        team_run(team, block_worker, &h);
}

static void total_worker(void *arg, struct worker who)
{
    const struct half *h = arg;
    summing[h->in->op].total(h, who);
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
    range_rows(h->last - h->first, who, &from, &to);
    batch_rows(h->in, h->work, h->first + from, h->first + to);
}

static void rows(struct team *team, const struct instr *in, void *work, int64_t first, int64_t last)
{
    struct half h = {in, 0, NULL, work, first, last};
    if (last > first)
        team_run(team, rows_worker, &h);
}

const struct sums cpu_sums = {phases, shape, work_bytes, blocks, total, rows};
