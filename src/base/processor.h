/* The vector instructions that an x86-64 processor has and its system allows. The compilers'
 * __builtin_cpu_supports reads a variable of libgcc, which zig's runtime lacks. */
#ifndef BASE_PROCESSOR_H
#define BASE_PROCESSOR_H

enum processor_width {
    PROCESSOR_BASE,   /* what every processor of this architecture has */
    PROCESSOR_AVX2,   /* AVX2 and FMA */
    PROCESSOR_AVX512, /* AVX2, FMA, AVX-512F and AVX-512VL */
};

/* Asks the processor once and caches the answer. */
enum processor_width processor_width(void);

#endif
