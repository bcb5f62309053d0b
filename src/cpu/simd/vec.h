/* Vectors of the instruction set that this file is compiled for, with GCC's vector extension (also
 * in clang). Intrinsics appear only where the extension lacks an operation: fused multiply-add,
 * square root, the high half of a product. */

/*
 * Fused multiply-adds are always explicit, never left to the compiler, so that equal expressions
 * compute equal bits.
 */
#ifndef CPU_SIMD_VEC_H
#define CPU_SIMD_VEC_H

#include "cpu/simd.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__x86_64__)
#include <immintrin.h>
#endif

#define SIMD_PASTE(kernel, set)  simd_##kernel##_##set
#define SIMD_EXPAND(kernel, set) SIMD_PASTE(kernel, set)
#define SIMD(kernel)             SIMD_EXPAND(kernel, SIMD_NAME)

#define SIMD_PROTOTYPE(kernel) kernel##_fn SIMD(kernel);
SIMD_KERNELS(SIMD_PROTOTYPE)
#undef SIMD_PROTOTYPE

#if defined(__AVX512F__)
#define LANES 16
#define ALL_LANES(s)                                   \
    {                                                  \
        s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s \
    }
#elif defined(__AVX2__)
#define LANES 8
#define ALL_LANES(s)           \
    {                          \
        s, s, s, s, s, s, s, s \
    }
#else
#define LANES 4
#define ALL_LANES(s) \
    {                \
        s, s, s, s   \
    }
#endif

#define INLINE static inline __attribute__((always_inline, unused))

/* A function that is inlined many times, often with other constants. A sanitizer makes each copy
 * large and slow to compile, so there the function is called. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COPIED static __attribute__((noinline, noclone, unused))
#else
#define COPIED INLINE
#endif

typedef float vf __attribute__((vector_size(4 * LANES)));
typedef int32_t vi __attribute__((vector_size(4 * LANES)));
typedef uint32_t vu __attribute__((vector_size(4 * LANES)));
typedef float v4 __attribute__((vector_size(16)));
typedef float vf_any __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t vi_any __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef float v4_any __attribute__((vector_size(16), aligned(4), may_alias));

/* ---- moving -------------------------------------------------------------- */

INLINE vf v_load(const float *p)
{
    return *(const vf_any *)p;
}
INLINE void v_store(float *p, vf v)
{
    *(vf_any *)p = v;
}
INLINE v4 v4_load(const float *p)
{
    return *(const v4_any *)p;
}
INLINE void v4_store(float *p, v4 v)
{
    *(v4_any *)p = v;
}
INLINE vf v_set(float s)
{
    return (vf)ALL_LANES(s);
}
INLINE vi vi_set(int32_t s)
{
    return (vi)ALL_LANES(s);
}
INLINE v4 v4_set(float s)
{
    return (v4){s, s, s, s};
}
INLINE vi vi_iota(void)
{
#if LANES == 16
    return (vi){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif LANES == 8
    return (vi){0, 1, 2, 3, 4, 5, 6, 7};
#else
    return (vi){0, 1, 2, 3};
#endif
}

/* The first count < LANES elements; the other lanes hold fill. */
INLINE vf v_load_part(const float *p, int64_t count, float fill)
{
#if defined(__AVX512F__)
    return (vf)_mm512_mask_loadu_ps((__m512)v_set(fill), (__mmask16)((1u << count) - 1), p);
#elif defined(__AVX2__)
    const vi there = vi_iota() < vi_set((int32_t)count);
    const vf v = (vf)_mm256_maskload_ps(p, (__m256i)there);
    return (vf)(((vi)v & there) | ((vi)v_set(fill) & ~there));
#else
    vf v = v_set(fill);
    for (int i = 0; i < LANES; i++)
        if (i < count)
            v[i] = p[i];
    return v;
#endif
}
INLINE void v_store_part(float *p, vf v, int64_t count)
{
#if defined(__AVX512F__)
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << count) - 1), (__m512)v);
#elif defined(__AVX2__)
    _mm256_maskstore_ps(p, (__m256i)(vi_iota() < vi_set((int32_t)count)), (__m256)v);
