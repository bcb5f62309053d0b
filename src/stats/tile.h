/* exp and log for TILE rows of logits at once, compiled for every instruction set (src/stats/simd).
 * Multiply-adds are never fused and every row has its own lane, so all sets give the same bits. */
#ifndef STATS_TILE_H
#define STATS_TILE_H

#include <stdint.h>

enum { TILE = 16 };

/* x (classes, TILE) of at least two classes: on return without each row's largest. all (TILE)
 * becomes log Σ exp(x). For classes k of [from, to) rest (classes, TILE) becomes log Σ_{i≠k}
 * exp(x_i), which is exact also where k is the largest; the rest of it is overwritten. In all, a
 * row with a number that is not finite, or whose terms beside the largest underflow, is NaN. */
typedef void tile_fn(double *x, double *rest, double *all, int64_t classes, int64_t from,
                     int64_t to);

/* The widest set that this processor can run. */
tile_fn *tile_best(void);

/* Those that run here, narrowest first, then NULL. For tests. */
tile_fn *tile_table(int i);

#endif
