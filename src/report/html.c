/* The HTML page: structure only. Style is in assets/report.css and assets/figure.css, behaviour in
 * assets/report.js and assets/picker.js, all embedded. A content security policy forbids all
 * network access, whatever a name in the data contains. */
#include "report/html.h"

#include <stdio.h>
#include <string.h>

#include "report/assets.h"
#include "report/report_inside.h"

/* <tag class="…">words</tag>; nothing without words. class may be NULL. */
static void element(struct text *out, const char *tag, const char *class, const char *words)
{
    if (!words || !*words)
        return;
    text_printf(out, "<%s", tag);
    if (class)
        text_printf(out, " class=\"%s\"", class);
    text_add(out, ">");
    text_xml(out, words);
    text_printf(out, "</%s>\n", tag);
}

static void add_head(struct text *out, const struct report *r)
{
    text_add(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
                  "<link rel=\"icon\" href=\"data:,\">\n<title>");
    text_xml(out, r->title);
    text_add(out, "</title>\n<style>\n");
    text_add_bytes(out, (const char *)asset_figure_css, asset_figure_css_size);
    text_add_bytes(out, (const char *)asset_report_css, asset_report_css_size);
    text_add(out, "</style>\n</head>\n<body>\n"
                  "<a class=\"skip\" href=\"#summary\">Skip to the summary</a>\n"
                  "<header class=\"top\"><div>\n");
    element(out, "h1", NULL, r->title);
    if (r->about.count) {
        text_add(out, "<dl class=\"about\">\n");
        for (size_t i = 0; i < r->about.count; i++) {
            text_add(out, "<div>");
            element(out, "dt", NULL, r->about.line[i].key);
            element(out, "dd", NULL, r->about.line[i].value);
            text_add(out, "</div>");
        }
        text_add(out, "</dl>\n");
    }
    text_add(out,
             "</div>\n<button type=\"button\" id=\"theme\" hidden>Theme</button>\n</header>\n");
}

static void add_contents(struct text *out, const struct report *r)
{
    text_add(out, "<nav aria-label=\"Contents\"><ul>\n<li><a href=\"#summary\">Summary</a></li>\n");
    for (size_t i = 0, section = 0; i < r->items; i++) {
        if (r->item[i].kind != ITEM_SECTION)
            continue;
        text_printf(out, "<li><a href=\"#section-%zu\">", ++section);
        text_xml(out, r->item[i].title);
        text_add(out, "</a></li>\n");
    }
    if (r->claims.count)
        text_add(out, "<li><a href=\"#claims\">Claims</a></li>\n");
    if (r->commands.count || r->hashes.count)
        text_add(out, "<li><a href=\"#again\">Reproduce</a></li>\n");
    text_add(out, "</ul></nav>\n");
}

static size_t not_reproduced(const struct report *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->claims.count; i++)
        count += !r->claims.line[i].yes;
    return count;
}

static void add_summary(struct text *out, const struct report *r)
{
    text_add(out, "<section id=\"summary\"><h2>Summary</h2>\n");
    if (r->facts.count)
        text_add(out, "<ul class=\"facts\">\n");
    for (size_t i = 0; i < r->facts.count; i++) {
        text_add(out, "<li>");
        element(out, "span", "label", r->facts.line[i].key);
        element(out, "span", "value", r->facts.line[i].value);
        element(out, "span", "detail", r->facts.line[i].detail);
        text_add(out, "</li>\n");
    }
    text_add(out, r->facts.count ? "</ul>\n" : "");
    if (r->summary.count)
        text_add(out, "<ul class=\"findings\">\n");
    for (size_t i = 0; i < r->summary.count; i++)
        element(out, "li", NULL, r->summary.line[i].key);
    text_add(out, r->summary.count ? "</ul>\n" : "");
    if (r->claims.count)
        text_printf(out,
                    "<p><a href=\"#claims\">%zu of %zu claims</a> of the paper were not "
                    "reproduced.</p>\n",
                    not_reproduced(r), r->claims.count);
    text_add(out, "</section>\n");
}

static consm_status add_figure(struct text *out, const struct figure *f)
{
    consm_status st = CONSM_OK;
    text_printf(out, "<figure%s>\n<div class=\"canvas\">", f->width > 600 ? " class=\"wide\"" : "");
    TRY(figure_to_inline(out, f));
    text_add(out, "</div>\n");
    element(out, "figcaption", NULL, f->caption);
    text_add(out, "</figure>\n");
done:
    return st;
}

/* The script builds the picker; without scripts a sentence says what is missing. */
static void add_graph(struct text *out, const struct report_item *item)
{
    text_add(out, "<div class=\"graph\">\n");
    element(out, "h3", NULL, item->title);
    text_add(out, "<div class=\"picker\"><p class=\"needs-script\">Choosing a node needs "
                  "JavaScript.</p></div>\n<script type=\"application/json\">");
    text_add(out, item->text ? item->text : "null");
    text_add(out, "</script>\n</div>\n");
}

