/*
 * The feature columns of a table as its cells stand: a number where a cell is one, its text
 * elsewhere. data/table/recipe.h makes features of them. A table of numbers alone costs nothing but
 * its numbers; every other cell costs 16 bytes and each different text once.
 */
#ifndef DATA_TABLE_CELLS_H
#define DATA_TABLE_CELLS_H

#include "data/table/names.h"

/* What somebody knows of a column better than its cells show. */
enum cell_kind { CELLS_ANY, CELLS_CATEGORY, CELLS_DAYS };

struct odd_cell {
    int32_t row, column, text; /* text: its place in cells.text */
    int32_t line;              /* of the file, for messages; 0: there is none */
};

/* A number whose last digits a float cannot hold, and that is so large, or a date, that they may be
 * all that tells two rows apart: a Unix time, a day with its minute. */
struct exact_cell {
    int32_t row, column;
    double value;
};

/* All zero is empty. */
struct cells {
    int64_t rows;
    int32_t columns;
    float *value; /* (rows, columns); NAN where the cell is odd */
    float
        *spread; /* the block that value lies in, where it is a share of a larger table; or NULL */
    size_t used, capacity;
    struct names name; /* (columns) */
    uint8_t *kind;     /* (columns) of enum cell_kind, or NULL: CELLS_ANY */
    struct names text; /* of the odd cells */
    struct odd_cell *odd;
    size_t odds, odd_capacity;
    struct exact_cell *exact; /* beside their rounded ones in value */
    size_t exacts, exact_capacity;
    bool decimal_comma; /* 0,5 is a number */
};

void cells_free(struct cells *c);

/* Room for rows low … high-1 of a table of so many, in sparse memory that is addressed as a whole;
 * these rows, from 0 on, are then all that c has. */
consm_status cells_spread(struct cells *c, int64_t rows, int64_t low, int64_t high);

/* Appends the next cell, row by row; column is its place in the row, line that of the file. The
 * text is UTF-8 without zero bytes. */
consm_status cells_add(struct cells *c, int32_t column, const char *text, size_t length,
                       int64_t line);
/* The same for a number; what is not finite is missing. */
consm_status cells_add_number(struct cells *c, int32_t column, double number);

/* An empty cell, NaN, null, n/a and the like: what means that nothing is known. */
bool cells_missing(const char *text, size_t length);

#endif
