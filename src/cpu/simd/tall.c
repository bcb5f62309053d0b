/* Products AᵀB with very many rows and few columns: the gradient of a weight matrix on a large
 * graph. Copying one operand first would cost much compared with the product. Here a few rows at a
 * time are read in place, once, while C stays in the first-level cache. */
#include "cpu/simd/vec.h"

/* Rows of A and B between two accesses to C; a block of C in registers. */
enum { TALL_INNER = 64, TALL_VECTORS = TALL_COLS / LANES };

/* TALL_ROWS × TALL_COLS elements of C at c, columns of A at a and of B at b, over k rows */
INLINE void tall_block(float *c, const float *a, const float *b, int64_t m, int64_t n, int64_t k)
{
    vf sum[TALL_ROWS][TALL_VECTORS];
#pragma GCC unroll 4
    for (int r = 0; r < TALL_ROWS; r++)
#pragma GCC unroll 4
        for (int v = 0; v < TALL_VECTORS; v++)
            sum[r][v] = v_load(c + r * n + v * LANES);
    for (int64_t i = 0; i < k; i++, a += m, b += n) {
        const v4 four = v4_load(a);
#pragma GCC unroll 4
        for (int v = 0; v < TALL_VECTORS; v++) {
            const vf from_b = v_load(b + v * LANES);
#pragma GCC unroll 4
            for (int r = 0; r < TALL_ROWS; r++)
                sum[r][v] = v_fma(v_set(four[r]), from_b, sum[r][v]);
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < TALL_ROWS; r++)
#pragma GCC unroll 4
        for (int v = 0; v < TALL_VECTORS; v++)
            v_store(c + r * n + v * LANES, sum[r][v]);
}

void SIMD(tall_product)(float *c, const float *a, const float *b, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < k; i += TALL_INNER) {
        const int64_t inner = k - i < TALL_INNER ? k - i : TALL_INNER;
        for (int64_t col = 0; col < n; col += TALL_COLS)
            for (int64_t row = 0; row < m; row += TALL_ROWS)
                tall_block(c + row * n + col, a + i * m + row, b + i * n + col, m, n, inner);
    }
}

/* If B has only a few columns, most lanes of its vectors would be empty. Here vectors run along A's
 * columns and are multiplied by B's elements one at a time. */
enum { THIN_VECTORS = LANES == 16 ? 2 : 1 };

/* sum + beta c for `columns` rows of C, of which c is the first one's element. It runs once for all
 * k rows; inlined, its copies took five times as long to compile as the rest of this file. */
static __attribute__((noinline)) void thin_finish(float *c, vf sum, int64_t c_row, int64_t columns,
                                                  float beta)
{
    float old[LANES] = {0}, out[LANES];
    for (int64_t r = 0; beta != 0 && r < columns; r++)
        old[r] = c[r * c_row];
    v_store(out, beta != 0 ? v_fma(v_set(beta), v_load(old), sum) : sum);
    for (int64_t r = 0; r < columns; r++)
        c[r * c_row] = out[r];
}

/* Rows of C from `row` on, `columns` of A, at most vectors·LANES; n and vectors are constants after
 * inlining. */
INLINE void thin_block(const struct panel *p, const float *b, int64_t row, int64_t columns,
                       const int n, const int vectors)
{
    vf sum[THIN_COLS][THIN_VECTORS], from_a[THIN_VECTORS];
    const float *a = p->a + row;
#pragma GCC unroll 8
    for (int j = 0; j < n; j++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            sum[j][v] = v_set(0);
    for (int64_t i = 0; i < p->k; i++, a += p->a_inner, b += n) {
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            from_a[v] = columns < LANES ? v_load_part(a, columns, 0) : v_load(a + v * LANES);
#pragma GCC unroll 8
        for (int j = 0; j < n; j++)
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++)
                sum[j][v] = v_fma(from_a[v], v_set(b[j]), sum[j][v]);
    }
#pragma GCC unroll 8
    for (int j = 0; j < n; j++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            thin_finish(p->c + (row + v * LANES) * p->c_row + j, sum[j][v], p->c_row,
                        columns < LANES ? columns : LANES, p->beta);
}

INLINE void thin_rows(const struct panel *p, const float *b, int64_t m, const int n)
{
    int64_t r = 0;
    for (; r + THIN_VECTORS * LANES <= m; r += THIN_VECTORS * LANES)
        thin_block(p, b, r, THIN_VECTORS * LANES, n, THIN_VECTORS);
    for (; r + LANES <= m; r += LANES)
        thin_block(p, b, r, LANES, n, 1);
    if (r < m)
        thin_block(p, b, r, m - r, n, 1);
}

void SIMD(thin_product)(const struct panel *p, const float *b, int64_t m)
{
    switch (p->n) {
    case 1: thin_rows(p, b, m, 1); break;
    case 2: thin_rows(p, b, m, 2); break;
    case 3: thin_rows(p, b, m, 3); break;
    case 4: thin_rows(p, b, m, 4); break;
    case 5: thin_rows(p, b, m, 5); break;
    case 6: thin_rows(p, b, m, 6); break;
    case 7: thin_rows(p, b, m, 7); break;
    case 8: thin_rows(p, b, m, 8); break;
    default: break;
    }
}
