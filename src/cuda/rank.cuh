/* Ranks of rows for ROC-AUC and average precision (rank.cu). */
#ifndef CUDA_RANK_CUH
#define CUDA_RANK_CUH

#include "cuda/device.cuh"

extern "C" {
#include "program/keep.h"
}

enum { RANK_BLOCKS = 2 * THREADS }; /* at most, for each class */

/* A part of scratch, and the bytes up to its end. */
template <class T> static T *take(char *base, int64_t *used, int64_t count)
{
    T *at = (T *)((uintptr_t)base + (uintptr_t)*used);
    *used += ceil_div(count * (int64_t)sizeof(T), 64) * 64;
    return at;
}

/* Rows ranked by the score of a class. ROC-AUC ranks all classes, average precision one. */
struct ranking {
    const float *x; /* (n, c) logits */
    const int32_t *row, *label;
    int64_t rows, c, tiles, classes;
    int32_t positive;       /* -1: all classes */
    uint64_t *item, *spare; /* (tiles, TILE) a row's class and the bits of its score */
    uint32_t *bits;         /* (c, rows) of every score, or NULL: two classes need no table */
    double *part;           /* (classes, RANK_BLOCKS) pairs in order, or precisions at hits */
    unsigned blocks;        /* of part */
};

/* The ranking of an OP_KEEP; its scratch begins at base + *used. */
struct ranking ranking_of(const struct instr *in, char *base, int64_t *used);

/* Fills part. */
void rank_rows(struct ranking *r, const struct cuda_context *cx);

#endif
