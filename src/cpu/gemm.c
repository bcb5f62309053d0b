/* Dense products: tiles of C are divided among threads. If C is small and the inner dimension is
 * the number of nodes (weight gradients), blocks of the inner dimension get their own partial C. */

/* No BLAS: our kernels reach 90 to 98 % of OpenBLAS's rate at width 64 and 80 to 85 % at 512, start
 * no threads, take no locks, need no memory, and give the same bits wherever the instructions are
 * the same. */
#include "cpu/gemm.h"

#include "cpu/simd.h"
#include <string.h>

enum {
    TILE_ROWS = 512,
    TILE_STEP = 8,
    TILE_COLS = 256,
    INNER_MIN = 512,
    INNER_BLOCKS = 32,
    SPLIT_BELOW = 512
};

/* A panel of PANEL_INNER rows fits on the stack. */
enum { PANEL_INNER = 512 };

/* From this inner dimension on, and up to this many elements of C, weight gradients are computed
 * without copies, if vectors are short and C is wide enough. */
enum { TALL_INNER_MIN = 4096, TALL_RESULT = 128 * 128, TALL_LANES = 4 };

/* Length of a block of the inner dimension; k itself if it is not divided. */
static int64_t gemm_inner(int64_t m, int64_t n, int64_t k, bool ta)
{
    if (!ta || k < 2 * INNER_MIN || m >= SPLIT_BELOW || m * n > k * 64)
        return k;
    int64_t length = (k + INNER_BLOCKS - 1) / INNER_BLOCKS;
    return length < INNER_MIN ? INNER_MIN : length;
}

size_t gemm_scratch_bytes(int64_t m, int64_t n, int64_t k, bool ta, bool tb)
{
    (void)tb;
    int64_t inner = gemm_inner(m, n, k, ta);
    if (k < 1 || inner == k)
        return 0;
    return (size_t)((k + inner - 1) / inner) * (size_t)m * (size_t)n * sizeof(float);
}

/* Rows of C in a tile: equal tiles, the same number for each thread, large enough to make packing B
 * cheap, small enough to keep A's rows in a core's cache. The tiling does not change any sum. */
static int64_t gemm_tile_rows(const struct gemm *g, int threads)
{
    const int64_t tiles = (g->m + TILE_ROWS * threads - 1) / (TILE_ROWS * threads) * threads;
    const int64_t rows = (g->m + tiles - 1) / tiles;
    return (rows + TILE_STEP - 1) / TILE_STEP * TILE_STEP;
}

/* Whether to use thin_product: a panel with so few columns would be mostly empty, except with
 * vectors of four. The bits are the same either way. */
static bool gemm_is_thin(const struct gemm *g)
{
    return g->ta && !g->tb && g->alpha == 1 && g->n <= THIN_COLS && simd_best()->lanes > TALL_LANES;
}

/* c, rows of g->n floats, = the product of rows [row, row+m), columns [col, col+n) and inner
 * indices [first, first+k), by panels of columns and stretches of the inner dimension. */
static void gemm_piece(const struct gemm *g, float *c, int64_t row, int64_t m, int64_t col,
                       int64_t n, int64_t first, int64_t k, float beta)
{
    const struct simd *simd = simd_best();
    const int64_t b_inner = g->tb ? 1 : g->n, b_col = g->tb ? g->k : 1;
    const int64_t width = simd->panel_width;
    float panel[PANEL_INNER * PANEL_WIDTH]; /* (stretch, up to PANEL_WIDTH columns) */
    for (int64_t j = 0; j < n; j += width)
        for (int64_t i = 0; i < k; i += PANEL_INNER) {
            const int64_t inner = first + i;
            struct panel p = {.c = c + j,
                              .c_row = g->n,
                              .a = g->ta ? g->a + inner * g->m + row : g->a + row * g->k + inner,
                              .a_row = g->ta ? 1 : g->k,
                              .a_inner = g->ta ? g->m : 1,
                              .n = n - j < width ? n - j : width,
                              .k = k - i < PANEL_INNER ? k - i : PANEL_INNER,
                              .beta = i == 0 ? beta : 1};
            if (gemm_is_thin(g)) {
                simd->thin_product(&p, g->b + inner * g->n, m);
                continue;
            }
            simd->panel_pack(panel, g->b + inner * b_inner + (col + j) * b_col, b_inner, b_col, p.n,
                             p.k, g->alpha);
            simd->panel_product(&p, panel, 0, m);
        }
}

