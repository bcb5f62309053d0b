/* Dropout by Philox4x32-10 (Salmon et al., SC'11; the scalar form is in src/base/rng.c). A block of
 * 128 random bits serves 128/bits elements. Each lane computes one block. */
#include "cpu/simd/spmm.h"

#include "base/rng.h"

/* ---- random bits --------------------------------------------------------- */

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

/* One round on a vector of blocks. */
INLINE void philox_round(vu c[4], uint32_t k0, uint32_t k1)
{
    vu low0, low1;
    const vu high0 = mul_wide(c[0], 0xD2511F53u, &low0), high1 = mul_wide(c[2], 0xCD9E8D57u, &low1);
    c[0] = high1 ^ c[1] ^ k0;
    c[2] = high0 ^ c[3] ^ k1;
    c[1] = low1;
    c[3] = low0;
}

/* The vectors of SPAN blocks go through the rounds side by side, so that a multiplication need not
 * wait for the previous one. */
enum { SPAN = 16, SPAN_VECTORS = SPAN / LANES };

INLINE void philox_rounds(vu c[SPAN_VECTORS][4], const struct dropout *d)
{
    uint32_t k0 = (uint32_t)d->seed, k1 = (uint32_t)(d->seed >> 32);
    for (int round = 0; round < 10; round++) {
#pragma GCC unroll 4
        for (int v = 0; v < SPAN_VECTORS; v++)
            philox_round(c[v], k0, k1);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

/* clang's MemorySanitizer does not track the interleaving store. */
#if defined(__aarch64__)
#define INTERLEAVES
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#undef INTERLEAVES
#endif
#endif
#endif

/* Words of blocks block … block+SPAN-1, one block after the other. */
static void philox_span(uint32_t word[4 * SPAN], const struct dropout *d, uint64_t block)
{
    vu c[SPAN_VECTORS][4];
#pragma GCC unroll 4
    for (int v = 0; v < SPAN_VECTORS; v++) {
        const uint64_t first = block + (uint64_t)(v * LANES); /* a multiple of LANES: no carry */
        c[v][0] = (vu)vi_set((int32_t)first) + (vu)vi_iota();
        c[v][1] = (vu)vi_set((int32_t)(first >> 32));
        c[v][2] = (vu)vi_set((int32_t)d->step);
        c[v][3] = (vu)vi_set((int32_t)d->op);
    }
    philox_rounds(c, d);
#pragma GCC unroll 4
    for (int v = 0; v < SPAN_VECTORS; v++) {
#if defined(INTERLEAVES)
        uint32x4x4_t all = {
            {(uint32x4_t)c[v][0], (uint32x4_t)c[v][1], (uint32x4_t)c[v][2], (uint32x4_t)c[v][3]}};
        vst4q_u32(word + 4 * LANES * v, all);
#else
        for (int i = 0; i < LANES; i++)
            for (int w = 0; w < 4; w++)
                word[4 * (LANES * v + i) + w] = c[v][w][i];
#endif
    }
}

/* ---- elements ------------------------------------------------------------ */

/* Elements [from, to) by single bits, 1: kept; bit e - first of the words belongs to element e. */
INLINE void drop_bits(float *y, const float *x, const uint32_t *word, int64_t first, int64_t from,
                      int64_t to, float scale)
{
    const vi lane = vi_set(1) << vi_iota();
    const vf factor = v_set(scale);
    int64_t e = from;
    for (; e < to && (e - first) % 32 != 0; e++)
        y[e] = word[(e - first) / 32] >> (e - first) % 32 & 1 ? x[e] * scale : 0;
    for (; e + 32 <= to; e += 32) {
        const vi bits = vi_set((int32_t)word[(e - first) / 32]);
#pragma GCC unroll 8
        for (int i = 0; i < 32; i += LANES)
            v_store(y + e + i, v_and((bits & lane << i) != 0, v_load(x + e + i) * factor));
    }
    for (; e < to; e++)
        y[e] = word[(e - first) / 32] >> (e - first) % 32 & 1 ? x[e] * scale : 0;
}

/* Elements [from, to) by numbers of `bits` bits; number e - first of the words belongs to element
 * e. */
INLINE void drop_numbers(float *y, const float *x, const uint32_t *word, uint32_t bits,
                         const struct dropout *d, int64_t first, int64_t from, int64_t to)
{
    uint32_t number[SPAN * 128 / 2];
    const int per_word = (int)(32 / bits);
    const uint32_t mask = (1u << bits) - 1;
    const vi threshold = vi_set((int32_t)d->threshold);
    for (int i = 0; i < 4 * SPAN; i++)
        for (int j = 0; j < per_word; j++)
            number[i * per_word + j] = word[i] >> (uint32_t)j * bits & mask;
    int64_t e = from;
    for (; e + LANES <= to; e += LANES) {
        const vi u = *(const vi_any *)(number + (e - first));
        v_store(y + e, v_and(u >= threshold, v_load(x + e) * v_set(d->scale)));
    }
    for (; e < to; e++)
        y[e] = number[e - first] >= d->threshold ? x[e] * d->scale : 0;
}

void SIMD(dropout)(float *y, const float *x, const struct dropout *d, int64_t from, int64_t to)
{
    const int64_t span = SPAN * 128 / d->bits;
    uint32_t word[4 * SPAN];
    if (d->threshold == 0) { /* p = 0: everything stays */
        SIMD(scale)(y, d->scale, x, from, to);
        return;
    }
    for (int64_t e = from; e < to;) {
        const int64_t block = (e + d->shift) / span;
        const int64_t first = block * span - d->shift, stop = first + span < to ? first + span : to;
        philox_span(word, d, (uint64_t)block * SPAN);
        switch (d->bits) { /* constants, so that the shifts are */
        case 1: drop_bits(y, x, word, first, e, stop, d->scale); break;
        case 2: drop_numbers(y, x, word, 2, d, first, e, stop); break;
        case 4: drop_numbers(y, x, word, 4, d, first, e, stop); break;
        case 8: drop_numbers(y, x, word, 8, d, first, e, stop); break;
        default: drop_numbers(y, x, word, 16, d, first, e, stop); break;
        }
        e = stop;
    }
}

/* ---- elements in any order ----------------------------------------------- */

/* One element after the other, computing a block whenever it changes: for heads that span blocks.
 */
static void lookup_slowly(float *keep, const struct dropout *d, const int64_t *entry, int64_t count,
                          int64_t heads)
{
    const uint32_t key[2] = {(uint32_t)d->seed, (uint32_t)(d->seed >> 32)};
    uint64_t held = UINT64_MAX;
    uint32_t word[4] = {0};
    for (int64_t k = 0; k < count * heads; k++) {
        const uint64_t element = (uint64_t)(entry[k / heads] * heads + k % heads + d->shift);
        const uint64_t bit = element * d->bits, block = bit / 128;
        const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), d->step, d->op};
        if (block != held)
            philox4x32(word, counter, key);
        held = block;
        const uint32_t number = word[bit % 128 / 32] >> bit % 32 & ((1u << d->bits) - 1);
        keep[k] = number >= d->threshold ? d->scale : 0;
    }
}

