/* Numbers, names and tables as text: every way people write them, and every way to get it wrong. */
#include "base/utf8.h"
#include "check.h"

#include "data/readers/node_ids.h"
#include "data/table/names.h"
#include "io/csv.h"
#include <math.h>

/* ---- tokens -------------------------------------------------------------- */

static void whole_numbers(void **state)
{
    (void)state;
    int64_t value;
    assert_int_equal(token_number("0", 1), 0);
    assert_int_equal(token_number("123456789012345678", 18), 123456789012345678);
    static const char *const none[] = {"",   "00",  "01", "-1",
                                       "+1", "1.0", "x",  "1234567890123456789"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(token_number(none[i], strlen(none[i])), -1);
    assert_true(token_int(&value, "-007", 4));
    assert_int_equal(value, -7);
    assert_false(token_int(&value, "-", 1));
    assert_false(token_int(&value, "", 0));
    assert_false(token_int(&value, "1 ", 2));
}

static void decimals(void **state)
{
    (void)state;
    static const char *const good[] = {"0",
                                       "-0",
                                       "1",
                                       "1.",
                                       ".5",
                                       "+2.25",
                                       "1e3",
                                       "1E-3",
                                       "3.4e38",
                                       "1e-45",
                                       "16777217",
                                       "0.1",
                                       "1e-400",
                                       "0e999999999999",
                                       "000000000000000000000000001.5",
                                       "0.000000000000000000000000000000123456789",
                                       "12345678901234567890123456789e-9",
                                       "1.17549435e-38",
                                       "9.99999944e37"};
    static const char *const bad[] = {"",    ".",     "-",    "e5",   "1e",   "1e+",
                                      "nan", "inf",   "-inf", "1e39", "0x10", "1.2.3",
                                      "1,5", "1e999", "1 ",   "--1"};
    float value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(token_float(&value, good[i], strlen(good[i])));
        assert_true(value == strtof(good[i], NULL));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(token_float(&value, bad[i], strlen(bad[i])));
}

/* Any finite float comes back the same. */
static void floats_round_trip(void **state)
{
    (void)state;
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        float value, back;
        char text[32];
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        uint32_t bits = (uint32_t)(x >> 16);
        memcpy(&value, &bits, 4);
        if (!isfinite(value))
            continue;
        int length = token_write_float(text, value);
        assert_true(token_float(&back, text, (size_t)length));
        assert_memory_equal(&back, &value, 4);
    }
}

static void utf8(void **state)
{
    (void)state;
    assert_true(utf8_valid("a\u00e9\u20ac\U0001f600", 10));
    static const char *const bad[] = {
        "\xff",     "\xc3", "\xc0\x80",        "\xed\xa0\x80", "\xf5\x80\x80\x80",
        "\xe2\x82", "\x80", "\xf0\x80\x80\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(utf8_valid(bad[i], strlen(bad[i])));
}

/* A written character reads back the same; invalid ones are not written. */
static void utf8_round_trip(void **state)
{
    (void)state;
    for (uint32_t c = 1; c <= 0x110010; c++) {
        char text[5] = {0};
        const char *at = text;
        size_t length = utf8_put(text, c);
        bool none = c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF);
        assert_int_equal(length, none ? 0 : c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4);
        assert_int_equal(utf8_next(&at), none ? 0 : c);
        assert_int_equal(at - text, length);
    }
}

/* ---- names --------------------------------------------------------------- */

static void names_are_found(void **state)
{
    (void)state;
    struct names n = {0};
    char text[32], **packed;
    int64_t index;
    assert_int_equal(names_find(&n, "x", 1), -1);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i++) {
            /* Lengths from 1 to 20, with shared beginnings. */
            snprintf(text, sizeof text, "%.*s%d", i % 17, "abcdefghijklmnopqrst", i);
            OK(names_add(&index, &n, text, strlen(text)));
            assert_int_equal(index, i);
        }
    assert_int_equal(n.count, 5000);
    assert_int_equal(names_find(&n, "abcdefghijklmnop", 16), -1);
    OK(names_pack(&packed, &n, NULL));
    for (int i = 0; i < 5000; i++)
        assert_int_equal(names_find(&n, packed[i], strlen(packed[i])), i);
    mem_free(packed);
    names_free(&n);
}

static void names_sort_by_value_or_bytes(void **state)
{
    (void)state;
    static const char *const numbers[] = {"10", "9", "100"}, *const words[] = {"b", "10", "9"};
    int32_t *order;
    int64_t index;
    struct names n = {0};
    for (int i = 0; i < 3; i++)
        OK(names_add(&index, &n, numbers[i], strlen(numbers[i])));
    OK(names_sort(&order, &n));
    assert_int_equal(order[0], 1);
    assert_int_equal(order[2], 2);
    mem_free(order);
    names_free(&n);
    for (int i = 0; i < 3; i++)
        OK(names_add(&index, &n, words[i], strlen(words[i])));
    OK(names_sort(&order, &n));
    assert_int_equal(order[0], 1);
    assert_int_equal(order[1], 2);
    mem_free(order);
    names_free(&n);
}

