/* The allowed names and what they make: NumPy types, arrays and numbers, SciPy CSR matrices.
 * Nothing is called; each name has a constructor here that accepts exactly the arguments that its
 * library writes. */
#include "io/pickle/machine.h"

#include <string.h>

static const struct {
    const char *module, *name;
    enum pickle_global global;
} allowed[] = {
    {"scipy.sparse.csr", "csr_matrix", GLOBAL_CSR_MATRIX},
    {"scipy.sparse._csr", "csr_matrix", GLOBAL_CSR_MATRIX},
    {"scipy.sparse._csr", "csr_array", GLOBAL_CSR_MATRIX},
    {"numpy", "ndarray", GLOBAL_NDARRAY},
    {"numpy", "dtype", GLOBAL_DTYPE},
    {"numpy.core.multiarray", "_reconstruct", GLOBAL_RECONSTRUCT},
    {"numpy._core.multiarray", "_reconstruct", GLOBAL_RECONSTRUCT},
    {"numpy.core.numeric", "_frombuffer", GLOBAL_FROMBUFFER},
    {"numpy._core.numeric", "_frombuffer", GLOBAL_FROMBUFFER},
    {"numpy.core.multiarray", "scalar", GLOBAL_SCALAR},
    {"numpy._core.multiarray", "scalar", GLOBAL_SCALAR},
    {"collections", "defaultdict", GLOBAL_DEFAULTDICT},
    {"__builtin__", "list", GLOBAL_LIST},
    {"builtins", "list", GLOBAL_LIST},
    {"copy_reg", "_reconstructor", GLOBAL_RECONSTRUCTOR},
    {"copyreg", "_reconstructor", GLOBAL_RECONSTRUCTOR},
    {"__builtin__", "object", GLOBAL_OBJECT},
    {"builtins", "object", GLOBAL_OBJECT},
    {"_codecs", "encode", GLOBAL_ENCODE},
    {"__builtin__", "bytes", GLOBAL_BYTES},
    {"builtins", "bytes", GLOBAL_BYTES},
};

