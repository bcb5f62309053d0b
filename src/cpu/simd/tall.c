/* C += AᵀB where A and B have very many rows and few columns: the gradient of a weight matrix on a
 * large graph. Copying one before it is multiplied costs much beside the product; here a few rows
 * at a time are read in place, once, while C lies in the first-level cache. */
#include "cpu/simd/vec.h"

/* Rows of A and B that go by before C is touched again; a block of C in registers. */
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
