/* Arrays: every type, both byte orders, both memory orders; false headers. */
#include "check.h"

#include "io/npy.h"
#include <math.h>

/* A .npy file of the given header text and data; *size becomes its length. */
static uint8_t *file_of(size_t *size, int version, const char *header, const void *data,
                        size_t bytes)
{
    size_t start = version == 1 ? 10 : 12, length = strlen(header);
    uint8_t *file = malloc(start + length + bytes + 1);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (uint8_t)version;
    file[7] = 0;
    for (size_t i = 8; i < start; i++)
        file[i] = (uint8_t)(length >> (8 * (i - 8)));
    memcpy(file + start, header, length);
    if (bytes)
        memcpy(file + start + length, data, bytes);
    *size = start + length + bytes;
    return file;
}

static consm_status parse(const char *header, const void *data, size_t bytes)
{
    size_t size;
    struct npy a;
    uint8_t *file = file_of(&size, 1, header, data, bytes);
    consm_status st = npy_parse(&a, file, size, "a.npy");
    free(file);
    return st;
}

/* count numbers 0, 1, -2, 3, … of a type, in either byte order. */
static size_t numbers(uint8_t *out, char kind, int width, bool big, int count)
{
    for (int i = 0; i < count; i++) {
        double value = kind == 'b' ? i % 2 : i == 2 && kind != 'u' ? -2 : i;
        int64_t integer = (int64_t)value;
        float single = (float)value;
        uint64_t bits = (uint64_t)integer;
        uint32_t low;
        if (kind == 'f' && width == 8)
            memcpy(&bits, &value, 8);
        if (kind == 'f' && width == 4) {
            memcpy(&low, &single, 4);
            bits = low;
        }
        if (kind == 'f' && width == 2) {
            static const uint16_t half[] = {0, 0x3c00, 0xc000, 0x4200, 0x4400, 0x4500};
            bits = half[i];
        }
        for (int b = 0; b < width; b++)
            *out++ = (uint8_t)(bits >> (8 * (big ? width - 1 - b : b)));
    }
    return (size_t)(count * width);
}

static void every_type_and_order(void **state)
{
    (void)state;
    static const char *const type[] = {"b1", "i1", "i2", "i4", "i8", "u1",
                                       "u2", "u4", "u8", "f2", "f4", "f8"};
    for (size_t t = 0; t < sizeof type / sizeof *type; t++)
        for (int form = 0; form < 8; form++) {
            bool big = form & 1, fortran = form & 2;
            int version = form & 4 ? 2 + (int)(t % 2) : 1, width = type[t][1] - '0';
            char header[128];
            uint8_t data[64];
            size_t size;
            struct npy a;
            snprintf(header, sizeof header,
                     "{'descr': '%c%s', 'fortran_order': %s, 'shape': (2, 3), }   \n",
                     big ? '>' : '<', type[t], fortran ? "True" : "False");
            uint8_t *file =
                file_of(&size, version, header, data, numbers(data, type[t][0], width, big, 6));
            OK(npy_parse(&a, file, size, "a.npy"));
            assert_int_equal(a.count, 6);
            OK(npy_expect(&a, 2, 2, 3));
            float real[6];
            int32_t integer[6];
            int64_t wide[6];
            OK(npy_floats(real, &a, 0, 6));
            OK(npy_int32(integer, &a, -2, 5));
            OK(npy_int64(wide, &a, -2, 5));
            for (int i = 0; i < 6; i++) {
                /* Column order: element (r, c) is at position 2c + r. */
                int at = fortran ? 2 * (i % 3) + i / 3 : i;
                int value = type[t][0] == 'b' ? at % 2 : at == 2 && type[t][0] != 'u' ? -2 : at;
                assert_true(real[i] == (float)value);
                assert_int_equal(integer[i], value);
                assert_int_equal(wide[i], value);
            }
            OK(npy_floats(real, &a, 4, 2));
            assert_true(real[1] == (float)wide[5]);
            free(file);
        }
}

static void halves(void **state)
{
    (void)state;
    static const struct {
        uint16_t bits;
        float value;
    } known[] = {{0x0001, 0x1p-24f}, {0x03ff, 1023 * 0x1p-24f}, {0x0400, 0x1p-14f}, {0x7bff, 65504},
                 {0xbc00, -1},       {0x7c00, INFINITY}};
    struct npy a = {.label = "h"};
    int64_t one = 1;
    float value;
    OK(npy_type(&a, "=f2", 3));
    OK(npy_shape(&a, 1, &one, 2));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        a.data = (const uint8_t *)&known[i].bits;
        OK(npy_floats(&value, &a, 0, 1));
        assert_true(value == known[i].value);
    }
    static const uint16_t nan = 0x7e00;
    a.data = (const uint8_t *)&nan;
    OK(npy_floats(&value, &a, 0, 1));
    assert_true(isnan(value));
    int32_t integer;
    FAILS(npy_int32(&integer, &a, 0, 10), CONSM_EFORMAT, "element 0 is nan");
}

