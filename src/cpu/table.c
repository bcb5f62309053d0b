/* The table of the CPU's kernels and how they divide work among threads. */
#include "cpu/kernels.h"

#include "program/params.h"

void range_entries(const int64_t *start, int64_t rows, struct worker who, int64_t *from,
                   int64_t *to)
{
    /* Row r costs its entries plus one; borders are where the running cost crosses equal parts of
     * the total. */
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
    size_t need[] = {scratch_dense(in), scratch_rows(in),  scratch_loss(in), scratch_sparse(in),
                     scratch_heads(in), scratch_batch(in), scratch_keep(in)};
    size_t most = 0;
    for (size_t i = 0; i < sizeof need / sizeof *need; i++)
        most = need[i] > most ? need[i] : most;
    return most;
}

/* Every trained parameter in turn, its elements divided among threads. */
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

/* Leaves are not operations; transport on the CPU is src/ot, which is not a program. */
#define run_param       NULL
#define run_input       NULL
#define run_sparse      NULL
#define run_beside      NULL
#define run_distances   NULL
#define run_transport   NULL
#define run_pool_hops   NULL
#define run_relu        run_unary
#define run_leaky_relu  run_unary
#define run_elu         run_unary
#define run_tanh        run_unary
#define run_sigmoid     run_unary
#define run_log_sigmoid run_unary
#define run_exp         run_unary
#define run_log         run_unary
#define run_square      run_unary
#define run_abs         run_unary
#define run_clamp       run_unary

const kernel cpu_kernels[OP_COUNT] = {
#define OP(NAME, name, ...) run_##name,
#include "program/ops.def"
#undef OP
};
