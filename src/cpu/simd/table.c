/* The table of this instruction set's kernels. */
#include "cpu/simd/repeat.h"
#include "cpu/simd/vec.h"

/* Enough chains to hide the latency on every unit, few enough for the registers there are. */
#if defined(__x86_64__) && !defined(__AVX512F__)
#define PEAK_COUNT 12
#else
#define PEAK_COUNT 24
#endif
#define PEAK_DECLARE(i) vf a##i = v_load(out + (i) % 8);
#define PEAK_FMA(i)     a##i = v_fma(left, right, a##i);
#define PEAK_SUM(i)     sum = sum + a##i;
void SIMD(fma_peak)(float *out, int64_t rounds)
{
    const vf left = v_load(out), right = v_load(out + 1);
    vf sum = left;
    REPEAT(PEAK_COUNT, PEAK_DECLARE)
    do {
        REPEAT(PEAK_COUNT, PEAK_FMA)
    } while (--rounds != 0);
    REPEAT(PEAK_COUNT, PEAK_SUM)
    *out = v_sum(sum);
}

#define SIMD_STRING2(s)   #s
#define SIMD_STRING(s)    SIMD_STRING2(s)
#define SIMD_ENTRY(entry) .entry = SIMD(entry),

#if defined(__aarch64__)
#define SIMD_CALLED "neon" /* every aarch64 processor has it: the base set is no other */
#else
#define SIMD_CALLED SIMD_STRING(SIMD_NAME)
#endif

extern const struct simd SIMD(table);
const struct simd SIMD(table) = {
    .name = SIMD_CALLED, .lanes = LANES, .peak_chains = PEAK_COUNT, SIMD_KERNELS(SIMD_ENTRY)};
