/* Chooses the vector kernels for this processor. The choice depends only on the processor and the
 * environment variable CONSM_SIMD. */
#include "cpu/simd.h"

#include "base/processor.h"

#include <stdatomic.h>
#include <stdio.h>
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
    if (i == 1 && processor_width() >= PROCESSOR_AVX2)
        return &simd_table_avx2;
    if (i == 2 && processor_width() >= PROCESSOR_AVX512)
        return &simd_table_avx512;
#endif
    return NULL;
}

const struct simd *simd_named(const char *name)
{
    const struct simd *set;
    for (int i = 0; (set = simd_table(i)) != NULL; i++)
        if (strcmp(name, set->name) == 0 || (i == 0 && strcmp(name, "base") == 0))
            return set;
    return NULL;
}

consm_status simd_check(void)
{
    const char *asked = getenv("CONSM_SIMD");
    char names[64] = "";
    const struct simd *set;
    if (!asked || simd_named(asked))
        return CONSM_OK;
    for (int i = 0; (set = simd_table(i)) != NULL; i++) {
        size_t used = strlen(names);
        if (strcmp(set->name, "base") != 0)
            snprintf(names + used, sizeof names - used, ", %s", set->name);
    }
    return status_fail(CONSM_EINVAL, "CONSM_SIMD is %.40s: on this machine expected base%s", asked,
                       names);
}

static const struct simd *choose(void)
{
    const char *asked = getenv("CONSM_SIMD");
    const struct simd *best = asked ? simd_named(asked) : NULL, *next;
    for (int i = 0; !best && (next = simd_table(i)) != NULL; i++)
        if (!simd_table(i + 1))
            best = next;
    return best;
}

/* If several threads ask first at the same time, they get the same answer. */
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