static bool same_text(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* Copies the characters that a message may show: printable ASCII, at most 60. */
static void printable(char out[64], const char *text, size_t length)
{
    size_t i = 0;
    for (; i < length && i < 60; i++)
        out[i] = text[i] >= 32 && text[i] < 127 ? text[i] : '?';
    out[i] = 0;
}

consm_status pickle_global(const struct pickle *p, struct pickle_value *out, const char *module,
                           size_t module_length, const char *name, size_t name_length)
{
    char where[64], what[64];
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (same_text(module, module_length, allowed[i].module) &&
            same_text(name, name_length, allowed[i].name)) {
            *out = (struct pickle_value){.kind = PICKLE_GLOBAL, .integer = allowed[i].global};
            return CONSM_OK;
        }
    printable(where, module, module_length);
    printable(what, name, name_length);
    return pickle_fault(p,
                        "global %s.%s is not allowed: expected only arrays, matrices and dicts "
                        "of lists",
                        where, what);
}

const char *pickle_kind_name(const struct pickle_value *v)
{
    static const char *const name[] = {"None",     "a bool",   "an integer",  "a float", "bytes",
                                       "a string", "a tuple",  "a list",      "a dict",  "a global",
                                       "a dtype",  "an array", "a csr_matrix"};
    return v->kind <= PICKLE_CSR ? name[v->kind] : "nothing";
}

/* Whether the value matches one letter: i integer or bool, s bytes or string, b bytes, t tuple, g
 * global, d dtype, N None, * anything. */
static bool matches(const struct pickle_value *v, char letter)
{
    switch (letter) {
    case 'i': return v->kind == PICKLE_INT || v->kind == PICKLE_BOOL;
    case 's': return v->kind == PICKLE_BYTES || v->kind == PICKLE_TEXT;
    case 'b': return v->kind == PICKLE_BYTES;
    case 'u': return v->kind == PICKLE_TEXT;
    case 't': return v->kind == PICKLE_TUPLE;
    case 'g': return v->kind == PICKLE_GLOBAL;
    case 'd': return v->kind == PICKLE_DTYPE;
    case 'N': return v->kind == PICKLE_NONE;
    default: return true;
    }
}

/* Whether args is a tuple of exactly these kinds. */
static bool is_tuple(const struct pickle_value *args, const char *letters)
{
    if (args->kind != PICKLE_TUPLE || args->items->count != strlen(letters))
        return false;
    for (size_t i = 0; letters[i]; i++)
        if (!matches(&args->items->item[i], letters[i]))
            return false;
    return true;
}

static bool is_global(const struct pickle_value *v, enum pickle_global which)
{
    return v->kind == PICKLE_GLOBAL && v->integer == which; /* NOLINT: a full tuple has items */
}

static consm_status new_array(struct pickle *p, struct pickle_value *out, uint32_t kind)
{
    consm_status st = CONSM_OK;
    struct npy *a;
    TRY(PICKLE_NEW(p, a, sizeof *a));
    a->label = p->label;
    *out = (struct pickle_value){.kind = kind, .array = a};
done:
    return st;
}

/* dtype('f4', 0, 1); the byte order comes with BUILD. */
static consm_status make_dtype(struct pickle *p, struct pickle_value *out,
                               const struct pickle_value *args)
{
    consm_status st = CONSM_OK;
    if (!is_tuple(args, "sii"))
        TRY(pickle_fault(p,
                         "a numpy.dtype with unexpected arguments: expected a name and two flags"));
    TRY(new_array(p, out, PICKLE_DTYPE));
    if (same_text(args->items->item[0].text, args->items->item[0].size, "O8") ||
        same_text(args->items->item[0].text, args->items->item[0].size, "O")) {
        out->array->kind = 'O';
        return CONSM_OK;
    }
    TRY(npy_type(out->array, args->items->item[0].text, args->items->item[0].size));
done:
    return st;
}

static consm_status make_csr(struct pickle *p, struct pickle_value *out)
{
    consm_status st = CONSM_OK;
    struct pickle_csr *m;
    TRY(PICKLE_NEW(p, m, sizeof *m));
    m->rows = m->cols = -1;
    *out = (struct pickle_value){.kind = PICKLE_CSR, .csr = m};
done:
    return st;
}

/* Type, shape, order and bytes of an array from any source. */
static consm_status fill_array(struct pickle *p, struct npy *a, const struct pickle_value *dtype,
                               const struct pickle_items *shape, bool fortran,
                               const struct pickle_value *bytes)
{
    int64_t side[NPY_MAX_RANK] = {0};
    if (dtype->array->kind == 'O')
        return pickle_fault(p, "an array of objects: expected numbers");
    if (shape->count > NPY_MAX_RANK)
        return pickle_fault(p, "an array of %u dimensions: expected at most 2", shape->count);
    for (uint32_t i = 0; i < shape->count; i++) {
        if (!matches(&shape->item[i], 'i'))
            return pickle_fault(p, "a shape with %s: expected whole numbers",
                                pickle_kind_name(&shape->item[i]));
        side[i] = shape->item[i].integer;
    }
    *a = *dtype->array;
    a->label = p->label;
    a->fortran = fortran;
    a->data = (const uint8_t *)bytes->text;
    return npy_shape(a, (int)shape->count, side, bytes->size);
}

static consm_status make_from_buffer(struct pickle *p, struct pickle_value *out,
                                     const struct pickle_value *args)
{
    consm_status st = CONSM_OK;
    if (!is_tuple(args, "bdts"))
        TRY(pickle_fault(
            p, "a _frombuffer with unexpected arguments: expected bytes, dtype, shape, order"));
    const struct pickle_value *v = args->items->item;
    TRY(new_array(p, out, PICKLE_ARRAY));
    TRY(fill_array(p, out->array, &v[1], v[2].items, same_text(v[3].text, v[3].size, "F"), &v[0]));
done:
    return st;
}

/* scalar(dtype, bytes): one number. */
static consm_status make_scalar(struct pickle *p, struct pickle_value *out,
                                const struct pickle_value *args)
{
    consm_status st = CONSM_OK;
    struct npy a = {0};
    int64_t integer;
    float real;
    if (!is_tuple(args, "db"))
        TRY(pickle_fault(p, "a NumPy scalar with unexpected arguments: expected dtype and bytes"));
    struct pickle_items none = {NULL, 0, 0};
    TRY(fill_array(p, &a, &args->items->item[0], &none, false, &args->items->item[1]));
    if (a.kind == 'f') {
        TRY(npy_floats(&real, &a, 0, 1));
        *out = (struct pickle_value){.kind = PICKLE_FLOAT, .real = real};
    } else {
        TRY(npy_int64(&integer, &a, INT64_MIN, INT64_MAX));
        *out = (struct pickle_value){.kind = PICKLE_INT, .integer = integer};
    }
done:
    return st;
}

/* encode(text, "latin1"): every code point is one byte. */
static consm_status make_encoded(struct pickle *p, struct pickle_value *out,
                                 const struct pickle_value *args)
{
    consm_status st = CONSM_OK;
    if (!is_tuple(args, "us") ||
        !(same_text(args->items->item[1].text, args->items->item[1].size, "latin1") ||
          same_text(args->items->item[1].text, args->items->item[1].size, "latin-1")))
        TRY(pickle_fault(
            p, "a _codecs.encode with unexpected arguments: expected a string and \"latin1\""));
    const struct pickle_value *text = &args->items->item[0];
    char *to;
    TRY(PICKLE_NEW(p, to, text->size));
    *out = (struct pickle_value){.kind = PICKLE_BYTES, .text = to};
    for (uint32_t i = 0; i < text->size; i++) {
        int c = (uint8_t)text->text[i];
        if (c >= 0x80) {
            int next = i + 1 < text->size ? (uint8_t)text->text[i + 1] : 0;
            if ((c != 0xc2 && c != 0xc3) || (next & 0xc0) != 0x80)
                TRY(pickle_fault(p, "a string that is not Latin-1"));
            c = (c & 3) << 6 | (next & 63);
            i++;
        }
        to[out->size++] = (char)c;
    }
done:
    return st;
}

static consm_status make_dict(struct pickle *p, struct pickle_value *out,
                              const struct pickle_value *args)
{
    consm_status st = CONSM_OK;
    struct pickle_items *items;
    if (!is_tuple(args, "") &&
        !(is_tuple(args, "g") && is_global(&args->items->item[0], GLOBAL_LIST)))
        TRY(pickle_fault(p, "a defaultdict of other values: expected lists"));
    TRY(pickle_new_items(p, &items, 0));
    *out = (struct pickle_value){.kind = PICKLE_DICT, .items = items};
done:
    return st;
}

consm_status pickle_call(struct pickle *p, struct pickle_value *out,
                         const struct pickle_value *callable, const struct pickle_value *args,
                         bool new_object)
{
    if (callable->kind != PICKLE_GLOBAL)
        return pickle_fault(p, "a call of %s: expected a class", pickle_kind_name(callable));
    if (new_object && callable->integer != GLOBAL_CSR_MATRIX)
        return pickle_fault(p, "a new object of this class: expected a csr_matrix");
    const struct pickle_value *v = args->kind == PICKLE_TUPLE ? args->items->item : NULL;
    switch ((enum pickle_global)callable->integer) {
    case GLOBAL_DTYPE: return make_dtype(p, out, args);
    case GLOBAL_FROMBUFFER: return make_from_buffer(p, out, args);
    case GLOBAL_SCALAR: return make_scalar(p, out, args);
    case GLOBAL_ENCODE: return make_encoded(p, out, args);
    case GLOBAL_DEFAULTDICT: return make_dict(p, out, args);
    case GLOBAL_RECONSTRUCT:
        if (is_tuple(args, "gts") && is_global(&v[0], GLOBAL_NDARRAY))
            return new_array(p, out, PICKLE_ARRAY);
        break;
    case GLOBAL_CSR_MATRIX:
        if (new_object && is_tuple(args, ""))
            return make_csr(p, out);
        break;
    case GLOBAL_RECONSTRUCTOR:
        if (is_tuple(args, "ggN") && is_global(&v[0], GLOBAL_CSR_MATRIX) &&
            is_global(&v[1], GLOBAL_OBJECT))
            return make_csr(p, out);
        break;
    case GLOBAL_BYTES:
        *out = (struct pickle_value){.kind = PICKLE_BYTES, .text = ""};
        if (is_tuple(args, ""))
            return CONSM_OK;
        break;
    case GLOBAL_NDARRAY:
    case GLOBAL_LIST:
    case GLOBAL_OBJECT: break;
    }
    return pickle_fault(p, "a constructor with unexpected arguments");
}

/* (version, byte order, subtype, names, fields, size, alignment, flags[, metadata]) */
static consm_status build_dtype(struct pickle *p, struct npy *a, const struct pickle_value *state)
{
    if (!is_tuple(state, "isNNN***") && !is_tuple(state, "isNNN****"))
        return pickle_fault(p, "a dtype with fields: expected a plain dtype");
    const struct pickle_value *order = &state->items->item[1];
    char c = order->size == 1 ? *order->text : 0;
    if (c == 0 || !strchr("<>|=", c))
        return pickle_fault(p, "an unknown byte order: expected <, >, | or =");
    a->swapped = c == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<');
    return CONSM_OK;
}

/* The attributes of a csr_matrix; display attributes are ignored. */
static consm_status build_csr(struct pickle *p, struct pickle_csr *m,
                              const struct pickle_value *state)
{
    if (state->kind != PICKLE_DICT)
        return pickle_fault(p, "a csr_matrix built from %s: expected a dict",
                            pickle_kind_name(state));
    for (uint32_t i = 0; i < state->items->count; i += 2) {
        const struct pickle_value *key = &state->items->item[i], *v = key + 1;
        if (!matches(key, 's'))
            return pickle_fault(p, "an attribute whose name is %s", pickle_kind_name(key));
        struct npy **part = same_text(key->text, key->size, "data")      ? &m->data
                            : same_text(key->text, key->size, "indices") ? &m->indices
                            : same_text(key->text, key->size, "indptr")  ? &m->indptr
                                                                         : NULL;
        if (part && v->kind != PICKLE_ARRAY)
            return pickle_fault(p, "a csr_matrix with %s as %.*s: expected an array",
                                pickle_kind_name(v), (int)key->size, key->text);
        if (part)
            *part = v->array;
        if (same_text(key->text, key->size, "_shape") || same_text(key->text, key->size, "shape")) {
            if (!is_tuple(v, "ii"))
                return pickle_fault(p, "the shape of a csr_matrix: expected two whole numbers");
            m->rows = v->items->item[0].integer; /* NOLINT: p builds what it made */
            m->cols = v->items->item[1].integer;
        }
    }
    return CONSM_OK;
}

/* (version, (), dtype('O'), order, [object]): how NumPy packs one object that is not an array. The
 * list stays a list; pickle_root() looks into it. */
static consm_status build_object(struct pickle *p, struct npy *a, const struct pickle_value *v)
{
    if (v[1].items->count != 0 || v[4].kind != PICKLE_LIST || v[4].items->count != 1)
        return pickle_fault(p, "an array of objects: expected a single object, or numbers");
    a->kind = 'O';
    a->data = (const uint8_t *)v[4].items;
    return CONSM_OK;
}

const struct pickle_value *pickle_inside(const struct pickle_value *root)
{
    if (root->kind != PICKLE_ARRAY || root->array->kind != 'O' || !root->array->data)
        return root;
    const struct pickle_items *list = (const void *)root->array->data;
    return list->count == 1 ? &list->item[0] : root;
}

consm_status pickle_build(struct pickle *p, const struct pickle_value *object,
                          const struct pickle_value *state)
{
    const struct pickle_value *v = state->kind == PICKLE_TUPLE ? state->items->item : NULL;
    switch (object->kind) {
    case PICKLE_DTYPE: return build_dtype(p, object->array, state);
    case PICKLE_CSR: return build_csr(p, object->csr, state);
    case PICKLE_ARRAY:
        if (is_tuple(state, "itdi*") && v[2].array->kind == 'O')
            return build_object(p, object->array, v);
        /* (version, shape, dtype, fortran order, bytes) */
        if (!is_tuple(state, "itdib"))
            return pickle_fault(p, "an array with an unexpected state: expected version, shape, "
                                   "dtype, order and bytes");
        return fill_array(p, object->array, &v[2], v[1].items, v[3].integer != 0, &v[4]);
    default:
        return pickle_fault(p, "a state for %s: expected a dtype, an array or a csr_matrix",
                            pickle_kind_name(object));
    }
}

static consm_status wrong_root(const struct pickle *p, const char *wanted)
{
    return status_fail(CONSM_EFORMAT, "%s: contains %s: expected %s", p->label,
                       pickle_kind_name(pickle_root(p)), wanted);
}

/* An array that BUILD never reached has no type. */
static bool complete(const struct npy *a)
{
    return a && a->kind != 0 && a->kind != 'O';
}

consm_status pickle_root_array(struct npy *out, const struct pickle *p)
{
    const struct pickle_value *root = pickle_root(p);
    if (root->kind != PICKLE_ARRAY || !complete(root->array))
        return wrong_root(p, "a filled array");
    *out = *root->array;
    return CONSM_OK;
}

consm_status pickle_root_csr(struct npy_csr *out, const struct pickle *p)
{
    const struct pickle_value *root = pickle_root(p);
    if (root->kind != PICKLE_CSR)
        return wrong_root(p, "a csr_matrix");
    const struct pickle_csr *m = root->csr;
    if (!complete(m->data) || !complete(m->indices) || !complete(m->indptr) || m->rows < 0 ||
        m->cols < 0 || m->rows >= INT32_MAX || m->cols >= INT32_MAX)
        return status_fail(
            CONSM_EFORMAT,
            "%s: contains a csr_matrix of %lld x %lld: expected a shape, data, indices and indptr",
            p->label, (long long)m->rows, (long long)m->cols);
    *out = (struct npy_csr){*m->data, *m->indices, *m->indptr, m->rows, m->cols};
    return CONSM_OK;
}

consm_status pickle_root_dict(const struct pickle_items **out, const struct pickle *p)
{
    const struct pickle_value *root = pickle_root(p);
    if (root->kind != PICKLE_DICT)
        return wrong_root(p, "a dict");
    *out = root->items;
    return CONSM_OK;
}
