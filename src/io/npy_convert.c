/* Converts elements of any type to the types that consm computes with: in runs of one type where
 * files are large, element by element otherwise. */
#include "io/npy.h"

#include <math.h>
#include <string.h>

enum { RUN = 512 };

static uint64_t load_bits(const uint8_t *p, int64_t width, bool swapped)
{
    uint64_t bits = 0;
    memcpy(&bits, p, 8 < width ? 8 : (size_t)width);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bits >>= 8 * (8 - width);
#endif
    return swapped ? __builtin_bswap64(bits) >> (8 * (8 - width)) : bits;
}

/* IEEE 754 half precision: 1 sign, 5 exponent and 10 fraction bits. */
static float from_half(uint64_t half)
{
    int exponent = (int)(half >> 10 & 31), fraction = (int)(half & 1023);
    float value = exponent == 0   ? ldexpf((float)fraction, -24)
                  : exponent < 31 ? ldexpf((float)(fraction + 1024), exponent - 25)
                  : fraction == 0 ? INFINITY
                                  : NAN;
    return half >> 15 & 1 ? -value : value;
}

static double from_float_bits(uint64_t bits, int64_t width)
{
    float single;
    double wide;
    uint32_t low = (uint32_t)bits;
    switch (width) {
    case 2: return from_half(bits);
    case 4: memcpy(&single, &low, 4); return single;
    default: memcpy(&wide, &bits, 8); return wide;
    }
}

static int64_t from_int_bits(uint64_t bits, int64_t width)
{
    int unused = (int)(64 - 8 * width);
    return (int64_t)(bits << unused) >> unused;
}

/* Element i, counted row by row. */
static const uint8_t *element(const struct npy *a, int64_t i)
{
    if (a->fortran && a->rank == 2) {
        int64_t row = i / a->shape[1], col = i % a->shape[1];
        i = col * a->shape[0] + row;
    }
    return a->data + i * a->width;
}

static bool straight(const struct npy *a)
{
    return !a->swapped && !(a->fortran && a->rank == 2);
}

static consm_status no_number(const struct npy *a)
{
    return status_fail(CONSM_EFORMAT, "%s: is an array of strings: expected numbers", a->label);
}

consm_status npy_floats(float *out, const struct npy *a, int64_t first, int64_t count)
{
    if (a->kind == 'S' || a->kind == 'U')
        return no_number(a);
    if (straight(a) && a->kind == 'f' && a->width == 4) {
        memcpy(out, a->data + first * 4, (size_t)count * 4);
        return CONSM_OK;
    }
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = load_bits(element(a, first + i), a->width, a->swapped);
        out[i] = a->kind == 'f'   ? (float)from_float_bits(bits, a->width)
                 : a->kind == 'i' ? (float)from_int_bits(bits, a->width)
                                  : (float)bits;
    }
    return CONSM_OK;
}

static consm_status bad_integer(const struct npy *a, int64_t i, double value, int64_t low,
                                int64_t high)
{
    return status_fail(CONSM_EFORMAT,
                       "%s: element %lld is %.17g: expected a whole number from "
                       "%lld to %lld",
                       a->label, (long long)i, value, (long long)low, (long long)high);
}

/* Elements first … as 64-bit integers within low … high. */
static consm_status load_ints(int64_t *out, const struct npy *a, int64_t first, int64_t count,
                              int64_t low, int64_t high)
{
    bool outside = false;
    if (straight(a) && a->kind == 'i' && a->width == 8) {
        memcpy(out, a->data + first * 8, (size_t)count * 8);
        for (int64_t i = 0; i < count; i++)
            outside |= (out[i] < low) | (out[i] > high);
        if (!outside)
            return CONSM_OK;
    }
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = load_bits(element(a, first + i), a->width, a->swapped);
        if (a->kind == 'f') {
            double value = from_float_bits(bits, a->width);
            if (!(fabs(value) <= 0x1p53 && value == floor(value)))
                return bad_integer(a, first + i, value, low, high);
            out[i] = (int64_t)value;
        } else if (a->kind == 'i') {
            out[i] = from_int_bits(bits, a->width);
        } else {
            if (bits > INT64_MAX)
                return bad_integer(a, first + i, (double)bits, low, high);
            out[i] = (int64_t)bits;
        }
        if (out[i] < low || out[i] > high)
            return status_fail(CONSM_EFORMAT, "%s: element %lld is %lld: expected %lld to %lld",
                               a->label, (long long)(first + i), (long long)out[i], (long long)low,
                               (long long)high);
    }
    return CONSM_OK;
}

