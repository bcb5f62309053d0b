/* Pairs of rows named by index lists. */
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
