/* One table, many forms. A study fills a table once; the terminal, Markdown, CSV, LaTeX and the
 * HTML report show the same cells, so they cannot disagree. A number keeps its full value besides
 * the digits that are shown: CSV writes it and the report sorts by it. */

/*
 * Filling reports no errors: the first fault (memory, too many cells in a row) is stored, and every
 * writer returns it. Filling NULL does nothing (report_new_table).
 */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include "report/text.h"

struct table;

/* Prose is left-aligned; the page shows all of it, in several lines. */
enum table_align { TABLE_LEFT, TABLE_RIGHT, TABLE_PROSE };

/* Marks of a cell. Every form shows them without relying on colour, and explains below the table
 * those that occur. */
enum table_mark {
    TABLE_BEST = 1,    /* bold: the best of its group                                   */
    TABLE_TIED = 2,    /* underlined or ≈: no significant difference from the best      */
    TABLE_DIFFERS = 4, /* "!": differs from the reference */
    TABLE_ORACLE = 8,  /* "†": uses true labels or true homophily, for comparison only */
    TABLE_MUTED = 16,  /* grey: a baseline, a constant                                  */
};

/* name becomes file names and ids; the caption is above the table. */
consm_status table_new(struct table **out, const char *name, const char *caption);
void table_free(struct table *t); /* NULL is fine */
const char *table_name(const struct table *t);

/* All columns come before the first row. `about` is a tooltip of the header, or NULL. */
void table_column(struct table *t, const char *name, enum table_align align, const char *about);

/* Begins a row; its cells follow from left to right; missing ones at the end stay empty. */
void table_row(struct table *t);
void table_text(struct table *t, const char *text);
void table_number(struct table *t, double value, int decimals);
void table_mean(struct table *t, double mean, double std, int decimals); /* 80.5 ± 0.4 */
void table_empty(struct table *t);

/* For the last cell: marks to add, a figure of others in brackets, a footnote. */
void table_mark(struct table *t, unsigned marks);
void table_reference(struct table *t, double value);
void table_note(struct table *t, const char *note);

/* A remark below the whole table: what ± means, where the figures come from. */
void table_remark(struct table *t, const char *remark);

/* The forms. width: columns of the terminal, 0 for no limit; bold: whether to use escape codes. A
 * table that is too wide first shortens its words, then breaks into blocks that repeat the first
 * column. */
consm_status table_to_terminal(struct text *out, const struct table *t, int width, bool bold);
consm_status table_to_markdown(struct text *out, const struct table *t);
/* Full names and 10 digits; a column with spreads, references or notes gets extra columns "NAME
 * std", "NAME reference", "NAME note". */
consm_status table_to_csv(struct text *out, const struct table *t);
consm_status table_to_latex(struct text *out, const struct table *t); /* needs booktabs */
consm_status table_to_html(struct text *out, const struct table *t);  /* sorts with report.js */

#endif
