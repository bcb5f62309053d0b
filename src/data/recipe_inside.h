/* What learning and applying a recipe share: the odd cells sorted by column, and what each text
 * means. */
#ifndef DATA_RECIPE_INSIDE_H
#define DATA_RECIPE_INSIDE_H

#include "data/recipe.h"

struct meaning {
    bool missing;
    int8_t boolean; /* 0, 1, or -1: none */
    double day;     /* NAN: no date */
};

struct look {
    const struct cells *c;
    size_t *start;        /* (columns+1): where each column's odd cells begin … */
    size_t *order;        /* (odds) … in this list of places in c->odd */
    struct meaning *text; /* (texts of c) */
    struct faults *faults;
    const char *file;
    bool unnamed; /* the columns have no names but their places */
};

consm_status look_open(struct look *l, const struct cells *c, struct faults *faults,
                       const char *file);
void look_close(struct look *l);

/* The odd cells of a column, k = start[column] … start[column+1]-1. */
static inline const struct odd_cell *look_odd(const struct look *l, size_t k)
{
    return &l->c->odd[l->order[k]];
}

/* Notes that the cell is not what was expected, and what to do about it. */
consm_status look_fault(const struct look *l, const struct odd_cell *cell, const char *expected);

#endif
