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

enum { SIDES = 2, PAIR_ROWS = 64 }; /* rows whose sums are computed together */

/* Sums over the pairs of rows. */
struct pair_row {
    float *out;     /* gx */
    const float *x; /* its own rows */
    bool has_own;   /* they are added */
    int sides;
    const struct pair_lists *side;
    const float *z, *w_other;
    int64_t width;
};

/* `vectors` vectors of columns from c on; the last is at `last` after c and may overlap the one
 * before; own[i] is what side i multiplies x_r by. Vectors is a constant after inlining. */
INLINE void pair_columns(const struct pair_row *p, const float *own, int64_t r, int64_t c,
                         int64_t last, const int vectors)
{
    vf sum[4], x[4];
    int64_t at[4];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        at[v] = c + (v + 1 < vectors ? v * LANES : last);
        sum[v] = v_set(0);
        x[v] = v_load(p->x + r * p->width + at[v]);
    }
    for (int i = 0; i < p->sides; i++) {
        const struct pair_lists *side = &p->side[i];
        const int64_t stop = side->start[r + 1];
        if (p->has_own) {
            const vf factor = v_set(own[i]);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++)
                sum[v] = v_fma(factor, x[v], sum[v]);
        }
        for (int64_t t = side->start[r]; t < stop; t++) {
            const int32_t pair = side->pair[t];
            const vf w = v_set(p->w_other[pair]);
            const float *zr = p->z + side->other[pair] * p->width;
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++)
                sum[v] = v_fma(w, v_load(zr + at[v]), sum[v]);
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++)
        v_store(p->out + r * p->width + at[v], sum[v]);
}

/* Row r of more than LANES columns; from: the first row of owns. */
INLINE void pair_wide(const struct pair_row *p, float owns[SIDES][PAIR_ROWS], int64_t from,
                      int64_t r)
{
    float own[SIDES] = {0};
    int64_t c = 0;
    for (int i = 0; i < p->sides && p->has_own; i++)
        own[i] = owns[i][r - from];
    for (; c + 4 * LANES <= p->width; c += 4 * LANES)
        pair_columns(p, own, r, c, 3 * LANES, 4);
    const int64_t left = p->width - c;
    switch ((left + LANES - 1) / LANES) {
    case 1: pair_columns(p, own, r, c, left - LANES, 1); break;
    case 2: pair_columns(p, own, r, c, left - LANES, 2); break;
    case 3: pair_columns(p, own, r, c, left - LANES, 3); break;
    case 4: pair_columns(p, own, r, c, left - LANES, 4); break;
    default: break;
    }
}

/* own[i][r - from] = s[r] Σ_k w_self[k] for rows [from, to). One loop over the pairs of all rows: a
 * loop for each row would end after two or three pairs, and no processor predicts when. */
INLINE void pair_owns(float own[SIDES][PAIR_ROWS], const float *w_self, const float *s,
                      const struct pair_lists *side, int sides, int64_t from, int64_t to)
{
    for (int i = 0; i < sides; i++) {
        for (int64_t r = from; r < to; r++)
            own[i][r - from] = 0;
        for (int64_t t = side[i].start[from]; t < side[i].start[to]; t++)
            own[i][side[i].self[side[i].pair[t]] - from] += w_self[side[i].pair[t]];
        for (int64_t r = from; r < to && s; r++)
            own[i][r - from] *= s[r];
    }
}

/* Rows [from, to) of at most LANES columns: their sums in an array, the pairs in one loop. */
INLINE void pair_narrow(const struct pair_row *p, float own[SIDES][PAIR_ROWS], int64_t from,
                        int64_t to)
{
    const int64_t width = p->width;
    const bool full = width == LANES;
    vf sum[PAIR_ROWS];
    for (int64_t r = from; r < to; r++)
        sum[r - from] = v_set(0);
    for (int i = 0; i < p->sides; i++) {
        const struct pair_lists *side = &p->side[i];
        for (int64_t r = from; r < to && p->has_own; r++) {
            const float *xr = p->x + r * width;
            const vf x = full ? v_load(xr) : v_load_part(xr, width, 0);
            sum[r - from] = v_fma(v_set(own[i][r - from]), x, sum[r - from]);
        }
        for (int64_t t = side->start[from]; t < side->start[to]; t++) {
            const int32_t pair = side->pair[t];
            const float *zr = p->z + side->other[pair] * width;
            const vf z = full ? v_load(zr) : v_load_part(zr, width, 0);
            vf *of = &sum[side->self[pair] - from];
            *of = v_fma(v_set(p->w_other[pair]), z, *of);
        }
    }
    for (int64_t r = from; r < to; r++)
        if (full)
            v_store(p->out + r * width, sum[r - from]);
        else
            v_store_part(p->out + r * width, sum[r - from], width);
}

void SIMD(pair_grad)(float *gx, const float *x, const float *z, const float *w_other,
                     const float *w_self, const float *s, const struct pair_lists *side, int sides,
                     int64_t width, int64_t from, int64_t to)
{
    float own[SIDES][PAIR_ROWS];
    struct pair_row p = {.out = gx,
                         .x = x,
                         .has_own = w_self != NULL,
                         .sides = sides,
                         .side = side,
                         .z = z,
                         .w_other = w_other,
                         .width = width};
    for (int64_t r = from, stop; r < to; r = stop) {
        stop = r + PAIR_ROWS < to ? r + PAIR_ROWS : to;
        if (w_self)
            pair_owns(own, w_self, s, side, sides, r, stop);
        if (width <= LANES) {
            pair_narrow(&p, own, r, stop);
            continue;
        }
        for (int64_t k = r; k < stop; k++)
            pair_wide(&p, own, r, k);
    }
}
