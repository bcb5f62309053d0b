/* Internals of a table, for its writers only. */
#ifndef REPORT_TABLE_INSIDE_H
#define REPORT_TABLE_INSIDE_H

#include "report/table.h"

struct table_cell {
    char *text; /* words, or NULL for a number */
    double value, spread, reference;
    int decimals;
    int note; /* index of its footnote, -1 without */
    unsigned marks;
    bool empty, has_spread, has_reference;
};

struct table_column {
    char *name, *about;
    enum table_align align;
};

struct table {
    char *name, *caption;
    struct table_column *column;
    struct table_cell *cell; /* (rows, columns) */
    char **note, **remark;
    size_t columns, columns_capacity, cells, cells_capacity, notes, notes_capacity, remarks,
        remarks_capacity;
    int64_t rows;
    size_t next; /* the position of the next cell in the last row */
    unsigned marks;
    consm_status status;
};

enum {
    TABLE_NAME_COLUMNS = 40
}; /* longer words are shortened for display; CSV has them complete */

static inline const struct table_cell *table_at(const struct table *t, int64_t row, size_t column)
{
    return &t->cell[(size_t)row * t->columns + column];
}

/* "80.5 ± 0.4 [80.1]", or words shortened to `columns`; not escaped yet. */
void table_show(struct text *out, const struct table_cell *cell, int64_t columns);

/* The sentence that explains a mark; NULL past the last. */
struct table_sign {
    unsigned mark;
    const char *sign, *meaning;
};
extern const struct table_sign table_signs[5];

/* How a format writes what is below a table: marks, footnotes, remarks. */
struct table_below {
    const char *sign[4]; /* as table_signs, in the format's words */
    const char *signs_open, *signs_close;
    const char *note_open, *note_number_close, *remark_open; /* open, 1, number_close, words */
    const char *close;
    void (*escape)(struct text *out, const char *words);
};
void table_add_below(struct text *out, const struct table *t, const struct table_below *how);

#endif
