/* Means and deviations in double, summed row by row. */
#include "stats/columns.h"

#include <math.h>

consm_status columns_measure(float *shift, float *scale, const float *x, int64_t n, int64_t f)
{
    consm_status st = CONSM_OK;
    double *sum = NULL, *squares = NULL;
    TRY(ZNEW(sum, f));
    TRY(ZNEW(squares, f));
    for (int64_t r = 0; r < n; r++)
        for (int64_t c = 0; c < f; c++)
            sum[c] += (double)x[r * f + c];
    for (int64_t r = 0; r < n; r++)
        for (int64_t c = 0; c < f; c++) {
            double away = (double)x[r * f + c] - sum[c] / (double)n;
            squares[c] += away * away;
        }
    for (int64_t c = 0; c < f; c++) {
        double deviation = sqrt(squares[c] / (double)n);
        shift[c] = (float)(sum[c] / (double)n);
        scale[c] = deviation > 1e-12 * (1 + fabs(sum[c] / (double)n)) ? (float)(1 / deviation) : 1;
    }
done:
    mem_free(sum);
    mem_free(squares);
    return st;
}
