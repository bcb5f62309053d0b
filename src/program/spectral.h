/* What the singular value operations keep between runs: how it lies in PLACE_STATE. */
#ifndef PROGRAM_SPECTRAL_H
#define PROGRAM_SPECTRAL_H

#include "base/alloc.h"

enum { SPECTRAL_EXTRA = 4, SPECTRAL_MAX = 64 }; /* columns beyond the rank; columns in all */

/* A basis of the leading right singular vectors, a few more than asked for so that the last of them
 * converge too, and the products the iteration needs. All in double precision: a gradient is a
 * product of two vectors, and their errors add up. */
struct spectral {
    int64_t rows, cols, width; /* width: columns of the basis */
    double *v;                 /* (cols, width) orthonormal basis: what a run begins with */
    double *left, *right;      /* (rows, width), (cols, width): the singular vectors, best first */
    double *y;                 /* (rows, width) A·v */
    double *turn;              /* (cols, width) scratch */
    double *sigma;             /* (width) */
    double *gram, *axes;       /* (width, width) */
    double *sum;               /* (2) of the leading values; 1: it has settled */
};

/* Bytes of it for a (rows, cols) matrix, and where its parts lie in that many. */
size_t spectral_bytes(int64_t rows, int64_t cols, int64_t rank);
struct spectral spectral_at(void *memory, int64_t rows, int64_t cols, int64_t rank);

/* Its content before the first run: a random basis. */
void spectral_start(void *memory, int64_t rows, int64_t cols, int64_t rank);

#endif
