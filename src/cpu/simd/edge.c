/* Numbers on edges, (nnz, heads): sums of the two ends' scores, softmax over a row's entries and
 * its gradient, sums per row. Vectors run along the heads, or along the entries if there is one
 * head. */
#include "cpu/simd/vmath.h"

/* Without branches: the sign of a score is unpredictable. */
INLINE float s_leaky(float v, float slope)
{
    const float scaled = v * slope;
    return v < 0 ? scaled : v;
}
INLINE v4 v4_leaky(v4 v, float slope)
{
    const __typeof__(v < v) below = v < v4_set(0);
    const v4 scaled = v * v4_set(slope);
    return (v4)((below & (__typeof__(below))scaled) | (~below & (__typeof__(below))v));
}

/* One head: four entries at a time. */
static void edge_add_one(float *e, const int32_t *col, int64_t count, float left,
                         const float *right, float slope)
{
    int64_t k = 0;
    for (; k + 4 <= count; k += 4) {
        const v4 b =
            right ? (v4){right[col[k]], right[col[k + 1]], right[col[k + 2]], right[col[k + 3]]}
                  : v4_set(0);
        v4_store(e + k, v4_leaky(v4_set(left) + b, slope));
    }
    for (; k < count; k++)
        e[k] = s_leaky(left + (right ? right[col[k]] : 0), slope);
}

void SIMD(edge_add)(float *e, const struct sparse *a, const float *left, const float *right,
                    int64_t heads, float slope, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        const int64_t first = a->start[r], stop = a->start[r + 1];
        const float *l = left ? left + r * heads : NULL;
        if (heads == 1) {
            edge_add_one(e + first, a->col + first, stop - first, l ? *l : 0, right, slope);
            continue;
        }
        for (int64_t k = first; k < stop; k++) {
            const float *b = right ? right + a->col[k] * heads : NULL;
            float *out = e + k * heads;
            int64_t h = 0;
            for (; h + 4 <= heads; h += 4) {
                const v4 v = (l ? v4_load(l + h) : v4_set(0)) + (b ? v4_load(b + h) : v4_set(0));
                v4_store(out + h, v4_leaky(v, slope));
            }
            for (; h < heads; h++)
                out[h] = s_leaky((l ? l[h] : 0) + (b ? b[h] : 0), slope);
        }
    }
}

/* ---- softmax over the entries of a row ----------------------------------- */

/* Long rows of one head in vectors, short ones one by one. */
INLINE float span_largest(const float *e, int64_t count)
{
    float best = e[0];
    int64_t i = 1;
    if (count >= LANES) {
        vf v = v_load(e);
        for (i = LANES; i + LANES <= count; i += LANES)
            v = v_max(v_load(e + i), v);
        best = v_largest(v_max(v_load(e + count - LANES), v));
        i = count;
    }
    for (; i < count; i++)
        best = e[i] > best ? e[i] : best;
    return best;
}

INLINE float span_sum(const float *e, int64_t count)
{
    float sum = 0;
    int64_t i = 0;
    if (count >= LANES) {
        vf v = v_load(e);
        for (i = LANES; i + LANES <= count; i += LANES)
            v = v + v_load(e + i);
        sum = v_sum(v);
    }
    for (; i < count; i++)
        sum += e[i];
    return sum;
}

/* y = x - shift or y = x·factor over a span */
INLINE void span_shift(float *y, const float *x, float shift, int64_t count)
{
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        v_store(y + i, v_load(x + i) - v_set(shift));
    for (; i < count; i++)
        y[i] = x[i] - shift;
}
INLINE void span_scale(float *y, float factor, int64_t count)
{
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        v_store(y + i, v_load(y + i) * v_set(factor));
    for (; i < count; i++)
        y[i] = y[i] * factor;
}

