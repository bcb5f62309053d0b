/* Numbers in ascending order: comparisons for qsort, and a search. */
#ifndef BASE_ORDER_H
#define BASE_ORDER_H

#include <stdint.h>

static inline int order_int32(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static inline int order_float(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The first place from `from` on whose number is at least x; `to` if there is none before it. */
static inline int64_t order_first(const int32_t *list, int64_t from, int64_t to, int64_t x)
{
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (list[middle] < x)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

#endif
