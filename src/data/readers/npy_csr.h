/* SciPy's compressed rows, as three NumPy arrays, into our own matrix. */
#ifndef DATA_READERS_NPY_CSR_H
#define DATA_READERS_NPY_CSR_H

#include "graph/csr.h"
#include "io/npy.h"

/* The entries as they stand, checked: row starts that never fall, columns in range. Rows may be
 * unsorted and hold repeats. Refused: far more columns than a small file can need (2^24 + nnz). */
consm_status npy_csr_entries(struct csr **out, const struct npy_csr *parts);

/* The matrix: columns ascending, repeated entries added up as SciPy does. */
consm_status npy_csr_matrix(struct csr **out, const struct npy_csr *parts);

#endif