/* ---- tables -------------------------------------------------------------- */

/* All rows as text: fields in [], rows separated by their line numbers. */
static consm_status show(char *out, const char *text, size_t length, bool keep_blank)
{
    consm_status st = CONSM_OK;
    struct csv c;
    bool more;
    char *at = out;
    *out = 0;
    csv_start(&c, &(struct text_file){"t.csv", text, length, false});
    c.keep_blank = keep_blank;
    for (;;) {
        TRY(csv_row(&more, &c));
        if (!more)
            break;
        at += sprintf(at, "%lld:", (long long)c.line);
        for (int i = 0; i < c.fields; i++)
            at += sprintf(at, "[%.*s]", (int)c.field[i].length, c.field[i].text);
    }
done:
    csv_free(&c);
    return st;
}

static void rows_and_fields(void **state)
{
    (void)state;
    static const struct {
        const char *text, *rows;
    } cases[] = {
        {"", ""},
        {"\n\n  \n", ""},
        {"a,b\nc,d", "1:[a][b]2:[c][d]"},
        {"a,b\r\nc,d\r\n", "1:[a][b]2:[c][d]"},
        {"a,b\r", "1:[a][b]"},
        {"\357\273\277a,b\n", "1:[a][b]"},
        {"# note\n\na\tb c\n% other\n d \te\n", "3:[a][b c]5:[d][e]"},
        {"a b\n  c  d  \n", "1:[a][b]2:[c][d]"},
        {"a , b\n", "1:[a][b]"},
        {"a,,\n,b,\n", "1:[a][][]2:[][b][]"},
        {"\"a,b\",\"c\"\"d\"\n", "1:[a,b][c\"d]"},
        {"\"two\nlines\",x\ny,z\n", "1:[two\nlines][x]3:[y][z]"},
        {" \"a\" , \" b \"\n", "1:[a][ b ]"},
        {"\"\",x\n", "1:[][x]"},
        {"\"a\" \"b c\"\n", "1:[a][b c]"},
        {"a\n\nb\n", "1:[a]3:[b]"},
        {"one\ntwo three\n", "1:[one]2:[two][three]"},
        {"a#b,c\n", "1:[a#b][c]"},
        {"\"\"\"\",\"\"\"x\"\"y\"\"\"\n", "1:[\"][\"x\"y\"]"},
    };
    char out[512];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OK(show(out, cases[i].text, strlen(cases[i].text), false));
        assert_string_equal(out, cases[i].rows);
    }
    OK(show(out, "a\n\nb\n", 5, true));
    assert_string_equal(out, "1:[a]2:[]3:[b]");
    OK(show(out, "a b\tc\n", 6, false));
    assert_string_equal(out, "1:[a b][c]");
}

static void bad_tables(void **state)
{
    (void)state;
    char out[512];
    FAILS(show(out, "a,b\nc,\"d\n", 9, false), CONSM_EFORMAT,
          "t.csv: line 2, column 2: found the end of the file, expected a closing quote");
    FAILS(show(out, "\"a\"b,c\n", 7, false), CONSM_EFORMAT, "line 1, column 1: found text after");
    FAILS(show(out, "a,b\0c\n", 6, false), CONSM_EFORMAT, "line 1, column 2: found a zero byte");
    FAILS(show(out, "a,\"b\0c\"\n", 8, false), CONSM_EFORMAT, "column 2: found a zero byte");
    size_t many = CSV_MAX_FIELDS + 2;
    char *commas = mem_alloc(many, 1);
    memset(commas, ',', many);
    FAILS(show(out, commas, many, false), CONSM_ELIMIT, "line 1: found more than 1048576 columns");
    mem_free(commas);
}

/* Cut anywhere, a table is read or refused, never overrun: the copy ends where the block does. */
static void cut_anywhere(void **state)
{
    (void)state;
    static const char text[] = "# c\n\"a\"\"1\",b\r\n1,\"x\ny\",\r\n12345,678901\n";
    char out[512];
    for (size_t cut = 0; cut <= sizeof text - 1; cut++) {
        char *copy = malloc(cut ? cut : 1);
        memcpy(copy, text, cut);
        show(out, copy, cut, false);
        free(copy);
    }
}

