/* Cuts rows into ranges of equal weight. */
#include "graph/cut.h"

enum {
    ALIGN_ROWS = 16,
    ALIGN_FROM = 64
};                  /* cuts are at multiples of ALIGN_ROWS if a part has ALIGN_FROM rows or more */
enum { NEAR = 20 }; /* a cut may move by 1/NEAR of a part's weight */

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

static int64_t align(int64_t at, int64_t rows, int parts)
{
    if (rows >= (int64_t)ALIGN_FROM * parts)
        at = (at + ALIGN_ROWS / 2) / ALIGN_ROWS * ALIGN_ROWS;
    return at < rows ? at : rows;
}

void cut_rows(int64_t *cut, const int64_t *weight, int64_t rows, int parts)
{
    cut[0] = 0;
    for (int p = 1; p < parts; p++) {
        int64_t at = weight ? crossing(weight, rows, (weight[rows] * p + parts - 1) / parts)
                            : rows * p / parts;
        at = align(at, rows, parts);
        cut[p] = at > cut[p - 1] ? at : cut[p - 1];
    }
    cut[parts] = rows;
}

static int64_t distance(const int64_t *weight, int64_t a, int64_t b)
{
    return weight[a] < weight[b] ? weight[b] - weight[a] : weight[a] - weight[b];
}

void cut_snap(int64_t *cut, const int64_t *weight, int64_t rows, int parts, const int64_t *border,
              int64_t borders)
{
    int64_t next = 0;
    for (int p = 1; p < parts && borders > 0; p++) {
        while (next + 1 < borders && border[next] < cut[p])
            next++;
        int64_t best = border[next];
        if (next > 0 &&
            distance(weight, border[next - 1], cut[p]) <= distance(weight, border[next], cut[p]))
            best = border[next - 1];
        int64_t at = align(best, rows, parts);
        if (distance(weight, best, cut[p]) <= weight[rows] / parts / NEAR && at >= cut[p - 1])
            cut[p] = at;
        cut[p] = cut[p] > cut[p - 1] ? cut[p] : cut[p - 1];
    }
}
