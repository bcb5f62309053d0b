/* What the singular value operations keep between runs. */
#ifndef PROGRAM_SPECTRAL_H
#define PROGRAM_SPECTRAL_H

#include "base/alloc.h"

enum { SPECTRAL_EXTRA = 4, SPECTRAL_MAX = 64 }; /* columns beyond the rank; columns in all */

/* A basis of the leading right singular vectors, a few more than asked for so that the last of them
 * converge too, and the products the iteration needs. All in double precision: a gradient is a
 * product of two vectors, and their errors add up. */
struct spectral {
    int64_t rows, cols, width; /* width: columns of the basis */
    double *v;                 /* (cols, width) orthonormal basis */
    double *y;                 /* (rows, width) A·v */
    double *turn;              /* (cols, width) scratch */
    double *left, *right;      /* (rows, width), (cols, width): the singular vectors, best first */
    double sigma[SPECTRAL_MAX], gram[SPECTRAL_MAX * SPECTRAL_MAX];
    double axes[SPECTRAL_MAX * SPECTRAL_MAX];
    double last; /* the sum found by the previous iteration */
    bool done;
};

consm_status spectral_new(struct spectral **out, int64_t rows, int64_t cols, int64_t rank);
void spectral_free(struct spectral *s);

#endif
