/* Asks CPUID what the processor supports, and XCR0 which registers the system saves. */
#include "base/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

static uint64_t saved_registers(void)
{
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static enum processor_width ask(void)
{
    const unsigned osxsave = 1u << 27, fma = 1u << 12, avx = 1u << 28;
    const unsigned avx2 = 1u << 5, avx512f = 1u << 16, avx512vl = 1u << 31;
    const uint64_t ymm = 0x6, zmm = 0xe6;
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (osxsave | fma | avx)) != (osxsave | fma | avx))
        return PROCESSOR_BASE;
    uint64_t saved = saved_registers();
    if ((saved & ymm) != ymm || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & avx2))
        return PROCESSOR_BASE;
    bool wide = (saved & zmm) == zmm && (b & avx512f) && (b & avx512vl);
    return wide ? PROCESSOR_AVX512 : PROCESSOR_AVX2;
}

/* If several threads ask first at the same time, they get the same answer. */
enum processor_width processor_width(void)
{
    static atomic_int known = -1;
    int width = atomic_load_explicit(&known, memory_order_relaxed);
    if (width < 0) {
        width = ask();
        atomic_store_explicit(&known, width, memory_order_relaxed);
    }
    return (enum processor_width)width;
}

#else

enum processor_width processor_width(void)
{
    return PROCESSOR_BASE;
}

#endif
