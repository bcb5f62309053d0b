/* The table of this instruction set's kernels. */
#include "cpu/simd/vec.h"

#define SIMD_STRING2(s)   #s
#define SIMD_STRING(s)    SIMD_STRING2(s)
#define SIMD_ENTRY(entry) .entry = SIMD(entry),

extern const struct simd SIMD(table);
const struct simd SIMD(table) = {
    .name = SIMD_STRING(SIMD_NAME), .lanes = LANES, SIMD_KERNELS(SIMD_ENTRY)};
