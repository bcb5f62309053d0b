/* The feature columns of a table as cells: a number if a cell is one, otherwise its text.
 * data/table/recipe.h makes features from them. A table of numbers only costs its numbers; every
 * other cell costs 16 bytes, and each different text is stored once. */
#ifndef DATA_TABLE_CELLS_H
#define DATA_TABLE_CELLS_H

#include "data/table/names.h"

/* A column's kind, if the caller knows it better than its cells show. */
enum cell_kind { CELLS_ANY, CELLS_CATEGORY, CELLS_DAYS };

struct odd_cell {
    int32_t row, column, text; /* text: its index in cells.text */
    int32_t line;              /* of the file, for messages; 0: none */
};

/* A number whose last digits a float cannot hold, and that is large or a date, so that they may be
 * all that distinguishes two rows: a Unix time, a day with its minute. */
struct exact_cell {
    int32_t row, column;
    double value;
};

/* All zero is empty. */
struct cells {
    int64_t rows;
    int32_t columns;
    float *value;  /* (rows, columns); NAN if the cell is odd */
    float *spread; /* the block of value, if it is a part of a larger table; or NULL */
    size_t used, capacity;
    struct names name; /* (columns) */
    uint8_t *kind;     /* (columns) of enum cell_kind, or NULL: CELLS_ANY */
    struct names text; /* of the odd cells */
    struct odd_cell *odd;
    size_t odds, odd_capacity;
    struct exact_cell *exact; /* exact values of cells that are rounded in value */
    size_t exacts, exact_capacity;
    bool decimal_comma; /* 0,5 is a number */
};

void cells_free(struct cells *c);

/* Allocates rows low … high-1 of a table with `rows` rows, in sparse, globally indexed memory;
 * these rows, from 0 on, are then all of c. */
consm_status cells_spread(struct cells *c, int64_t rows, int64_t low, int64_t high);

/* Appends the next cell, row by row; column is its position in the row, line that of the file. The
 * text is UTF-8 without zero bytes. */
consm_status cells_add(struct cells *c, int32_t column, const char *text, size_t length,
                       int64_t line);
/* The same for a number; non-finite ones are missing. */
consm_status cells_add_number(struct cells *c, int32_t column, double number);

/* Whether a cell means that nothing is known: empty, NaN, null, n/a and similar. */
bool cells_missing(const char *text, size_t length);

#endif