static void headers_as_others_write_them(void **state)
{
    (void)state;
    int32_t data[6] = {1, 2, 3, 4, 5, 6};
    OK(parse("{'descr': '<i4', 'fortran_order': False, 'shape': (6,), }", data, 24));
    OK(parse("{\"shape\":(2,3),\"descr\":\"<i4\",\"fortran_order\":False}\n", data, 24));
    OK(parse("{'descr': '<i4', 'fortran_order': False, 'shape': (6L,), }", data, 24));
    OK(parse("{'descr': '<i4', 'fortran_order': True, 'shape': (), }", data, 4));
    OK(parse("{'descr': '<i4', 'fortran_order': False, 'shape': (0, 3), }", data, 0));
}

static void bad_headers(void **state)
{
    (void)state;
    static const struct {
        const char *header, *message;
    } bad[] = {
        {"", "byte 10: found the end of the header, expected '{'"},
        {"[", "byte 10: found '[', expected '{'"},
        {"{'descr': '<i4'", "',' or '}'"},
        {"{'descr': '<i4}", "a closed quote"},
        {"{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,)}", "a quoted string"},
        {"{'descr': '<i4', 'fortran_order': 0, 'shape': (1,)}", "True or False"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': 1}", "the shape in parentheses"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (-1,)}", "a whole number or ')'"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1,1,1)}", "at most two dimensions"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1 1)}", "',' or ')'"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "2^63"},
        {"{'descr': '<i4', 'fortran_order': False}", "the keys descr, fortran_order and shape"},
        {"{'descr': '<i4', 'descr': '<i4', 'shape': (1,)}", "each key once"},
        {"{'magic': '<i4', 'fortran_order': False, 'shape': (1,)}", "one of the keys"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1,)} x", "nothing after '}'"},
        {"{'descr': '<i3', 'fortran_order': False, 'shape': (1,)}", "type \"<i3\""},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "type \"|O\""},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "type \"<c8\""},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}", "type \"<f16\""},
        {"{'descr': '<U0', 'fortran_order': False, 'shape': (1,)}", "type \"<U0\""},
        {"{'descr': '<U99999999999', 'fortran_order': False, 'shape': (1,)}", "type \"<U999"},
        {"{'descr': '', 'fortran_order': False, 'shape': (1,)}", "type \"\""},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (2,)}", "the 4 bytes of data"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (0,)}", "the 4 bytes of data"},
        /* 2^60 rows; and sizes whose product is 4 bytes modulo 2^64 */
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1152921504606846976,)}",
         "1152921504606846976 x 1"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (4611686018427387905,)}",
         "4611686018427387905 x 1"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
         "4294967296 x 4294967296"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        FAILS(parse(bad[i].header, "abcd", 4), CONSM_EFORMAT, bad[i].message);
}

static void bad_beginnings(void **state)
{
    (void)state;
    struct npy a;
    size_t size;
    FAILS(npy_parse(&a, NULL, 0, "e.npy"), CONSM_EFORMAT, "e.npy: the file is empty");
    FAILS(npy_parse(&a, (const uint8_t *)"PK-567890-", 10, "e.npy"), CONSM_EFORMAT, "\\x93NUMPY");
    uint8_t *file = file_of(&size, 4, "{}", NULL, 0);
    FAILS(npy_parse(&a, file, size, "e.npy"), CONSM_EFORMAT, "version 4");
    file[6] = 2;
    file[10] = 255;
    FAILS(npy_parse(&a, file, size, "e.npy"), CONSM_EFORMAT, "the header has");
    free(file);
    static const char header[] = "{'descr': '<i4', 'fortran_order': False, 'shape': (1,)}";
    file = file_of(&size, 1, header, "abcd", 4);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *part = malloc(cut ? cut : 1);
        memcpy(part, file, cut);
        assert_int_equal(npy_parse(&a, part, cut, "e.npy"), CONSM_EFORMAT);
        free(part);
    }
    for (size_t at = 0; at < size; at++)
        for (int value = 0; value < 256; value += 5) {
            uint8_t old = file[at];
            file[at] = (uint8_t)value;
            npy_parse(&a, file, size, "e.npy");
            file[at] = old;
        }
    free(file);
}