/* y[k,h] = e[k,h] - max_k e[k,h] for one row of count entries */
static void row_minus_largest(float *y, const float *e, int64_t count, int64_t heads)
{
    int64_t h = 0;
    if (heads == 1) {
        span_shift(y, e, span_largest(e, count), count);
        return;
    }
    for (; h + 4 <= heads; h += 4) {
        v4 best = v4_load(e + h);
        for (int64_t k = 1; k < count; k++) {
            v4 v = v4_load(e + k * heads + h);
            __typeof__(v > v) more = v > best;
            best = (v4)((more & (__typeof__(more))v) | (~more & (__typeof__(more))best));
        }
        for (int64_t k = 0; k < count; k++)
            v4_store(y + k * heads + h, v4_load(e + k * heads + h) - best);
    }
    for (; h < heads; h++) {
        float best = e[h];
        for (int64_t k = 1; k < count; k++)
            best = e[k * heads + h] > best ? e[k * heads + h] : best;
        for (int64_t k = 0; k < count; k++)
            y[k * heads + h] = e[k * heads + h] - best;
    }
}

/* y[k,h] /= Σ_k y[k,h] */
static void row_to_sum_one(float *y, int64_t count, int64_t heads)
{
    int64_t h = 0;
    if (heads == 1) {
        span_scale(y, 1 / span_sum(y, count), count);
        return;
    }
    for (; h + 4 <= heads; h += 4) {
        v4 sum = v4_load(y + h);
        for (int64_t k = 1; k < count; k++)
            sum = sum + v4_load(y + k * heads + h);
        sum = v4_set(1) / sum;
        for (int64_t k = 0; k < count; k++)
            v4_store(y + k * heads + h, v4_load(y + k * heads + h) * sum);
    }
    for (; h < heads; h++) {
        float sum = y[h];
        for (int64_t k = 1; k < count; k++)
            sum += y[k * heads + h];
        for (int64_t k = 0; k < count; k++)
            y[k * heads + h] *= 1 / sum;
    }
}

/* One row, `vectors` vectors of heads at a time: largest, exponentials and their sum, quotient. */
INLINE void row_softmax_heads(float *y, const float *e, int64_t count, int64_t heads,
                              const int vectors)
{
    vf best[2], sum[2];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
        best[v] = v_load(e + v * LANES);
        sum[v] = v_set(0);
    }
    for (int64_t k = 1; k < count; k++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            best[v] = v_max(v_load(e + k * heads + v * LANES), best[v]);
    for (int64_t k = 0; k < count; k++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            const vf power = v_exp_negative(v_load(e + k * heads + v * LANES) - best[v]);
            v_store(y + k * heads + v * LANES, power);
            sum[v] = sum[v] + power;
        }
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++)
        sum[v] = v_set(1) / sum[v];
    for (int64_t k = 0; k < count; k++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            float *out = y + k * heads + v * LANES;
            v_store(out, v_load(out) * sum[v]);
        }
}

/* Groups of rows, so that the exponential runs over long spans whatever the rows' lengths, and the
 * three steps find their data in the first-level cache. */
static void edge_softmax_groups(float *y, const struct sparse *a, const float *e, int64_t heads,
                                int64_t from, int64_t to)
{
    for (int64_t r = from; r < to;) {
        const int64_t first = a->start[r] * heads;
        int64_t stop = r;
        for (; stop < to && a->start[stop] * heads - first < 2048; stop++) {
            const int64_t at = a->start[stop], count = a->start[stop + 1] - at;
            if (count > 0)
                row_minus_largest(y + at * heads, e + at * heads, count, heads);
        }
        const int64_t behind = a->start[stop] * heads;
        int64_t i = first;
        for (; i + LANES <= behind; i += LANES)
            v_store(y + i, v_exp_negative(v_load(y + i)));
        if (i < behind)
            v_store_part(y + i, v_exp_negative(v_load_part(y + i, behind - i, 0)), behind - i);
        for (; r < stop; r++) {
            const int64_t at = a->start[r], count = a->start[r + 1] - at;
            if (count > 0)
                row_to_sum_one(y + at * heads, count, heads);
        }
    }
}

