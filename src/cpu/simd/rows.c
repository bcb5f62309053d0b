/* Functions of whole rows of an (n, width) matrix. */
#include "cpu/simd/spmm.h"

/* Columns of a row in full vectors, the rest one by one. The treatment of a column depends only on
 * the width. */
#define FOR_VECTORS(c, width) for (; c + LANES <= (width); c += LANES)
#define FOR_REST(c, width)    for (; c < (width); c++)

/* relu and has_bias are constants after inlining */
INLINE void bias_act_rows(float *y, const float *x, int64_t width, const float *bias, bool has_bias,
                          bool relu, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        const float *xr = x + r * width;
        float *yr = y + r * width;
        int64_t c = 0;
        FOR_VECTORS(c, width)
        {
            vf v = v_load(xr + c);
            v = has_bias ? v + v_load(bias + c) : v;
            v_store(yr + c, relu ? v_relu(v) : v);
        }
        FOR_REST(c, width)
        {
            float v = has_bias ? xr[c] + bias[c] : xr[c];
            yr[c] = relu ? s_relu(v) : v;
        }
    }
}

void SIMD(bias_act)(float *y, const float *x, int64_t width, const struct epilogue *end,
                    int64_t from, int64_t to)
{
    for (int64_t r = from; r < to && width > 0;) {
        int64_t stop = spmm_group_end(r, to, width);
        if (end->bias && end->relu)
            bias_act_rows(y, x, width, end->bias, true, true, r, stop);
        else if (end->bias)
            bias_act_rows(y, x, width, end->bias, true, false, r, stop);
        else
            bias_act_rows(y, x, width, NULL, false, end->relu, r, stop);
        if (end->drop)
            SIMD(dropout)(y, y, end->drop, r * width, stop * width);
        r = stop;
    }
}

/* y = x + d in every row, for rows that are not full vectors: d repeats after LANES rows, which are
 * `width` consecutive vectors. */
enum { NARROW = 16 };
static void shift_narrow(float *y, const float *x, const float *d, int64_t width, int64_t from,
                         int64_t to)
{
    float shift[NARROW * LANES];
    const int64_t period = width * LANES, end = to * width;
    int64_t e = from * width;
    for (int64_t i = 0; i < period; i += width)
        memcpy(shift + i, d, (size_t)width * sizeof *d);
    for (; e + period <= end; e += period)
        for (int64_t i = 0; i < period; i += LANES)
            v_store(y + e + i, v_load(x + e + i) + v_load(shift + i));
    for (int64_t i = 0; e + i < end; i++)
        y[e + i] = x[e + i] + shift[i];
}

void SIMD(col_affine)(float *y, const float *a, const float *x, const float *b, const float *z,
                      const float *d, int64_t width, int64_t from, int64_t to)
{
    if (d && !a && !z && width <= NARROW && width % LANES != 0) {
        shift_narrow(y, x, d, width, from, to);
        return;
    }
    for (int64_t r = from; r < to; r++) {
        const float *xr = x + r * width, *zr = z ? z + r * width : NULL;
        float *yr = y + r * width;
        int64_t c = 0;
        FOR_VECTORS(c, width)
        {
            vf v = v_load(xr + c), shift = d ? v_load(d + c) : v_set(0);
            v = a ? v_fma(v_load(a + c), v, shift) : v + shift;
            if (zr)
                v = b ? v_fma(v_load(b + c), v_load(zr + c), v) : v + v_load(zr + c);
            v_store(yr + c, v);
        }
        FOR_REST(c, width)
        {
            float v = xr[c], shift = d ? d[c] : 0;
            v = a ? s_fma(a[c], v, shift) : v + shift;
            if (zr)
                v = b ? s_fma(b[c], zr[c], v) : v + zr[c];
            yr[c] = v;
        }
    }
}

void SIMD(row_scale)(float *y, const float *s, const float *x, int64_t width, int64_t from,
                     int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        const float *xr = x + r * width;
        float *yr = y + r * width;
        int64_t c = 0;
        FOR_VECTORS(c, width)
        {
            vf v = v_load(xr + c), factor = v_set(s[r]);
            v_store(yr + c, factor * v);
        }
        FOR_REST(c, width)
        yr[c] = s[r] * xr[c];
    }
}

void SIMD(row_dot)(float *s, const float *x, const float *z, int64_t width, int64_t from,
                   int64_t to)
{
    int64_t r = from;
#if LANES == 16
    for (; z && width == 8 && r + 8 <= to; r += 8)
        v_dot_eights(s + r, x + r * 8, z + r * 8);
#endif
    for (; r < to; r++) {
        const float *xr = x + r * width;
        if (z) {
            s[r] = v_dot(xr, z + r * width, width);
            continue;
        }
        vf sum = v_set(0);
        float rest = 0;
        int64_t c = 0;
        FOR_VECTORS(c, width)
        sum = sum + v_load(xr + c);
        FOR_REST(c, width)
        rest += xr[c];
        s[r] = v_sum(sum) + rest;
    }
}

/* Sums of every fourth product, in order: the same on every width of vectors. */
INLINE v4 head_parts(const float *x, const float *a, int64_t dim)
{
    v4 part = v4_set(0);
    int64_t k = 0;
    for (; k + 4 <= dim; k += 4)
        part = part + v4_load(x + k) * v4_load(a + k);
    for (; k < dim; k++)
        part[0] += x[k] * a[k];
    return part;
}

