/* Random numbers as a function: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
 * 1, 2, 3", SC'11). A number depends only on its key and counter, not on earlier calls. So the same
 * seed gives the same numbers on any number of threads. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

/* The plain function: 128 random bits for a 128-bit counter and a 64-bit key. */
void philox4x32(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

/* A sequential generator over it. Different (seed, stream) pairs are independent. */
struct rng {
    uint32_t key[2], counter[4], word[4];
    int used;
};

void rng_init(struct rng *r, uint64_t seed, uint64_t stream);
uint32_t rng_u32(struct rng *r);
uint64_t rng_u64(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t bound); /* uniform in [0, bound), no bias; bound > 0 */
double rng_uniform(struct rng *r);                 /* [0, 1), 53 bits */
double rng_normal(struct rng *r);                  /* mean 0, variance 1 */
void rng_shuffle(struct rng *r, int32_t *items, int64_t count);

#endif
