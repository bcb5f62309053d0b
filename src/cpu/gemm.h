/* Dense products on a team of threads. Block sizes depend only on the shape, never on the number of
 * threads, and sums over the inner dimension are combined in a fixed order. So any team gives the
 * same bits. */
#ifndef CPU_GEMM_H
#define CPU_GEMM_H

#include "base/threads.h"

/* C(m,n) = alpha op(A) op(B) + beta C; op(A) is (m,k), op(B) is (k,n); all row-major, contiguous.
 */
struct gemm {
    float *c;
    const float *a, *b;
    int64_t m, n, k;
    bool ta, tb; /* A is stored (k,m); B is stored (n,k) */
    float alpha, beta;
};

/* Bytes of scratch that gemm_run() needs for a shape; mostly 0. */
size_t gemm_scratch_bytes(int64_t m, int64_t n, int64_t k, bool ta, bool tb);

/* All workers of a team call it with the same arguments. It ends without a barrier: C is complete
 * after the caller's next one. It has a barrier inside if gemm_scratch_bytes() is not 0. With beta
 * 0, C is not read. scratch is aligned to 64 bytes. */
void gemm_run(const struct gemm *g, void *scratch, struct worker who);

/* The same in two halves, for callers that have only some of the inner dimension, or need only some
 * of the result. A product with blocks is the sum of their partial results (m, n), in order. One
 * without consists of tiles of GEMM_PART_ROWS rows, each over the whole inner dimension. */
enum { GEMM_PART_ROWS = 128 };
int64_t gemm_blocks(int64_t m, int64_t n, int64_t k, bool ta, int64_t *length); /* 1: none */
void gemm_block(const struct gemm *g, float *partial, int64_t block);
void gemm_add_blocks(const struct gemm *g, const float *partial, struct worker who);
void gemm_tile_into(const struct gemm *g, float *to, int64_t tile);

#endif