#else
    for (int i = 0; i < LANES; i++)
        if (i < count)
            p[i] = v[i];
#endif
}

/* ---- arithmetic ---------------------------------------------------------- */

/* a b + c, rounded once if the instruction set can */
INLINE vf v_fma(vf a, vf b, vf c)
{
#if defined(__aarch64__)
    return (vf)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#elif defined(__AVX512F__)
    return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
    return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}
INLINE v4 v4_fma(v4 a, v4 b, v4 c)
{
#if defined(__aarch64__)
    return (v4)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#elif defined(__FMA__)
    return (v4)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c);
#else
    return a * b + c;
#endif
}
INLINE float s_fma(float a, float b, float c)
{
#if defined(__aarch64__) || defined(__FMA__)
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}
INLINE vf v_sqrt(vf a)
{
#if defined(__aarch64__)
    return (vf)vsqrtq_f32((float32x4_t)a);
#elif defined(__AVX512F__)
    return (vf)_mm512_sqrt_ps((__m512)a);
#elif defined(__AVX2__)
    return (vf)_mm256_sqrt_ps((__m256)a);
#elif defined(__x86_64__)
    return (vf)_mm_sqrt_ps((__m128)a);
#else
    for (int i = 0; i < LANES; i++)
        a[i] = sqrtf(a[i]);
    return a;
#endif
}

/* mask lanes are all ones or all zeros, as comparisons give them */
INLINE vf v_select(vi mask, vf yes, vf no)
{
    return (vf)((mask & (vi)yes) | (~mask & (vi)no));
}
INLINE vf v_and(vi mask, vf a)
{
    return (vf)(mask & (vi)a);
}
/* The larger and the smaller; b when either is NaN (either NaN on aarch64) */
INLINE vf v_max(vf a, vf b)
{
#if defined(__aarch64__)
    return (vf)vmaxq_f32((float32x4_t)a, (float32x4_t)b);
#elif defined(__AVX512F__)
    return (vf)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return (vf)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return v_select(a > b, a, b);
#endif
}
INLINE vf v_min(vf a, vf b)
{
#if defined(__aarch64__)
    return (vf)vminq_f32((float32x4_t)a, (float32x4_t)b);
#elif defined(__AVX512F__)
    return (vf)_mm512_min_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return (vf)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return v_select(a < b, a, b);
#endif
}
INLINE vf v_abs(vf a)
{
    return (vf)((vi)a & 0x7fffffff);
}
/* max(a, 0) that keeps NaN */
INLINE vf v_relu(vf a)
{
#if defined(__aarch64__)
    return v_max(a, v_set(0));
#else
    return (vf)(~(a <= v_set(0)) & (vi)a);
#endif
}
INLINE v4 v4_relu(v4 a)
{
    return (v4)(~(a <= v4_set(0)) & (__typeof__(a <= a))a);
}
INLINE float s_relu(float a)
{
    return a <= 0 ? 0 : a;
}

/* ---- across lanes: always the same tree ---------------------------------- */

/* The upper lanes added onto the lower ones until four are left. */
INLINE v4 v_fold(vf a)
{
#if LANES == 4
    return a;
#else
#if LANES == 16
    __m256 half = _mm256_add_ps(_mm512_castps512_ps256((__m512)a),
                                (__m256)_mm512_extractf64x4_pd((__m512d)a, 1));
#else
    __m256 half = (__m256)a;
#endif
    return (v4)_mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
#endif
}
INLINE float v4_sum(v4 a)
{
    return (a[0] + a[1]) + (a[2] + a[3]);
}
INLINE float v_sum(vf a)
{
    return v4_sum(v_fold(a));
}
/* {sum a, sum b, sum c, sum d}, each as v4_sum gives it */
INLINE v4 v4_sums(v4 a, v4 b, v4 c, v4 d)
{
#if defined(__aarch64__)
    return (v4)vpaddq_f32(vpaddq_f32((float32x4_t)a, (float32x4_t)b),
                          vpaddq_f32((float32x4_t)c, (float32x4_t)d));
#else
    v4 ab_even = __builtin_shufflevector(a, b, 0, 2, 4, 6);
    v4 ab_odd = __builtin_shufflevector(a, b, 1, 3, 5, 7);
    v4 cd_even = __builtin_shufflevector(c, d, 0, 2, 4, 6);
    v4 cd_odd = __builtin_shufflevector(c, d, 1, 3, 5, 7);
    v4 ab = ab_even + ab_odd, cd = cd_even + cd_odd;
    return __builtin_shufflevector(ab, cd, 0, 2, 4, 6) +
           __builtin_shufflevector(ab, cd, 1, 3, 5, 7);
#endif
}
INLINE float v_largest(vf a)
{
#if defined(__aarch64__)
    return vmaxvq_f32((float32x4_t)a);
#else
    float best = a[0];
    for (int i = 1; i < LANES; i++)
        best = a[i] > best ? a[i] : best;
    return best;
#endif
}

