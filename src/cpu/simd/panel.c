/* Dense products over a packed panel of B: as many columns of C at a time as the registers hold for
 * several rows. An element's sum runs over k in order, however rows are grouped, so any range gives
 * the same bits. */
#include "cpu/simd/vec.h"

/* Rows of C at a time: with two vectors of columns twelve, where there are 32 wide registers. */
enum { MOST_ROWS = LANES == 16 ? 12 : 8 };

void SIMD(panel_pack)(float *panel, const float *b, int64_t b_inner, int64_t b_col, int64_t n,
                      int64_t k, float alpha)
{
    const int64_t width = (n + LANES - 1) / LANES * LANES;
    for (int64_t i = 0; i < k; i++) {
        int64_t c = 0;
        for (; b_col == 1 && c + LANES <= n; c += LANES)
            v_store(panel + i * width + c, v_set(alpha) * v_load(b + i * b_inner + c));
        if (b_col == 1 && c < n) {
            v_store(panel + i * width + c,
                    v_set(alpha) * v_load_part(b + i * b_inner + c, n - c, 0));
            continue;
        }
        for (; c < n; c++)
            panel[i * width + c] = alpha * b[i * b_inner + c * b_col];
        for (; c < width; c++)
            panel[i * width + c] = 0;
    }
}

/* How elements of A are read: one at a time (x86 broadcasts from memory for free), or in vectors
 * along the inner dimension or along the rows, multiplied lane by lane (free on aarch64).
 * READ_COLUMN is one at a time if rows of C are columns of A. */
enum panel_reading { READ_SINGLE, READ_INNER, READ_ROWS, READ_COLUMN };

/* sum[r][v] += w[r] b[v] for the row of the panel at b */
INLINE void panel_step(vf sum[MOST_ROWS][4], const vf w[MOST_ROWS], const float *panel,
                       const int rows, const int vectors)
{
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        const vf b = v_load(panel + v * LANES);
#pragma GCC unroll 12
        for (int r = 0; r < rows; r++)
            sum[r][v] = v_fma(w[r], b, sum[r][v]);
    }
}

/* All sums of `rows` rows by `vectors` vectors of columns; these and `reading` are constants after
 * inlining. */
INLINE void panel_sums(vf sum[MOST_ROWS][4], const struct panel *p, const float *panel, int64_t row,
                       const int rows, const int vectors, const enum panel_reading reading)
{
    const float *a = p->a + row * p->a_row;
    int64_t i = 0;
    vf w[MOST_ROWS], lanes[MOST_ROWS];
    if (reading == READ_INNER)
        for (; i + LANES <= p->k; i += LANES, a += LANES) {
#pragma GCC unroll 12
            for (int r = 0; r < rows; r++)
                lanes[r] = v_load(a + r * p->a_row);
#pragma GCC unroll 4
            for (int l = 0; l < LANES; l++, panel += vectors * LANES) {
#pragma GCC unroll 12
                for (int r = 0; r < rows; r++)
                    w[r] = v_set(lanes[r][l]);
                panel_step(sum, w, panel, rows, vectors);
            }
        }
    for (; i < p->k; i++, a += p->a_inner, panel += vectors * LANES) {
        if (reading == READ_ROWS)
#pragma GCC unroll 2
            for (int r = 0; r < rows; r += LANES)
                lanes[r / LANES] = v_load(a + r);
#pragma GCC unroll 12
        for (int r = 0; r < rows; r++)
            w[r] = v_set(reading == READ_ROWS ? lanes[r / LANES][r % LANES] : a[r * p->a_row]);
        panel_step(sum, w, panel, rows, vectors);
    }
}

/* C of `rows` rows = sum + beta C */
COPIED void panel_finish(const struct panel *p, vf sum[MOST_ROWS][4], int64_t row, const int rows,
                         const int vectors)
{
    const vf beta = v_set(p->beta);
#pragma GCC unroll 12
    for (int r = 0; r < rows; r++) {
        float *c = p->c + (row + r) * p->c_row;
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            const int64_t left = p->n - v * LANES;
            vf y = sum[r][v];
            if (p->beta != 0)
                y = v_fma(
                    beta,
                    left >= LANES ? v_load(c + v * LANES) : v_load_part(c + v * LANES, left, 0), y);
            if (left >= LANES)
                v_store(c + v * LANES, y);
            else
                v_store_part(c + v * LANES, y, left);
        }
    }
}

/* Copies sums; a loop over constants, so that they stay in registers. */
INLINE void panel_copy(vf to[MOST_ROWS][4], vf from[MOST_ROWS][4], const int rows,
                       const int vectors)
{
#pragma GCC unroll 12
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            to[r][v] = from ? from[r][v] : v_set(0);
}

