/* Chooses the function for this processor. */
#include "stats/tile.h"

#include "base/processor.h"
#include <stddef.h>

extern tile_fn tile_base;
#if defined(__x86_64__)
extern tile_fn tile_avx2, tile_avx512;
#endif

tile_fn *tile_table(int i)
{
    if (i == 0)
        return tile_base;
#if defined(__x86_64__)
    if (i == 1 && processor_width() >= PROCESSOR_AVX2)
        return tile_avx2;
    if (i == 2 && processor_width() >= PROCESSOR_AVX512)
        return tile_avx512;
#endif
    return NULL;
}

tile_fn *tile_best(void)
{
    int best = 0;
    while (tile_table(best + 1))
        best++;
    return tile_table(best);
}
