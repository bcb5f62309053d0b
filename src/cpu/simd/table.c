/* The table of this instruction set's kernels. */
#include "cpu/simd/repeat.h"
#include "cpu/simd/vec.h"

/* Twelve chains hide the latency of four cycles on up to three units, and fit sixteen registers. */
#define PEAK_DECLARE(i) vf a##i = v_set((float)(i));
#define PEAK_FMA(i)     a##i = v_fma(factor, factor, a##i);
#define PEAK_SUM(i)     sum = sum + a##i;
void SIMD(fma_peak)(float *out, int64_t rounds)
{
    const vf factor = v_set(*out);
    vf sum = factor;
    REPEAT(12, PEAK_DECLARE)
    for (int64_t i = 0; i < rounds; i++) {
        REPEAT(12, PEAK_FMA)
    }
    REPEAT(12, PEAK_SUM)
    *out = v_sum(sum);
}

#define SIMD_STRING2(s)   #s
#define SIMD_STRING(s)    SIMD_STRING2(s)
#define SIMD_ENTRY(entry) .entry = SIMD(entry),

extern const struct simd SIMD(table);
const struct simd SIMD(table) = {
    .name = SIMD_STRING(SIMD_NAME), .lanes = LANES, SIMD_KERNELS(SIMD_ENTRY)};