INLINE void panel_block(const struct panel *p, const float *panel, int64_t row, const int rows,
                        const int vectors, const enum panel_reading reading)
{
    vf sum[MOST_ROWS][4];
    panel_copy(sum, NULL, rows, vectors);
    panel_sums(sum, p, panel, row, rows, vectors, reading);
    panel_finish(p, sum, row, rows, vectors);
}

/* If rows of C are columns of A, a block of them would read a little of every row of A, but memory
 * is faster in order. So all blocks of a group go through a few rows of A together and store their
 * sums: the same additions in the same order. */
enum { GROUP_BLOCKS = 8, GROUP_INNER = 16 };
INLINE void panel_group(const struct panel *p, const float *panel, int64_t row, int64_t blocks,
                        const int rows, const int vectors, const enum panel_reading reading)
{
    vf kept[GROUP_BLOCKS][MOST_ROWS][4], sum[MOST_ROWS][4];
    struct panel part = *p;
    for (int64_t i = 0; i < p->k || i == 0; i += GROUP_INNER) {
        part.a = p->a + i * p->a_inner;
        part.k = p->k - i < GROUP_INNER ? p->k - i : GROUP_INNER;
        for (int64_t b = 0; b < blocks; b++) {
            panel_copy(sum, i ? kept[b] : NULL, rows, vectors);
            panel_sums(sum, &part, panel + i * vectors * LANES, row + b * rows, rows, vectors,
                       reading);
            panel_copy(kept[b], sum, rows, vectors);
        }
    }
    for (int64_t b = 0; b < blocks; b++)
        panel_finish(p, kept[b], row + b * rows, rows, vectors);
}

/* `rows` rows at a time, as many as the registers hold with `vectors` vectors; then one by one (or
 * first four by four, if a single one would mostly wait for itself). */
#define PANEL_ROWS(rows, vectors, reading)                                                 \
    do {                                                                                   \
        int64_t r = from;                                                                  \
        while (((reading) == READ_ROWS || (reading) == READ_COLUMN) && r + (rows) <= to) { \
            const int64_t left = (to - r) / (rows);                                        \
            const int64_t blocks = left < GROUP_BLOCKS ? left : GROUP_BLOCKS;              \
            panel_group(p, panel, r, blocks, rows, vectors, reading);                      \
            r += blocks * (rows);                                                          \
        }                                                                                  \
        for (; r + (rows) <= to; r += (rows))                                              \
            panel_block(p, panel, r, rows, vectors, reading);                              \
        for (; LANES > 4 && r + 4 <= to; r += 4)                                           \
            panel_block(p, panel, r, 4, vectors, READ_SINGLE);                             \
        for (; r < to; r++)                                                                \
            panel_block(p, panel, r, 1, vectors, READ_SINGLE);                             \
    } while (0)

#if defined(__aarch64__)
/* Rows read along the inner dimension may be any number; with four vectors, five rows fill the
 * registers. */
#define PANEL_VECTORS(rows, vectors)                                      \
    do {                                                                  \
        if (p->a_inner == 1)                                              \
            PANEL_ROWS((vectors) == 4 ? 5 : (rows), vectors, READ_INNER); \
        else if (p->a_row == 1)                                           \
            PANEL_ROWS(rows, vectors, READ_ROWS);                         \
        else                                                              \
            PANEL_ROWS(1, vectors, READ_SINGLE);                          \
    } while (0)
#else
/* Columns of A are mostly a power of two: use a number of rows that divides it. */
#define PANEL_VECTORS(rows, vectors)                                                       \
    do {                                                                                   \
        if (p->a_row == 1 && p->a_inner != 1)                                              \
            PANEL_ROWS((rows) == 12 ? 8 : (rows) == 6 ? 4 : (rows), vectors, READ_COLUMN); \
        else                                                                               \
            PANEL_ROWS(rows, vectors, READ_SINGLE);                                        \
    } while (0)
#endif

void SIMD(panel_product)(const struct panel *p, const float *panel, int64_t from, int64_t to)
{
    switch ((p->n + LANES - 1) / LANES) {
    case 1: PANEL_VECTORS(8, 1); break;
#if LANES == 4
    case 2: PANEL_VECTORS(8, 2); break;
    case 3: PANEL_VECTORS(4, 3); break;
    case 4: PANEL_VECTORS(4, 4); break;
#elif LANES == 8
    case 2: PANEL_VECTORS(6, 2); break;
#elif LANES == 16
    case 2: PANEL_VECTORS(12, 2); break;
#endif
    default: break;
    }
}
