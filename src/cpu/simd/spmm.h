/* What the two sparse products share: a product cut into strips of columns. */
#ifndef CPU_SIMD_SPMM_H
#define CPU_SIMD_SPMM_H

#include "cpu/simd/vec.h"

enum spmm_kind { SPMM_ONES, SPMM_VALUES, SPMM_LOOKED_UP };

/* y and x are rows of `stride` floats, of which the first `width` take part. */
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
    const struct epilogue *end;
};

/* All columns of rows [from, to), without dropout. */
void SIMD(spmm_strips)(const struct spmm_job *job, int64_t from, int64_t to);

/* First row behind r whose rows together have at least `work` elements of the given width: groups
 * small enough to still lie in the first-level cache when the next step reads them. */
INLINE int64_t spmm_group_end(int64_t r, int64_t to, int64_t width, int64_t work)
{
    int64_t rows = work / width + 1;
    return to - r < rows ? to : r + rows;
}

#endif
