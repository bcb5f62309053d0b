/* Reads the odd cells of a table once, for all columns. */
#include "data/table/recipe_inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/token.h"

static struct meaning meaning_of(const char *text, size_t length)
{
    struct meaning m = {.missing = cells_missing(text, length),
                        .none = token_is_one_of(text, length, "none"),
                        .boolean = -1,
                        .day = (double)NAN};
    if (token_is_one_of(text, length, "true|yes|y|t"))
        m.boolean = 1;
    else if (token_is_one_of(text, length, "false|no|n|f"))
        m.boolean = 0;
    if (!m.missing && !recipe_day(&m.day, text, length))
        m.day = (double)NAN;
    return m;
}

static int by_place(const void *a, const void *b)
{
    const struct exact_cell *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static consm_status sort_exact(struct look *l)
{
    consm_status st = CONSM_OK;
    const struct cells *c = l->c;
    TRY(ZNEW(l->exact_start, c->columns + 1));
    if (c->exacts == 0)
        return CONSM_OK;
    TRY(NEW(l->exact, c->exacts));
    memcpy(l->exact, c->exact, c->exacts * sizeof *c->exact);
    qsort(l->exact, c->exacts, sizeof *l->exact, by_place);
    for (size_t k = 0; k < c->exacts; k++)
        l->exact_start[c->exact[k].column + 1]++;
    for (int32_t i = 0; i < c->columns; i++)
        l->exact_start[i + 1] += l->exact_start[i];
done:
    return st;
}

double look_number(const struct look *l, int32_t column, int64_t row, size_t *at)
{
    const struct exact_cell *next = l->exact ? &l->exact[l->exact_start[column] + *at] : NULL;
    if (next && *at < l->exact_start[column + 1] - l->exact_start[column] && next->row == row) {
        ++*at;
        return next->value;
    }
    return (double)l->c->value[row * l->c->columns + column];
}

consm_status look_open(struct look *l, const struct cells *c, struct faults *faults,
                       const char *file)
{
    consm_status st = CONSM_OK;
    *l = (struct look){
        .c = c, .faults = faults, .file = file, .unnamed = names_are_places(&c->name)};
    TRY(ZNEW(l->start, c->columns + 2));
    TRY(NEW(l->order, c->odds));
    TRY(NEW(l->text, c->text.count));
    TRY(sort_exact(l));
    for (int64_t i = 0; i < c->text.count; i++)
        l->text[i] = meaning_of(names_at(&c->text, i), names_length(&c->text, i));
    /* Counting sort: afterwards start[column+1] is the start of the column's cells, */
    for (size_t k = 0; k < c->odds; k++)
        l->start[c->odd[k].column + 2]++;
    for (int32_t i = 0; i < c->columns; i++)
        l->start[i + 2] += l->start[i + 1];
    /* and after each was placed, the start of the next column's. */
    for (size_t k = 0; k < c->odds; k++)
        l->order[l->start[c->odd[k].column + 1]++] = k;
done:
    if (st < 0)
        look_close(l);
    return st;
}

void look_close(struct look *l)
{
    mem_free(l->start);
    mem_free(l->order);
    mem_free(l->text);
    mem_free(l->exact);
    mem_free(l->exact_start);
    *l = (struct look){0};
}

consm_status look_fault(const struct look *l, const struct odd_cell *cell, const char *expected)
{
    char place[40], remedy[120] = " or leave it empty", number[24];
    const char *name = names_at(&l->c->name, cell->column);
    if (cell->line > 0)
        snprintf(place, sizeof place, "line %d", cell->line);
    else
        snprintf(place, sizeof place, "row %lld", (long long)cell->row + 1);
    if (l->unnamed)
        snprintf(number, sizeof number, "%d", cell->column + 1);
    else
        snprintf(remedy, sizeof remedy, ", leave it empty, or ignore the column (--ignore %.40s)",
                 name);
    return faults_take(
        l->faults, status_fail(CONSM_EFORMAT,
                               "%s: %s, column %.40s: found \"%.40s\", expected %s; fix the cell"
                               "%s",
                               l->file, place, l->unnamed ? number : name,
                               names_at(&l->c->text, cell->text), expected, remedy));
}
