/* Shared by learning and applying a recipe: the odd cells sorted by column, and the meaning of each
 * text. */
#ifndef DATA_TABLE_RECIPE_INSIDE_H
#define DATA_TABLE_RECIPE_INSIDE_H

#include "data/table/recipe.h"

struct meaning {
    bool missing;
    bool none;      /* the word none: missing among numbers and dates, a value among other texts */
    int8_t boolean; /* 0, 1, or -1: none */
    double day;     /* NAN: no date */
};

struct look {
    const struct cells *c;
    size_t *start;            /* (columns+1): start of each column's odd cells */
    size_t *order;            /* (odds) indices into c->odd, by column */
    struct meaning *text;     /* (texts of c) */
    struct exact_cell *exact; /* those of c by column, then by row */
    size_t *exact_start;      /* (columns+1) start of each column */
    struct faults *faults;
    const char *file;
    bool unnamed; /* columns have no names, only positions */
};

consm_status look_open(struct look *l, const struct cells *c, struct faults *faults,
                       const char *file);
void look_close(struct look *l);

/* The odd cells of a column, k = start[column] … start[column+1]-1. */
static inline const struct odd_cell *look_odd(const struct look *l, size_t k)
{
    return &l->c->odd[l->order[k]];
}

/* The number in a row of a column, NAN: none. *at starts at 0 and advances: call it for rows in
 * order. */
double look_number(const struct look *l, int32_t column, int64_t row, size_t *at);

/* Records a fault: the cell is not what was expected, and what to do. */
consm_status look_fault(const struct look *l, const struct odd_cell *cell, const char *expected);

/* ---- steps of learning ----------------------------------------------------- */

/* Counts of a column's cells by kind. */
struct tally {
    int64_t numbers, bits;                         /* bits: numbers that are 0 or 1 */
    int64_t words, missing, nones, booleans, days; /* nones are among the missing */
};
struct tally learn_tally(const struct look *l, int32_t column);
enum recipe_kind learn_kind(const struct tally *t, enum cell_kind given);

/* Adds the numbers of a column in row order; then the meanings of its words, with a fault for each
 * that does not fit the column's kind. */
void learn_numbers(double *sum, int64_t *known, const struct look *l, int32_t column);
consm_status learn_words(double *sum, int64_t *known, struct recipe_column *out,
                         const struct look *l, int32_t column);

/* How many of a column's numbers and dates are so close to their mean that a float would hardly
 * distinguish them; if all `known` are, what to subtract before they become floats. */
int64_t learn_near(const struct look *l, int32_t column, const struct recipe_column *rc);
void learn_shift(struct recipe_column *rc, int64_t near, int64_t known);

struct value_count {
    const char *text;
    int64_t count;
};
int learn_by_count(const void *a, const void *b); /* the most frequent first, then by text */

/* The values that occur, with counts; numbers by their shortest spelling. */
consm_status learn_values(struct names *seen, struct value_count **out, int64_t *present,
                          bool *blanks, const struct look *l, int32_t column);
/* The values that become features, of `different` in all; the most frequent are here. */
consm_status learn_keep(struct recipe_column *out, struct value_count *value, int64_t count,
                        int64_t different, int64_t present);

/* Columns without any value; one line names them all, or the first few. */
struct empty_columns {
    int64_t count;
    char list[400];
};
void learn_empty(struct empty_columns *e, const char *column);
void learn_say_empty(const struct empty_columns *e, const char *file);

/* Checks that feature names are distinct: a column "a=b" may clash with value b of column a. */
consm_status learn_names(const struct recipe *r, const char *file);

#endif
