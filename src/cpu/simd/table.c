/* The table of this instruction set's kernels. */
#include "cpu/simd/repeat.h"
#include "cpu/simd/vec.h"

/* Enough chains to hide the latency, few enough for the registers. */
#if defined(__x86_64__) && !defined(__AVX512F__)
#define PEAK_COUNT 12
#else
#define PEAK_COUNT 24
#endif
#define PEAK_DECLARE(i) \
    vf a##i = v_load(out + (i)); /* all different, or one would serve for both */
#define PEAK_FMA(i) a##i = v_fma(left, right, a##i);
#define PEAK_SUM(i) sum = sum + a##i;
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

/* A row of PEAK_ROW floats in registers while rows are read. */
enum { PEAK_VECTORS = PEAK_ROW / LANES, PEAK_AHEAD = 12, PEAK_EARLY = 40 };
void SIMD(gather_peak)(float *out, const float *x, const int32_t *row, int64_t from, int64_t to)
{
    vf sum[PEAK_VECTORS];
#pragma GCC unroll 16
    for (int v = 0; v < PEAK_VECTORS; v++)
        sum[v] = v_set(0);
    for (int64_t k = from; k < to; k++) {
        const float *here = x + row[k] * (int64_t)PEAK_ROW;
        const float *ahead = x + row[k + PEAK_AHEAD < to ? k + PEAK_AHEAD : k] * (int64_t)PEAK_ROW;
        const float *early = x + row[k + PEAK_EARLY < to ? k + PEAK_EARLY : k] * (int64_t)PEAK_ROW;
        for (int c = 0; c < PEAK_ROW; c += 16) {
            __builtin_prefetch(early + c, 0, 2);
            __builtin_prefetch(ahead + c);
        }
#pragma GCC unroll 16
        for (int v = 0; v < PEAK_VECTORS; v++)
            sum[v] = sum[v] + v_load(here + v * LANES);
    }
#pragma GCC unroll 16
    for (int v = 0; v < PEAK_VECTORS; v++)
        v_store(out + v * LANES, sum[v]);
}

#define SIMD_STRING2(s)   #s
#define SIMD_STRING(s)    SIMD_STRING2(s)
#define SIMD_ENTRY(entry) .entry = SIMD(entry),

#if defined(__aarch64__)
#define SIMD_CALLED "neon" /* every aarch64 processor has it: the base set is the same */
#else
#define SIMD_CALLED SIMD_STRING(SIMD_NAME)
#endif

extern const struct simd SIMD(table);
const struct simd SIMD(table) = {.name = SIMD_CALLED,
                                 .lanes = LANES,
                                 .panel_width = LANES == 16 ? 32 : 16,
                                 .peak_chains = PEAK_COUNT,
                                 SIMD_KERNELS(SIMD_ENTRY)};