/* Words of the blocks that hold the bits of SPAN entries, `each` bits per entry: word w of entry k
 * at word[w][k]. */
static void philox_entries(uint32_t word[4][SPAN], const struct dropout *d, const int64_t *entry,
                           int64_t count, uint64_t each)
{
    vu c[SPAN_VECTORS][4];
    uint32_t low[SPAN] = {0}, high[SPAN] = {0};
    for (int64_t k = 0; k < count; k++) {
        const uint64_t block = (uint64_t)entry[k] * each / 128;
        low[k] = (uint32_t)block;
        high[k] = (uint32_t)(block >> 32);
    }
#pragma GCC unroll 4
    for (int v = 0; v < SPAN_VECTORS; v++) {
        c[v][0] = (vu) * (const vi_any *)(low + v * LANES);
        c[v][1] = (vu) * (const vi_any *)(high + v * LANES);
        c[v][2] = (vu)vi_set((int32_t)d->step);
        c[v][3] = (vu)vi_set((int32_t)d->op);
    }
    philox_rounds(c, d);
#pragma GCC unroll 4
    for (int v = 0; v < SPAN_VECTORS; v++)
        for (int w = 0; w < 4; w++)
            *(vi_any *)(word[w] + v * LANES) = (vi)c[v][w];
}

typedef int32_t vi4 __attribute__((vector_size(16)));

void SIMD(dropout_lookup)(float *keep, const struct dropout *d, const int64_t *entry, int64_t count,
                          int64_t heads)
{
    const uint64_t each = d->bits * (uint64_t)heads;
    const uint32_t mask = (1u << d->bits) - 1;
    const vi4 one = {1, 2, 4, 8}, two = {16, 32, 64, 128};
    const vi4 scale = (vi4)v4_set(d->scale);
    uint32_t word[4][SPAN];
    if (each > 128 || 128 % each != 0 || d->shift != 0) {
        lookup_slowly(keep, d, entry, count, heads);
        return;
    }
    for (int64_t k = 0; k < count; k += SPAN) {
        const int64_t stop = k + SPAN < count ? k + SPAN : count;
        philox_entries(word, d, entry + k, stop - k, each);
        for (int64_t i = k; i < stop; i++) {
            const uint64_t bit = (uint64_t)entry[i] * each % 128;
            float *out = keep + i * heads;
            if (each == 8 && heads == 8) {
                const int32_t byte = (int32_t)(word[bit / 32][i - k] >> bit % 32 & 255);
                const vi4 all = {byte, byte, byte, byte};
                v4_store(out, (v4)(((all & one) != 0) & scale));
                v4_store(out + 4, (v4)(((all & two) != 0) & scale));
                continue;
            }
            for (int64_t h = 0; h < heads; h++) {
                const uint64_t at = bit + (uint64_t)h * d->bits;
                const uint32_t number = word[at / 32][i - k] >> at % 32 & mask;
                out[h] = number >= d->threshold ? d->scale : 0;
            }
        }
    }
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
