/* Internals of the pickle reader: its stack machine and the constructors it may use. */
#ifndef IO_PICKLE_MACHINE_H
#define IO_PICKLE_MACHINE_H

#include "io/pickle/pickle.h"

/* A CSR matrix under construction: BUILD sets its named parts. */
struct pickle_csr {
    struct npy *data, *indices, *indptr;
    int64_t rows, cols; /* -1 until known */
};

struct pickle_block; /* of the arena */

struct pickle {
    const uint8_t *bytes;
    size_t size, at; /* at: after the current opcode's argument */
    size_t opcode;   /* position of the current opcode */
    char *label;
    struct pickle_value *stack;
    size_t depth, stack_capacity;
    size_t *mark; /* stack depths */
    size_t marks, mark_capacity;
    struct pickle_value *memo;
    size_t memo_count, memo_capacity; /* count: highest index + 1 */
    struct pickle_block *blocks;
    size_t block_left, allocated;
    consm_status alloc_status; /* why pickle_alloc returned NULL */
    bool stopped;
};

/* The allowed names; each is one of our constructors or types. */
enum pickle_global {
    GLOBAL_CSR_MATRIX,
    GLOBAL_NDARRAY,
    GLOBAL_DTYPE,
    GLOBAL_RECONSTRUCT, /* numpy: an empty array, filled by BUILD */
    GLOBAL_FROMBUFFER,  /* numpy, protocol 5: an array from bytes */
    GLOBAL_SCALAR,      /* numpy: one number */
    GLOBAL_DEFAULTDICT,
    GLOBAL_LIST,          /* the default of a defaultdict */
    GLOBAL_RECONSTRUCTOR, /* copyreg, protocols 0 and 1: an empty object */
    GLOBAL_OBJECT,
    GLOBAL_ENCODE, /* how Python 3 writes bytes in protocols 0 to 2 */
    GLOBAL_BYTES
};

/* An opcode's argument: a number, or bytes of the file. */
struct pickle_argument {
    uint64_t number;
    const char *text, *text2;
    size_t size, size2;
};

/* The object in a NumPy array of one object; any other value is returned as it is. */
const struct pickle_value *pickle_inside(const struct pickle_value *root);

/* A fault at the current opcode. */
consm_status pickle_fault(const struct pickle *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Zeroed memory that lives as long as p. Its total is limited by the file's size: a pickle can name
 * a string once and request copies with a byte or two each. */
void *pickle_alloc(struct pickle *p, size_t bytes);
static inline consm_status pickle_alloc_failed(const struct pickle *p)
{
    return p->alloc_status < 0 ? p->alloc_status : CONSM_ENOMEM;
}
#define PICKLE_NEW(p, x, bytes) \
    (((x) = pickle_alloc(p, bytes)) ? (consm_status)CONSM_OK : pickle_alloc_failed(p))

/* A new container with room for count elements. */
consm_status pickle_new_items(struct pickle *p, struct pickle_items **out, size_t count);
/* Appends count values. */
consm_status pickle_append(struct pickle *p, struct pickle_items *items,
                           const struct pickle_value *values, size_t count);

consm_status pickle_push(struct pickle *p, struct pickle_value v);

/* Finds the allowed name; otherwise a fault. */
consm_status pickle_global(const struct pickle *p, struct pickle_value *out, const char *module,
                           size_t module_length, const char *name, size_t name_length);
/* callable(*args), NEWOBJ included: class.__new__(class, *args). */
consm_status pickle_call(struct pickle *p, struct pickle_value *out,
                         const struct pickle_value *callable, const struct pickle_value *args,
                         bool new_object);
/* object.__setstate__(state) */
consm_status pickle_build(struct pickle *p, const struct pickle_value *object,
                          const struct pickle_value *state);

/* Opcode handlers; several opcodes may share one. */
consm_status pickle_op_binint(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_bool(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_build(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_bytes(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_call(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_decimal(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_duplicate(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_empty(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_escaped_text(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_extend(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_float(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_float_text(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_from_mark(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_get(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_global(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_long(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_mark(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_none(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_pop(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_put(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_quoted(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_short_tuple(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_stack_global(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_text(struct pickle *p, const struct pickle_argument *a, int op);
consm_status pickle_op_unsigned(struct pickle *p, const struct pickle_argument *a, int op);

#endif
