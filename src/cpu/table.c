/* The table of the CPU's kernels and how they divide work among threads. */
#include "cpu/kernels.h"

#include "program/params.h"

void share_entries(const int64_t *start, int64_t rows, struct worker who, int64_t *from,
                   int64_t *to)
{
    /* Row r costs its entries and one more; the borders are where the running cost crosses equal
     * parts of the total. */
    int64_t total = start[rows] - start[0] + rows, bound[2];
    for (int side = 0; side < 2; side++) {
        int64_t target = total * (who.id + side) / who.size, low = 0, high = rows;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (start[middle] - start[0] + middle < target)
                low = middle + 1;
            else
                high = middle;
        }
        bound[side] = low;
    }
    *from = bound[0];
    *to = bound[1];
}

struct dropout dropout_at(const struct instr *in, const struct step *step)
{
    return dropout_rule(in->attr.a, step->seed, (uint32_t)step->number, in->attr.stream);
}

void drop_numbered(float *y, const float *x, const struct instr *in, const struct step *step,
                   int64_t from, int64_t to)
{
    struct dropout drop = dropout_at(in, step);
    const int64_t *number = in->attr.number;
    for (int64_t r = from, end; r < to; r = end) {
        for (end = r + 1; end < to && number[end] == number[end - 1] + 1;)
            end++;
        drop.shift = (number[r] - r) * in->cols;
        simd_best()->dropout(y, x, &drop, r * in->cols, end * in->cols);
    }
}

size_t scratch_bytes(const struct instr *in)
{
    size_t need[] = {scratch_dense(in),  scratch_rows(in),  scratch_loss(in),
                     scratch_sparse(in), scratch_heads(in), scratch_batch(in)};
    size_t most = 0;
    for (size_t i = 0; i < sizeof need / sizeof *need; i++)
        most = need[i] > most ? need[i] : most;
    return most;
}

/* Every trained parameter in turn, its elements shared out. */
KERNEL(adam)
{
    const struct params *params = in->attr.optimiser->params;
    const struct adam_options *o = &in->attr.optimiser->adam;
    struct adam rule =
        adam_rule(o->lr, o->beta1, o->beta2, o->eps, o->weight_decay, (int64_t)step->number + 1);
    for (int i = 0; i < params->count; i++) {
        const struct parameter *item = &params->item[i];
        int64_t from, to, at = item->offset;
        if (!item->trained)
            continue;
        team_range(who, item->rows * item->cols, GRAIN, &from, &to);
        if (from < to)
            simd_best()->adam(in->out + at, in->update[0] + at, in->update[1] + at, in->src[0] + at,
                              &rule, from, to);
    }
}

const kernel cpu_kernels[OP_COUNT] = {
    [OP_FILL] = run_fill,
    [OP_ANNEAL] = run_anneal,
    [OP_NOISE] = run_noise,
    [OP_MATMUL] = run_matmul,
    [OP_AXPBY] = run_axpby,
    [OP_SCALE] = run_scale,
    [OP_MUL] = run_mul,
    [OP_SCALE_BY] = run_scale_by,
    [OP_SCALE_ROWS] = run_scale_rows,
    [OP_ADD_BIAS] = run_add_bias,
    [OP_BIAS_RELU_DROPOUT] = run_bias_relu_dropout,
    [OP_BIAS_RELU_DROPOUT_GRAD] = run_bias_relu_dropout_grad,
    [OP_CONCAT] = run_concat,
    [OP_SLICE] = run_slice,
    [OP_PAD] = run_pad,
    [OP_RESHAPE] = run_reshape,
    [OP_COL_SUM] = run_col_sum,
    [OP_ROW_SUM] = run_row_sum,
    [OP_SUM] = run_sum,
    [OP_DOT] = run_dot,
    [OP_EXPAND] = run_expand,
    [OP_RELU] = run_unary,
    [OP_LEAKY_RELU] = run_unary,
    [OP_ELU] = run_unary,
    [OP_TANH] = run_unary,
    [OP_SIGMOID] = run_unary,
    [OP_LOG_SIGMOID] = run_unary,
    [OP_EXP] = run_unary,
    [OP_LOG] = run_unary,
    [OP_SQUARE] = run_unary,
    [OP_ABS] = run_unary,
    [OP_CLAMP] = run_unary,
    [OP_UNARY_GRAD] = run_unary_grad,
    [OP_DROPOUT] = run_dropout,
    [OP_SPMM] = run_spmm,
    [OP_SPMM_FUSED] = run_spmm_fused,
    [OP_SPMM_ADD] = run_spmm_add,
    [OP_SPMM_VALUES] = run_spmm_values,
    [OP_SDDMM] = run_sddmm,
    [OP_HEAD_DOT] = run_head_dot,
    [OP_HEAD_SPREAD] = run_head_spread,
    [OP_HEAD_OUTER] = run_head_outer,
    [OP_EDGE_ADD] = run_edge_add,
    [OP_EDGE_SUM] = run_edge_sum,
    [OP_EDGE_SOFTMAX] = run_edge_softmax,
    [OP_EDGE_SOFTMAX_GRAD] = run_edge_softmax_grad,
    [OP_ATTEND] = run_attend,
    [OP_ATTEND_ROWS] = run_attend_rows,
    [OP_ATTEND_COLUMNS] = run_attend_columns,
    [OP_EDGE_DROP] = run_edge_drop,
    [OP_GATHER] = run_gather,
    [OP_SEGMENT_SUM] = run_segment_sum,
    [OP_SEGMENT_MEAN] = run_segment_mean,
    [OP_SEGMENT_MEAN_GRAD] = run_segment_mean_grad,
    [OP_SEGMENT_MAX] = run_segment_max,
    [OP_SEGMENT_MAX_GRAD] = run_segment_max_grad,
    [OP_NEAREST] = run_nearest,
    [OP_NEAREST_SHARE] = run_nearest_share,
    [OP_ROW_NORMALIZE] = run_row_normalize,
    [OP_ROW_NORMALIZE_GRAD] = run_row_normalize_grad,
    [OP_PAIR_COSINE] = run_pair_cosine,
    [OP_PAIR_COSINE_GRAD] = run_pair_cosine_grad,
    [OP_PAIR_SQUARED] = run_pair_squared,
    [OP_PAIR_SQUARED_GRAD] = run_pair_squared_grad,
    [OP_BATCH_NORM] = run_batch_norm,
    [OP_BATCH_NORM_GRAD] = run_batch_norm_grad,
    [OP_BATCH_NORM_XHAT] = run_batch_norm_xhat,
    [OP_NUCLEAR] = run_nuclear,
    [OP_NUCLEAR_GRAD] = run_nuclear_grad,
    [OP_SOFTMAX] = run_softmax,
    [OP_SOFTMAX_GRAD] = run_softmax_grad,
    [OP_LOG_SOFTMAX] = run_log_softmax,
    [OP_LOG_SOFTMAX_GRAD] = run_log_softmax_grad,
    [OP_NLL] = run_nll,
    [OP_NLL_GRAD] = run_nll_grad,
    [OP_BCE] = run_bce,
    [OP_BCE_GRAD] = run_bce_grad,
    [OP_L1] = run_l1,
    [OP_L1_GRAD] = run_l1_grad,
    [OP_MSE] = run_mse,
    [OP_MSE_GRAD] = run_mse_grad,
    [OP_ADAM] = run_adam,
    [OP_KEEP] = run_keep,
};
