/* Converts SciPy's CSR format, three NumPy arrays, to our matrix. */
#ifndef DATA_READERS_NPY_CSR_H
#define DATA_READERS_NPY_CSR_H

#include "graph/csr.h"
#include "io/npy.h"

/* The entries as stored, checked: row starts never decrease, columns are in range. Rows may be
 * unsorted and hold repeats. Refused: far more columns than a small file can need (2^24 + nnz). */
consm_status npy_csr_entries(struct csr **out, const struct npy_csr *parts);

/* The matrix: columns ascending, repeated entries summed, as in SciPy. */
consm_status npy_csr_matrix(struct csr **out, const struct npy_csr *parts);

#endif
