/* Foreign strings are harmless in every format, and display width is counted right. */
#include "golden.h"

#include <jansson.h>
#include <unistd.h>

#include "base/counted.h"
#include "report/text.h"

typedef void escape(struct text *, const char *);

static void expect(escape *function, const char *input, const char *expected)
{
    struct text t = {0};
    function(&t, input);
    OK(text_status(&t));
    assert_string_equal(text_string(&t), expected);
    text_free(&t);
}

static void names_are_cut_where_they_are_alike(void **state)
{
    (void)state;
    static const struct {
        const char *whole, *cut;
        int64_t columns;
    } all[] = {{"country=GB", "coun…=GB", 8},
               {"country=GB", "country=GB", 10},
               {"country=GB", "c…", 2},
               {"数据集数据集", "数据…集", 7},
               {"", "", 5}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *cut;
        OK(text_clip_middle(&cut, all[i].whole, all[i].columns));
        assert_string_equal(cut, all[i].cut);
        assert_true(text_width(cut) <= all[i].columns);
        mem_free(cut);
    }
}

static void one_is_not_many(void **state)
{
    (void)state;
    assert_string_equal(COUNTED(1, "edge"), "1 edge");
    assert_string_equal(COUNTED(0, "edge"), "0 edges");
    assert_string_equal(COUNTED(2, "class"), "2 classes");
    assert_string_equal(COUNTED(1, "class"), "1 class");
    assert_string_equal(COUNTED(5000000000, "pair of nodes"), "5000000000 pairs of nodes");
    assert_string_equal(COUNTED(1, "pair of nodes"), "1 pair of nodes");
}

static void each_format_escapes_its_own(void **state)
{
    (void)state;
    expect(text_xml, "<a href=\"x\">&'</a>", "&lt;a href=&quot;x&quot;&gt;&amp;&#39;&lt;/a&gt;");
    expect(text_csv, "a,b", "\"a,b\"");
    expect(text_csv, "say \"hi\"\nthere", "\"say \"\"hi\"\"\nthere\"");
    expect(text_csv, "plain", "plain");
    expect(text_csv, " edge", "\" edge\"");
    expect(text_markdown, "a|b*c_<i>\nd", "a\\|b\\*c\\_&lt;i&gt; d");
    expect(text_latex, "50% of $x_1$ & \\y{} --z ± ζ",
           "50\\% of \\$x\\_1\\$ \\& \\textbackslash{}y\\{\\} -{}-z $\\pm$ $\\zeta$");
    expect(text_json, "</script>\"\\\n", "\"\\u003c/script\\u003e\\\"\\\\\\n\"");
    expect(text_slug, "  Table 3: GCN/ConSM ± é", "table-3-gcn-consm");
    expect(text_slug, "../..", "unnamed");
    expect(text_plain, NULL, "");
    expect(text_csv, NULL, "");
}

static void broken_bytes_are_replaced(void **state)
{
    (void)state;
    expect(text_plain, "caf\xc3\xa9", "caf\xc3\xa9");
    expect(text_plain, "\xff", "\uFFFD");
    expect(text_plain, "a\xc3", "a\uFFFD");                   /* cut in the middle */
    expect(text_plain, "\xc0\x80", "\uFFFD\uFFFD");           /* overlong NUL */
    expect(text_plain, "\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"); /* half a surrogate pair */
    expect(text_plain, "\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD");
    expect(text_plain, "\x1b[31mred\x07", "\uFFFD[31mred\uFFFD");
    expect(text_plain, "ab\u202Edc", "ab\uFFFDdc");
    expect(text_xml, "\x01\r\n", "\uFFFD\uFFFD\n");
    expect(text_plain, "🙂", "🙂");
}

/* Files are for programs: control characters stay, as they are or as an escape; two names never
 * become one. */
