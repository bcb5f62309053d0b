/* Reads pickles without Python and without trusting them. */

/*
 * A pickle is a program for a stack machine that may call anything. This machine (protocols 0 to 5)
 * supports only SciPy CSR matrices, NumPy arrays and dictionaries of lists. It calls nothing: the
 * few allowed names (numpy's _reconstruct, scipy's csr_matrix, …) are built-in constructors; every
 * other name or opcode is refused with its position. Memory stays within a small multiple of the
 * file's size.
 */
#ifndef IO_PICKLE_PICKLE_H
#define IO_PICKLE_PICKLE_H

#include "io/npy.h"

enum pickle_kind {
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_INT,
    PICKLE_FLOAT,
    PICKLE_BYTES, /* also Python 2's str */
    PICKLE_TEXT,  /* UTF-8 */
    PICKLE_TUPLE,
    PICKLE_LIST,
    PICKLE_DICT,   /* also defaultdict */
    PICKLE_GLOBAL, /* an allowed name */
    PICKLE_DTYPE,
    PICKLE_ARRAY,
    PICKLE_CSR
};

struct pickle_items;

/* A value. Containers are shared by pointer, as in Python. */
struct pickle_value {
    uint32_t kind;
    uint32_t size; /* bytes of BYTES and TEXT */
    union {
        int64_t integer; /* BOOL, INT; which one for GLOBAL */
        double real;
        const char *text; /* not terminated */
        struct pickle_items *items;
        struct npy *array; /* ARRAY; for DTYPE only kind, width, swapped count */
        struct pickle_csr *csr;
    };
};

/* Elements of a tuple or list; a dictionary holds key, value, key, value, … in insertion order. */
struct pickle_items {
    struct pickle_value *item;
    uint32_t count, capacity;
};

/* The content of a file; valid as long as its bytes. */
struct pickle;
consm_status pickle_load(struct pickle **out, const uint8_t *bytes, size_t size, const char *label);
void pickle_free(struct pickle *p);
const struct pickle_value *pickle_root(const struct pickle *p);

/* "a tuple", "None", …: for messages. */
const char *pickle_kind_name(const struct pickle_value *v);

/* The root as an array, a CSR matrix or a dictionary; otherwise a message names label and the kind
 * found. */
consm_status pickle_root_array(struct npy *out, const struct pickle *p);
consm_status pickle_root_csr(struct npy_csr *out, const struct pickle *p);
consm_status pickle_root_dict(const struct pickle_items **out, const struct pickle *p);

#endif
