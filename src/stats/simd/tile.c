/* Sums of exp and their logarithms for rows of logits, in vectors of double. */
#include "stats/tile.h"

#include <string.h>

#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX2__)
#define LANES 4
#else
#define LANES 2
#endif
#define INLINE static inline __attribute__((always_inline))

typedef double vd __attribute__((vector_size(8 * LANES)));
typedef uint64_t vw __attribute__((vector_size(8 * LANES)));

INLINE vd v_load(const double *p)
{
    vd v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void v_store(double *p, vd v)
{
    memcpy(p, &v, sizeof v);
}
INLINE vd v_and(vw mask, vd v)
{
    return (vd)(mask & (vw)v);
}
INLINE vd v_select(vw mask, vd yes, vd no)
{
    return (vd)((mask & (vw)yes) | (~mask & (vw)no));
}

/* ln 2 in two parts: the first has zeros at its end, so that n times it is exact. */
static const double LEAST = -708, LN2_HIGH = 0x1.62e42feep-1, LN2_LOW = 0x1.a39ef35793c76p-33;

/* e^x for x <= 0; below LEAST that of LEAST, so that the result is a normal number. x = n ln 2 + r,
 * |r| <= ln 2 / 2: e^x = 2^n e^r, and e^r is its Taylor series, in pairs of terms, which shortens
 * the chain of dependent operations. Adding 1.5·2^52 rounds to a whole number and leaves it in the
 * low bits. */
INLINE vd v_exp(vd x)
{
    const vd magic = (vd){0} + 0x1.8p52, least = (vd){0} + LEAST;
    x = v_select((vw)(x < least), least, x);
    const vd whole = x * 0x1.71547652b82fep+0 + magic, n = whole - magic;
    const vd r = (x - n * LN2_HIGH) - n * LN2_LOW, r2 = r * r, r4 = r2 * r2;
    const vd a = (1 + r) + r2 * (1.0 / 2 + r * (1.0 / 6));
    const vd b = (1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040));
    const vd c = (1.0 / 40320 + r * (1.0 / 362880)) +
                 r2 * (1.0 / 3628800 + r * (1.0 / 39916800) + r2 * (1.0 / 479001600));
    const vd e = a + r4 * (b + r4 * c);
    return (vd)((vw)e + ((vw)whole << 52));
}

/* log of a normal number x > 0. x = 2^n m, m in [sqrt(1/2), sqrt 2): log m = 2 atanh(s), s = (m -
 * 1) / (m + 1), |s| < 0.172, by its Taylor series. n is read off as a double by putting it into the
 * low bits of 2^52. */
INLINE vd v_log(vd x)
{
    const uint64_t root = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000, far = 0x4330000000000000;
    const vw bits = (vw)x + (one - root);
    const vd n = (vd)((bits >> 52) | far) - (0x1p52 + 1023);
    const vd m = (vd)((bits & 0xfffffffffffff) + root);
    const vd s = (m - 1) / (m + 1), s2 = s * s, s4 = s2 * s2;
    const vd a = (1.0 / 3 + s2 * (1.0 / 5)) + s4 * (1.0 / 7 + s2 * (1.0 / 9));
    const vd b = (1.0 / 11 + s2 * (1.0 / 13)) + s4 * (1.0 / 15 + s2 * (1.0 / 17) + s4 * (1.0 / 19));
    const vd twice = s + s;
    return n * LN2_HIGH + (twice + (twice * s2 * (a + s4 * s4 * b) + n * LN2_LOW));
}

/* Terms below 1 are added apart from those of the largest logits, which are 1: the sum without one
 * of these has all its digits. */
struct sums {
    vd below, ones;
};

/* x becomes x - top, term its exp. *odd is NaN if a number is not finite. */
INLINE struct sums take_terms(double *x, double *term, vd *odd, int64_t classes)
{
    struct sums s = {{0}, {0}};
    vd top = v_load(x);
    *odd = (vd){0};
    for (int64_t k = 1; k < classes; k++) {
        const vd v = v_load(x + k * TILE);
        top = v_select((vw)(v > top), v, top);
    }
    for (int64_t k = 0; k < classes; k++) {
        const vd v = v_load(x + k * TILE) - top, e = v_exp(v);
        const vw less = (vw)(e < 1);
        v_store(x + k * TILE, v);
        v_store(term + k * TILE, e);
        s.below += v_and(less, e);
        s.ones += v_and(~less, (vd){0} + 1);
        *odd += v - v;
    }
    return s;
}

#define PASTE(set)  tile_##set
#define EXPAND(set) PASTE(set)

tile_fn EXPAND(SIMD_NAME);
void EXPAND(SIMD_NAME)(double *x, double *rest, double *all, int64_t classes, int64_t from,
                       int64_t to)
{
    for (int64_t r = 0; r < TILE; r += LANES) {
        vd odd;
        const struct sums s = take_terms(x + r, rest + r, &odd, classes);
        const vd sum = s.below + s.ones, least = s.below + (s.ones - 1);
        const vw plain = (vw)(odd == 0) & (vw)(least > 0x1p-900);
        for (int64_t k = from; k < to; k++) {
            double *at = rest + k * TILE + r;
            const vd e = v_load(at);
            v_store(at, v_log(v_select((vw)(e < 1), sum - e, least)));
        }
        v_store(all + r, v_select(plain, v_log(sum), (vd){0} + __builtin_nan("")));
    }
}