consm_status npy_int64(int64_t *out, const struct npy *a, int64_t low, int64_t high)
{
    if (a->kind == 'S' || a->kind == 'U')
        return no_number(a);
    return load_ints(out, a, 0, a->count, low, high);
}

consm_status npy_int32(int32_t *out, const struct npy *a, int64_t low, int64_t high)
{
    consm_status st = CONSM_OK;
    int64_t run[RUN];
    if (a->kind == 'S' || a->kind == 'U')
        return no_number(a);
    low = low < INT32_MIN ? INT32_MIN : low;
    high = high > INT32_MAX ? INT32_MAX : high;
    for (int64_t i = 0; i < a->count; i += RUN) {
        int64_t count = a->count - i < RUN ? a->count - i : RUN;
        TRY(load_ints(run, a, i, count, low, high));
        for (int64_t k = 0; k < count; k++)
            out[i + k] = (int32_t)run[k];
    }
done:
    return st;
}

consm_status npy_bools(uint8_t *out, const struct npy *a)
{
    consm_status st = CONSM_OK;
    int64_t run[RUN];
    if (a->kind == 'S' || a->kind == 'U')
        return no_number(a);
    for (int64_t i = 0; i < a->count; i += RUN) {
        int64_t count = a->count - i < RUN ? a->count - i : RUN;
        TRY(load_ints(run, a, i, count, 0, 1));
        for (int64_t k = 0; k < count; k++)
            out[i + k] = (uint8_t)run[k];
    }
done:
    return st;
}

/* Appends a code point as UTF-8; false if it is invalid. */
static bool put_utf8(char **to, uint64_t point)
{
    char *p = *to;
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000) || point == 0)
        return false;
    if (point < 0x80) {
        *p++ = (char)point;
    } else if (point < 0x800) {
        *p++ = (char)(0xc0 | point >> 6);
        *p++ = (char)(0x80 | (point & 63));
    } else if (point < 0x10000) {
        *p++ = (char)(0xe0 | point >> 12);
        *p++ = (char)(0x80 | (point >> 6 & 63));
        *p++ = (char)(0x80 | (point & 63));
    } else {
        *p++ = (char)(0xf0 | point >> 18);
        *p++ = (char)(0x80 | (point >> 12 & 63));
        *p++ = (char)(0x80 | (point >> 6 & 63));
        *p++ = (char)(0x80 | (point & 63));
    }
    *to = p;
    return true;
}

/* One string into buffer (width + 1 bytes: UTF-8 is never longer than UCS-4); false if invalid. */
static bool string_at(char *buffer, const struct npy *a, const uint8_t *from)
{
    int64_t unit = a->kind == 'U' ? 4 : 1, length = a->width / unit;
    char *to = buffer;
    while (length > 0 && load_bits(from + (length - 1) * unit, unit, false) == 0)
        length--; /* NumPy pads with zeros */
    for (int64_t i = 0; i < length; i++) {
        uint64_t point = load_bits(from + i * unit, unit, a->swapped);
        if (unit == 1 ? point == 0 : !put_utf8(&to, point))
            return false;
        if (unit == 1)
            *to++ = (char)point;
    }
    *to = 0;
    return true;
}

consm_status npy_strings(char ***out, const struct npy *a)
{
    consm_status st = CONSM_OK;
    char **text = NULL, *buffer = NULL;
    *out = NULL;
    if (a->kind != 'S' && a->kind != 'U')
        return status_fail(CONSM_EFORMAT, "%s: is an array of numbers: expected strings", a->label);
    TRY(ZNEW(text, a->count));
    TRY(NEW(buffer, a->width + 1));
    for (int64_t i = 0; i < a->count; i++) {
        if (!string_at(buffer, a, element(a, i)))
            TRY(status_fail(CONSM_EFORMAT, "%s: element %lld: not a valid string", a->label,
                            (long long)i));
        if (!(text[i] = mem_strdup(buffer)))
            TRY(CONSM_ENOMEM);
    }
    *out = text;
    text = NULL;
done:
    mem_free_texts(text, a->count);
    mem_free(buffer);
    return st;
}
