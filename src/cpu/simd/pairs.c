/* Pairs of rows named by index lists, and maxima over segments of rows. */
#include "cpu/simd/vec.h"

/* The rows of the pair a few places behind k. */
INLINE void pair_prefetch(const float *x, const float *z, const int32_t *left, const int32_t *right,
                          int64_t width, int64_t k, int64_t to)
{
    if (k + 8 < to) {
        v_prefetch(x + left[k + 8] * width, width);
        v_prefetch(z + right[k + 8] * width, width);
    }
}

void SIMD(pair_dot)(float *out, const float *x, const float *z, const float *xs, const float *zs,
                    const int32_t *left, const int32_t *right, int64_t width, int64_t from,
                    int64_t to)
{
    for (int64_t k = from; k < to; k++) {
        pair_prefetch(x, z, left, right, width, k, to);
        float dot = v_dot(x + left[k] * width, z + right[k] * width, width);
        dot = xs ? dot * xs[left[k]] : dot;
        out[k] = zs ? dot * zs[right[k]] : dot;
    }
}

INLINE float squared_distance(const float *x, const float *z, int64_t width)
{
    vf sum = v_set(0);
    float rest = 0;
    int64_t c = 0;
    for (; c + LANES <= width; c += LANES) {
        const vf d = v_load(x + c) - v_load(z + c);
        sum = v_fma(d, d, sum);
    }
    for (; c < width; c++)
        rest = s_fma(x[c] - z[c], x[c] - z[c], rest);
    return v_sum(sum) + rest;
}

void SIMD(pair_distance)(float *out, const float *x, const float *z, const int32_t *left,
                         const int32_t *right, int64_t width, int64_t from, int64_t to)
{
    for (int64_t k = from; k < to; k++) {
        pair_prefetch(x, z, left, right, width, k, to);
        out[k] = squared_distance(x + left[k] * width, z + right[k] * width, width);
    }
}

/* gx_r (+)= Σ_k w_other[k] z_other(k) + own x_r; columns in strips of four vectors, then one, then
 * single ones. */
void SIMD(pair_grad)(float *gx, const float *x, const float *z, const float *w_other,
                     const float *w_self, const float *s, const int64_t *start, const int32_t *pair,
                     const int32_t *other, int64_t width, bool accumulate, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        const int64_t first = start[r], stop = start[r + 1];
        const float *xr = x + r * width;
        float *out = gx + r * width, own = 0;
        if (w_self) {
            for (int64_t t = first; t < stop; t++)
                own += w_self[pair[t]];
            own = s ? own * s[r] : own;
        }
        int64_t c = 0;
        for (; c + 4 * LANES <= width; c += 4 * LANES) {
            vf a0 = v_set(0), a1 = a0, a2 = a0, a3 = a0;
            if (accumulate) {
                a0 = v_load(out + c);
                a1 = v_load(out + c + LANES);
                a2 = v_load(out + c + 2 * LANES);
                a3 = v_load(out + c + 3 * LANES);
            }
            if (w_self) {
                a0 = v_fma(v_set(own), v_load(xr + c), a0);
                a1 = v_fma(v_set(own), v_load(xr + c + LANES), a1);
                a2 = v_fma(v_set(own), v_load(xr + c + 2 * LANES), a2);
                a3 = v_fma(v_set(own), v_load(xr + c + 3 * LANES), a3);
            }
            for (int64_t t = first; t < stop; t++) {
                const vf w = v_set(w_other[pair[t]]);
                const float *zr = z + other[pair[t]] * width + c;
                a0 = v_fma(w, v_load(zr), a0);
                a1 = v_fma(w, v_load(zr + LANES), a1);
                a2 = v_fma(w, v_load(zr + 2 * LANES), a2);
                a3 = v_fma(w, v_load(zr + 3 * LANES), a3);
            }
            v_store(out + c, a0);
            v_store(out + c + LANES, a1);
            v_store(out + c + 2 * LANES, a2);
            v_store(out + c + 3 * LANES, a3);
        }
        for (; c + LANES <= width; c += LANES) {
            vf a = accumulate ? v_load(out + c) : v_set(0);
            if (w_self)
                a = v_fma(v_set(own), v_load(xr + c), a);
            for (int64_t t = first; t < stop; t++)
                a = v_fma(v_set(w_other[pair[t]]), v_load(z + other[pair[t]] * width + c), a);
            v_store(out + c, a);
        }
        for (; c < width; c++) {
            float a = accumulate ? out[c] : 0;
            if (w_self)
                a = s_fma(own, xr[c], a);
            for (int64_t t = first; t < stop; t++)
                a = s_fma(w_other[pair[t]], z[other[pair[t]] * width + c], a);
            out[c] = a;
        }
    }
}

/* ---- maxima over segments ------------------------------------------------ */

void SIMD(segment_max)(float *y, int32_t *arg, const struct sparse *a, const float *x,
                       int64_t width, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        const int64_t first = a->start[r], stop = a->start[r + 1];
        int64_t c = 0;
        for (; c + LANES <= width; c += LANES) {
            vf best = v_set(0);
            vi item = vi_set(-1);
            for (int64_t k = first; k < stop; k++) {
                const vf v = v_load(x + a->col[k] * width + c);
                const vi more = (v > best) | (item < 0);
                best = v_select(more, v, best);
                item = vi_select(more, vi_set(a->col[k]), item);
            }
            v_store(y + r * width + c, best);
            *(vi_any *)(arg + r * width + c) = item;
        }
        for (; c < width; c++) {
            float best = 0;
            int32_t item = -1;
            for (int64_t k = first; k < stop; k++) {
                const float v = x[a->col[k] * width + c];
                if (item < 0 || v > best) {
                    best = v;
                    item = a->col[k];
                }
            }
            y[r * width + c] = best;
            arg[r * width + c] = item;
        }
    }
}

void SIMD(segment_max_grad)(float *gx, const struct sparse *t, const float *g, const int32_t *arg,
                            int64_t width, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++) {
        const int64_t first = t->start[i], stop = t->start[i + 1];
        int64_t c = 0;
        for (; c + LANES <= width; c += LANES) {
            vf sum = v_set(0);
            for (int64_t k = first; k < stop; k++) {
                const int64_t at = t->col[k] * width + c;
                const vi mine = *(const vi_any *)(arg + at) == vi_set((int32_t)i);
                sum = sum + v_and(mine, v_load(g + at));
            }
            v_store(gx + i * width + c, sum);
        }
        for (; c < width; c++) {
            float sum = 0;
            for (int64_t k = first; k < stop; k++)
                if (arg[t->col[k] * width + c] == i)
                    sum += g[t->col[k] * width + c];
            gx[i * width + c] = sum;
        }
    }
}