void SIMD(edge_softmax)(float *y, const struct sparse *a, const float *e, int64_t heads,
                        int64_t from, int64_t to)
{
    if (heads % LANES != 0) {
        edge_softmax_groups(y, a, e, heads, from, to);
        return;
    }
    for (int64_t r = from; r < to; r++) {
        const int64_t at = a->start[r] * heads, count = a->start[r + 1] - a->start[r];
        int64_t h = 0;
        if (count == 0)
            continue;
        for (; h + 2 * LANES <= heads; h += 2 * LANES)
            row_softmax_heads(y + at + h, e + at + h, count, heads, 2);
        for (; h < heads; h += LANES)
            row_softmax_heads(y + at + h, e + at + h, count, heads, 1);
    }
}

/* gx = y (g - Σ y g) */
static void row_softmax_grad(float *gx, const float *y, const float *g, int64_t count,
                             int64_t heads)
{
    int64_t h = 0;
    if (heads == 1) {
        const float s = v_dot(y, g, count);
        int64_t i = 0;
        for (; i + LANES <= count; i += LANES)
            v_store(gx + i, v_load(y + i) * (v_load(g + i) - v_set(s)));
        for (; i < count; i++)
            gx[i] = y[i] * (g[i] - s);
        return;
    }
    for (; h + 4 <= heads; h += 4) {
        v4 s = v4_set(0);
        for (int64_t k = h; k < count * heads; k += heads)
            s = v4_fma(v4_load(y + k), v4_load(g + k), s);
        for (int64_t k = h; k < count * heads; k += heads)
            v4_store(gx + k, v4_load(y + k) * (v4_load(g + k) - s));
    }
    for (; h < heads; h++) {
        float s = 0;
        for (int64_t k = h; k < count * heads; k += heads)
            s = s_fma(y[k], g[k], s);
        for (int64_t k = h; k < count * heads; k += heads)
            gx[k] = y[k] * (g[k] - s);
    }
}

void SIMD(edge_softmax_grad)(float *gx, const struct sparse *a, const float *y, const float *g,
                             int64_t heads, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        const int64_t at = a->start[r], count = a->start[r + 1] - at;
        row_softmax_grad(gx + at * heads, y + at * heads, g + at * heads, count, heads);
    }
}

/* ---- sums per row -------------------------------------------------------- */

/* e of entry k of the rows, and a prefetch of a later one. */
INLINE const float *edge_at(const struct sparse *a, const float *e, int64_t heads, int64_t k,
                            int64_t all)
{
    if (!a->index)
        return e + k * heads;
    if (k + 16 < all)
        __builtin_prefetch(e + a->index[k + 16] * heads);
    return e + a->index[k] * heads;
}

void SIMD(edge_row_sum)(float *s, const struct sparse *a, const float *e, int64_t heads,
                        int64_t from, int64_t to)
{
    const int64_t all = a->start[to];
    for (int64_t r = from; r < to; r++) {
        const int64_t first = a->start[r], stop = a->start[r + 1];
        float *out = s + r * heads;
        int64_t h = 0;
        if (heads == 1 && !a->index) {
            const float sum = span_sum(e + first, stop - first);
            *out = sum;
            continue;
        }
        for (; h + 8 <= heads; h += 8) {
            v4 low = v4_set(0), high = low;
            for (int64_t k = first; k < stop; k++) {
                const float *from_e = edge_at(a, e, heads, k, all) + h;
                low = low + v4_load(from_e);
                high = high + v4_load(from_e + 4);
            }
            v4_store(out + h, low);
            v4_store(out + h + 4, high);
        }
        for (; h + 4 <= heads; h += 4) {
            v4 sum = v4_set(0);
            for (int64_t k = first; k < stop; k++)
                sum = sum + v4_load(edge_at(a, e, heads, k, all) + h);
            v4_store(out + h, sum);
        }
        for (; h < heads; h++) {
            float sum = 0;
            for (int64_t k = first; k < stop; k++)
                sum += edge_at(a, e, heads, k, all)[h];
            out[h] = sum;
        }
    }
}