/* ---- rows that are no multiple of LANES ---------------------------------- */

/* A row of width >= LANES consists of full vectors, then (if something is left) one vector that
 * ends with the row and overlaps the one before. These are the lanes of that vector that are new.
 */
INLINE vi v_new_lanes(int64_t width)
{
    return vi_iota() >= vi_set((int32_t)(LANES - width % LANES));
}

/* Prefetches a row. */
INLINE void v_prefetch(const float *row, int64_t width)
{
    for (int64_t c = 0; c < width; c += 16)
        __builtin_prefetch(row + c);
}

/* Σ x z over width elements */
INLINE float v_dot(const float *x, const float *z, int64_t width)
{
#if LANES == 16
    if (width == 8) { /* a head of attention: as on eight lanes */
        const __m256 a = _mm256_mul_ps(_mm256_loadu_ps(x), _mm256_loadu_ps(z));
        return v4_sum((v4)_mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1)));
    }
#endif
    if (width < LANES) {
        float sum = 0;
        for (int64_t i = 0; i < width; i++)
            sum = s_fma(x[i], z[i], sum);
        return sum;
    }
    vf a = v_set(0), b = a;
    int64_t i = 0;
    for (; i + 2 * LANES <= width; i += 2 * LANES) {
        a = v_fma(v_load(x + i), v_load(z + i), a);
        b = v_fma(v_load(x + i + LANES), v_load(z + i + LANES), b);
    }
    if (i + LANES <= width) {
        a = v_fma(v_load(x + i), v_load(z + i), a);
        i += LANES;
    }
    if (i < width) {
        const int64_t last = width - LANES;
        b = v_fma(v_and(v_new_lanes(width), v_load(x + last)), v_load(z + last), b);
    }
    return v_sum(a + b);
}

#if LANES == 16
/* Eight dot products of eight elements each, which lie side by side: products of two in a vector,
 * then pairs of sums. */
INLINE void v_dot_eights(float *e, const float *g, const float *x)
{
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 13, 9, 5, 1, 14, 10, 6, 2, 12, 8, 4, 0);
    const __m512 a = (__m512)(v_load(g) * v_load(x));
    const __m512 b = (__m512)(v_load(g + 16) * v_load(x + 16));
    const __m512 c = (__m512)(v_load(g + 32) * v_load(x + 32));
    const __m512 d = (__m512)(v_load(g + 48) * v_load(x + 48));
    const __m512 low = _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88),
                                     _mm512_shuffle_f32x4(a, b, 0xdd)); /* heads 0 to 3 */
    const __m512 high =
        _mm512_add_ps(_mm512_shuffle_f32x4(c, d, 0x88), _mm512_shuffle_f32x4(c, d, 0xdd));
    __m512 s = _mm512_add_ps(_mm512_shuffle_ps(low, high, 0x88),
                             _mm512_shuffle_ps(low, high, 0xdd)); /* low, low, high, high */
    s = _mm512_add_ps(s, _mm512_permute_ps(s, 0xb1));
    _mm256_storeu_ps(e, _mm512_castps512_ps256(_mm512_permutexvar_ps(order, s)));
}
#endif

#endif
