/* Products of each row's pieces with one vector per head, for attention. */
#include "cpu/kernels.h"

size_t scratch_heads(const struct instr *in)
{
    if (in->op != OP_HEAD_OUTER)
        return 0;
    return (size_t)(block_count(in->src_rows[0], COL_BLOCK) * in->src_cols[1]) * sizeof(float);
}

/* out[r,h] = Σ_k x[r, h·d+k] a[h,k] */
KERNEL(head_dot)
{
    int64_t from, to;
    (void)step;
    range_rows(in->rows, who, &from, &to);
    simd_best()->head_dot(in->out, in->src[0], in->src[1], in->attr.heads, in->src_cols[1], from,
                          to);
}

/* out[r, h·d+k] = g[r,h] a[h,k] */
KERNEL(head_spread)
{
    int64_t from, to, heads = in->attr.heads;
    (void)step;
    range_rows(in->rows, who, &from, &to);
    simd_best()->head_spread(in->out, in->src[0], in->src[1], heads, in->cols / heads, from, to);
}

void head_outer_blocks(float *partial, const struct instr *in, int64_t from, int64_t to)
{
    int64_t heads = in->attr.heads, d = in->cols, width = heads * d, rows = in->src_rows[0];
    for (int64_t b = from; b < to; b++) {
        float *sum = partial + b * width;
        int64_t last = (b + 1) * COL_BLOCK < rows ? (b + 1) * COL_BLOCK : rows;
        simd_best()->fill(sum, 0, 0, width);
        simd_best()->head_outer(sum, in->src[0], in->src[1], heads, d, b * COL_BLOCK, last);
    }
}

/* out[h,k] = Σ_r g[r,h] x[r, h·d+k], over fixed blocks of rows, so that the result does not depend
 * on the threads */
KERNEL(head_outer)
{
    int64_t from, to, width = in->attr.heads * in->cols;
    int64_t blocks = block_count(in->src_rows[0], COL_BLOCK);
    (void)step;
    team_range(who, blocks, 1, &from, &to);
    head_outer_blocks(in->scratch, in, from, to);
    team_barrier(who);
    team_range(who, width, 16, &from, &to);
    simd_best()->col_combine(in->out, in->scratch, blocks, width, 1, from, to);
}
