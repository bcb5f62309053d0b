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

/* Learns the values of a category. partition: as in recipe_learn(). */
consm_status learn_category(struct recipe_column *out, const struct look *l, int32_t column,
                            const struct partition *partition);

#endif
