/* NumPy arrays: the .npy format, versions 1 to 3, and the description of an array in memory that
 * the NPZ and pickle readers share. */

/*
 * Types: bool, integers of 1 to 8 bytes, floats of 2, 4 and 8 bytes, byte strings (S) and Unicode
 * strings (U). Both byte orders; C and Fortran order; up to two dimensions, which graphs do not
 * exceed.
 */
#ifndef IO_NPY_H
#define IO_NPY_H

#include "base/alloc.h"

enum { NPY_MAX_RANK = 2 };

struct npy {
    const char *label; /* name for messages: "squirrel.npz: edges.npy" */
    char kind;         /* 'b', 'i', 'u', 'f', 'S', 'U' */
    int64_t width;     /* bytes of an element */
    bool swapped;      /* its byte order differs from this machine's */
    bool fortran;      /* column-major */
    int rank;
    int64_t shape[NPY_MAX_RANK]; /* 1 beyond rank */
    int64_t count;               /* elements */
    const uint8_t *data;         /* count × width bytes, aligned or not */
};

/* Reads the header at the start of bytes, of which `available` are here and `total` exist; the
 * array must fill them exactly. *header becomes the header's length; out->data points after it.
 * Headers over 64 kB are refused, so the first 64 kB are enough. */
consm_status npy_header(struct npy *out, size_t *header, const uint8_t *bytes, size_t available,
                        uint64_t total, const char *label);

/* Parses a whole .npy file in memory. The array points into bytes. */
consm_status npy_parse(struct npy *out, const uint8_t *bytes, size_t size, const char *label);

/* Whether a .npy file in memory holds pickled Python objects; the pickle begins at *header. */
bool npy_is_pickled(size_t *header, const uint8_t *bytes, size_t size);

/* Fills kind, width and swapped from a type such as "<f4". */
consm_status npy_type(struct npy *a, const char *text, size_t length);

/* Fills rank, shape and count; checks that width × count is `bytes`. */
consm_status npy_shape(struct npy *a, int rank, const int64_t *shape, uint64_t bytes);

/* Fails unless the array has this rank and, if a side is >= 0, these sides. */
consm_status npy_expect(const struct npy *a, int rank, int64_t rows, int64_t cols);

/* Converts elements first … first+count-1, counted row by row whatever the memory order. Values
 * that floats cannot hold become infinite; dataset_check finds those. */
consm_status npy_floats(float *out, const struct npy *a, int64_t first, int64_t count);

/* Converts the whole array, row by row; each value must be within low … high. Floats must be whole
 * numbers. */
consm_status npy_int32(int32_t *out, const struct npy *a, int64_t low, int64_t high);
consm_status npy_int64(int64_t *out, const struct npy *a, int64_t low, int64_t high);

/* Converts the whole array to 0 and 1; other values are faults. */
consm_status npy_bools(uint8_t *out, const struct npy *a);

/* Converts the whole array of strings to UTF-8, one block each, in a block of count pointers. */
consm_status npy_strings(char ***out, const struct npy *a);

/* Writes a version 1 header for a C-order array into buffer; returns its length, a multiple of 64.
 */
enum { NPY_HEADER_BYTES = 192 };
size_t npy_write_header(char buffer[NPY_HEADER_BYTES], const char *type, int rank,
                        const int64_t *shape);

/* The arrays of SciPy's CSR format. */
struct npy_csr {
    struct npy data, indices, indptr;
    int64_t rows, cols;
};

#endif
