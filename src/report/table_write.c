/* A table for documents: Markdown, CSV, LaTeX. */
#include <math.h>

#include "report/table_inside.h"

/* A header, shortened like cells. */
static void add_head(struct text *out, const char *name,
                     void (*escape)(struct text *, const char *))
{
    char *clipped = NULL;
    if (text_clip(&clipped, name, TABLE_NAME_COLUMNS) < 0)
        out->status = CONSM_ENOMEM;
    else
        escape(out, clipped);
    mem_free(clipped);
}

/* ---- Markdown ------------------------------------------------------------ */

static void markdown_cell(struct text *out, const struct table_cell *cell)
{
    struct text shown = {0};
    table_show(&shown, cell, TABLE_NAME_COLUMNS);
    const char *around = cell->marks & TABLE_BEST ? "**" : cell->marks & TABLE_TIED ? "*" : "";
    around = shown.length ? around : "";
    text_add(out, around);
    text_markdown(out, text_string(&shown));
    text_add(out, around);
    text_add(out, cell->marks & TABLE_DIFFERS ? " \\!" : "");
    text_add(out, cell->marks & TABLE_ORACLE ? " †" : "");
    if (cell->note >= 0)
        text_printf(out, " <sup>%d</sup>", cell->note + 1);
    if (shown.status < 0)
        out->status = shown.status;
    text_free(&shown);
}

void table_add_below(struct text *out, const struct table *t, const struct table_below *how)
{
    bool any = false;
    for (int i = 0; i < 4; i++)
        if (t->marks & table_signs[i].mark) {
            text_printf(out, "%s%s: %s", any ? "; " : how->signs_open, how->sign[i],
                        table_signs[i].meaning);
            any = true;
        }
    text_add(out, any ? how->signs_close : "");
    for (size_t i = 0; i < t->notes; i++) {
        text_printf(out, "%s%zu%s", how->note_open, i + 1, how->note_number_close);
        how->escape(out, t->note[i]);
        text_add(out, how->close);
    }
    for (size_t i = 0; i < t->remarks; i++) {
        text_add(out, how->remark_open);
        how->escape(out, t->remark[i]);
        text_add(out, how->close);
    }
}

static const struct table_below markdown_below = {.sign = {"**bold**", "*italic*", "\\!", "†"},
                                                  .signs_open = "\n",
                                                  .signs_close = ".\n",
                                                  .note_open = "\n<sup>",
                                                  .note_number_close = "</sup> ",
                                                  .remark_open = "\n",
                                                  .close = "\n",
                                                  .escape = text_markdown};

consm_status table_to_markdown(struct text *out, const struct table *t)
{
    if (t->status < 0)
        return t->status;
    if (*t->caption) {
        text_add(out, "**");
        text_markdown(out, t->caption);
        text_add(out, "**\n\n");
    }
    for (size_t c = 0; c < t->columns; c++) {
        text_add(out, c ? " | " : "| ");
        add_head(out, t->column[c].name, text_markdown);
    }
    text_add(out, t->columns ? " |\n" : "");
    for (size_t c = 0; c < t->columns; c++)
        text_add(out, t->column[c].align == TABLE_RIGHT ? "|---:" : "|---");
    text_add(out, t->columns ? "|\n" : "");
    for (int64_t r = 0; r < t->rows; r++) {
        for (size_t c = 0; c < t->columns; c++) {
            text_add(out, c ? " | " : "| ");
            markdown_cell(out, table_at(t, r, c));
        }
        text_add(out, " |\n");
    }
    table_add_below(out, t, &markdown_below);
    return text_status(out);
}

/* ---- CSV ----------------------------------------------------------------- */

enum extra { EXTRA_NONE, EXTRA_STD, EXTRA_REFERENCE, EXTRA_NOTE, EXTRAS };

static bool has_extra(const struct table *t, size_t column, enum extra extra)
{
    for (int64_t r = 0; r < t->rows && extra != EXTRA_NONE; r++) {
        const struct table_cell *cell = table_at(t, r, column);
        if ((extra == EXTRA_STD && cell->has_spread) ||
            (extra == EXTRA_REFERENCE && cell->has_reference) ||
            (extra == EXTRA_NOTE && cell->note >= 0))
            return true;
    }
    return extra == EXTRA_NONE;
}

static void csv_number(struct text *out, double value)
{
    if (!isnan(value)) /* an empty field is a missing value for every reader */
        text_printf(out, "%.10g", value);
}

