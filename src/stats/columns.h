/* Columns of a table brought to mean 0 and deviation 1. */
#ifndef STATS_COLUMNS_H
#define STATS_COLUMNS_H

#include "base/alloc.h"

/* shift = mean of each column of x (n, f), scale = 1/deviation; columns that never change keep
 * scale 1. */
consm_status columns_measure(float *shift, float *scale, const float *x, int64_t n, int64_t f);

#endif