static consm_status add_sections(struct text *out, const struct report *r)
{
    consm_status st = CONSM_OK;
    enum item_kind before = ITEM_SECTION;
    size_t section = 0;
    for (size_t i = 0; i < r->items; i++) {
        const struct report_item *item = &r->item[i];
        if (before == ITEM_FIGURE && item->kind != ITEM_FIGURE)
            text_add(out, "</div>\n");
        if (before == ITEM_TABLE && item->kind != ITEM_TABLE)
            text_add(out, "</div>\n");
        if (item->kind == ITEM_FIGURE && before != ITEM_FIGURE)
            text_add(out, "<div class=\"figures\">\n");
        if (item->kind == ITEM_TABLE && before != ITEM_TABLE)
            text_add(out, "<div class=\"tables\">\n");
        if (item->kind == ITEM_SECTION) {
            text_printf(out, "%s<section id=\"section-%zu\"%s>", section ? "</section>\n" : "",
                        section + 1, item->columns ? " class=\"columns\"" : "");
            section++;
            element(out, "h2", NULL, item->title);
            element(out, "p", "intro", item->text);
        } else if (item->kind == ITEM_TABLE) {
            text_add(out, "<div class=\"block\">\n");
            TRY(table_to_html(out, item->table));
            text_add(out, "</div>\n");
        } else if (item->kind == ITEM_FIGURE) {
            TRY(add_figure(out, item->figure));
        } else {
            add_graph(out, item);
        }
        before = item->kind;
    }
    text_add(out, before == ITEM_FIGURE || before == ITEM_TABLE ? "</div>\n" : "");
    text_add(out, section ? "</section>\n" : "");
done:
    return st;
}

/* Claims that were not reproduced come first. */
static void add_claims(struct text *out, const struct report *r)
{
    if (r->claims.count == 0)
        return;
    text_printf(out,
                "<section id=\"claims\"><h2>Claims of the paper</h2>\n<p class=\"intro\">%zu of "
                "%zu were not reproduced; they come first.</p>\n<ul class=\"claims\">\n",
                not_reproduced(r), r->claims.count);
    for (int yes = 0; yes < 2; yes++)
        for (size_t i = 0; i < r->claims.count; i++) {
            if (r->claims.line[i].yes != yes)
                continue;
            text_printf(out, "<li class=\"%s\"><span class=\"verdict\">%s</span><div>",
                        yes ? "yes" : "no", yes ? "✓ reproduced" : "✗ not reproduced");
            element(out, "p", NULL, r->claims.line[i].key);
            element(out, "p", "detail", r->claims.line[i].detail);
            text_add(out, "</div></li>\n");
        }
    text_add(out, "</ul></section>\n");
}

static void add_again(struct text *out, const struct report *r)
{
    if (r->commands.count == 0 && r->hashes.count == 0)
        return;
    text_add(out, "<section id=\"again\"><h2>Reproduce</h2>\n");
    if (r->commands.count)
        text_add(out, "<h3>Commands</h3>\n");
    for (size_t i = 0; i < r->commands.count; i++) {
        text_add(out, "<div class=\"command\"><pre><code>");
        text_xml(out, r->commands.line[i].key);
        text_add(out, "</code></pre></div>\n");
    }
    if (r->hashes.count)
        text_add(out,
                 "<h3>Data</h3>\n<div class=\"table\" tabindex=\"0\" role=\"region\" "
                 "aria-label=\"SHA-256 of the data\"><table><caption><span>SHA-256 of the data as "
                 "read</span></caption><thead><tr><th scope=\"col\" class=\"words\">Data</th><th "
                 "scope=\"col\" class=\"words\">SHA-256</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < r->hashes.count; i++) {
        text_add(out, "<tr><th scope=\"row\" class=\"words\">");
        text_xml(out, r->hashes.line[i].key);
        text_add(out, "</th><td class=\"hash\">");
        text_xml(out, r->hashes.line[i].value);
        text_add(out, "</td></tr>\n");
    }
    text_add(out, r->hashes.count ? "</tbody></table></div>\n" : "");
    text_add(out, "</section>\n");
}

consm_status report_to_html(struct text *out, const struct report *r)
{
    consm_status st = CONSM_OK;
    TRY(report_status(r));
    add_head(out, r);
    add_contents(out, r);
    text_add(out, "<main>\n");
    add_summary(out, r);
    TRY(add_sections(out, r));
    add_claims(out, r);
    add_again(out, r);
    text_add(out, "</main>\n<div id=\"tooltip\" role=\"status\" hidden></div>\n<script>\n");
    text_add_bytes(out, (const char *)asset_report_js, asset_report_js_size);
    text_add_bytes(out, (const char *)asset_picker_js, asset_picker_js_size);
    text_add(out, "</script>\n</body>\n</html>\n");
    TRY(text_status(out));
done:
    return st;
}

consm_status report_write_html(const struct report *r, const char *path)
{
    consm_status st = CONSM_OK;
    struct text page = {0};
    TRY(report_to_html(&page, r));
    TRY(text_save(&page, path));
done:
    text_free(&page);
    return st;
}