static void files_keep_every_character(void **state)
{
    (void)state;
    expect(text_csv, "x\u200e \ufeff\x1b\xff", "x\u200e \ufeff\x1b\xff");
    expect(text_json, "x\u200e\ufeff\x1b\x7f", "\"x\\u200e\\ufeff\\u001b\\u007f\"");
    static const char *const names[] = {"a",     "a\u200e",   "a\u200f", "\ufeffa",
                                        "a\x1b", "a\xc2\x85", "a\uffff", "a\U0001ffff"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct text t = {0};
        text_json(&t, names[i]);
        json_t *back = json_loads(text_string(&t), JSON_DECODE_ANY, NULL);
        assert_string_equal(json_string_value(back), names[i]);
        json_decref(back);
        text_free(&t);
    }
}

/* Whatever the bytes, the result is valid JSON, which implies valid UTF-8. */
static void random_bytes_give_valid_json(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 2000; round++) {
        char noise[24] = {0};
        struct text t = {0};
        json_error_t error;
        for (int i = 0; i < 23; i++)
            noise[i] = (char)(rand() % 3 ? 128 + rand() % 128 : 1 + rand() % 127);
        text_json(&t, noise);
        json_t *value = json_loads(text_string(&t), JSON_DECODE_ANY, &error);
        if (!value)
            fail_msg("%s: %s", error.text, text_string(&t));
        assert_null(strchr(text_string(&t), '<'));
        json_decref(value);
        text_free(&t);
    }
}

static void widths_are_columns(void **state)
{
    char *clipped;
    (void)state;
    assert_int_equal(text_width("abc"), 3);
    assert_int_equal(text_width("é"), 1);
    assert_int_equal(text_width("e\u0301"), 1);
    assert_int_equal(text_width("数据"), 4);
    assert_int_equal(text_width("🙂"), 2);
    assert_int_equal(text_width(NULL), 0);
    OK(text_clip(&clipped, "数据集合", 5));
    assert_string_equal(clipped, "数据…");
    mem_free(clipped);
    OK(text_clip(&clipped, "abcdef", 6));
    assert_string_equal(clipped, "abcdef");
    mem_free(clipped);
    OK(text_clip(&clipped, hostile_long(), 10));
    assert_string_equal(clipped, "abcdefghi…");
    mem_free(clipped);
    OK(text_clip(&clipped, "", 4));
    assert_string_equal(clipped, "");
    mem_free(clipped);
}

static void numbers_read_well(void **state)
{
    struct text t = {0};
    (void)state;
    text_number(&t, 80.449, 1);
    text_add(&t, " ");
    text_number(&t, -0.001, 1);
    text_add(&t, " ");
    text_number(&t, 0.0 / 0.0 * -1, 2);
    text_add(&t, " ");
    text_json_number(&t, 1.0 / 3, 4);
    text_add(&t, " ");
    text_json_number(&t, 1e308 * 10, 4);
    assert_string_equal(text_string(&t), "80.4 0.0 – 0.3333 null");
    text_free(&t);
}

static void *refuse(void *ctx, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    return NULL;
}

static void give_back(void *ctx, void *block)
{
    (void)ctx;
    (void)block;
}

static void a_lack_of_memory_sticks(void **state)
{
    struct text t = {0};
    char *clipped = NULL;
    (void)state;
    struct consm_allocator none = {refuse, give_back, NULL};
    consm_set_allocator(&none);
    text_add(&t, "x");
    text_xml(&t, "<");
    consm_status first = text_status(&t), second = text_clip(&clipped, "x", 3),
                 third = text_save(&t, "/tmp/consm-never-written");
    consm_set_allocator(NULL);
    assert_int_equal(first, CONSM_ENOMEM);
    assert_int_equal(second, CONSM_ENOMEM);
    assert_int_equal(third, CONSM_ENOMEM);
    assert_null(clipped);
    assert_string_equal(text_string(&t), "");
    assert_int_not_equal(access("/tmp/consm-never-written", F_OK), 0);
    text_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_not_many),
        cmocka_unit_test(names_are_cut_where_they_are_alike),
        cmocka_unit_test(each_format_escapes_its_own),
        cmocka_unit_test(broken_bytes_are_replaced),
        cmocka_unit_test(files_keep_every_character),
        cmocka_unit_test(random_bytes_give_valid_json),
        cmocka_unit_test(widths_are_columns),
        cmocka_unit_test(numbers_read_well),
        cmocka_unit_test(a_lack_of_memory_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
