/* SHA-256 (FIPS 180-4, section 6.2), and with ARMv8's instructions if available. Every dataset is
 * hashed when it is read, so hashing must be fast. */
#include "io/sha256.h"

#include <string.h>

static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

/* One round. Callers rotate the names instead of moving the eight values. */
#define ROUND(a, b, c, d, e, f, g, h, t)                                                          \
    do {                                                                                          \
        uint32_t t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + \
                      round_constant[t] + w[t];                                                   \
        d += t1;                                                                                  \
        h = t1 + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));  \
    } while (0)

static void digest_portably(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t x = w[t - 15], y = w[t - 2];
        w[t] = w[t - 16] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[t - 7] +
               (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int t = 0; t < 64; t += 8) {
        ROUND(a, b, c, d, e, f, g, h, t);
        ROUND(h, a, b, c, d, e, f, g, t + 1);
        ROUND(g, h, a, b, c, d, e, f, t + 2);
        ROUND(f, g, h, a, b, c, d, e, t + 3);
        ROUND(e, f, g, h, a, b, c, d, t + 4);
        ROUND(d, e, f, g, h, a, b, c, t + 5);
        ROUND(c, d, e, f, g, h, a, b, t + 6);
        ROUND(b, c, d, e, f, g, h, a, t + 7);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

#if defined(__aarch64__) && defined(__linux__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include <arm_neon.h>
#include <sys/auxv.h>

enum { HAS_SHA256 = 1 << 6 }; /* HWCAP_SHA2 */

/* The four ARMv8 instructions as assembly, so that the build needs no architecture flag. */
#define SHA_ASM(text) ".arch_extension sha2\n\t" text
static inline uint32x4_t four_rounds(uint32x4_t *efgh, uint32x4_t abcd, uint32x4_t words)
{
    uint32x4_t before = abcd;
    __asm__(SHA_ASM("sha256h %q0, %q1, %2.4s") : "+w"(abcd) : "w"(*efgh), "w"(words));
    __asm__(SHA_ASM("sha256h2 %q0, %q1, %2.4s") : "+w"(*efgh) : "w"(before), "w"(words));
    return abcd;
}

static inline uint32x4_t next_words(uint32x4_t w0, uint32x4_t w1, uint32x4_t w2, uint32x4_t w3)
{
    __asm__(SHA_ASM("sha256su0 %0.4s, %1.4s") : "+w"(w0) : "w"(w1));
    __asm__(SHA_ASM("sha256su1 %0.4s, %1.4s, %2.4s") : "+w"(w0) : "w"(w2), "w"(w3));
    return w0;
}

static void digest_with_instructions(uint32_t state[8], const uint8_t *block)
{
    uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4), w[4];
    uint32x4_t first = abcd, second = efgh;
    for (int i = 0; i < 4; i++)
        w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(block + 16 * i)));
    for (int t = 0; t < 16; t++) {
        uint32x4_t words = vaddq_u32(w[t % 4], vld1q_u32(round_constant + 4 * t));
        if (t < 12)
            w[t % 4] = next_words(w[t % 4], w[(t + 1) % 4], w[(t + 2) % 4], w[(t + 3) % 4]);
        abcd = four_rounds(&efgh, abcd, words);
    }
    vst1q_u32(state, vaddq_u32(first, abcd));
    vst1q_u32(state + 4, vaddq_u32(second, efgh));
}

static void digest_block(uint32_t state[8], const uint8_t *block)
{
    if (getauxval(AT_HWCAP) & HAS_SHA256)
        digest_with_instructions(state, block);
    else
        digest_portably(state, block);
}
#else
#define digest_block digest_portably
#endif

void sha256_init(struct sha256 *s)
{
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->state, first, sizeof first);
    s->bytes = 0;
}

void sha256_add(struct sha256 *s, const void *bytes, size_t count)
{
    const uint8_t *in = bytes;
    while (count > 0) {
        size_t used = s->bytes % 64, take = 64 - used < count ? 64 - used : count;
        if (used == 0 && count >= 64) {
            digest_block(s->state, in);
            take = 64;
        } else {
            memcpy(s->block + used, in, take);
            if (used + take == 64)
                digest_block(s->state, s->block);
        }
        s->bytes += take;
        in += take;
        count -= take;
    }
}

void sha256_hex(char hex[65], struct sha256 *s)
{
    static const char digit[] = "0123456789abcdef";
    uint64_t bits = s->bytes * 8;
    uint8_t length[8], pad = 0x80;
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(s, &pad, 1);
    pad = 0;
    while (s->bytes % 64 != 56)
        sha256_add(s, &pad, 1);
    sha256_add(s, length, 8);
    for (int i = 0; i < 64; i++)
        hex[i] = digit[s->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    hex[64] = 0;
}

void sha256_of(char hex[65], const void *bytes, size_t count)
{
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, bytes, count);
    sha256_hex(hex, &s);
}
