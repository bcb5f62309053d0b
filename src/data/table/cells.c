/* Cells of a table before they become features. */
#include "data/table/cells.h"

#include <math.h>
#include <string.h>

#include "io/token.h"

void cells_free(struct cells *c)
{
    if (c->spread)
        mem_sparse_free(c->spread);
    else
        mem_free(c->value);
    mem_free(c->kind);
    mem_free(c->odd);
    mem_free(c->exact);
    names_free(&c->name);
    names_free(&c->text);
    *c = (struct cells){0};
}

consm_status cells_spread(struct cells *c, int64_t rows, int64_t low, int64_t high)
{
    c->spread = mem_sparse_alloc((size_t)(rows * c->columns), sizeof *c->spread);
    if (!c->spread)
        return CONSM_ENOMEM;
    c->value = c->spread + low * c->columns;
    c->capacity = (size_t)((high - low) * c->columns);
    return CONSM_OK;
}

bool cells_missing(const char *text, size_t length)
{
    return length == 0 ||
           token_is_one_of(text, length,
                           "nan|na|n/a|null|none|nil|missing|undefined|?|-|#n/a|<na>|nat|n.a.");
}

/* A number with a decimal comma, as in tables with semicolons. */
static bool comma_number(double *out, const char *text, size_t length)
{
    char point[64];
    const char *comma = memchr(text, ',', length);
    if (!comma || length >= sizeof point || memchr(text, '.', length))
        return false;
    memcpy(point, text, length);
    point[comma - text] = '.';
    return token_double(out, point, length);
}

static consm_status add_odd(struct cells *c, int32_t column, const char *text, size_t length,
                            int64_t line)
{
    consm_status st = CONSM_OK;
    int64_t place;
    TRY(names_add(&place, &c->text, text, length));
    TRY(GROW(c->odd, c->odds, c->odd_capacity, 1));
    c->odd[c->odds++] = (struct odd_cell){(int32_t)c->rows, column, (int32_t)place,
                                          line < INT32_MAX ? (int32_t)line : 0};
done:
    return st;
}

/* Appends a number, and its exact value if it may matter. */
static consm_status add_number(struct cells *c, int32_t column, double number)
{
    consm_status st = CONSM_OK;
    bool days = c->kind && c->kind[column] == CELLS_DAYS;
    c->value[c->used++] = (float)number;
    if ((days || fabs(number) >= 1 << 17) && (double)(float)number != number) {
        TRY(GROW(c->exact, c->exacts, c->exact_capacity, 1));
        c->exact[c->exacts++] = (struct exact_cell){(int32_t)c->rows, column, number};
    }
done:
    return st;
}

consm_status cells_add(struct cells *c, int32_t column, const char *text, size_t length,
                       int64_t line)
{
    consm_status st = CONSM_OK;
    TRY(GROW(c->value, c->used, c->capacity, 1));
    double number;
    bool category = c->kind && c->kind[column] == CELLS_CATEGORY;
    if (!category && (token_double(&number, text, length) ||
                      (c->decimal_comma && comma_number(&number, text, length))))
        return add_number(c, column, number);
    c->value[c->used++] = (float)NAN;
    TRY(add_odd(c, column, text, length, line));
done:
    return st;
}

consm_status cells_add_number(struct cells *c, int32_t column, double number)
{
    consm_status st = CONSM_OK;
    bool known = isfinite(number) && isfinite((float)number);
    TRY(GROW(c->value, c->used, c->capacity, 1));
    if (known)
        return add_number(c, column, number);
    TRY(add_odd(c, column, "", 0, 0));
    c->value[c->used++] = (float)NAN;
done:
    return st;
}