/* Whether to use tall_product for the whole C over k inner indices. */
static bool gemm_is_tall(const struct gemm *g, int64_t k)
{
    return g->ta && !g->tb && g->alpha == 1 && k >= TALL_INNER_MIN && g->m % TALL_ROWS == 0 &&
           g->n % TALL_COLS == 0 && g->n > TALL_COLS && g->m * g->n <= TALL_RESULT &&
           simd_best()->lanes == TALL_LANES;
}

/* C = beta C, for products over nothing */
static void gemm_scale(const struct gemm *g, struct worker who)
{
    int64_t from, to;
    team_range(who, g->m * g->n, 128, &from, &to);
    for (int64_t i = from; i < to; i++)
        g->c[i] = g->beta == 0 ? 0 : g->beta * g->c[i];
}

static void gemm_tiles(const struct gemm *g, struct worker who)
{
    const int64_t tile_rows = gemm_tile_rows(g, who.size);
    const int64_t tile_cols = g->m <= tile_rows ? TILE_COLS : g->n;
    const int64_t down = (g->m + tile_rows - 1) / tile_rows;
    const int64_t across = (g->n + tile_cols - 1) / tile_cols;
    int64_t from, to;
    team_range(who, down * across, 1, &from, &to);
    for (int64_t t = from; t < to; t++) {
        const int64_t row = t / across * tile_rows, col = t % across * tile_cols;
        const int64_t m = g->m - row < tile_rows ? g->m - row : tile_rows;
        const int64_t n = g->n - col < tile_cols ? g->n - col : tile_cols;
        gemm_piece(g, g->c + row * g->n + col, row, m, col, n, 0, g->k, g->beta);
    }
}

void gemm_tile_into(const struct gemm *g, float *to, int64_t tile)
{
    const int64_t rows = GEMM_PART_ROWS, first = tile * rows;
    gemm_piece(g, to, first, g->m - first < rows ? g->m - first : rows, 0, g->n, 0, g->k, g->beta);
}

int64_t gemm_blocks(int64_t m, int64_t n, int64_t k, bool ta, int64_t *length)
{
    *length = gemm_inner(m, n, k, ta);
    return k < 1 || *length == k ? 1 : (k + *length - 1) / *length;
}

void gemm_block(const struct gemm *g, float *partial, int64_t block)
{
    const int64_t inner = gemm_inner(g->m, g->n, g->k, g->ta), first = block * inner;
    const int64_t k = g->k - first < inner ? g->k - first : inner;
    if (gemm_is_tall(g, inner)) {
        memset(partial, 0, (size_t)(g->m * g->n) * sizeof *partial);
        simd_best()->tall_product(partial, g->a + first * g->m, g->b + first * g->n, g->m, g->n, k);
    } else {
        gemm_piece(g, partial, 0, g->m, 0, g->n, first, k, 0);
    }
}

void gemm_add_blocks(const struct gemm *g, const float *partial, struct worker who)
{
    int64_t from, to, length, size = g->m * g->n;
    const int64_t blocks = gemm_blocks(g->m, g->n, g->k, g->ta, &length);
    team_range(who, size, 16, &from, &to);
    for (int64_t i = from; i < to; i++) {
        float sum = g->beta == 0 ? 0 : g->beta * g->c[i];
        for (int64_t b = 0; b < blocks; b++)
            sum += partial[b * size + i];
        g->c[i] = sum;
    }
}

static void gemm_inner_blocks(const struct gemm *g, float *partial, int64_t inner,
                              struct worker who)
{
    const int64_t blocks = (g->k + inner - 1) / inner;
    int64_t from, to;
    team_range(who, blocks, 1, &from, &to);
    for (int64_t b = from; b < to; b++)
        gemm_block(g, partial + b * g->m * g->n, b);
    team_barrier(who);
    gemm_add_blocks(g, partial, who);
}

void gemm_run(const struct gemm *g, void *scratch, struct worker who)
{
    if (g->m < 1 || g->n < 1)
        return;
    const int64_t inner = gemm_inner(g->m, g->n, g->k, g->ta);
    if (g->k < 1)
        gemm_scale(g, who);
    else if (inner == g->k)
        gemm_tiles(g, who);
    else
        gemm_inner_blocks(g, scratch, inner, who);
}
