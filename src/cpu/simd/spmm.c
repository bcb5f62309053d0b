/* Sparse times dense. A strip of up to STRIP vectors of columns stays in registers over a row's
 * entries. The strips of a group of rows follow each other, so that the group's indices stay in the
 * first-level cache. All widths use the same strips: rows of at least LANES columns in full
 * vectors, of at least 4 in vectors of four, narrower ones in scalars. */
#include "cpu/simd/spmm.h"

#include "cpu/simd/repeat.h"

/* ---- strips of full vectors ---------------------------------------------- */
#define ROWS_V     vf
#define ROWS_LANES LANES
#define ROWS_DO(f) v_##f
#if defined(__x86_64__) && !defined(__AVX512F__)
#define STRIP 8 /* sixteen registers: eight sums, the weight, loads */
#else
#define STRIP 16
#endif
#define ROWS_NAME strip_1
#define ROWS_HEAD 0
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME strip_2
#define ROWS_HEAD 1
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME strip_3
#define ROWS_HEAD 2
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME strip_4
#define ROWS_HEAD 3
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME strip_5
#define ROWS_HEAD 4
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME strip_6
#define ROWS_HEAD 5
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME strip_7
#define ROWS_HEAD 6
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME strip_8
#define ROWS_HEAD 7
#include "cpu/simd/spmm_rows.h"
#if STRIP == 16
#define ROWS_NAME strip_9
#define ROWS_HEAD 8
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME strip_10
#define ROWS_HEAD 9
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME strip_11
#define ROWS_HEAD 10
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME strip_12
#define ROWS_HEAD 11
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME strip_13
#define ROWS_HEAD 12
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME strip_14
#define ROWS_HEAD 13
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME strip_15
#define ROWS_HEAD 14
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME strip_16
#define ROWS_HEAD 15
#include "cpu/simd/spmm_rows.h"
#endif
#undef ROWS_V
#undef ROWS_LANES
#undef ROWS_DO

/* ---- vectors of four, for 4 … LANES-1 columns ---------------------------- */
#if LANES > 4
#define ROWS_V     v4
#define ROWS_LANES 4
#define ROWS_DO(f) v4_##f
#define ROWS_NAME  four_1
#define ROWS_HEAD  0
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME four_2
#define ROWS_HEAD 1
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME four_3
#define ROWS_HEAD 2
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME four_4
#define ROWS_HEAD 3
#include "cpu/simd/spmm_rows.h"
#undef ROWS_V
#undef ROWS_LANES
#undef ROWS_DO
#endif

/* ---- scalars, for 1 … 3 columns ------------------------------------------ */
INLINE float s_load(const float *p)
{
    return *p;
}
INLINE void s_store(float *p, float s)
{
    *p = s;
}
INLINE float s_set(float s)
{
    return s;
}
#define ROWS_V     float
#define ROWS_LANES 1
#define ROWS_DO(f) s_##f
#define ROWS_NAME  scalar_1
#define ROWS_HEAD  0
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME scalar_2
#define ROWS_HEAD 1
#include "cpu/simd/spmm_rows.h"
#define ROWS_NAME scalar_3
#define ROWS_HEAD 2
#include "cpu/simd/spmm_rows.h"

typedef void strip_fn(const struct spmm_job *, int64_t, int64_t, int64_t, int64_t, int64_t);
static strip_fn *const full_strips[] = {
    strip_1, strip_2,  strip_3,  strip_4,  strip_5,  strip_6,  strip_7,  strip_8,
#if STRIP == 16
    strip_9, strip_10, strip_11, strip_12, strip_13, strip_14, strip_15, strip_16,
#endif
};
static strip_fn *const scalar_strips[] = {scalar_1, scalar_2, scalar_3};
#if LANES > 4
static strip_fn *const four_strips[] = {four_1, four_2, four_3, four_4};
#endif

void SIMD(spmm_strips)(const struct spmm_job *job, int64_t from, int64_t to)
{
    const int64_t width = job->width;
    if (width < 4) {
        scalar_strips[width - 1](job, 0, width - 1, 0, from, to);
        return;
    }
#if LANES > 4
    if (width < LANES) {
        four_strips[(width + 3) / 4 - 1](job, 0, width - 4, 0, from, to);
        return;
    }
#endif
    /* Strips of nearly equal size: the overlapping last vector is then inside its own strip, which
     * an `add` that is y itself needs. */
    const int64_t vectors = (width + LANES - 1) / LANES, strips = (vectors + STRIP - 1) / STRIP;
    for (int64_t s = 0; s < strips; s++) {
        const int64_t first = vectors * s / strips, stop = vectors * (s + 1) / strips;
        int64_t last = (stop - 1) * LANES;
        if (last > width - LANES)
            last = width - LANES;
        const int64_t then = s + 1 < strips ? stop * LANES : 0;
        full_strips[stop - first - 1](job, first * LANES, last, then, from, to);
    }
}

void SIMD(spmm)(float *y, const struct sparse *a, const float *x, int64_t width,
                const struct epilogue *end, int64_t from, int64_t to)
{
    struct spmm_job job = {.y = y,
                           .x = x,
                           .add = end ? end->add : NULL,
                           .bias = end ? end->bias : NULL,
                           .stride = width,
                           .width = width,
                           .start = a->start,
                           .col = a->col,
                           .val = a->val,
                           .index = a->index,
                           .val_stride = 1,
                           .kind = !a->val    ? SPMM_ONES
                                   : a->index ? SPMM_LOOKED_UP
                                              : SPMM_VALUES,
                           .end = end};
    if (width < 1)
        return;
    job.reach = spmm_reach(&job, from, to);
    job.limit = job.start[to];
    for (int64_t r = from; r < to;) {
        int64_t stop = spmm_group_end(r, to, width);
        SIMD(spmm_strips)(&job, r, stop);
        if (end && end->drop)
            SIMD(dropout)(y, y, end->drop, r * width, stop * width);
        r = stop;
    }
}
