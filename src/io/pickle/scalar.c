/* Opcodes that push numbers and strings. */
#include "base/number.h"
#include "io/pickle/machine.h"

#include <stdlib.h>
#include <string.h>

consm_status pickle_op_none(struct pickle *p, const struct pickle_argument *a, int op)
{
    (void)a, (void)op;
    return pickle_push(p, (struct pickle_value){.kind = PICKLE_NONE});
}

consm_status pickle_op_bool(struct pickle *p, const struct pickle_argument *a, int op)
{
    (void)a;
    return pickle_push(p, (struct pickle_value){.kind = PICKLE_BOOL, .integer = op == 0x88});
}

consm_status pickle_op_unsigned(struct pickle *p, const struct pickle_argument *a, int op)
{
    (void)op;
    return pickle_push(p, (struct pickle_value){.kind = PICKLE_INT, .integer = (int64_t)a->number});
}

consm_status pickle_op_binint(struct pickle *p, const struct pickle_argument *a, int op)
{
    (void)op;
    int64_t value = (int32_t)(uint32_t)a->number;
    return pickle_push(p, (struct pickle_value){.kind = PICKLE_INT, .integer = value});
}

/* Little-endian two's complement of any length; none at all is 0. */
consm_status pickle_op_long(struct pickle *p, const struct pickle_argument *a, int op)
{
    (void)op;
    uint64_t value = 0;
    if (a->size > 8)
        return pickle_fault(p, "an integer of %zu bytes: expected at most 8", a->size);
    for (size_t i = 0; i < a->size; i++)
        value |= (uint64_t)(uint8_t)a->text[i] << (8 * i);
    if (a->size > 0 && a->size < 8 && (a->text[a->size - 1] & 0x80))
        value |= UINT64_MAX << (8 * a->size);
    return pickle_push(p, (struct pickle_value){.kind = PICKLE_INT, .integer = (int64_t)value});
}

/* "123", "-4L", and the booleans "00" and "01" of INT. */
consm_status pickle_op_decimal(struct pickle *p, const struct pickle_argument *a, int op)
{
    const char *at = a->text, *end = a->text + a->size;
    int64_t value = 0;
    if (op == 'I' && a->size == 2 && at[0] == '0' && (at[1] == '0' || at[1] == '1'))
        return pickle_push(p, (struct pickle_value){.kind = PICKLE_BOOL, .integer = at[1] == '1'});
    bool negative = at < end && *at == '-';
    at += negative;
    bool good = at < end;
    for (; good && at < end && !(*at == 'L' && at + 1 == end && op == 'L'); at++) {
        int digit = *at - '0';
        good = digit >= 0 && digit <= 9 && !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_sub_overflow(value, digit, &value);
    }
    if (!good || (!negative && value == INT64_MIN))
        return pickle_fault(p, "found \"%.*s\": expected a whole number", (int)(a->size & 31),
                            a->text);
    return pickle_push(
        p, (struct pickle_value){.kind = PICKLE_INT, .integer = negative ? value : -value});
}

consm_status pickle_op_float_text(struct pickle *p, const struct pickle_argument *a, int op)
{
    (void)op;
    char text[64], *end = text;
    double value = 0;
    if (a->size > 0 && a->size < sizeof text) {
        memcpy(text, a->text, a->size);
        text[a->size] = 0;
        value = number_parse(text, &end);
    }
    if (end == text || *end)
        return pickle_fault(p, "found \"%.*s\": expected a number", (int)(a->size & 31), a->text);
    return pickle_push(p, (struct pickle_value){.kind = PICKLE_FLOAT, .real = value});
}

/* The only big-endian number of the format. */
consm_status pickle_op_float(struct pickle *p, const struct pickle_argument *a, int op)
{
    (void)op;
    uint64_t bits = __builtin_bswap64(a->number);
    double value;
    memcpy(&value, &bits, sizeof value);
    return pickle_push(p, (struct pickle_value){.kind = PICKLE_FLOAT, .real = value});
}

static consm_status push_string(struct pickle *p, uint32_t kind, const char *text, size_t size)
{
    return pickle_push(p,
                       (struct pickle_value){.kind = kind, .size = (uint32_t)size, .text = text});
}

consm_status pickle_op_bytes(struct pickle *p, const struct pickle_argument *a, int op)
{
    (void)op;
    return push_string(p, PICKLE_BYTES, a->text, a->size);
}

consm_status pickle_op_text(struct pickle *p, const struct pickle_argument *a, int op)
{
    (void)op;
    return push_string(p, PICKLE_TEXT, a->text, a->size);
}

/* The value of count hexadecimal digits, or -1. */
static int64_t hexadecimal(const char *at, const char *end, int count)
{
    int64_t value = 0;
    if (end - at < count)
        return -1;
    for (int i = 0; i < count; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = 16 * value + digit;
    }
    return value;
}

/* Python 2's repr of a string: quoted, with \\ \' \" \n \r \t and \xhh. */
consm_status pickle_op_quoted(struct pickle *p, const struct pickle_argument *a, int op)
{
    (void)op;
    consm_status st = CONSM_OK;
    static const char escape[] = "\\'\"nrt", meaning[] = "\\'\"\n\r\t";
    if (a->size < 2 || (a->text[0] != '\'' && a->text[0] != '"') ||
        a->text[a->size - 1] != a->text[0])
        return pickle_fault(p, "a string without its quotes");
    const char *at = a->text + 1, *end = a->text + a->size - 1;
    char *out, *to;
    TRY(PICKLE_NEW(p, out, a->size));
    to = out;
    while (at < end) {
        if (*at != '\\') {
            *to++ = *at++;
            continue;
        }
        const char *which = at + 1 < end && at[1] ? strchr(escape, at[1]) : NULL;
        int64_t byte = at + 1 < end && at[1] == 'x' ? hexadecimal(at + 2, end, 2) : -1;
        if (!which && byte < 0)
            return pickle_fault(p, "an unknown escape in a string");
        *to++ = which ? meaning[which - escape] : (char)byte;
        at += which ? 2 : 4;
    }
    TRY(push_string(p, PICKLE_BYTES, out, (size_t)(to - out)));
done:
    return st;
}

static char *put_utf8(char *to, int64_t point)
{
    int more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const int lead[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(lead[more] | (int)(point >> (6 * more)));
    while (more-- > 0)
        *to++ = (char)(0x80 | (point >> (6 * more) & 63));
    return to;
}

/* Latin-1 with \uhhhh and \Uhhhhhhhh. */
consm_status pickle_op_escaped_text(struct pickle *p, const struct pickle_argument *a, int op)
{
    (void)op;
    consm_status st = CONSM_OK;
    const char *at = a->text, *end = a->text + a->size;
    char *out, *to;
    TRY(PICKLE_NEW(p, out, 2 * a->size + 1));
    to = out;
    while (at < end) {
        int digits = *at != '\\' || at + 1 == end ? 0 : at[1] == 'u' ? 4 : at[1] == 'U' ? 8 : 0;
        int64_t point = digits ? hexadecimal(at + 2, end, digits) : (uint8_t)*at;
        if (point < 0 || point > 0x10ffff)
            return pickle_fault(p, "an unknown escape in a string");
        to = put_utf8(to, point);
        at += digits ? 2 + digits : 1;
    }
    TRY(push_string(p, PICKLE_TEXT, out, (size_t)(to - out)));
done:
    return st;
}