/* The fast path and the general path read the same. */
static void two_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool read;
    } cases[] = {{"12,34\n", true},  {"0,999999999\r\n", true}, {"1234567890,1\n", false},
                 {"01,2\n", false},  {"1,02\n", false},         {"1;2\n", false},
                 {"1,2,3\n", false}, {"1, 2\n", false},         {"-1,2\n", false},
                 {"1,2 \n", false},  {"#1,2\n", false},         {"1,\"2\"\n", false},
                 {"1,\n", false},    {",2\n", false},           {"1\n2\n", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        uint32_t a, b;
        struct csv c;
        snprintf(text, sizeof text, "%s%40s", cases[i].text, "\n");
        csv_start(&c, &(struct text_file){"t", text, strlen(text), false});
        c.delimiter = ',';
        assert_int_equal(csv_two_numbers(&c, &a, &b), cases[i].read);
        assert_int_equal(c.at - text, cases[i].read ? strlen(cases[i].text) : 0);
        csv_free(&c);
    }
}

static void messages(void **state)
{
    (void)state;
    struct csv c;
    bool more;
    static const char text[] = "x,,a\001b\n";
    csv_start(&c, &(struct text_file){"t.csv", text, sizeof text - 1, false});
    OK(csv_row(&more, &c));
    csv_fail(&c, 0, "a number from %d", 1);
    assert_string_equal(consm_errmsg(),
                        "t.csv: line 1, column 1: found \"x\", expected a number from 1");
    csv_fail(&c, 1, "a name");
    assert_string_equal(consm_errmsg(), "t.csv: line 1, column 2: found nothing, expected a name");
    csv_fail(&c, 2, "a name");
    assert_non_null(strstr(consm_errmsg(), "found \"a?b\""));
    csv_fail_columns(&c, "%d", 2);
    assert_string_equal(consm_errmsg(), "t.csv: line 1: found 3 columns, expected 2");
    csv_free(&c);
}

/* What csv_quote writes reads back unchanged. */
static void quoting(void **state)
{
    (void)state;
    static const char *const texts[] = {"plain",  "with space", "a,b",     "tab\tbed",       "\"",
                                        "a\"b\"", "#comment",   "%market", "line\nend",      "cr\r",
                                        " lead",  "caf\u00e9",  "",        "\357\273\277bom"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int first = 0; first < 2; first++) {
            char *line = NULL;
            size_t used = 0, capacity = 0;
            struct csv c;
            bool more;
            OK(csv_quote(&line, &used, &capacity, first ? texts[i] : "x"));
            line[used++] = ',';
            OK(csv_quote(&line, &used, &capacity, first ? "x" : texts[i]));
            csv_start(&c, &(struct text_file){"t", line, used, false});
            OK(csv_row(&more, &c));
            assert_int_equal(c.fields, 2);
            assert_int_equal(c.field[!first].length, strlen(texts[i]));
            assert_memory_equal(c.field[!first].text, texts[i], strlen(texts[i]));
            csv_free(&c);
            mem_free(line);
        }
}

/* ---- ids ----------------------------------------------------------------- */

static void ids_by_number(void **state)
{
    (void)state;
    struct node_ids ids = {0};
    int32_t from[3] = {7, 100, 7}, to[3] = {100, 64, 63};
    bool dense;
    OK(node_ids_from_numbers(&dense, &ids, from, to, 3));
    assert_true(dense);
    assert_int_equal(ids.count, 4); /* 7, 63, 64, 100 */
    assert_int_equal(from[0], 0);
    assert_int_equal(to[0], 3);
    assert_int_equal(to[1], 2);
    assert_int_equal(to[2], 1);
    assert_int_equal(node_ids_find(&ids, "64", 2), 2);
    assert_int_equal(node_ids_find(&ids, "65", 2), -1);
    assert_int_equal(node_ids_find(&ids, "x", 1), -1);
    assert_int_equal(node_ids_find(&ids, "99999999999", 11), -1);
    node_ids_free(&ids);
    OK(node_ids_rows(&ids, 1, 3));
    assert_int_equal(node_ids_find(&ids, "0", 1), -1);
    assert_int_equal(node_ids_find(&ids, "1", 1), 0);
    assert_int_equal(node_ids_find(&ids, "3", 1), 2);
    assert_int_equal(node_ids_find(&ids, "4", 1), -1);
    node_ids_free(&ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers),     cmocka_unit_test(decimals),
        cmocka_unit_test(floats_round_trip), cmocka_unit_test(utf8),
        cmocka_unit_test(names_are_found),   cmocka_unit_test(names_sort_by_value_or_bytes),
        cmocka_unit_test(rows_and_fields),   cmocka_unit_test(bad_tables),
        cmocka_unit_test(cut_anywhere),      cmocka_unit_test(two_numbers),
        cmocka_unit_test(messages),          cmocka_unit_test(quoting),
        cmocka_unit_test(ids_by_number),     cmocka_unit_test(utf8_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
