/* Softmax of rows, mostly short ones (one column per class). Up to TILE columns, LANES rows are
 * processed side by side, one per lane, so nothing is summed across lanes. A lane's arithmetic does
 * not depend on the others, so ranges may begin anywhere. Wider rows go one by one, as full vectors
 * and one that ends with the row. */
#include "cpu/simd/vmath.h"

enum { TILE = 32 };

/* ---- narrow rows, one per lane ------------------------------------------- */

/* LANES rows of x; column c of all of them is column[c]. Lanes without a row repeat the last one.
 */
struct tile {
    const float *row[LANES];
    vf column[TILE];
    vf largest, sum; /* max_c x, Σ_c exp(x - max) */
};

INLINE void tile_read(struct tile *t, int64_t width)
{
    t->largest = v_set(-INFINITY);
    for (int64_t c = 0; c < width; c++) {
        vf v = t->largest;
        for (int l = 0; l < LANES; l++)
            v[l] = t->row[l][c];
        t->column[c] = v;
        t->largest = v_max(v, t->largest);
    }
}

/* column becomes exp(x - max) */
INLINE void tile_exp(struct tile *t, int64_t width)
{
    t->sum = v_set(0);
    for (int64_t c = 0; c < width; c++) {
        t->column[c] = v_exp_negative(t->column[c] - t->largest);
        t->sum = t->sum + t->column[c];
    }
}

/* column becomes x - max */
INLINE void tile_sum(struct tile *t, int64_t width)
{
    t->sum = v_set(0);
    for (int64_t c = 0; c < width; c++) {
        t->column[c] = t->column[c] - t->largest;
        t->sum = t->sum + v_exp_negative(t->column[c]);
    }
}

INLINE void tile_write(float *const *out, int lanes, const struct tile *t, int64_t width, vf factor,
                       vf shift)
{
    for (int64_t c = 0; c < width; c++) {
        const vf y = t->column[c] * factor - shift;
        for (int l = 0; l < LANES; l++)
            if (l < lanes)
                out[l][c] = y[l];
    }
}

/* The rows x_r, x_r+1 … of a matrix, at most LANES and before `to`; returns how many. */
INLINE int tile_rows(struct tile *t, float **out, float *y, const float *x, int64_t width,
                     int64_t r, int64_t to)
{
    const int lanes = to - r < LANES ? (int)(to - r) : LANES;
    for (int l = 0; l < LANES; l++) {
        const int64_t at = (r + (l < lanes ? l : lanes - 1)) * width;
        t->row[l] = x + at;
        out[l] = y + at;
    }
    return lanes;
}

/* ---- wide rows, one at a time -------------------------------------------- */

struct row_facts {
    float largest, sum; /* max_c x, Σ_c exp(x - max) */
};

static struct row_facts row_facts(const float *x, int64_t width)
{
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
static void row_softmax(float *y, const float *x, int64_t width, struct row_facts f, float scale)
{
    const vf shift = v_set(f.largest), factor = v_set(scale / f.sum);
    const vf end = v_load(x + width - LANES); /* before y, which may be x, is written */
    for (int64_t c = 0; c + LANES <= width; c += LANES)
        v_store(y + c, v_exp_negative(v_load(x + c) - shift) * factor);
    v_store(y + width - LANES, v_exp_negative(end - shift) * factor);
}

INLINE float s_log(float x)
{
    return v_log(v_set(x))[0];
}

/* ---- all rows ------------------------------------------------------------ */

void SIMD(softmax)(float *y, const float *x, int64_t width, int64_t from, int64_t to)
{
    struct tile t;
    float *out[LANES];
    if (width > TILE) {
        for (int64_t r = from; r < to; r++)
            row_softmax(y + r * width, x + r * width, width, row_facts(x + r * width, width), 1);
        return;
    }
    for (int64_t r = from; r < to; r += LANES) {
        const int lanes = tile_rows(&t, out, y, x, width, r, to);
        tile_read(&t, width);
        tile_exp(&t, width);
        tile_write(out, lanes, &t, width, v_set(1) / t.sum, v_set(0));
    }
}

/* log softmax(x) = (x - max) - log Σ exp(x - max) */
void SIMD(log_softmax)(float *y, const float *x, int64_t width, int64_t from, int64_t to)
{
    struct tile t;
    float *out[LANES];
    for (int64_t r = from; r < to && width <= TILE; r += LANES) {
        const int lanes = tile_rows(&t, out, y, x, width, r, to);
        tile_read(&t, width);
        tile_sum(&t, width);
        tile_write(out, lanes, &t, width, v_set(1), v_log(t.sum));
    }
    for (int64_t r = from; r < to && width > TILE; r++) {
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
