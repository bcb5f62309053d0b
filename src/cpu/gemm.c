/* Dense products: tiles of C among the threads, or, where C is small and the inner dimension is the
 * number of nodes (weight gradients), blocks of the inner dimension with their own partial C. Each
 * piece is one call of a BLAS that is told to use one thread, or of a kernel of our own where the
 * BLAS does badly. */
#include "cpu/gemm.h"

#include "cpu/simd.h"
#include <cblas.h>
#include <pthread.h>
#include <string.h>

/* OpenBLAS would start threads of its own; other implementations lack the functions. */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern char *openblas_get_corename(void) __attribute__((weak));
extern int openblas_get_parallel(void) __attribute__((weak));

enum { TILE_COLS = 256, INNER_MIN = 512, INNER_BLOCKS = 32, SPLIT_BELOW = 512 };

/* Sides up to this are narrow: the BLAS does badly there, panels of our own do well. A panel of
 * PANEL_INNER rows lies on the stack. */
enum { NARROW = PANEL_WIDTH, MEDIUM = 128, PANEL_INNER = 512 };

/* From this inner dimension on, and up to this many elements of C, weight gradients are computed
 * without copies. */
enum { TALL_INNER_MIN = 4096, TALL_RESULT = 128 * 128 };

static void gemm_single_thread(void)
{
    static _Thread_local bool done;
    if (!done && openblas_set_num_threads)
        openblas_set_num_threads(1);
    done = true;
}

/* OpenBLAS built without threads (the one in the Python package) also goes without locks: two calls
 * at a time may be given the same memory, and some of 10^6 products come out wrong. There one call
 * follows the other. */
static pthread_mutex_t blas_turn = PTHREAD_MUTEX_INITIALIZER;

static bool blas_takes_turns(void)
{
    return openblas_get_parallel && openblas_get_parallel() == 0;
}

static void blas_product(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha,
                         const float *a, int a_row, const float *b, int b_row, float beta, float *c,
                         int c_row)
{
    const bool turns = blas_takes_turns();
    if (turns)
        pthread_mutex_lock(&blas_turn);
    cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, a_row, b, b_row, beta, c, c_row);
    if (turns)
        pthread_mutex_unlock(&blas_turn);
}

/* OpenBLAS copies B into memory of its own, and its kernels prefetch past the end of the copy.
 * While nobody has written there, that takes longer than the product: 2708 x 64 x 64 needs 0.94 ms
 * instead of 0.39. A product of zeros writes there. Which memory a call gets depends on how many
 * run at the same time, so each thread does it before its first products and now and then later. */
static void gemm_warm_up(void)
{
    enum { SIDE = 256, ROWS = 4, OFTEN = 8, SELDOM = 64 };
    static _Thread_local unsigned products;
    static float zeros[SIDE * SIDE]; /* never written, so it takes no memory */
    float out[ROWS * SIDE];
    const unsigned now = products++;
    if (now < OFTEN || now % SELDOM == 0)
        blas_product(CblasNoTrans, CblasNoTrans, ROWS, SIDE, SIDE, 1, zeros, SIDE, zeros, SIDE, 0,
                     out, SIDE);
}

/* Length of a block of the inner dimension; k itself when it is not cut. */
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

/* Rows of C in a tile: small enough that a few thousand rows divide well among threads, large
 * enough that the BLAS's packing of B does not count. */
static int64_t gemm_tile_rows(const struct gemm *g)
{
    return g->m < 8192 ? 128 : 512;
}

/* A BLAS that does not know the processor falls back to one of long ago: OpenBLAS 0.3.21 takes an
 * Emerald Rapids for a Prescott. */
static bool blas_is_old(void)
{
    static const char *const names[] = {"Prescott", "Core2", "Penryn", "Dunnington", "Nehalem"};
    const char *core = openblas_get_corename ? openblas_get_corename() : "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(core, names[i]) == 0)
            return true;
    return false;
}

/* Whether panels do it. With vectors of eight lanes and more, they also beat the BLAS where the
 * other side is of medium size: it takes a lock a call, which threads meet at. */
static bool gemm_is_narrow(const struct gemm *g)
{
    if (g->n <= NARROW || (g->k <= NARROW && !g->ta))
        return true;
    return simd_best()->lanes >= 8 && (g->n <= MEDIUM || blas_is_old());
}

