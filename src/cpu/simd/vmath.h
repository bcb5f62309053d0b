/* exp, log, tanh and related functions on vectors, within about two units in the last place;
 * infinities, NaN and subnormal results are those of libm. */
#ifndef CPU_SIMD_VMATH_H
#define CPU_SIMD_VMATH_H

#include "cpu/simd/vec.h"

/* x = n ln 2 + r, |r| <= ln 2 / 2, n whole. Adding 1.5·2^23 rounds to the nearest whole number and
 * leaves it in the low bits: *whole is that sum, (vi)*whole is n in its low 23 bits. */
#define ROUND_MAGIC 12582912.0f
INLINE vf vm_reduce(vf x, vf *whole)
{
    *whole = v_fma(x, v_set(1.44269504088896341f), v_set(ROUND_MAGIC));
    const vf n = *whole - v_set(ROUND_MAGIC);
    const vf r = v_fma(n, v_set(-0.693359375f), x);
    return v_fma(n, v_set(2.12194440e-4f), r);
}

/* e^r - 1 for |r| <= ln 2 / 2: the Taylor series, its end economised (the constants of Cephes'
 * expf, Moshier 1989), in pairs of terms, which shortens the chain of dependent multiply-adds. */
INLINE vf vm_exp_small(vf r)
{
    const vf square = r * r;
    const vf low = v_fma(v_set(1.6666665459e-1f), r, v_set(5.0000001201e-1f));
    const vf middle = v_fma(v_set(8.3334519073e-3f), r, v_set(4.1665795894e-2f));
    const vf high = v_fma(v_set(1.9875691500e-4f), r, v_set(1.3981999507e-3f));
    const vf p = v_fma(v_fma(high, square, middle), square, low);
    return v_fma(p, square, r);
}

INLINE vf v_exp(vf x)
{
    vf whole;
    x = v_min(v_set(89.0f), x); /* this order keeps NaN: a comparison with it is false */
    x = v_max(v_set(-104.0f), x);
    const vf e = vm_exp_small(vm_reduce(x, &whole)) + v_set(1);
    /* 2^n in two factors, so that overflow gives infinity and underflow is gradual. */
    const vi n = (vi)((vu)whole - (vu)v_set(ROUND_MAGIC)), half = n >> 1;
    const vu one = (vu)vi_set(127);
    return e * (vf)(((vu)half + one) << 23) * (vf)(((vu)n - (vu)half + one) << 23);
}

/* e^x for x <= 0, results below 2^-126 flushed to 0, which is enough for softmax. Here 2^n e^r is
 * e^r with n added to its exponent. */
INLINE vf v_exp_negative(vf x)
{
    vf whole;
    const vi keep = ~(x < v_set(-87.0f));
    const vf e = vm_exp_small(vm_reduce(v_max(v_set(-87.0f), x), &whole)) + v_set(1);
    return v_and(keep, (vf)((vu)e + ((vu)whole << 23)));
}

/* e^x - 1 without cancellation: 2^n (e^r - 1) + (2^n - 1) */
INLINE vf v_expm1(vf x)
{
    vf whole;
    x = v_min(v_set(88.0f), x);
    x = v_max(v_set(-60.0f), x);
    const vf small = vm_exp_small(vm_reduce(x, &whole));
    const vf power = (vf)(((vu)whole << 23) + (vu)v_set(1));
    return v_fma(power, small, power - v_set(1));
}

/* log x: x = 2^n m with m in [sqrt(1/2), sqrt 2), then log(1 + f), f = m - 1, by Cephes' logf
 * polynomial. */
INLINE vf v_log(vf x)
{
    const vf inf = v_set(INFINITY);
    vi tiny = x < v_set(1.17549435e-38f);
    vf scaled = v_select(tiny, x * v_set(0x1p25f), x); /* subnormal numbers need a real exponent */
    vu bits = (vu)scaled - 0x3f3504f3u;                /* sqrt(1/2) */
    vi whole = (vi)bits >> 23;
    vf f = (vf)((bits & 0x007fffffu) + 0x3f3504f3u) - v_set(1);
    vf n = __builtin_convertvector(whole, vf) - v_and(tiny, v_set(25));
    vf p = v_set(7.0376836292e-2f);
    p = v_fma(p, f, v_set(-1.1514610310e-1f));
    p = v_fma(p, f, v_set(1.1676998740e-1f));
    p = v_fma(p, f, v_set(-1.2420140846e-1f));
    p = v_fma(p, f, v_set(1.4249322787e-1f));
    p = v_fma(p, f, v_set(-1.6668057665e-1f));
    p = v_fma(p, f, v_set(2.0000714765e-1f));
    p = v_fma(p, f, v_set(-2.4999993993e-1f));
    p = v_fma(p, f, v_set(3.3333331174e-1f));
    vf square = f * f;
    vf y = v_fma(n, v_set(-2.12194440e-4f), p * f * square);
    y = v_fma(square, v_set(-0.5f), y);
    vf result = v_fma(n, v_set(0.693359375f), y + f);
    result = v_select(x == inf, inf, result);
    result = v_select(x == v_set(0), -inf, result);
    return v_select((x < v_set(0)) | (x != x), v_set(NAN), result);
}

/* log(1 + x) for x in [0, 1], corrected for the rounding error of 1 + x */
INLINE vf v_log1p_unit(vf x)
{
    vf one = v_set(1), sum = one + x;
    return v_log(sum) + (x - (sum - one)) / sum;
}

/* 1/(1+e^-x), from e^-|x| so that nothing overflows */
INLINE vf v_sigmoid(vf x)
{
    vf e = v_exp(-v_abs(x));
    return v_select(x < v_set(0), e, v_set(1)) / (v_set(1) + e);
}

/* tanh |x| = -t/(2+t), t = e^(-2|x|) - 1 */
INLINE vf v_tanh(vf x)
{
    const vi sign = (vi)x & (vi)v_set(-0.0f);
    vf t = v_expm1(v_abs(x) * v_set(-2));
    return (vf)((vi)(-t / (v_set(2) + t)) | sign);
}

INLINE vf v_log_sigmoid(vf x)
{
    return v_select(x < v_set(0), x, v_and(x != x, x)) - v_log1p_unit(v_exp(-v_abs(x)));
}

#endif
