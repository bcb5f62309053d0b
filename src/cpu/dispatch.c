/* Which vector kernels this processor runs. The answer depends on the processor and on the
 * environment variable CONSM_SIMD only. */
#include "cpu/simd.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

extern const struct simd simd_table_base;
#if defined(__x86_64__)
extern const struct simd simd_table_avx2, simd_table_avx512;
#endif

const struct simd *simd_table(int i)
{
    if (i == 0)
        return &simd_table_base;
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (i == 1 && avx2)
        return &simd_table_avx2;
    if (i == 2 && avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        return &simd_table_avx512;
#endif
    return NULL;
}

static const struct simd *choose(void)
{
    const char *asked = getenv("CONSM_SIMD");
    const struct simd *best = &simd_table_base, *next;
    for (int i = 0; (next = simd_table(i)) != NULL; i++) {
        best = next;
        if (asked && strcmp(asked, next->name) == 0)
            break;
    }
    return best;
}

/* Threads that ask at the same time for the first time find the same answer. */
const struct simd *simd_best(void)
{
    static _Atomic(const struct simd *) chosen;
    const struct simd *best = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (!best) {
        best = choose();
        atomic_store_explicit(&chosen, best, memory_order_relaxed);
    }
    return best;
}
