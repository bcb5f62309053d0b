/* Shared by the tests of the vector kernels: random arrays without slack, so that AddressSanitizer
 * detects a step outside, and runs in ranges of every kind. */
#ifndef TESTS_SIMD_CHECK_H
#define TESTS_SIMD_CHECK_H

#include "check.h"

#include "base/rng.h"
#include "cpu/simd.h"
#include <math.h>

#define HELPER static inline __attribute__((unused))

HELPER float *floats(struct rng *r, int64_t count)
{
    float *p = malloc(sizeof(float) * (count > 0 ? (size_t)count : 1));
    assert_non_null(p);
    for (int64_t i = 0; i < count; i++)
        p[i] = r ? (float)(rng_uniform(r) * 2 - 1) : NAN;
    return p;
}

HELPER float *copy(const float *x, int64_t count)
{
    float *p = floats(NULL, count);
    memcpy(p, x, sizeof(float) * (size_t)count);
    return p;
}

HELPER void release(float **all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(all[i]);
}
#define RELEASE(...)                            \
    do {                                        \
        float *all[] = {__VA_ARGS__};           \
        release(all, sizeof all / sizeof *all); \
    } while (0)

HELPER void same_bits(const float *a, const float *b, int64_t count)
{
    assert_memory_equal(a, b, sizeof(float) * (size_t)count);
}

/* Runs the statement whole into `out`, then in ranges of 1, 5 and 13 into `again`, and compares. */
#define WHOLE_AND_SHARED(n, out, again, size, statement)            \
    do {                                                            \
        static const int64_t step[] = {1 << 30, 1, 5, 13};          \
        for (int way = 0; way < 4; way++) {                         \
            float *y = way ? (again) : (out);                       \
            for (int64_t from = 0, to; from < (n); from = to) {     \
                to = (n)-from < step[way] ? (n) : from + step[way]; \
                statement;                                          \
            }                                                       \
            if (way)                                                \
                same_bits(out, again, size);                        \
        }                                                           \
    } while (0)

#define FOR_ALL_SETS(v) for (int set = 0; ((v) = simd_table(set)) != NULL; set++)

/* Dropout's rule, straight from its definition. */
HELPER bool stays(const struct dropout *d, int64_t e)
{
    uint64_t bit = (uint64_t)e * d->bits, block = bit / 128;
    uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), d->step, d->op}, word[4];
    uint32_t key[2] = {(uint32_t)d->seed, (uint32_t)(d->seed >> 32)};
    philox4x32(word, counter, key);
    return (word[bit % 128 / 32] >> bit % 32 & ((1u << d->bits) - 1)) >= d->threshold;
}

#endif
