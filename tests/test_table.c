/* One table in every form, compared with golden files: ordinary, hostile, empty. */
#include "golden.h"

#include <math.h>

#include "report/table.h"

static struct table *accuracies(void)
{
    struct table *t;
    OK(table_new(&t, "Table 3", "Test accuracy in percent, mean ± std of 10 seeds"));
    table_column(t, "Method", TABLE_LEFT, NULL);
    table_column(t, "Cora", TABLE_RIGHT, "2,708 nodes, homophily 0.81");
    table_column(t, "Chameleon", TABLE_RIGHT, NULL);
    table_column(t, "ms per epoch", TABLE_RIGHT, "median");
    table_row(t);
    table_text(t, "GCN");
    table_mean(t, 80.512345678, 0.49, 1);
    table_reference(t, 80.5);
    table_mark(t, TABLE_TIED);
    table_mean(t, 49.4, 0.7, 1);
    table_reference(t, 52.0);
    table_mark(t, TABLE_DIFFERS);
    table_note(t, "the paper's split is not published");
    table_number(t, 0.731, 2);
    table_row(t);
    table_text(t, "ConSM");
    table_mean(t, 82.03, 0.6, 1);
    table_reference(t, 83.6);
    table_mark(t, TABLE_BEST | TABLE_DIFFERS);
    table_mean(t, NAN, NAN, 1);
    table_note(t, "the paper's split is not published");
    table_number(t, 12, 2);
    table_row(t);
    table_text(t, "GCN with true edges");
    table_mean(t, 84.3, NAN, 1);
    table_mark(t, TABLE_ORACLE | TABLE_MUTED);
    table_empty(t);
    table_note(t, "not measured");
    table_remark(t, "In brackets the paper's figure. Wilcoxon's signed-rank test with Holm's "
                    "correction, level 0.05.");
    return t;
}

static struct table *hostile(void)
{
    struct table *t;
    OK(table_new(&t, HOSTILE_MARKUP, HOSTILE_MARKUP));
    table_column(t, "name " HOSTILE_MARKUP, TABLE_LEFT, HOSTILE_MARKUP);
    table_column(t, hostile_long(), TABLE_RIGHT, NULL);
    const char *names[] = {HOSTILE_MARKUP,
                           HOSTILE_BYTES,
                           HOSTILE_WIDE,
                           hostile_long(),
                           "\"quoted\", with\nnew line",
                           ""};
    for (int i = 0; i < 6; i++) {
        table_row(t);
        table_text(t, names[i]);
        table_number(t, i == 3 ? INFINITY : i - 1.0, 1);
        table_note(t, HOSTILE_MARKUP);
    }
    table_remark(t, HOSTILE_BYTES);
    return t;
}

static struct table *empty(void)
{
    struct table *t;
    OK(table_new(&t, "empty", ""));
    table_column(t, "Method", TABLE_LEFT, NULL);
    table_column(t, "Cora", TABLE_RIGHT, NULL);
    return t;
}

static void all_forms(struct table *t, const char *name)
{
    consm_status (*const write[])(struct text *, const struct table *) = {
        table_to_markdown, table_to_csv, table_to_latex, table_to_html};
    const char *const ending[] = {"md", "csv", "tex", "html"};
    char file[64];
    for (int i = 0; i < 4; i++) {
        struct text out = {0};
        OK(write[i](&out, t));
        snprintf(file, sizeof file, "table_%s.%s", name, ending[i]);
        golden(file, text_string(&out));
        text_free(&out);
    }
    for (int width = 80; width >= 40; width -= 40) {
        struct text out = {0};
        OK(table_to_terminal(&out, t, width, false));
        snprintf(file, sizeof file, "table_%s_%d.txt", name, width);
        golden(file, text_string(&out));
        for (char *line = strtok(out.data, "\n"); line; line = strtok(NULL, "\n"))
            if (text_width(line) > width && strchr(line, ' '))
                fail_msg("wider than %d: %s", width, line);
        text_free(&out);
    }
    table_free(t);
}

static void an_ordinary_table(void **state)
{
    (void)state;
    all_forms(accuracies(), "accuracy");
}

static void hostile_names_are_escaped(void **state)
{
    struct table *t = hostile();
    struct text out = {0};
    (void)state;
    OK(table_to_html(&out, t));
    assert_null(strstr(text_string(&out), "<script"));
    assert_null(strstr(text_string(&out), "\x1b"));
    assert_non_null(strstr(text_string(&out), hostile_long())); /* whole, in a tooltip */
    out.length = 0;
    OK(table_to_terminal(&out, t, 80, true));
    assert_null(strstr(text_string(&out), "\x1b[31m"));
    text_free(&out);
    all_forms(t, "hostile");
}

static void an_empty_table(void **state)
{
    struct table *t;
    (void)state;
    all_forms(empty(), "empty");
    OK(table_new(&t, NULL, NULL)); /* no column at all */
    all_forms(t, "nothing");
}

static void bold_comes_as_escape_codes(void **state)
{
    struct table *t = accuracies();
    struct text out = {0};
    (void)state;
    OK(table_to_terminal(&out, t, 0, true));
    assert_non_null(strstr(text_string(&out), "\033[1m82.0 ± 0.6 [83.6]\033[0m"));
    text_free(&out);
    table_free(t);
}

static void a_wrong_fill_is_told(void **state)
{
    struct table *t = empty();
    struct text out = {0};
    (void)state;
    table_row(t);
    table_text(t, "a");
    table_text(t, "b");
    table_text(t, "c");
    table_text(t, "d");
    FAILS(table_to_csv(&out, t), CONSM_EINVAL, "more than 2 cells");
    table_free(t);
    t = empty();
    table_row(t);
    table_column(t, "late", TABLE_LEFT, NULL);
    FAILS(table_to_html(&out, t), CONSM_EINVAL, "after the first row");
    table_free(t);
    t = empty();
    table_mark(t, TABLE_BEST); /* about no cell: nothing happens */
    table_note(t, "x");
    table_free(t);
    text_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ordinary_table),    cmocka_unit_test(hostile_names_are_escaped),
        cmocka_unit_test(an_empty_table),       cmocka_unit_test(bold_comes_as_escape_codes),
        cmocka_unit_test(a_wrong_fill_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
