/* Dropout by Philox4x32-10 (Salmon et al., SC'11; the scalar form is in src/base/rng.c). A block of
 * 128 random bits serves 128/bits elements. Blocks are computed one per lane. */
#include "cpu/simd/vec.h"

#include "base/rng.h"

/* ---- random bits -------------------------------------------------------------------------------
 */

/* High and low halves of the products of the lanes of a with m. */
INLINE vu mul_wide(vu a, uint32_t m, vu *low)
{
#if defined(__aarch64__)
    uint32x4_t v = (uint32x4_t)a, vm = vdupq_n_u32(m);
    uint32x4_t p0 = vreinterpretq_u32_u64(vmull_u32(vget_low_u32(v), vget_low_u32(vm)));
    uint32x4_t p1 = vreinterpretq_u32_u64(vmull_high_u32(v, vm));
    *low = (vu)vuzp1q_u32(p0, p1);
    return (vu)vuzp2q_u32(p0, p1);
#elif defined(__AVX512F__)
    __m512i v = (__m512i)a, vm = _mm512_set1_epi64((int64_t)m);
    __m512i even = _mm512_mul_epu32(v, vm), odd = _mm512_mul_epu32(_mm512_srli_epi64(v, 32), vm);
    *low = (vu)_mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32));
    return (vu)_mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd);
#elif defined(__AVX2__)
    __m256i v = (__m256i)a, vm = _mm256_set1_epi64x((int64_t)m);
    __m256i even = _mm256_mul_epu32(v, vm), odd = _mm256_mul_epu32(_mm256_srli_epi64(v, 32), vm);
    *low = (vu)_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
    return (vu)_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
#else
    vu high;
    for (int i = 0; i < LANES; i++) {
        uint64_t p = (uint64_t)a[i] * m;
        (*low)[i] = (uint32_t)p;
        high[i] = (uint32_t)(p >> 32);
    }
    return high;
#endif
}

/* Words of blocks block … block+LANES-1, one block after the other. */
static void philox_blocks(uint32_t word[4 * LANES], const struct dropout *d, uint64_t block)
{
    vu c0, c1, c2 = (vu)vi_set((int32_t)d->step), c3 = (vu)vi_set((int32_t)d->op);
    uint32_t k0 = (uint32_t)d->seed, k1 = (uint32_t)(d->seed >> 32);
    for (int i = 0; i < LANES; i++) {
        c0[i] = (uint32_t)(block + (uint64_t)i);
        c1[i] = (uint32_t)((block + (uint64_t)i) >> 32);
    }
    for (int round = 0; round < 10; round++) {
        vu low0, low1, high0 = mul_wide(c0, 0xD2511F53u, &low0),
                       high1 = mul_wide(c2, 0xCD9E8D57u, &low1);
        c0 = high1 ^ c1 ^ k0;
        c2 = high0 ^ c3 ^ k1;
        c1 = low1;
        c3 = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
#if defined(__aarch64__)
    uint32x4x4_t all = {{(uint32x4_t)c0, (uint32x4_t)c1, (uint32x4_t)c2, (uint32x4_t)c3}};
    vst4q_u32(word, all);
#else
    for (int i = 0; i < LANES; i++) {
        word[4 * i] = c0[i];
        word[4 * i + 1] = c1[i];
        word[4 * i + 2] = c2[i];
        word[4 * i + 3] = c3[i];
    }
#endif
}

/* ---- elements ----------------------------------------------------------------------------------
 */

/* Part of one block's elements, one by one: the ends of ranges that begin or end inside a block. */
static void drop_part(float *y, const float *x, const struct dropout *d, int64_t from, int64_t to)
{
    const int64_t per_block = 128 / d->bits;
    while (from < to) {
        const uint64_t block = (uint64_t)(from / per_block);
        const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), d->step, d->op};
        const uint32_t key[2] = {(uint32_t)d->seed, (uint32_t)(d->seed >> 32)};
        uint32_t word[4];
        philox4x32(word, counter, key);
        int64_t stop = (int64_t)(block + 1) * per_block;
        for (stop = stop < to ? stop : to; from < stop; from++) {
            uint32_t bit = (uint32_t)(from % per_block) * d->bits;
            uint32_t u = word[bit / 32] >> bit % 32 & ((1u << d->bits) - 1);
            y[from] = u >= d->threshold ? x[from] * d->scale : 0;
        }
    }
}

/* 32 elements by the bits of one word, bit 1: stays */
INLINE void drop_word(float *y, const float *x, uint32_t word, vf scale)
{
    const vi bits = vi_set((int32_t)word), lane = vi_set(1) << vi_iota();
#pragma GCC unroll 8
    for (int i = 0; i < 32; i += LANES)
        v_store(y + i, v_and((bits & lane << i) != 0, v_load(x + i) * scale));
}

/* Elements as the numbers of `bits` bits in count words say. */
INLINE void drop_numbers(float *y, const float *x, const uint32_t *word, int count, uint32_t bits,
                         vi threshold, vf scale)
{
    uint32_t number[4 * LANES * 16];
    const int per_word = (int)(32 / bits);
    const uint32_t mask = (1u << bits) - 1;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < per_word; j++)
            number[i * per_word + j] = word[i] >> (uint32_t)j * bits & mask;
    for (int i = 0; i < count * per_word; i += LANES) {
        vi u = *(const vi_any *)(number + i);
        v_store(y + i, v_and(u >= threshold, v_load(x + i) * scale));
    }
}

void SIMD(dropout)(float *y, const float *x, const struct dropout *d, int64_t from, int64_t to)
{
    const int64_t per_block = 128 / d->bits, step = per_block * LANES;
    int64_t e = (from + per_block - 1) / per_block * per_block;
    const vf scale = v_set(d->scale);
    const vi threshold = vi_set((int32_t)d->threshold);
    uint32_t word[4 * LANES];
    if (e > to)
        e = to;
    drop_part(y, x, d, from, e);
    for (; e + step <= to; e += step) {
        philox_blocks(word, d, (uint64_t)(e / per_block));
        if (d->bits == 1 && d->threshold == 1)
            for (int i = 0; i < 4 * LANES; i++)
                drop_word(y + e + 32 * i, x + e + 32 * i, word[i], scale);
        else if (d->bits == 16)
            drop_numbers(y + e, x + e, word, 4 * LANES, 16, threshold, scale);
        else if (d->bits == 8)
            drop_numbers(y + e, x + e, word, 4 * LANES, 8, threshold, scale);
        else if (d->bits == 4)
            drop_numbers(y + e, x + e, word, 4 * LANES, 4, threshold, scale);
        else if (d->bits == 2)
            drop_numbers(y + e, x + e, word, 4 * LANES, 2, threshold, scale);
        else
            drop_part(y, x, d, e, e + step);
    }
    drop_part(y, x, d, e, to);
}

/* gx = y > 0 ? g·scale : 0 */
void SIMD(relu_grad)(float *gx, const float *g, const float *y, float scale, int64_t from,
                     int64_t to)
{
    const vf factor = v_set(scale);
    int64_t i = from;
    for (; i + LANES <= to; i += LANES)
        v_store(gx + i, v_and(v_load(y + i) > v_set(0), v_load(g + i) * factor));
    for (; i < to; i++)
        gx[i] = y[i] > 0 ? g[i] * scale : 0;
}
