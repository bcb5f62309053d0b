/* Sums over many rows or elements. One thread sums a block of fixed size in a fixed order; the
 * blocks are then added in order. So the result does not depend on the threads. */
#include "cpu/simd/vec.h"

/* ---- columns ------------------------------------------------------------- */

enum column_term { COLUMN_PLAIN, COLUMN_PRODUCT, COLUMN_CENTRED };

INLINE vf column_add(vf sum, const float *x, const float *z, vf mean, enum column_term term)
{
    if (term == COLUMN_PLAIN)
        return sum + v_load(x);
    if (term == COLUMN_PRODUCT)
        return v_fma(v_load(x), v_load(z), sum);
    const vf d = v_load(x) - mean;
    return v_fma(d, d, sum);
}

/* Sums of a group of columns over the rows: separately for even and odd rows, so that an addition
 * need not wait for the previous one. */
enum { COLUMN_GROUP = 256, COLUMN_ROWS = 4 };
struct column_sums {
    float even[COLUMN_GROUP], odd[COLUMN_GROUP];
};

/* Adds rows [first, stop), an even number but for a block's last, to four vectors of columns. */
INLINE void column_line(float *even_sums, float *odd_sums, const float *x, const float *z,
                        const float *mean, int64_t width, int64_t first, int64_t stop,
                        enum column_term term)
{
    vf even[4], odd[4], m[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        even[i] = v_load(even_sums + i * LANES);
        odd[i] = v_load(odd_sums + i * LANES);
        m[i] = mean ? v_load(mean + i * LANES) : v_set(0);
    }
    int64_t at = first * width;
    for (int64_t r = first; r + 2 <= stop; r += 2, at += 2 * width) {
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            const int64_t e = at + i * LANES, o = e + width;
            even[i] = column_add(even[i], x + e, z + e, m[i], term);
            odd[i] = column_add(odd[i], x + o, z + o, m[i], term);
        }
    }
    if ((stop - first) % 2)
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
            even[i] = column_add(even[i], x + at + i * LANES, z + at + i * LANES, m[i], term);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        v_store(even_sums + i * LANES, even[i]);
        v_store(odd_sums + i * LANES, odd[i]);
    }
}

/* Up to COLUMN_GROUP columns, a multiple of four vectors, over rows [first, stop). A few rows at a
 * time, because memory is faster in order. */
COPIED void column_group(float *out, const float *x, const float *z, const float *mean,
                         int64_t cols, int64_t width, int64_t first, int64_t stop,
                         enum column_term term)
{
    struct column_sums sums = {{0}, {0}};
    for (int64_t r = first; r < stop; r += COLUMN_ROWS) {
        const int64_t end = r + COLUMN_ROWS < stop ? r + COLUMN_ROWS : stop;
        for (int64_t c = 0; c < cols; c += 4 * LANES)
            column_line(sums.even + c, sums.odd + c, x + c, z + c, mean ? mean + c : NULL, width, r,
                        end, term);
    }
    for (int64_t c = 0; c < cols; c += LANES)
        v_store(out + c, v_load(sums.even + c) + v_load(sums.odd + c));
}

/* One vector of columns: four sums, for rows of equal remainder by four. */
COPIED void column_vector(float *out, const float *x, const float *z, const float *mean,
                          int64_t width, int64_t first, int64_t stop, enum column_term term)
{
    const vf m = mean ? v_load(mean) : v_set(0);
    vf a = v_set(0), b = a, c = a, d = a;
    int64_t r = first;
    for (; r + 4 <= stop; r += 4) {
        const int64_t at = r * width;
        a = column_add(a, x + at, z + at, m, term);
        b = column_add(b, x + at + width, z + at + width, m, term);
        c = column_add(c, x + at + 2 * width, z + at + 2 * width, m, term);
        d = column_add(d, x + at + 3 * width, z + at + 3 * width, m, term);
    }
    for (; r < stop; r++)
        a = column_add(a, x + r * width, z + r * width, m, term);
    v_store(out, (a + b) + (c + d));
}

/* Fewer columns than lanes: all of them at once, row after row, for n rows. The other lanes sum
 * what follows the row and are not used; the last rows are copied, because nothing follows them. */
