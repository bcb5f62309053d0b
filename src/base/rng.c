/* Philox4x32-10 and the distributions that consm uses. */
#include "base/rng.h"

#include <math.h>

void philox4x32(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

void rng_init(struct rng *r, uint64_t seed, uint64_t stream)
{
    r->key[0] = (uint32_t)seed;
    r->key[1] = (uint32_t)(seed >> 32);
    r->counter[0] = r->counter[1] = 0;
    r->counter[2] = (uint32_t)stream;
    r->counter[3] = (uint32_t)(stream >> 32);
    r->used = 4;
}

uint32_t rng_u32(struct rng *r)
{
    if (r->used == 4) {
        philox4x32(r->word, r->counter, r->key);
        if (++r->counter[0] == 0)
            r->counter[1]++;
        r->used = 0;
    }
    return r->word[r->used++];
}

uint64_t rng_u64(struct rng *r)
{
    uint64_t low = rng_u32(r);
    return (uint64_t)rng_u32(r) << 32 | low;
}

/* Draws again in the last, incomplete multiple of bound, so that all values are equally likely. */
uint64_t rng_below(struct rng *r, uint64_t bound)
{
    uint64_t draw;
    do /* the first test saves the division of the second for almost all draws */
        draw = rng_u64(r);
    while (draw >= UINT64_MAX - bound && draw >= UINT64_MAX - UINT64_MAX % bound);
    return draw % bound;
}

double rng_uniform(struct rng *r)
{
    return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

/* Box-Muller, the cosine half: two uniforms per normal, without state. */
double rng_normal(struct rng *r)
{
    double radius = sqrt(-2 * log(1 - rng_uniform(r)));
    return radius * cos(2 * 3.14159265358979323846 * rng_uniform(r));
}

void rng_shuffle(struct rng *r, int32_t *items, int64_t count)
{
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t j = (int64_t)rng_below(r, (uint64_t)i + 1);
        int32_t swap = items[i];
        items[i] = items[j];
        items[j] = swap;
    }
}
