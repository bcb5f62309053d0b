/* Parses the header of a .npy file: a Python dictionary literal with exactly three keys. */
#include "io/npy.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_HEADER = 1 << 16 };

/* A position in the header text. */
struct cursor {
    const char *at, *begin, *end;
    size_t offset; /* of begin in the file */
    const char *label;
};

static consm_status expected(const struct cursor *c, const char *what)
{
    char found[24] = "the end of the header";
    if (c->at < c->end)
        snprintf(found, sizeof found, *c->at >= 32 && *c->at < 127 ? "'%c'" : "byte %d", *c->at);
    return status_fail(CONSM_EFORMAT, "%s: byte %zu: found %s, expected %s", c->label,
                       c->offset + (size_t)(c->at - c->begin), found, what);
}

static void skip_blanks(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t'))
        c->at++;
}

/* Takes a literal word if it comes next. */
static bool accept(struct cursor *c, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

/* A quoted string without escapes. */
static consm_status quoted(struct cursor *c, const char **text, size_t *length)
{
    skip_blanks(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return expected(c, "a quoted string");
    const char *close = memchr(c->at + 1, *c->at, (size_t)(c->end - c->at - 1));
    if (!close)
        return expected(c, "a closed quote");
    *text = c->at + 1;
    *length = (size_t)(close - *text);
    c->at = close + 1;
    return CONSM_OK;
}

/* "(5201, 2089)", "(5201,)", "()"; Python 2 may have written 5201L. */
static consm_status shape_tuple(struct cursor *c, int64_t *shape, int *rank)
{
    *rank = 0;
    if (!accept(c, "("))
        return expected(c, "the shape in parentheses");
    while (!accept(c, ")")) {
        int64_t side = 0;
        skip_blanks(c);
        if (c->at == c->end || *c->at < '0' || *c->at > '9')
            return expected(c, "a whole number or ')'");
        if (*rank == NPY_MAX_RANK)
            return expected(c, "')': at most two dimensions");
        for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
            if (__builtin_mul_overflow(side, 10, &side) ||
                __builtin_add_overflow(side, *c->at - '0', &side))
                return expected(c, "a size below 2^63");
        shape[(*rank)++] = side;
        accept(c, "L");
        if (!accept(c, ",") && (c->at == c->end || *c->at != ')'))
            return expected(c, "',' or ')'");
    }
    return CONSM_OK;
}

static consm_status parse_dictionary(struct npy *a, struct cursor *c, uint64_t data_bytes)
{
    consm_status st = CONSM_OK;
    enum { DESCR = 1, ORDER = 2, SHAPE = 4 };
    unsigned seen = 0;
    int64_t shape[NPY_MAX_RANK];
    int rank = 0;
    if (!accept(c, "{"))
        TRY(expected(c, "'{'"));
    while (!accept(c, "}")) {
        const char *key, *type;
        size_t length, type_length;
        unsigned which;
        TRY(quoted(c, &key, &length));
        if (!accept(c, ":"))
            TRY(expected(c, "':'"));
        if (length == 5 && memcmp(key, "descr", 5) == 0) {
            which = DESCR;
            TRY(quoted(c, &type, &type_length));
            TRY(npy_type(a, type, type_length));
        } else if (length == 13 && memcmp(key, "fortran_order", 13) == 0) {
            which = ORDER;
            a->fortran = accept(c, "True");
            if (!a->fortran && !accept(c, "False"))
                TRY(expected(c, "True or False"));
        } else if (length == 5 && memcmp(key, "shape", 5) == 0) {
            which = SHAPE;
            TRY(shape_tuple(c, shape, &rank));
        } else {
            TRY(expected(c, "one of the keys descr, fortran_order, shape"));
            which = 0;
        }
        if (seen & which)
            TRY(expected(c, "each key once"));
        seen |= which;
        if (!accept(c, ",") && (c->at == c->end || *c->at != '}'))
            TRY(expected(c, "',' or '}'"));
    }
    skip_blanks(c);
    if (c->at != c->end)
        TRY(expected(c, "nothing after '}'"));
    if (seen != (DESCR | ORDER | SHAPE))
        TRY(expected(c, "the keys descr, fortran_order and shape"));
    TRY(npy_shape(a, rank, shape, data_bytes));
done:
    return st;
}

consm_status npy_header(struct npy *out, size_t *header, const uint8_t *bytes, size_t available,
                        uint64_t total, const char *label)
{
    *out = (struct npy){.label = label};
    if (total == 0)
        return status_fail(CONSM_EFORMAT, "%s: the file is empty: expected a .npy array", label);
    if (available < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return status_fail(CONSM_EFORMAT, "%s: byte 0: not a .npy array: expected \\x93NUMPY",
                           label);
    int major = bytes[6];
    if (major < 1 || major > 3)
        return status_fail(CONSM_EFORMAT, "%s: byte 6: found version %d, expected 1, 2 or 3", label,
                           major);
    size_t start = major == 1 ? 10 : 12;
    uint64_t length = bytes[8] | (uint64_t)bytes[9] << 8;
    if (major > 1 && available >= start)
        length |= (uint64_t)bytes[10] << 16 | (uint64_t)bytes[11] << 24;
    if (length > LONGEST_HEADER - start || available < start || length > available - start)
        return status_fail(
            CONSM_EFORMAT, "%s: byte 8: the header has %llu bytes, expected at most %llu", label,
            (unsigned long long)length,
            (unsigned long long)(available < LONGEST_HEADER ? available : LONGEST_HEADER));
    const char *text = (const char *)bytes + start;
    struct cursor c = {text, text, text + length, start, label};
    *header = start + length;
    out->data = bytes + *header;
    return parse_dictionary(out, &c, total - *header);
}

consm_status npy_parse(struct npy *out, const uint8_t *bytes, size_t size, const char *label)
{
    size_t header;
    return npy_header(out, &header, bytes, size, size, label);
}

bool npy_is_pickled(size_t *header, const uint8_t *bytes, size_t size)
{
    if (size < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return false;
    size_t start = bytes[6] == 1 ? 10 : 12;
    size_t length = bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1)
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (length > LONGEST_HEADER || length > size - start)
        return false;
    *header = start + length;
    return memmem(bytes + start, length, "'descr': '|O'", 13) != NULL;
}

/* The widths that a kind may have: bit w means w bytes. */
static unsigned widths_of(char kind)
{
    switch (kind) {
    case 'b': return 1 << 1;
    case 'i':
    case 'u': return 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8;
    case 'f': return 1 << 2 | 1 << 4 | 1 << 8;
    default: return 0;
    }
}

consm_status npy_type(struct npy *a, const char *text, size_t length)
{
    const char *end = text + length, *at = text;
    char order = '=';
    int64_t width = 0;
    if (at < end && strchr("<>|=", *at) && *at)
        order = *at++;
    char kind = at < end ? *at++ : 0;
    const char *digits = at;
    while (at < end && *at >= '0' && *at <= '9' && width < 1 << 20)
        width = 10 * width + (*at++ - '0');
    bool known = kind == 'S' || kind == 'U' ? width > 0 && width <= 1 << 20
                                            : kind && width <= 8 && (widths_of(kind) >> width & 1);
    if (!known || at != end || digits == end)
        return status_fail(CONSM_EFORMAT,
                           "%s: has elements of type \"%.*s\": expected b1, i1 to i8, u1 to u8, "
                           "f2, f4, f8, S or U",
                           a->label, length < 40 ? (int)length : 40, text);
    a->kind = kind;
    a->width = kind == 'U' ? 4 * width : width;
    a->swapped = order == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<');
    return CONSM_OK;
}

consm_status npy_shape(struct npy *a, int rank, const int64_t *shape, uint64_t bytes)
{
    int64_t needed = a->width;
    bool overflow = rank > NPY_MAX_RANK;
    a->rank = rank;
    a->count = 1;
    for (int i = 0; i < NPY_MAX_RANK; i++) {
        a->shape[i] = i < rank ? shape[i] : 1;
        overflow |= a->shape[i] < 0 || __builtin_mul_overflow(a->count, a->shape[i], &a->count) ||
                    __builtin_mul_overflow(needed, a->shape[i], &needed);
    }
    if (overflow || (uint64_t)needed != bytes)
        return status_fail(
            CONSM_EFORMAT,
            "%s: %lld x %lld elements of %lld bytes do not match the %llu bytes of data", a->label,
            (long long)a->shape[0], (long long)a->shape[1], (long long)a->width,
            (unsigned long long)bytes);
    return CONSM_OK;
}

static void describe_shape(char text[64], int rank, int64_t rows, int64_t cols)
{
    char side[2][24];
    snprintf(side[0], sizeof side[0], rows < 0 ? "any" : "%lld", (long long)rows);
    snprintf(side[1], sizeof side[1], cols < 0 ? "any" : "%lld", (long long)cols);
    snprintf(text, 64, rank == 0 ? "()" : rank == 1 ? "(%s)" : "(%s, %s)", side[0], side[1]);
}

consm_status npy_expect(const struct npy *a, int rank, int64_t rows, int64_t cols)
{
    char found[64], wanted[64];
    if (a->rank == rank && (rank < 1 || rows < 0 || a->shape[0] == rows) &&
        (rank < 2 || cols < 0 || a->shape[1] == cols))
        return CONSM_OK;
    describe_shape(found, a->rank, a->shape[0], a->shape[1]);
    describe_shape(wanted, rank, rows, cols);
    return status_fail(CONSM_EFORMAT, "%s: the array has shape %s: expected %s", a->label, found,
                       wanted);
}

size_t npy_write_header(char buffer[NPY_HEADER_BYTES], const char *type, int rank,
                        const int64_t *shape)
{
    char sides[64] = "";
    if (rank == 1)
        snprintf(sides, sizeof sides, "%lld,", (long long)shape[0]);
    if (rank == 2)
        snprintf(sides, sizeof sides, "%lld, %lld", (long long)shape[0], (long long)shape[1]);
    int used = snprintf(buffer + 10, NPY_HEADER_BYTES - 10,
                        "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, sides);
    size_t total = ((size_t)used + 10 + 1 + 63) / 64 * 64;
    memcpy(buffer, "\x93NUMPY\x01\x00", 8);
    buffer[8] = (char)((total - 10) & 255);
    buffer[9] = (char)((total - 10) >> 8);
    memset(buffer + 10 + used, ' ', total - 10 - (size_t)used);
    buffer[total - 1] = '\n';
    return total;
}
