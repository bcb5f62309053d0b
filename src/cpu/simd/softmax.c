/* Softmax of rows, mostly short ones (a class per column), and the negative log likelihood with its
 * gradient. A row of at least LANES columns is read as whole vectors and one that ends with the
 * row; a shorter one is copied into a vector, filled up with -infinity. */
#include "cpu/simd/vmath.h"

/* ---- one row --------------------------------------------------------------------------------- */

/* max and Σ exp(x - max) of a row */
struct row_facts {
    float largest, sum;
};

INLINE struct row_facts row_facts(const float *x, int64_t width)
{
    if (width < LANES) {
        vf v = v_load_part(x, width, -INFINITY);
        float largest = v_largest(v);
        return (struct row_facts){largest, v_sum(v_exp_negative(v - v_set(largest)))};
    }
    const vf end = v_load(x + width - LANES);
    vf best = end, sum = v_set(0);
    int64_t c = 0;
    for (; c + LANES <= width; c += LANES)
        best = v_max(v_load(x + c), best);
    best = v_set(v_largest(best));
    for (c = 0; c + LANES <= width; c += LANES)
        sum = sum + v_exp_negative(v_load(x + c) - best);
    if (c < width)
        sum = sum + v_and(v_new_lanes(width), v_exp_negative(end - best));
    return (struct row_facts){best[0], v_sum(sum)};
}

/* y = scale·softmax(x) */
INLINE void row_softmax(float *y, const float *x, int64_t width, struct row_facts f, float scale)
{
    const vf shift = v_set(f.largest), factor = v_set(scale / f.sum);
    if (width < LANES) {
        vf v = v_load_part(x, width, -INFINITY);
        v_store_part(y, v_exp_negative(v - shift) * factor, width);
        return;
    }
    const vf end = v_load(x + width - LANES); /* before y, which may be x, is written */
    for (int64_t c = 0; c + LANES <= width; c += LANES)
        v_store(y + c, v_exp_negative(v_load(x + c) - shift) * factor);
    v_store(y + width - LANES, v_exp_negative(end - shift) * factor);
}

INLINE float s_log(float x)
{
    return v_log(v_set(x))[0];
}

/* ---- all rows -------------------------------------------------------------------------------- */

void SIMD(softmax)(float *y, const float *x, int64_t width, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++)
        row_softmax(y + r * width, x + r * width, width, row_facts(x + r * width, width), 1);
}

/* log softmax(x) = (x - max) - log Σ exp(x - max) */
void SIMD(log_softmax)(float *y, const float *x, int64_t width, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        const float *xr = x + r * width;
        float *yr = y + r * width;
        const struct row_facts f = row_facts(xr, width);
        const float log_sum = s_log(f.sum);
        int64_t c = 0;
        for (; c + LANES <= width; c += LANES)
            v_store(yr + c, v_load(xr + c) - v_set(f.largest) - v_set(log_sum));
        for (; c < width; c++)
            yr[c] = xr[c] - f.largest - log_sum;
    }
}

/* gx = y (g - <g, y>) */
void SIMD(softmax_grad)(float *gx, const float *g, const float *y, int64_t width, int64_t from,
                        int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        const float *gr = g + r * width, *yr = y + r * width;
        float *out = gx + r * width;
        const float along = v_dot(gr, yr, width);
        int64_t c = 0;
        for (; c + LANES <= width; c += LANES)
            v_store(out + c, v_load(yr + c) * (v_load(gr + c) - v_set(along)));
        for (; c < width; c++)
            out[c] = yr[c] * (gr[c] - along);
    }
}

/* gx = g - exp(y) Σ g */
void SIMD(log_softmax_grad)(float *gx, const float *g, const float *y, int64_t width, int64_t from,
                            int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        const float *gr = g + r * width, *yr = y + r * width;
        float *out = gx + r * width;
        vf sum = v_set(0);
        int64_t c = 0;
        for (; c + LANES <= width; c += LANES)
            sum = sum + v_load(gr + c);
        if (c < width)
            sum = sum + v_load_part(gr + c, width - c, 0);
        const vf total = v_set(-v_sum(sum));
        for (c = 0; c + LANES <= width; c += LANES)
            v_store(out + c, v_fma(v_exp(v_load(yr + c)), total, v_load(gr + c)));
        if (c < width) {
            vf e = v_exp(v_load_part(yr + c, width - c, 0));
            v_store_part(out + c, v_fma(e, total, v_load_part(gr + c, width - c, 0)), width - c);
        }
    }
}

void SIMD(row_argmax)(int32_t *best, const float *x, int64_t width, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        const float *xr = x + r * width;
        int64_t at = 0;
        for (int64_t c = 1; c < width; c++)
            at = xr[c] > xr[at] ? c : at;
        best[r] = (int32_t)at;
    }
}

void SIMD(nll)(double *partial, float *gx, const float *x, int64_t width, const int32_t *row,
               const int32_t *label, float scale, int64_t count, int64_t from_block,
               int64_t to_block)
{
    for (int64_t b = from_block; b < to_block; b++) {
        int64_t stop = (b + 1) * NLL_BLOCK;
        double sum = 0;
        stop = stop < count ? stop : count;
        for (int64_t i = b * NLL_BLOCK; i < stop; i++) {
            const int64_t r = row ? row[i] : i;
            const float *xr = x + r * width;
            const struct row_facts f = row_facts(xr, width);
            if (partial)
                sum += (double)s_log(f.sum) + (double)f.largest - (double)xr[label[r]];
            if (gx) {
                row_softmax(gx + r * width, xr, width, f, scale);
                gx[r * width + label[r]] -= scale;
            }
        }
        if (partial)
            partial[b] = sum;
    }
}
