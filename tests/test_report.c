/* The whole page and its files: structure against a golden file, hostile words, unique names,
 * stored faults, and PNG if a converter is installed. */
#include "golden.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "report/html.h"

static struct figure *small_figure(const char *name)
{
    double x[] = {1, 2}, y[] = {3, 4};
    struct figure_series series = {"s", x, y, NULL, NULL, 2, false, false};
    struct line_chart chart = {.words = {name, "Title", "Caption.", NULL},
                               .x = {.label = "x"},
                               .y = {.label = "y"},
                               .series = &series,
                               .series_count = 1};
    struct figure *f;
    OK(figure_line(&f, &chart));
    return f;
}

static struct table *small_table(const char *name)
{
    struct table *t;
    OK(table_new(&t, name, "Caption"));
    table_column(t, "Method", TABLE_LEFT, NULL);
    table_column(t, "Cora", TABLE_RIGHT, NULL);
    table_row(t);
    table_text(t, "GCN");
    table_mean(t, 80.5, 0.5, 1);
    return t;
}

static struct report *full(void)
{
    static const int64_t start[] = {0, 1, 2};
    static const int32_t col[] = {1, 0};
    struct graph_view g = {.name = HOSTILE_MARKUP, .nodes = 2, .start = start, .col = col};
    struct report *r;
    OK(report_new(&r, HOSTILE_MARKUP));
    report_about(r, "version", "0.1.0");
    report_fact(r, "ConSM", "Best", HOSTILE_MARKUP);
    report_summary(r, HOSTILE_BYTES);
    report_section(r, "One", HOSTILE_MARKUP);
    report_table(r, small_table("same"));
    report_figure(r, small_figure("same"));
    report_figure(r, small_figure("same"));
    report_graph(r, &g);
    report_section(r, hostile_long(), NULL);
    report_figure(r, small_figure("other"));
    report_claim(r, "seen too", true, "yes");
    report_claim(r, HOSTILE_MARKUP, false, "no");
    report_command(r, "consm study all && echo '<done>'");
    report_hash(r, "cora", "abc123");
    OK(report_status(r));
    return r;
}

/* The page without its embedded style and script, which may change freely. */
static void without_assets(char *page)
{
    char *from = strstr(page, "<style>"), *to = strstr(page, "</style>");
    assert_true(from && to);
    memmove(from + 7, to, strlen(to) + 1);
    from = strstr(page, "<script>\n");
    to = from ? strstr(from, "</script>\n</body>") : NULL;
    assert_true(from && to);
    memmove(from + 8, to, strlen(to) + 1);
}

static void the_page_has_everything(void **state)
{
    struct report *r = full();
    struct text out = {0};
    (void)state;
    OK(report_to_html(&out, r));
    without_assets(out.data);
    golden("report.html", out.data);
    assert_null(strstr(out.data, "alert(\"x\")"));
    const char *summary = strstr(out.data, "id=\"summary\""), *no = strstr(out.data, "✗ not"),
               *yes = strstr(out.data, "✓ reproduced");
    assert_true(summary && no && yes && summary < no && no < yes);
    assert_non_null(strstr(out.data, "1 of 2 claims"));
    text_free(&out);
    report_free(r);
}

static void an_empty_report_is_a_page(void **state)
{
    struct report *r;
    struct text out = {0};
    (void)state;
    OK(report_new(&r, NULL));
    OK(report_to_html(&out, r));
    without_assets(out.data);
    golden("report_empty.html", out.data);
    text_free(&out);
    report_free(r);
}

static void size_of(const char *folder, const char *name, bool expected)
{
    char path[512];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    bool there = stat(path, &info) == 0 && info.st_size > 0;
    if (there != expected)
        fail_msg("%s is %s", path, there ? "there" : "missing");
    unlink(path);
}

static void files_have_unique_names(void **state)
{
    struct report *r = full();
    char folder[64];
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/consm-report-%ld", (long)getpid());
    OK(report_write_files(r, folder));
    size_of(folder, "same.csv", true);
    size_of(folder, "same.md", true);
    size_of(folder, "same.tex", true);
    size_of(folder, "same-2.svg", true); /* a table has the name already */
    size_of(folder, "same-3.svg", true);
    size_of(folder, "same.svg", false);
    size_of(folder, "other.svg", true);
    assert_int_equal(rmdir(folder), 0); /* nothing else, no temporary file */
    FAILS(report_write_files(r, "/dev/null/x"), CONSM_EIO, "/dev/null");
    FAILS(report_write_html(r, "/dev/null/x.html"), CONSM_EIO, "/dev/null");
    report_free(r);
}

