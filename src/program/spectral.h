/* The state of the singular value operations between runs, and its layout in PLACE_STATE. */
#ifndef PROGRAM_SPECTRAL_H
#define PROGRAM_SPECTRAL_H

#include "base/alloc.h"

enum { SPECTRAL_EXTRA = 4, SPECTRAL_MAX = 64 }; /* columns beyond the rank; columns in all */

/* A basis of the leading right singular vectors, with a few more than requested so that the last
 * ones converge too, and the products of the iteration. In double precision: a gradient is a
 * product of two vectors, and their errors add up. */
struct spectral {
    int64_t rows, cols, width; /* width: columns of the basis */
    double *v;                 /* (cols, width) orthonormal basis at the start of a run */
    double *left, *right;      /* (rows, width), (cols, width): the singular vectors, best first */
    double *y;                 /* (rows, width) A·v */
    double *turn;              /* (cols, width) scratch */
    double *sigma;             /* (width) */
    double *gram, *axes;       /* (width, width) */
    double *sum;               /* (2) of the leading values; 1: converged */
};

static inline int64_t spectral_width(int64_t rows, int64_t cols, int64_t rank)
{
    int64_t least = rows < cols ? rows : cols;
    return rank + SPECTRAL_EXTRA < least ? rank + SPECTRAL_EXTRA : least;
}

/* Its size in bytes for a (rows, cols) matrix, and the positions of its parts. */
size_t spectral_bytes(int64_t rows, int64_t cols, int64_t rank);
static inline struct spectral spectral_at(void *memory, int64_t rows, int64_t cols, int64_t rank)
{
    struct spectral s;
    s.rows = rows;
    s.cols = cols;
    s.width = spectral_width(rows, cols, rank);
    s.v = (double *)memory;
    s.left = s.v + cols * s.width;
    s.right = s.left + rows * s.width;
    s.y = s.right + cols * s.width;
    s.turn = s.y + rows * s.width;
    s.sigma = s.turn + cols * s.width;
    s.gram = s.sigma + s.width;
    s.axes = s.gram + s.width * s.width;
    s.sum = s.axes + s.width * s.width;
    return s;
}

/* Its content before the first run: a random basis. */
void spectral_start(void *memory, int64_t rows, int64_t cols, int64_t rank);

#endif