/* What gemm_piece does, by panels of columns and stretches of the inner dimension. */
static void gemm_panels(const struct gemm *g, float *c, int64_t row, int64_t m, int64_t col,
                        int64_t n, int64_t first, int64_t k, float beta)
{
    const struct simd *simd = simd_best();
    const int64_t b_inner = g->tb ? 1 : g->n, b_col = g->tb ? g->k : 1;
    float panel[PANEL_INNER * PANEL_WIDTH]; /* (stretch, up to PANEL_WIDTH columns) */
    for (int64_t j = 0; j < n; j += PANEL_WIDTH)
        for (int64_t i = 0; i < k; i += PANEL_INNER) {
            const int64_t inner = first + i;
            struct panel p = {.c = c + j,
                              .c_row = g->n,
                              .a = g->ta ? g->a + inner * g->m + row : g->a + row * g->k + inner,
                              .a_row = g->ta ? 1 : g->k,
                              .a_inner = g->ta ? g->m : 1,
                              .n = n - j < PANEL_WIDTH ? n - j : PANEL_WIDTH,
                              .k = k - i < PANEL_INNER ? k - i : PANEL_INNER,
                              .beta = i == 0 ? beta : 1};
            simd->panel_pack(panel, g->b + inner * b_inner + (col + j) * b_col, b_inner, b_col, p.n,
                             p.k, g->alpha);
            simd->panel_product(&p, panel, 0, m);
        }
}

/* Whether the whole C, over k inner indices, is for tall_product. */
static bool gemm_is_tall(const struct gemm *g, int64_t k)
{
    return g->ta && !g->tb && g->alpha == 1 && k >= TALL_INNER_MIN && g->m % TALL_ROWS == 0 &&
           g->n % TALL_COLS == 0 && g->m * g->n <= TALL_RESULT;
}

/* c, rows of g->n floats, = the product of rows [row, row+m), columns [col, col+n) and inner
 * indices [first, first+k) */
static void gemm_piece(const struct gemm *g, float *c, int64_t row, int64_t m, int64_t col,
                       int64_t n, int64_t first, int64_t k, float beta)
{
    const int64_t a_stride = g->ta ? g->m : g->k, b_stride = g->tb ? g->k : g->n;
    const float *a = g->ta ? g->a + first * a_stride + row : g->a + row * a_stride + first;
    const float *b = g->tb ? g->b + col * b_stride + first : g->b + first * b_stride + col;
    if (gemm_is_narrow(g)) {
        gemm_panels(g, c, row, m, col, n, first, k, beta);
        return;
    }
    blas_product(g->ta ? CblasTrans : CblasNoTrans, g->tb ? CblasTrans : CblasNoTrans, (int)m,
                 (int)n, (int)k, g->alpha, a, (int)a_stride, b, (int)b_stride, beta, c, (int)g->n);
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
    const int64_t tile_rows = gemm_tile_rows(g), tile_cols = g->m <= tile_rows ? TILE_COLS : g->n;
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

static void gemm_inner_blocks(const struct gemm *g, float *partial, int64_t inner,
                              struct worker who)
{
    const int64_t blocks = (g->k + inner - 1) / inner, size = g->m * g->n;
    int64_t from, to;
    team_range(who, blocks, 1, &from, &to);
    for (int64_t b = from; b < to; b++) {
        const int64_t first = b * inner, k = g->k - first < inner ? g->k - first : inner;
        float *c = partial + b * size;
        if (gemm_is_tall(g, inner) && !gemm_is_narrow(g)) {
            memset(c, 0, (size_t)size * sizeof *c);
            simd_best()->tall_product(c, g->a + first * g->m, g->b + first * g->n, g->m, g->n, k);
        } else {
            gemm_piece(g, c, 0, g->m, 0, g->n, first, k, 0);
        }
    }
    team_barrier(who);
    team_range(who, size, 16, &from, &to);
    for (int64_t i = from; i < to; i++) {
        float sum = g->beta == 0 ? 0 : g->beta * g->c[i];
        for (int64_t b = 0; b < blocks; b++)
            sum += partial[b * size + i];
        g->c[i] = sum;
    }
}

void gemm_run(const struct gemm *g, void *scratch, struct worker who)
{
    gemm_single_thread();
    if (g->m < 1 || g->n < 1)
        return;
    const int64_t inner = gemm_inner(g->m, g->n, g->k, g->ta);
    if (!gemm_is_narrow(g))
        gemm_warm_up();
    if (g->k < 1)
        gemm_scale(g, who);
    else if (inner == g->k)
        gemm_tiles(g, who);
    else
        gemm_inner_blocks(g, scratch, inner, who);
}