static void a_faulty_table_is_told(void **state)
{
    struct report *r;
    struct text out = {0};
    struct table *t = small_table("bad");
    (void)state;
    table_text(t, "one too many");
    OK(report_new(&r, "x"));
    report_table(r, t);
    report_table(r, small_table("after")); /* taken over all the same */
    report_figure(r, small_figure("after"));
    FAILS(report_to_html(&out, r), CONSM_EINVAL, "more than 2 cells");
    assert_int_equal(out.length, 0);
    report_free(r);
}

/* Every allocation fails once: an error, no crash, no leak (checked by the sanitizer). */
static int64_t allowed;

static void *limited(void *ctx, size_t bytes)
{
    (void)ctx;
    return allowed-- > 0 ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
}

static void give_back(void *ctx, void *block)
{
    (void)ctx;
    free(block);
}

static consm_status make_all(void)
{
    consm_status st = CONSM_OK;
    struct report *r = NULL;
    struct table *t = NULL;
    struct figure *f = NULL;
    struct text page = {0};
    double value[] = {1, 2}, low[] = {0, 1}, high[] = {2, 3};
    const char *names[] = {"a", "b"};
    struct bar_chart chart = {.words = {"bars", "Bars", "Caption", "std"},
                              .y = {.label = "y"},
                              .group = names,
                              .series = names,
                              .groups = 1,
                              .series_count = 2,
                              .value = value,
                              .low = low,
                              .high = high};
    TRY(report_new(&r, "Title"));
    report_section(r, "Section", "Intro");
    TRY(table_new(&t, "table", "Caption"));
    table_column(t, "Name", TABLE_LEFT, "about");
    table_row(t);
    table_text(t, "cell");
    table_note(t, "note");
    table_remark(t, "remark");
    TRY(table_to_terminal(&page, t, 30, false));
    TRY(table_to_latex(&page, t));
    TRY(table_to_markdown(&page, t));
    TRY(table_to_csv(&page, t));
    report_table(r, t);
    t = NULL;
    TRY(figure_bar(&f, &chart));
    report_figure(r, f);
    report_claim(r, "claim", false, "detail");
    TRY(report_to_html(&page, r));
done:
    text_free(&page);
    table_free(t);
    report_free(r);
    return st;
}

static void every_lack_of_memory_is_survived(void **state)
{
    struct consm_allocator allocator = {limited, give_back, NULL};
    consm_status st = CONSM_ENOMEM;
    int64_t limit = 0;
    (void)state;
    consm_set_allocator(&allocator);
    for (; st == CONSM_ENOMEM && limit < 5000; limit++) {
        allowed = limit;
        st = make_all();
    }
    consm_set_allocator(NULL);
    assert_int_equal(st, CONSM_OK);
    assert_true(limit > 30);
}

static void png_where_possible(void **state)
{
    struct text out = {0};
    struct figure *f = small_figure("png");
    char svg[64], png[64], head[4] = {0};
    (void)state;
    snprintf(svg, sizeof svg, "/tmp/consm-%ld.svg", (long)getpid());
    snprintf(png, sizeof png, "/tmp/consm-%ld.png", (long)getpid());
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    FAILS(report_write_png(png, svg, 2), CONSM_ENOTFOUND, "install rsvg-convert");
    setenv("PATH", path, 1);
    free(path);
    OK(figure_to_svg(&out, f));
    OK(text_save(&out, svg));
    consm_status st = report_write_png(png, svg, 2);
    if (st == CONSM_ENOTFOUND) {
        printf("SKIPPED: PNG needs rsvg-convert, Inkscape or Chromium\n");
    } else {
        OK(st);
        FILE *file = fopen(png, "rb");
        assert_non_null(file);
        assert_int_equal(fread(head, 1, 4, file), 4);
        assert_memory_equal(head, "\x89PNG", 4);
        fclose(file);
    }
    unlink(svg);
    unlink(png);
    text_free(&out);
    figure_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_has_everything),
        cmocka_unit_test(an_empty_report_is_a_page),
        cmocka_unit_test(files_have_unique_names),
        cmocka_unit_test(a_faulty_table_is_told),
        cmocka_unit_test(every_lack_of_memory_is_survived),
        cmocka_unit_test(png_where_possible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
