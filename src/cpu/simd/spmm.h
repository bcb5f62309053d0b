/* Shared by the two sparse products: a product divided into strips of columns. */
#ifndef CPU_SIMD_SPMM_H
#define CPU_SIMD_SPMM_H

#include "cpu/simd/vec.h"

/* Entries between a prefetch and its use: into the first-level cache, into the second. */
enum { SPMM_AHEAD = 12, SPMM_EARLY = 40 };

/* Rows between a prefetch of entries and their use, if rows are cut. */
enum { SPMM_CUT_AHEAD = 4 };

/* How much of x the rows read: about the first-level cache, up to a core's caches, or more. */
enum spmm_reach { SPMM_NEAR, SPMM_MIDDLE, SPMM_FAR };

enum spmm_kind { SPMM_ONES, SPMM_VALUES, SPMM_LOOKED_UP };

/* y and x are rows of `stride` floats, of which the first `width` are used. */
struct spmm_job {
    float *y;
    const float *x, *add, *bias;
    int64_t stride, width;
    const int64_t *start;
    const int32_t *col;
    const float *val;
    const int64_t *index;
    int64_t val_stride; /* entry k has its value at val[k·val_stride]; used by SPMM_LOOKED_UP */
    enum spmm_kind kind;
    enum spmm_reach reach;
    int64_t limit; /* entries after this one belong to others and are not prefetched */
    const struct epilogue *end;
};

/* How far rows [from, to) reach: columns ascend, so the last entries of a few rows tell. Only speed
 * depends on it. */
INLINE enum spmm_reach spmm_reach(const struct spmm_job *j, int64_t from, int64_t to)
{
    int64_t furthest = 0;
    const int64_t step = (to - from) / 8 + 1;
    for (int64_t r = from; r < to; r += step)
        if (j->start[r] < j->start[r + 1] && j->col[j->start[r + 1] - 1] > furthest)
            furthest = j->col[j->start[r + 1] - 1];
    const int64_t bytes = furthest * j->stride * (int64_t)sizeof(float);
    return bytes < 192 << 10 ? SPMM_NEAR : bytes < 8 << 20 ? SPMM_MIDDLE : SPMM_FAR;
}

/* keep[k·heads+h]: dropout's factor of element entry[k]·heads + h, for entries in any order. */
void SIMD(dropout_lookup)(float *keep, const struct dropout *d, const int64_t *entry, int64_t count,
                          int64_t heads);

/* All columns of rows [from, to), without dropout. */
void SIMD(spmm_strips)(const struct spmm_job *job, int64_t from, int64_t to);

/* First row of the next group. Groups fit into the first-level cache for the next step, and start
 * at multiples of 2048 elements if the width allows, which suits dropout. */
INLINE int64_t spmm_group_end(int64_t r, int64_t to, int64_t width)
{
    const int64_t rows = width <= 4096 ? 4096 / width : 1, stop = (r / rows + 1) * rows;
    return stop < to ? stop : to;
}

#endif
