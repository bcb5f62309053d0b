/* Operations on pairs of rows named by index lists. */
#include "cpu/simd/vec.h"

/* Prefetches the rows of the pair a few places after k. */
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

/* One side of a sum over pairs: gx_r (+)= Σ_k w_other[k] z_other(k) + own x_r */
struct pair_side {
    float *out;      /* gx_r */
    const float *xr; /* x_r */
    float own;       /* added where there is a weight of its own */
    bool has_own, accumulate;
    const float *z, *w_other;
    const int32_t *pair, *other; /* pairs of row r are pair[first] … pair[stop - 1] */
    int64_t width, first, stop;
};

/* `vectors` vectors of columns from c on; the last is at `last` after c and may overlap the one
 * before; part: only the first `part` columns of a single vector. Vectors and part == 0 are
 * constants after inlining. */
INLINE void pair_columns(const struct pair_side *p, int64_t c, int64_t last, const int vectors,
                         const int64_t part)
{
    vf sum[4];
    int64_t at[4];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        at[v] = c + (v + 1 < vectors ? v * LANES : last);
        sum[v] = !p->accumulate ? v_set(0)
                 : part         ? v_load_part(p->out + at[v], part, 0)
                                : v_load(p->out + at[v]);
        if (p->has_own)
            sum[v] =
                v_fma(v_set(p->own),
                      part ? v_load_part(p->xr + at[v], part, 0) : v_load(p->xr + at[v]), sum[v]);
    }
    for (int64_t t = p->first; t < p->stop; t++) {
        const vf w = v_set(p->w_other[p->pair[t]]);
        const float *zr = p->z + p->other[p->pair[t]] * p->width;
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            sum[v] = v_fma(w, part ? v_load_part(zr + at[v], part, 0) : v_load(zr + at[v]), sum[v]);
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++)
        if (part)
            v_store_part(p->out + at[v], sum[v], part);
        else
            v_store(p->out + at[v], sum[v]);
}

void SIMD(pair_grad)(float *gx, const float *x, const float *z, const float *w_other,
                     const float *w_self, const float *s, const int64_t *start, const int32_t *pair,
                     const int32_t *other, int64_t width, bool accumulate, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        struct pair_side p = {
            gx + r * width, x + r * width, 0,     w_self != NULL, accumulate, z,
            w_other,        pair,          other, width,          start[r],   start[r + 1]};
        for (int64_t t = p.first; w_self && t < p.stop; t++)
            p.own += w_self[pair[t]];
        p.own = s ? p.own * s[r] : p.own;
        int64_t c = 0;
        for (; c + 4 * LANES <= width; c += 4 * LANES)
            pair_columns(&p, c, 3 * LANES, 4, 0);
        const int64_t left = width - c;
        switch ((left + LANES - 1) / LANES) {
        case 1:
            left < LANES ? pair_columns(&p, c, 0, 1, left) : pair_columns(&p, c, 0, 1, 0);
            break;
        case 2: pair_columns(&p, c, left - LANES, 2, 0); break;
        case 3: pair_columns(&p, c, left - LANES, 3, 0); break;
        case 4: pair_columns(&p, c, left - LANES, 4, 0); break;
        default: break;
        }
    }
}
