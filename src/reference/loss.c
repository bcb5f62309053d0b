/* Softmax and the losses. */
#include "reference/kernels.h"

#include <math.h>

/* log Σ_c exp(x[r, c]) of source s, with the largest term taken out */
static double log_sum_exp(const struct instr *in, int s, int64_t r)
{
    double most = -INFINITY, total = 0;
    for (int64_t c = 0; c < in->src_cols[s]; c++)
        most = larger(most, (double)SRC(s, r, c));
    for (int64_t c = 0; c < in->src_cols[s]; c++)
        total += exp((double)SRC(s, r, c) - most);
    return most + log(total);
}

LOOP(softmax)
{
    EACH (r, c)
        OUT(r, c) = (float)exp(X(r, c) - log_sum_exp(in, 0, r));
}

/* y∘(g - ⟨g, y⟩); sources g, y */
LOOP(softmax_grad)
{
    for (int64_t r = 0; r < in->rows; r++) {
        double along = 0;
        for (int64_t c = 0; c < in->cols; c++)
            along += X(r, c) * Y(r, c);
        for (int64_t c = 0; c < in->cols; c++)
            OUT(r, c) = (float)(Y(r, c) * (X(r, c) - along));
    }
}

LOOP(log_softmax)
{
    EACH (r, c)
        OUT(r, c) = (float)(X(r, c) - log_sum_exp(in, 0, r));
}

/* g - exp(y)·Σ g; sources g, y */
LOOP(log_softmax_grad)
{
    for (int64_t r = 0; r < in->rows; r++) {
        double total = 0;
        for (int64_t c = 0; c < in->cols; c++)
            total += X(r, c);
        for (int64_t c = 0; c < in->cols; c++)
            OUT(r, c) = (float)(X(r, c) - exp(Y(r, c)) * total);
    }
}

/* ---- negative log likelihood of labelled rows ---- */

static double row_weight(const struct instr *in, int64_t k)
{
    return in->attr.weight ? (double)in->attr.weight[k] : 1;
}

static double all_weights(const struct instr *in)
{
    double total = 0;
    for (int64_t k = 0; k < in->attr.index->count; k++)
        total += row_weight(in, k);
    return total;
}

/* Σ_k w_k (-log softmax(x_r)[label_r]) / Σ w, r = index[k]; 0 where the weights are */
LOOP(nll)
{
    const double weights = all_weights(in);
    double total = 0;
    for (int64_t k = 0; k < in->attr.index->count; k++) {
        int32_t r = in->attr.index->row[k];
        if (row_weight(in, k) != 0)
            total += row_weight(in, k) * (log_sum_exp(in, 0, r) - X(r, in->attr.label[r]));
    }
    OUT(0, 0) = (float)(weights > 0 ? total / weights : 0);
}

/* g·w_r/Σw·(softmax(x_r) - one-hot), w_r over all k that name r, 0 where it is; sources g, x */
LOOP(nll_grad)
{
    const struct index *index = in->attr.index;
    const double weights = all_weights(in);
    EACH (r, c) {
        double mine = 0;
        EACH_ENTRY (at, index, r)
            mine += row_weight(in, index->item[at]);
        OUT(r, c) = 0;
        if (mine != 0)
            OUT(r, c) = (float)(X(0, 0) * mine / weights *
                                (exp(Y(r, c) - log_sum_exp(in, 1, r)) - (c == in->attr.label[r])));
    }
}

/* ---- values against targets, weighted: Σ w·loss(x, t), and g·w·loss'(x, t) ---- */

/* LOSS(name, of x and t, derivative by x) */
#define LOSS(name, value, derivative)                                             \
    LOOP(name)                                                                    \
    {                                                                             \
        double sum = 0;                                                           \
        for (int64_t e = 0; e < in->src_rows[0] * in->src_cols[0]; e++) {         \
            const double x = (double)in->src[0][e], t = (double)in->src[1][e];    \
            sum += (double)in->src[2][e] * (value);                               \
        }                                                                         \
        OUT(0, 0) = (float)sum;                                                   \
    }                                                                             \
    LOOP(name##_grad)                                                             \
    {                                                                             \
        for (int64_t e = 0; e < in->rows * in->cols; e++) {                       \
            const double x = (double)in->src[1][e], t = (double)in->src[2][e];    \
            in->out[e] = (float)(X(0, 0) * (double)in->src[3][e] * (derivative)); \
        }                                                                         \
    }

/* -t log σ(x) - (1-t) log(1-σ(x)) = max(x,0) - x·t + log(1 + exp(-|x|)) */
LOSS(bce, fmax(x, 0) - x * t + log1p(exp(-fabs(x))), 1 / (1 + exp(-x)) - t)
LOSS(l1, fabs(x - t), x > t ? 1 : x < t ? -1 : 0)
LOSS(mse, (x - t) * (x - t), 2 * (x - t))
