/* Means and deviations of columns in double, summed row by row. */
#include "stats/columns.h"

#include <math.h>

void columns_add(double *sum, const float *x, int64_t rows, int64_t f)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < f; c++)
            sum[c] += (double)x[r * f + c];
}

void columns_add_squares(double *squares, const double *sum, const float *x, int64_t rows,
                         int64_t f, int64_t n)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < f; c++) {
            double away = (double)x[r * f + c] - sum[c] / (double)n;
            squares[c] += away * away;
        }
}

void columns_settle(float *shift, float *scale, const double *sum, const double *squares, int64_t f,
                    int64_t n)
{
    for (int64_t c = 0; c < f; c++) {
        double deviation = sqrt(squares[c] / (double)n);
        shift[c] = (float)(sum[c] / (double)n);
        scale[c] = deviation > 1e-12 * (1 + fabs(sum[c] / (double)n)) ? (float)(1 / deviation) : 1;
    }
}

consm_status columns_measure(float *shift, float *scale, const float *x, int64_t n, int64_t f)
{
    consm_status st = CONSM_OK;
    double *sum = NULL, *squares = NULL;
    TRY(ZNEW(sum, f));
    TRY(ZNEW(squares, f));
    columns_add(sum, x, n, f);
    columns_add_squares(squares, sum, x, n, f, n);
    columns_settle(shift, scale, sum, squares, f, n);
done:
    mem_free(sum);
    mem_free(squares);
    return st;
}
