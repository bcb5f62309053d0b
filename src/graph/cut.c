/* Ranges of rows of equal weight. */
#include "graph/cut.h"

enum { ALIGN_ROWS = 16, ALIGN_FROM = 64 }; /* rows a part, from which on cuts are at multiples */

/* First row at which the running weight reaches target. */
static int64_t crossing(const int64_t *weight, int64_t rows, int64_t target)
{
    int64_t low = 0, high = rows;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (weight[middle] < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void cut_rows(int64_t *cut, const int64_t *weight, int64_t rows, int parts)
{
    cut[0] = 0;
    for (int p = 1; p < parts; p++) {
        int64_t at = weight ? crossing(weight, rows, (weight[rows] * p + parts - 1) / parts)
                            : rows * p / parts;
        if (rows >= (int64_t)ALIGN_FROM * parts)
            at = (at + ALIGN_ROWS / 2) / ALIGN_ROWS * ALIGN_ROWS;
        at = at < rows ? at : rows;
        cut[p] = at > cut[p - 1] ? at : cut[p - 1];
    }
    cut[parts] = rows;
}
