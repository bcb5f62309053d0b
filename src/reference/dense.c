/* Dense algebra: products, sums, columns, reductions, and the optimiser. */
#include "reference/kernels.h"

#include "program/params.h"
#include <math.h>

LOOP(fill)
{
    EACH (r, c)
        OUT(r, c) = in->attr.a;
}

/* a·b^step */
LOOP(anneal)
{
    in->out[0] = (float)((double)in->attr.a * pow((double)in->attr.b, (double)step->number));
}

LOOP(noise)
{
    EACH (r, c)
        OUT(r, c) = (float)uniform_draw(in, step, r, c);
}

/* Σ_i op(x)[r,i]·op(y)[i,c]; some columns at once, whose sums do not wait for each other */
LOOP(matmul)
{
    enum { STRIP = 16 };
    const bool tx = in->attr.transposed, ty = in->attr.other_transposed;
    const int64_t inner = tx ? in->src_rows[0] : in->src_cols[0];
    for (int64_t r = 0; r < in->rows; r++)
        for (int64_t from = 0; from < in->cols; from += STRIP) {
            const int64_t columns = in->cols - from < STRIP ? in->cols - from : STRIP;
            double sum[STRIP] = {0};
            for (int64_t i = 0; i < inner; i++) {
                const double x = tx ? X(i, r) : X(r, i);
                for (int64_t c = 0; c < columns; c++)
                    sum[c] += x * (ty ? Y(from + c, i) : Y(i, from + c));
            }
            for (int64_t c = 0; c < columns; c++)
                OUT(r, from + c) = (float)sum[c];
        }
}

LOOP(axpby)
{
    EACH (r, c)
        OUT(r, c) = (float)((double)in->attr.a * X(r, c) + (double)in->attr.b * Y(r, c));
}

LOOP(scale)
{
    EACH (r, c)
        OUT(r, c) = (float)((double)in->attr.a * X(r, c));
}

LOOP(mul)
{
    EACH (r, c)
        OUT(r, c) = (float)(X(r, c) * Y(r, c));
}

LOOP(scale_by)
{
    EACH (r, c)
        OUT(r, c) = (float)(X(r, c) * Y(0, 0));
}

LOOP(scale_rows)
{
    EACH (r, c)
        OUT(r, c) = (float)(X(r, c) * Y(r, 0));
}

LOOP(add_bias)
{
    EACH (r, c)
        OUT(r, c) = (float)(X(r, c) + Y(0, c));
}

/* dropout(relu(x + b)) */
LOOP(bias_relu_dropout)
{
    EACH (r, c)
        OUT(r, c) = (float)(fmax(X(r, c) + Y(0, c), 0) * dropout_factor(in, step, r, c));
}

/* g/(1-a) if the result y is positive, that is, if relu and dropout kept the element */
LOOP(bias_relu_dropout_grad)
{
    EACH (r, c)
        OUT(r, c) = (float)(Y(r, c) > 0 ? X(r, c) / (1 - (double)in->attr.a) : 0);
}

LOOP(concat)
{
    const int64_t left = in->src_cols[0];
    EACH (r, c)
        OUT(r, c) = c < left ? SRC(0, r, c) : SRC(1, r, c - left);
}

LOOP(slice)
{
    EACH (r, c)
        OUT(r, c) = SRC(0, r, c + in->attr.column);
}

LOOP(pad)
{
    const int64_t from = in->attr.column, to = from + in->src_cols[0];
    EACH (r, c)
        OUT(r, c) = c >= from && c < to ? SRC(0, r, c - from) : 0;
}

LOOP(reshape)
{
    for (int64_t e = 0; e < in->rows * in->cols; e++)
        in->out[e] = in->src[0][e];
}

LOOP(col_sum)
{
    for (int64_t c = 0; c < in->cols; c++) {
        double sum = 0;
        for (int64_t r = 0; r < in->src_rows[0]; r++)
            sum += X(r, c);
        OUT(0, c) = (float)sum;
    }
}

LOOP(row_sum)
{
    for (int64_t r = 0; r < in->rows; r++) {
        double sum = 0;
        for (int64_t c = 0; c < in->src_cols[0]; c++)
            sum += X(r, c);
        OUT(r, 0) = (float)sum;
    }
}

LOOP(sum)
{
    double sum = 0;
    for (int64_t r = 0; r < in->src_rows[0]; r++)
        for (int64_t c = 0; c < in->src_cols[0]; c++)
            sum += X(r, c);
    OUT(0, 0) = (float)sum;
}

LOOP(dot)
{
    double sum = 0;
    for (int64_t r = 0; r < in->src_rows[0]; r++)
        for (int64_t c = 0; c < in->src_cols[0]; c++)
            sum += X(r, c) * Y(r, c);
    OUT(0, 0) = (float)sum;
}

/* A source of one row, one column or both, repeated. */
LOOP(expand)
{
    EACH (r, c)
        OUT(r, c) = SRC(0, in->src_rows[0] == 1 ? 0 : r, in->src_cols[0] == 1 ? 0 : c);
}

/* g += decay·w,  m = β1 m + (1-β1) g,  v = β2 v + (1-β2) g²,
 * w -= lr · m/(1-β1^t) / (sqrt(v/(1-β2^t)) + eps),  t = 1, 2, …          (Kingma and Ba 2015) */
LOOP(adam)
{
    const struct adam_options *o = &in->attr.optimiser->adam;
    const struct params *params = in->attr.optimiser->params;
    const double t = (double)step->number + 1;
    const double left1 = 1 - pow(o->beta1, t), left2 = 1 - pow(o->beta2, t);
    float *w = in->out, *first = in->update[0], *second = in->update[1];
    for (int i = 0; i < params->count; i++) {
        const struct parameter *item = &params->item[i];
        for (int64_t e = item->offset; item->trained && e < item->offset + item->rows * item->cols;
             e++) {
            double g = (double)in->src[0][e] + o->weight_decay * (double)w[e];
            double m = o->beta1 * (double)first[e] + (1 - o->beta1) * g;
            double v = o->beta2 * (double)second[e] + (1 - o->beta2) * g * g;
            double length = sqrt(v / left2) + o->eps;
            w[e] = (float)((double)w[e] - o->lr * m / left1 / length);
            first[e] = (float)m;
            second[e] = (float)v;
        }
    }
}
