/* A table for the report: a caption, headers that are buttons (assets/report.js sorts by them), and
 * the full value of every number in data-value. */
#include <math.h>
#include <string.h>

#include "report/table_inside.h"

static void add_class(struct text *out, const struct table *t, const struct table_cell *cell,
                      size_t c)
{
    static const char *const align[] = {"words", "number", "words long"};
    text_printf(out, " class=\"%s%s%s%s\"", align[t->column[c].align],
                cell->marks & TABLE_BEST ? " best" : "",
                cell->marks & TABLE_DIFFERS ? " differs" : "",
                cell->marks & TABLE_MUTED ? " muted" : "");
}

/* Shortened words have a tooltip with the whole text. */
static void add_words(struct text *out, const char *words)
{
    char *clipped = NULL;
    if (text_width(words) <= TABLE_NAME_COLUMNS) {
        bool one = strchr(words, '-') && !strchr(words, ' '); /* do not break an id at its hyphen */
        text_add(out, one ? "<span class=\"word\">" : "");
        text_xml(out, words);
        text_add(out, one ? "</span>" : "");
        return;
    }
    text_add(out, "<span title=\"");
    text_xml(out, words);
    text_add(out, "\">");
    if (text_clip(&clipped, words, TABLE_NAME_COLUMNS) < 0)
        out->status = CONSM_ENOMEM;
    else
        text_xml(out, clipped);
    text_add(out, "</span>");
    mem_free(clipped);
}

static void add_value(struct text *out, const struct table_cell *cell)
{
    text_number(out, cell->value, cell->decimals);
    if (cell->has_spread) {
        text_add(out, "<span class=\"spread\"> ± ");
        text_number(out, cell->spread, cell->decimals);
        text_add(out, "</span>");
    }
}

static void add_cell(struct text *out, const struct table *t, const struct table_cell *cell,
                     size_t c)
{
    bool head = c == 0 && t->column[0].align == TABLE_LEFT;
    text_add(out, head ? "<th scope=\"row\"" : "<td");
    add_class(out, t, cell, c);
    if (!cell->text && !cell->empty && isfinite(cell->value))
        text_printf(out, " data-value=\"%.10g\"", cell->value);
    text_add(out, ">");
    const char *tag = cell->marks & TABLE_BEST ? "strong" : cell->marks & TABLE_TIED ? "u" : NULL;
    if (tag)
        text_printf(out, "<%s>", tag);
    if (cell->text && t->column[c].align == TABLE_PROSE)
        text_xml(out, cell->text);
    else if (cell->text)
        add_words(out, cell->text);
    else if (!cell->empty)
        add_value(out, cell);
    if (tag)
        text_printf(out, "</%s>", tag);
    if (cell->has_reference) {
        text_add(out, " <span class=\"reference\">[");
        text_number(out, cell->reference, cell->decimals);
        text_add(out, "]</span>");
    }
    if (cell->marks & TABLE_DIFFERS)
        text_add(out, "<span class=\"sign\" title=\"differs from the reference\"> !</span>");
    if (cell->marks & TABLE_ORACLE)
        text_add(out, "<span class=\"sign\" title=\"oracle\"> †</span>");
    if (cell->note >= 0) {
        text_add(out, "<sup title=\"");
        text_xml(out, t->note[cell->note]);
        text_printf(out, "\">%d</sup>", cell->note + 1);
    }
    text_add(out, head ? "</th>" : "</td>");
}

static void add_head(struct text *out, const struct table *t)
{
    text_add(out, "<thead><tr>");
    for (size_t c = 0; c < t->columns; c++) {
        text_printf(out, "<th scope=\"col\" class=\"%s\"><button type=\"button\"",
                    t->column[c].align == TABLE_RIGHT ? "number" : "words");
        if (t->column[c].about) {
            text_add(out, " title=\"");
            text_xml(out, t->column[c].about);
            text_add(out, "\"");
        }
        text_add(out, ">");
        add_words(out, t->column[c].name);
        text_add(out, "</button></th>");
    }
    text_add(out, "</tr></thead>\n");
}

static void add_below(struct text *out, const struct table *t)
{
    static const struct table_below how = {
        .sign = {"<strong>bold</strong>", "<u>underlined</u>", "!", "†"},
        .signs_open = "<p>",
        .signs_close = ".</p>",
        .note_open = "<p><sup>",
        .note_number_close = "</sup> ",
        .remark_open = "<p>",
        .close = "</p>",
        .escape = text_xml};
    if (!(t->marks & ~(unsigned)TABLE_MUTED) && t->notes == 0 && t->remarks == 0)
        return;
    text_add(out, "<div class=\"below\">");
    table_add_below(out, t, &how);
    text_add(out, "</div>\n");
}

consm_status table_to_html(struct text *out, const struct table *t)
{
    if (t->status < 0)
        return t->status;
    text_printf(out, "<div class=\"table\" id=\"table-%s\" tabindex=\"0\" role=\"region\"",
                t->name);
    text_add(out, " aria-label=\"");
    text_xml(out, t->caption);
    text_add(out, "\">\n<table class=\"sortable\"><caption><span>");
    text_xml(out, t->caption);
    text_add(out, "</span></caption>\n");
    add_head(out, t);
    text_add(out, "<tbody>\n");
    for (int64_t r = 0; r < t->rows; r++) {
        text_add(out, "<tr>");
        for (size_t c = 0; c < t->columns; c++)
            add_cell(out, t, table_at(t, r, c), c);
        text_add(out, "</tr>\n");
    }
    if (t->rows == 0)
        text_printf(out, "<tr class=\"nothing\"><td colspan=\"%zu\">no rows</td></tr>\n",
                    t->columns ? t->columns : 1);
    text_add(out, "</tbody></table></div>\n");
    add_below(out, t);
    return text_status(out);
}