static void ranges(void **state)
{
    (void)state;
    struct npy a = {.label = "r"};
    int64_t three = 3, wide[3], values[3] = {-1, 0, 4000000000};
    int32_t narrow[3];
    OK(npy_type(&a, "=i8", 3));
    OK(npy_shape(&a, 1, &three, 24));
    a.data = (const uint8_t *)values;
    OK(npy_int64(wide, &a, -1, 4000000000));
    FAILS(npy_int64(wide, &a, 0, INT64_MAX), CONSM_EFORMAT, "r: element 0 is -1: expected 0 to");
    FAILS(npy_int32(narrow, &a, INT64_MIN, INT64_MAX), CONSM_EFORMAT,
          "element 2 is 4000000000: expected -2147483648 to 2147483647");
    OK(npy_type(&a, "=u8", 3));
    FAILS(npy_int64(wide, &a, INT64_MIN, INT64_MAX), CONSM_EFORMAT, "element 0 is 1.8446744");
    double fractions[3] = {1, 2.5, 3};
    OK(npy_type(&a, "=f8", 3));
    a.data = (const uint8_t *)fractions;
    FAILS(npy_int64(wide, &a, 0, 10), CONSM_EFORMAT, "element 1 is 2.5: expected a whole number");
    uint8_t bits[3];
    FAILS(npy_bools(bits, &a), CONSM_EFORMAT, "element 1 is 2.5");
    OK(npy_type(&a, "|u1", 3));
    a.data = (const uint8_t *)"\0\1\2";
    FAILS(npy_bools(bits, &a), CONSM_EFORMAT, "element 2 is 2: expected 0 to 1");
    FAILS(npy_expect(&a, 2, 3, -1), CONSM_EFORMAT, "shape (3): expected (3, any)");
}

static void strings(void **state)
{
    (void)state;
    struct npy a = {.label = "s"};
    int64_t three = 3;
    char **text;
    OK(npy_type(&a, "|S4", 3));
    OK(npy_shape(&a, 1, &three, 12));
    a.data = (const uint8_t *)"ab\0\0\0\0\0\0wxyz";
    OK(npy_strings(&text, &a));
    assert_string_equal(text[0], "ab");
    assert_string_equal(text[1], "");
    assert_string_equal(text[2], "wxyz");
    for (int i = 0; i < 3; i++)
        mem_free(text[i]);
    mem_free(text);
    a.data = (const uint8_t *)"a\0b\0\0\0\0\0wxyz";
    FAILS(npy_strings(&text, &a), CONSM_EFORMAT, "s: element 0: not a valid string");
    float real;
    FAILS(npy_floats(&real, &a, 0, 1), CONSM_EFORMAT, "an array of strings");

    static const uint32_t points[] = {'x', 0, 0xe9, 0x20ac, 0x1f600, 0};
    uint32_t other[6];
    for (int big = 0; big < 2; big++) {
        for (int i = 0; i < 6; i++)
            other[i] = big ? __builtin_bswap32(points[i]) : points[i];
        OK(npy_type(&a, big ? ">U2" : "<U2", 3));
        OK(npy_shape(&a, 1, &three, 24));
        a.data = (const uint8_t *)other;
        OK(npy_strings(&text, &a));
        assert_string_equal(text[0], "x");
        assert_string_equal(text[1], "é€");
        assert_string_equal(text[2], "\U0001f600");
        for (int i = 0; i < 3; i++)
            mem_free(text[i]);
        mem_free(text);
    }
    static const uint32_t surrogate[] = {'x', 0, 0xd800, 0, 0x110000, 0};
    OK(npy_type(&a, "<U2", 3));
    a.data = (const uint8_t *)surrogate;
    FAILS(npy_strings(&text, &a), CONSM_EFORMAT, "element 1: not a valid string");
    OK(npy_type(&a, "<i8", 3));
    FAILS(npy_strings(&text, &a), CONSM_EFORMAT, "an array of numbers");
}

static void own_headers(void **state)
{
    (void)state;
    static const int64_t shape[] = {3, 2};
    for (int rank = 0; rank <= 2; rank++) {
        char buffer[NPY_HEADER_BYTES];
        size_t header, length = npy_write_header(buffer, "<f4", rank, shape);
        struct npy a;
        assert_int_equal(length % 64, 0);
        uint64_t bytes = rank == 0 ? 4 : rank == 1 ? 12 : 24;
        OK(npy_header(&a, &header, (const uint8_t *)buffer, length, length + bytes, "own"));
        assert_int_equal(header, length);
        assert_int_equal(a.rank, rank);
    }
    char buffer[NPY_HEADER_BYTES];
    static const int64_t huge[] = {INT64_MAX, INT64_MAX};
    assert_true(npy_write_header(buffer, "<U1048576", 2, huge) <= NPY_HEADER_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_order),
        cmocka_unit_test(halves),
        cmocka_unit_test(headers_as_others_write_them),
        cmocka_unit_test(bad_headers),
        cmocka_unit_test(bad_beginnings),
        cmocka_unit_test(ranges),
        cmocka_unit_test(strings),
        cmocka_unit_test(own_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
