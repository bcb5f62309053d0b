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

/* An exp is a chain of operations that wait for each other, so SIDE vectors are computed side by
 * side: every statement is executed for all of them before the next one. */
enum { SIDE = 2, WIDTH = SIDE * LANES };
#define BOTH(statement)                  \
    do {                                 \
        for (int i = 0; i < SIDE; i++) { \
            statement;                   \
        }                                \
    } while (0)

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
INLINE void v_exp(vd *e, const vd *given)
{
    const vd magic = (vd){0} + 0x1.8p52, least = (vd){0} + LEAST;
    vd x[SIDE], whole[SIDE], n[SIDE], r[SIDE], r2[SIDE], r4[SIDE], a[SIDE], b[SIDE], c[SIDE];
    BOTH(x[i] = v_select((vw)(given[i] < least), least, given[i]));
    BOTH(whole[i] = x[i] * 0x1.71547652b82fep+0 + magic);
    BOTH(n[i] = whole[i] - magic);
    BOTH(r[i] = (x[i] - n[i] * LN2_HIGH) - n[i] * LN2_LOW);
    BOTH(r2[i] = r[i] * r[i]);
    BOTH(c[i] = (1.0 / 40320 + r[i] * (1.0 / 362880)) +
                r2[i] * (1.0 / 3628800 + r[i] * (1.0 / 39916800) + r2[i] * (1.0 / 479001600)));
    BOTH(r4[i] = r2[i] * r2[i]);
    BOTH(b[i] = (1.0 / 24 + r[i] * (1.0 / 120)) + r2[i] * (1.0 / 720 + r[i] * (1.0 / 5040)));
    BOTH(b[i] = b[i] + r4[i] * c[i]);
    BOTH(a[i] = (1 + r[i]) + r2[i] * (1.0 / 2 + r[i] * (1.0 / 6)));
    BOTH(a[i] = a[i] + r4[i] * b[i]);
    BOTH(e[i] = (vd)((vw)a[i] + ((vw)whole[i] << 52)));
}

/* log of a normal number x > 0. x = 2^n m, m in [sqrt(1/2), sqrt 2): log m = 2 atanh(s), s = (m -
 * 1) / (m + 1), |s| < 0.172, by its Taylor series. n is read off as a double by putting it into the
 * low bits of 2^52. */
INLINE void v_log(vd *out, const vd *x)
{
    const uint64_t root = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000, far = 0x4330000000000000;
    vw bits[SIDE];
    vd n[SIDE], m[SIDE], s[SIDE], s2[SIDE], s4[SIDE], a[SIDE], b[SIDE], twice[SIDE];
    BOTH(bits[i] = (vw)x[i] + (one - root));
    BOTH(n[i] = (vd)((bits[i] >> 52) | far) - (0x1p52 + 1023));
    BOTH(m[i] = (vd)((bits[i] & 0xfffffffffffff) + root));
    BOTH(s[i] = (m[i] - 1) / (m[i] + 1));
    BOTH(s2[i] = s[i] * s[i]);
    BOTH(s4[i] = s2[i] * s2[i]);
    BOTH(a[i] = (1.0 / 3 + s2[i] * (1.0 / 5)) + s4[i] * (1.0 / 7 + s2[i] * (1.0 / 9)));
    BOTH(b[i] = (1.0 / 11 + s2[i] * (1.0 / 13)) +
                s4[i] * (1.0 / 15 + s2[i] * (1.0 / 17) + s4[i] * (1.0 / 19)));
    BOTH(b[i] = a[i] + s4[i] * s4[i] * b[i]);
    BOTH(twice[i] = s[i] + s[i]);
    BOTH(out[i] = n[i] * LN2_HIGH + (twice[i] + (twice[i] * s2[i] * b[i] + n[i] * LN2_LOW)));
}

/* Terms below 1 are added apart from those of the largest logits, which are 1: the sum without one
 * of these has all its digits. */
struct sums {
    vd below[SIDE], ones[SIDE];
    vd odd[SIDE]; /* NaN if a number is not finite */
};

INLINE void load(vd *v, const double *from)
{
    BOTH(v[i] = v_load(from + i * LANES));
}

INLINE void store(double *to, const vd *v)
{
    BOTH(v_store(to + i * LANES, v[i]));
}

/* x becomes x - top, term its exp. */
INLINE void take_terms(struct sums *s, double *x, double *term, int64_t classes)
{
    vd top[SIDE], v[SIDE], e[SIDE];
    load(top, x);
    BOTH(s->below[i] = s->ones[i] = s->odd[i] = (vd){0});
    for (int64_t k = 1; k < classes; k++) {
        load(v, x + k * TILE);
        BOTH(top[i] = v_select((vw)(v[i] > top[i]), v[i], top[i]));
    }
    for (int64_t k = 0; k < classes; k++) {
        vw less[SIDE];
        load(v, x + k * TILE);
        BOTH(v[i] = v[i] - top[i]);
        v_exp(e, v);
        store(x + k * TILE, v);
        store(term + k * TILE, e);
        BOTH(less[i] = (vw)(e[i] < 1));
        BOTH(s->below[i] += v_and(less[i], e[i]));
        BOTH(s->ones[i] += v_and(~less[i], (vd){0} + 1));
        BOTH(s->odd[i] += v[i] - v[i]);
    }
}

#define PASTE(set)  tile_##set
#define EXPAND(set) PASTE(set)

tile_fn EXPAND(SIMD_NAME);
void EXPAND(SIMD_NAME)(double *x, double *rest, double *all, int64_t classes, int64_t from,
                       int64_t to)
{
    for (int64_t r = 0; r < TILE; r += WIDTH) {
        struct sums s;
        vd sum[SIDE], least[SIDE], v[SIDE];
        take_terms(&s, x + r, rest + r, classes);
        BOTH(sum[i] = s.below[i] + s.ones[i]);
        BOTH(least[i] = s.below[i] + (s.ones[i] - 1));
        for (int64_t k = from; k < to; k++) {
            double *at = rest + k * TILE + r;
            load(v, at);
            BOTH(v[i] = v_select((vw)(v[i] < 1), sum[i] - v[i], least[i]));
            v_log(v, v);
            store(at, v);
        }
        v_log(v, sum);
        BOTH(const vw plain = (vw)(s.odd[i] == 0) & (vw)(least[i] > 0x1p-900);
             v[i] = v_select(plain, v[i], (vd){0} + __builtin_nan("")));
        store(all + r, v);
    }
}
