/* Sums in eight fixed lanes: the same bits everywhere, and the compiler can keep the lanes in
 * vector registers. */
#ifndef OT_LANES_H
#define OT_LANES_H

#include <stdint.h>

enum { LANES = 8 };

static inline double sum_lanes(const double lane[LANES])
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static inline int64_t whole_lanes(int64_t n)
{
    return (n + LANES - 1) / LANES * LANES;
}

#endif
