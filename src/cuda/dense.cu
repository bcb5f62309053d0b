/* Dense algebra and elementwise operations: one pass over memory each, four floats at a time. */
#include "cuda/elements.cuh"

/* The rule of src/cpu/rules.c. */
struct drop drop_of(const struct instr *in, const struct cuda_context *cx)
{
    const float rate = in->attr.a;
    struct drop d = {1, 0, in->attr.stream, 1, in->attr.number, cx->step};
    while (d.bits < 16 && fmodf(rate * (float)(1u << d.bits), 1) != 0)
        d.bits *= 2;
    d.threshold = (uint32_t)lrintf(rate * (float)(1u << d.bits));
    d.scale = (float)(1 / (1 - (double)rate));
    return d;
}

static int64_t elements(const struct instr *in)
{
    return in->rows * in->cols;
}

/* ---- made from nothing --------------------------------------------------- */

struct fill_map {
    float *y, a;
    template <int V> __device__ void at(int64_t e) const
    {
        vec<V> x;
        for (int i = 0; i < V; i++)
            x.v[i] = a;
        store<V>(y + e, x);
    }
};

KERNEL(fill)
{
    flat(cx, elements(in), fill_map{in->out, in->attr.a});
}

static __global__ void anneal_kernel(float *y, float a, float b, const struct step *step)
{
    begin();
    *y = (float)((double)a * pow((double)b, (double)step->number));
}

KERNEL(anneal)
{
    launch(cx, anneal_kernel, 1, 1, in->out, in->attr.a, in->attr.b, cx->step);
}

/* Uniform in (0,1): element e of the stream is word e%4 of Philox(seed; e/4, step, stream). */
struct noise_map {
    float *y;
    int64_t cols;
    struct drop d;
    template <int V> __device__ void at(int64_t r, int64_t c) const
    {
        vec<V> x;
        const uint64_t e = (uint64_t)((d.number ? d.number[r] : r) * cols + c), block = e / 4;
        const uint4 words =
            philox((uint32_t)block, (uint32_t)(block >> 32) | 0x80000000u, d.stream, d.step);
        for (int i = 0; i < V; i++)
            x.v[i] = ((float)(word_of(words, (uint32_t)(e + i) & 3) >> 9) + 0.5f) * 0x1p-23f;
        store<V>(y + r * cols + c, x);
    }
};

KERNEL(noise)
{
    by_rows(cx, in->rows, in->cols, in->cols % 4 == 0,
            noise_map{in->out, in->cols, drop_of(in, cx)});
}

/* ---- sums and products --------------------------------------------------- */

/* a·x + b·y; y NULL: a·x, a copy if a is 1 */
struct axpby_map {
    float *out;
    const float *x, *y;
    float a, b;
    template <int V> __device__ void at(int64_t e) const
    {
        vec<V> s = load<V>(x + e), t = {};
        if (y)
            t = load<V>(y + e);
        for (int i = 0; i < V; i++)
            s.v[i] = y ? fmaf(a, s.v[i], b * t.v[i]) : a * s.v[i];
        store<V>(out + e, s);
    }
};

KERNEL(axpby)
{
    flat(cx, elements(in), axpby_map{in->out, in->src[0], in->src[1], in->attr.a, in->attr.b});
}

KERNEL(scale)
{
    flat(cx, elements(in), axpby_map{in->out, in->src[0], NULL, in->attr.a, 0});
}

KERNEL(reshape)
{
    flat(cx, elements(in), axpby_map{in->out, in->src[0], NULL, 1, 0});
}

/* x∘y; one: y is a single number */
struct mul_map {
    float *out;
    const float *x, *y;
    bool one;
    template <int V> __device__ void at(int64_t e) const
    {
        vec<V> s = load<V>(x + e), t;
        if (one)
            for (int i = 0; i < V; i++)
                t.v[i] = *y;
        else
            t = load<V>(y + e);
        for (int i = 0; i < V; i++)
            s.v[i] *= t.v[i];
        store<V>(out + e, s);
    }
};

KERNEL(mul)
{
    flat(cx, elements(in), mul_map{in->out, in->src[0], in->src[1], false});
}

KERNEL(scale_by)
{
    flat(cx, elements(in), mul_map{in->out, in->src[0], in->src[1], true});
}

struct scale_rows_map {
    float *out;
    const float *x, *factor;
    int64_t cols;
    template <int V> __device__ void at(int64_t r, int64_t c) const
    {
        vec<V> s = load<V>(x + r * cols + c);
        const float f = factor[r];
        for (int i = 0; i < V; i++)
            s.v[i] *= f;
        store<V>(out + r * cols + c, s);
    }
};

KERNEL(scale_rows)
{
    by_rows(cx, in->rows, in->cols, in->cols % 4 == 0,
            scale_rows_map{in->out, in->src[0], in->src[1], in->cols});
}

/* ---- bias, ReLU and dropout ---------------------------------------------- */

struct bias_map {
    float *out;
    const float *x, *bias;
    int64_t cols;
    bool relu;
    struct drop d;
    template <int V> __device__ void at(int64_t r, int64_t c) const
    {
        vec<V> s = load<V>(x + r * cols + c);
        const vec<V> b = load<V>(bias + c);
        for (int i = 0; i < V; i++) {
            s.v[i] += b.v[i];
            s.v[i] = relu && !(s.v[i] > 0) ? 0 : s.v[i];
        }
        drop_row<V>(s, d, r, c, cols);
        store<V>(out + r * cols + c, s);
    }
};

KERNEL(add_bias)
{
    struct drop none = {};
    by_rows(cx, in->rows, in->cols, in->cols % 4 == 0,
            bias_map{in->out, in->src[0], in->src[1], in->cols, false, none});
}