COPIED void column_narrow(float *out, const float *x, const float *z, const float *mean,
                          int64_t width, int64_t n, int64_t first, int64_t stop,
                          enum column_term term)
{
    const int64_t safe = n * width < LANES ? 0 : (n * width - LANES) / width + 1;
    const vf m = mean ? v_load_part(mean, width, 0) : v_set(0);
    vf sum = v_set(0);
    int64_t r = first;
    for (; r < stop && r < safe; r++)
        sum = column_add(sum, x + r * width, z + r * width, m, term);
    for (; r < stop; r++) {
        float xr[LANES] = {0}, zr[LANES] = {0};
        memcpy(xr, x + r * width, (size_t)width * sizeof *xr);
        memcpy(zr, z + r * width, (size_t)width * sizeof *zr);
        sum = column_add(sum, xr, zr, m, term);
    }
    v_store_part(out, sum, width);
}

INLINE void column_blocks(float *partial, const float *x, const float *z, const float *mean,
                          int64_t width, int64_t n, int64_t from_block, int64_t to_block,
                          enum column_term term)
{
#define MEAN(c) (mean ? mean + (c) : NULL)
    for (int64_t b = from_block; b < to_block; b++) {
        const int64_t first = b * COL_BLOCK;
        const int64_t stop = first + COL_BLOCK < n ? first + COL_BLOCK : n;
        float *out = partial + b * width;
        int64_t c = 0;
        for (int64_t cols; (cols = (width - c) / (4 * LANES) * (4 * LANES)) > 0; c += cols) {
            cols = cols < COLUMN_GROUP ? cols : COLUMN_GROUP;
            column_group(out + c, x + c, z + c, MEAN(c), cols, width, first, stop, term);
        }
        for (; c + LANES <= width; c += LANES)
            column_vector(out + c, x + c, z + c, MEAN(c), width, first, stop, term);
        if (c < width && width >= LANES) { /* one vector that ends with the row */
            c = width - LANES;
            column_vector(out + c, x + c, z + c, MEAN(c), width, first, stop, term);
            c = width;
        }
        if (c < width)
            column_narrow(out, x, z, mean, width, n, first, stop, term);
    }
#undef MEAN
}

void SIMD(col_sum)(float *partial, const float *x, const float *z, int64_t width, int64_t n,
                   int64_t from_block, int64_t to_block)
{
    if (z)
        column_blocks(partial, x, z, NULL, width, n, from_block, to_block, COLUMN_PRODUCT);
    else
        column_blocks(partial, x, x, NULL, width, n, from_block, to_block, COLUMN_PLAIN);
}

void SIMD(col_var)(float *partial, const float *x, const float *mean, int64_t width, int64_t n,
                   int64_t from_block, int64_t to_block)
{
    column_blocks(partial, x, x, mean, width, n, from_block, to_block, COLUMN_CENTRED);
}

void SIMD(col_combine)(float *out, const float *partial, int64_t blocks, int64_t width, float scale,
                       int64_t from, int64_t to)
{
    for (int64_t c = from; c < to; c++) {
        double sum = 0;
        for (int64_t b = 0; b < blocks; b++)
            sum += (double)partial[b * width + c];
        const float result = (float)(sum * (double)scale);
        out[c] = result;
    }
}

/* ---- everything to one number -------------------------------------------- */

/* One block; lanes add up in float over REDUCE_BLOCK / LANES terms at most, then in double. */
INLINE double reduce_block(const float *x, const float *z, int64_t first, int64_t stop)
{
    vf sum[2] = {v_set(0), v_set(0)};
    int64_t i = first;
    for (; i + 2 * LANES <= stop; i += 2 * LANES)
        for (int k = 0; k < 2; k++) {
            const int64_t at = i + k * LANES;
            sum[k] = sum[k] + (z ? v_load(x + at) * v_load(z + at) : v_load(x + at));
        }
    for (; i < stop; i += LANES) {
        const int64_t left = stop - i < LANES ? stop - i : LANES;
        const vf term = v_load_part(x + i, left, 0);
        sum[0] = sum[0] + (z ? term * v_load_part(z + i, left, 0) : term);
    }
    double total = 0;
    for (int k = 0; k < 2; k++)
        for (int lane = 0; lane < LANES; lane++)
            total += (double)sum[k][lane];
    return total;
}

void SIMD(reduce)(double *partial, const float *x, const float *z, int64_t count,
                  int64_t from_block, int64_t to_block)
{
    for (int64_t b = from_block; b < to_block; b++) {
        const int64_t first = b * REDUCE_BLOCK, stop = first + REDUCE_BLOCK;
        partial[b] = reduce_block(x, z, first, stop < count ? stop : count);
    }
}

void SIMD(reduce_combine)(float *out, const double *partial, int64_t blocks)
{
    double total = 0;
    for (int64_t b = 0; b < blocks; b++)
        total += partial[b];
    *out = (float)total;
}
