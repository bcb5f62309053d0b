/* Standardises columns of a table to mean 0 and deviation 1. */
#ifndef STATS_COLUMNS_H
#define STATS_COLUMNS_H

#include "base/alloc.h"

/* shift = mean of each column of x (n, f), scale = 1/deviation; constant columns keep scale 1. */
consm_status columns_measure(float *shift, float *scale, const float *x, int64_t n, int64_t f);

/* Its steps, for rows that come in pieces, in order: sum and squares (f) begin with zeros, x (rows,
 * f) are some of n rows; squares need the sums of all rows. */
void columns_add(double *sum, const float *x, int64_t rows, int64_t f);
void columns_add_squares(double *squares, const double *sum, const float *x, int64_t rows,
                         int64_t f, int64_t n);
void columns_settle(float *shift, float *scale, const double *sum, const double *squares, int64_t f,
                    int64_t n);

#endif