KERNEL(bias_relu_dropout)
{
    by_rows(cx, in->rows, in->cols, in->cols % 4 == 0,
            bias_map{in->out, in->src[0], in->src[1], in->cols, true, drop_of(in, cx)});
}

/* y > 0 ? g·scale : 0 */
struct relu_grad_map {
    float *out;
    const float *g, *y;
    float scale;
    template <int V> __device__ void at(int64_t e) const
    {
        vec<V> s = load<V>(g + e);
        const vec<V> t = load<V>(y + e);
        for (int i = 0; i < V; i++)
            s.v[i] = t.v[i] > 0 ? s.v[i] * scale : 0;
        store<V>(out + e, s);
    }
};

KERNEL(bias_relu_dropout_grad)
{
    flat(cx, elements(in), relu_grad_map{in->out, in->src[0], in->src[1], drop_of(in, cx).scale});
}

struct dropout_map {
    float *out;
    const float *x;
    int64_t cols;
    struct drop d;
    template <int V> __device__ void at(int64_t r, int64_t c) const
    {
        vec<V> s = load<V>(x + r * cols + c);
        drop_row<V>(s, d, r, c, cols);
        store<V>(out + r * cols + c, s);
    }
    template <int V> __device__ void at(int64_t e) const
    {
        at<V>(0, e);
    }
};

KERNEL(dropout)
{
    const struct drop d = drop_of(in, cx);
    const dropout_map map = {in->out, in->src[0], in->cols, d};
    if (d.number)
        by_rows(cx, in->rows, in->cols, in->cols % 4 == 0, map);
    else
        flat(cx, elements(in), map);
}

/* ---- columns ------------------------------------------------------------- */

/* Columns of a row from left, from right, or zero; which says where left is in the result. */
struct columns_map {
    float *out;
    const float *left, *right; /* right NULL: zero */
    int64_t cols, left_cols, right_cols, from, skip;
    template <int V> __device__ void at(int64_t r, int64_t c) const
    {
        vec<V> s = {};
        if (c >= from && c < from + left_cols)
            s = load<V>(left + r * (left_cols + skip) + c - from);
        else if (right)
            s = load<V>(right + r * right_cols + c - left_cols);
        store<V>(out + r * cols + c, s);
    }
};

KERNEL(concat)
{
    const int64_t left = in->src_cols[0], right = in->src_cols[1];
    by_rows(cx, in->rows, in->cols, left % 4 == 0 && right % 4 == 0,
            columns_map{in->out, in->src[0], in->src[1], in->cols, left, right, 0, 0});
}

KERNEL(slice)
{
    const int64_t column = in->attr.column, all = in->src_cols[0];
    by_rows(
        cx, in->rows, in->cols, column % 4 == 0 && all % 4 == 0 && in->cols % 4 == 0,
        columns_map{in->out, in->src[0] + column, NULL, in->cols, in->cols, 0, 0, all - in->cols});
}

KERNEL(pad)
{
    const int64_t column = in->attr.column, left = in->src_cols[0];
    by_rows(cx, in->rows, in->cols, column % 4 == 0 && left % 4 == 0 && in->cols % 4 == 0,
            columns_map{in->out, in->src[0], NULL, in->cols, left, 0, column, 0});
}

struct expand_map {
    float *out;
    const float *x;
    int64_t cols, row_step, col_step;
    template <int V> __device__ void at(int64_t r, int64_t c) const
    {
        vec<V> s;
        for (int i = 0; i < V; i++)
            s.v[i] = x[r * row_step + (c + i) * col_step];
        store<V>(out + r * cols + c, s);
    }
};

KERNEL(expand)
{
    const int64_t rows = in->src_rows[0], cols = in->src_cols[0];
    by_rows(cx, in->rows, in->cols, in->cols % 4 == 0,
            expand_map{in->out, in->src[0], in->cols, rows == 1 ? 0 : cols, cols == 1 ? 0 : 1});
}

/* ---- functions of single elements ---------------------------------------- */

struct unary_map {
    enum op op;
    float *out;
    const float *x;
    float a, b;
    template <int V> __device__ void at(int64_t e) const
    {
        vec<V> s = load<V>(x + e);
        for (int i = 0; i < V; i++)
            s.v[i] = unary_value(op, s.v[i], a, b);
        store<V>(out + e, s);
    }
};

struct unary_grad_map {
    enum op op;
    float *out;
    const float *g, *saved;
    float a, b;
    template <int V> __device__ void at(int64_t e) const
    {
        vec<V> s = load<V>(g + e);
        const vec<V> t = load<V>(saved + e);
        for (int i = 0; i < V; i++)
            s.v[i] *= unary_slope(op, t.v[i], a, b);
        store<V>(out + e, s);
    }
};

#define UNARY(name)                                                                             \
    KERNEL(name)                                                                                \
    {                                                                                           \
        flat(cx, elements(in), unary_map{in->op, in->out, in->src[0], in->attr.a, in->attr.b}); \
    }
UNARY(relu)
UNARY(leaky_relu)
UNARY(elu)
UNARY(tanh)
UNARY(sigmoid)
UNARY(log_sigmoid)
UNARY(exp)
UNARY(log)
UNARY(square)
UNARY(abs)
UNARY(clamp)

KERNEL(unary_grad)
{
    const enum op op = in->attr.function;
    flat(cx, elements(in),
         unary_grad_map{op, in->out, in->src[0], in->src[slope_takes_input(op) ? 1 : 2], in->attr.a,
                        in->attr.b});
}