void SIMD(head_dot)(float *y, const float *x, const float *a, int64_t heads, int64_t dim,
                    int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        const float *row = x + r * heads * dim;
        float *out = y + r * heads;
        int64_t h = 0;
#if LANES == 16
        for (; dim == 8 && h + 8 <= heads; h += 8)
            v_dot_eights(out + h, row + h * 8, a + h * 8);
#endif
        for (; h + 4 <= heads; h += 4) {
            const float *xh = row + h * dim, *ah = a + h * dim;
            v4_store(out + h, v4_sums(head_parts(xh, ah, dim), head_parts(xh + dim, ah + dim, dim),
                                      head_parts(xh + 2 * dim, ah + 2 * dim, dim),
                                      head_parts(xh + 3 * dim, ah + 3 * dim, dim)));
        }
        for (; h < heads; h++)
            out[h] = v4_sum(head_parts(row + h * dim, a + h * dim, dim));
    }
}

typedef float v8 __attribute__((vector_size(32)));
typedef float v8_any __attribute__((vector_size(32), aligned(4), may_alias));

/* One row; dim is a constant after inlining where it matters. */
INLINE void head_spread_row(float *y, const float *g, const float *a, int64_t heads, int64_t dim)
{
    for (int64_t h = 0; h < heads; h++, y += dim, a += dim) {
        int64_t k = 0;
        for (; k + 8 <= dim; k += 8)
            *(v8_any *)(y + k) = g[h] * *(const v8_any *)(a + k);
        for (; k < dim; k++)
            y[k] = g[h] * a[k];
    }
}

void SIMD(head_spread)(float *y, const float *g, const float *a, int64_t heads, int64_t dim,
                       int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        float *out = y + r * heads * dim;
        if (dim == 8)
            head_spread_row(out, g + r * heads, a, heads, 8);
        else
            head_spread_row(out, g + r * heads, a, heads, dim);
    }
}

/* Eight vectors of columns stay in registers over all rows. */
void SIMD(head_outer)(float *sum, const float *g, const float *x, int64_t heads, int64_t dim,
                      int64_t from, int64_t to)
{
    enum { STRIP = 64 };
    const int64_t width = heads * dim;
    int64_t c = 0;
    for (; dim % 8 == 0 && c + STRIP <= width; c += STRIP) {
        int64_t head[8];
        v8 part[8];
        for (int i = 0; i < 8; i++) {
            head[i] = (c + 8 * i) / dim;
            part[i] = *(const v8_any *)(sum + c + 8 * i);
        }
        for (int64_t r = from; r < to; r++) {
            const float *row = x + r * width + c, *weight = g + r * heads;
#pragma GCC unroll 8
            for (int i = 0; i < 8; i++)
                part[i] = part[i] + weight[head[i]] * *(const v8_any *)(row + 8 * i);
        }
        for (int i = 0; i < 8; i++)
            *(v8_any *)(sum + c + 8 * i) = part[i];
    }
    for (; c < width; c++) {
        const float *column = x + c, *weight = g + c / dim;
        for (int64_t r = from; r < to; r++)
            sum[c] += weight[r * heads] * column[r * width];
    }
}

void SIMD(row_norm)(float *norm, float *inverse, const float *x, int64_t width, float eps,
                    int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        float length = sqrtf(v_dot(x + r * width, x + r * width, width));
        length = length < eps ? eps : length;
        if (norm)
            norm[r] = length;
        if (inverse)
            inverse[r] = 1 / length;
    }
}

/* gx = inverse (g - y <y, g>) */
void SIMD(row_normalize_grad)(float *gx, const float *g, const float *y, const float *inverse,
                              int64_t width, float eps, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        const float *gr = g + r * width, *yr = y + r * width;
        float *out = gx + r * width;
        const float along = inverse[r] * eps >= 1 ? 0 : -v_dot(yr, gr, width);
        int64_t c = 0;
        FOR_VECTORS(c, width)
        v_store(out + c, v_set(inverse[r]) * v_fma(v_set(along), v_load(yr + c), v_load(gr + c)));
        FOR_REST(c, width)
        out[c] = inverse[r] * s_fma(along, yr[c], gr[c]);
    }
}

void SIMD(copy_cols)(float *y, int64_t y_stride, const float *x, int64_t x_stride, int64_t width,
                     int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        const float *xr = x + r * x_stride;
        float *yr = y + r * y_stride;
        int64_t c = 0;
        FOR_VECTORS(c, width)
        v_store(yr + c, v_load(xr + c));
        FOR_REST(c, width)
        yr[c] = xr[c];
    }
}

void SIMD(gather)(float *y, const float *x, const int32_t *row, int64_t width, int64_t from,
                  int64_t to)
{
    for (int64_t i = from; i < to; i++) {
        const float *xr = x + row[i] * width;
        float *yr = y + i * width;
        int64_t c = 0;
        FOR_VECTORS(c, width)
        v_store(yr + c, v_load(xr + c));
        FOR_REST(c, width)
        yr[c] = xr[c];
    }
}