static void csv_field(struct text *out, const struct table *t, const struct table_cell *cell,
                      enum extra extra)
{
    if (extra == EXTRA_STD && cell->has_spread)
        csv_number(out, cell->spread);
    else if (extra == EXTRA_REFERENCE && cell->has_reference)
        csv_number(out, cell->reference);
    else if (extra == EXTRA_NOTE && cell->note >= 0)
        text_csv(out, t->note[cell->note]);
    else if (extra == EXTRA_NONE && cell->text)
        text_csv(out, cell->text);
    else if (extra == EXTRA_NONE && !cell->empty)
        csv_number(out, cell->value);
}

static void csv_head(struct text *out, const char *name, enum extra extra)
{
    static const char *const suffix[EXTRAS] = {"", " std", " reference", " note"};
    struct text head = {0};
    text_plain(&head, name);
    text_add(&head, suffix[extra]);
    text_csv(out, text_string(&head));
    if (head.status < 0)
        out->status = head.status;
    text_free(&head);
}

consm_status table_to_csv(struct text *out, const struct table *t)
{
    if (t->status < 0)
        return t->status;
    for (int64_t r = -1; r < t->rows; r++) {
        bool first = true;
        for (size_t c = 0; c < t->columns; c++)
            for (enum extra e = EXTRA_NONE; e < EXTRAS; e++) {
                if (!has_extra(t, c, e))
                    continue;
                text_add(out, first ? "" : ",");
                first = false;
                if (r < 0)
                    csv_head(out, t->column[c].name, e);
                else
                    csv_field(out, t, table_at(t, r, c), e);
            }
        text_add(out, first ? "" : "\r\n");
    }
    return text_status(out);
}

/* ---- LaTeX --------------------------------------------------------------- */

static void latex_cell(struct text *out, const struct table_cell *cell)
{
    struct text shown = {0};
    table_show(&shown, cell, TABLE_NAME_COLUMNS);
    bool strong = cell->marks & TABLE_BEST, tied = cell->marks & TABLE_TIED;
    text_add(out, strong ? "\\textbf{" : tied ? "\\underline{" : "");
    text_latex(out, text_string(&shown));
    text_add(out, strong || tied ? "}" : "");
    text_add(out, cell->marks & TABLE_DIFFERS ? "$^{!}$" : "");
    text_add(out, cell->marks & TABLE_ORACLE ? "$^{\\dagger}$" : "");
    if (cell->note >= 0)
        text_printf(out, "\\textsuperscript{%d}", cell->note + 1);
    if (shown.status < 0)
        out->status = shown.status;
    text_free(&shown);
}

static void latex_row(struct text *out, const struct table *t, int64_t row)
{
    for (size_t c = 0; c < t->columns; c++) {
        text_add(out, c ? " & " : "  ");
        if (row < 0)
            add_head(out, t->column[c].name, text_latex);
        else
            latex_cell(out, table_at(t, row, c));
    }
    text_add(out, " \\\\\n");
}

static const struct table_below latex_below = {
    .sign = {"\\textbf{bold}", "\\underline{underlined}", "$^{!}$", "$^{\\dagger}$"},
    .signs_open = "\n\\par\\footnotesize ",
    .signs_close = ".\n",
    .note_open = "\\par\\footnotesize \\textsuperscript{",
    .note_number_close = "} ",
    .remark_open = "\\par\\footnotesize ",
    .close = "\n",
    .escape = text_latex};

consm_status table_to_latex(struct text *out, const struct table *t)
{
    if (t->status < 0)
        return t->status;
    text_add(out, "\\begin{table}\n\\centering\n\\caption{");
    text_latex(out, t->caption);
    text_printf(out, "}\n\\label{tab:%s}\n\\begin{tabular}{", t->name);
    for (size_t c = 0; c < t->columns; c++)
        text_add(out, t->column[c].align == TABLE_RIGHT ? "r" : "l");
    text_add(out, "}\n\\toprule\n");
    if (t->columns > 0)
        latex_row(out, t, -1);
    text_add(out, "\\midrule\n");
    for (int64_t r = 0; r < t->rows; r++)
        latex_row(out, t, r);
    text_add(out, "\\bottomrule\n\\end{tabular}\n");
    table_add_below(out, t, &latex_below);
    text_add(out, "\\end{table}\n");
    return text_status(out);
}
