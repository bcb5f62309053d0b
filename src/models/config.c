/* Reading and writing the parameters by name, against the table of config.def. */
#include "models/config.h"

#include "base/nearest.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The choices of each word, ended by NULL. */
#define INT(name, value, min, max, help)
#define REAL(name, value, min, max, help)
#define WORD(name, value, help, ...) \
    static const char *const choices_##name[] = {__VA_ARGS__, NULL};
#include "models/config.def"
#undef INT
#undef REAL
#undef WORD

#define NUMBER(n, k, v, lo, hi, h) \
    {.name = #n,                   \
     .help = h,                    \
     .kind = k,                    \
     .value = v,                   \
     .min = lo,                    \
     .max = hi,                    \
     .offset = offsetof(struct config, n)},
#define INT(n, v, lo, hi, h)  NUMBER(n, CONFIG_INT, v, lo, hi, h)
#define REAL(n, v, lo, hi, h) NUMBER(n, CONFIG_REAL, v, lo, hi, h)
#define WORD(n, v, h, ...)   \
    {.name = #n,             \
     .help = h,              \
     .kind = CONFIG_WORD,    \
     .word = v,              \
     .choices = choices_##n, \
     .offset = offsetof(struct config, n)},

static const struct config_row rows[] = {
#include "models/config.def"
    {0}};

const struct config_row *config_rows(void)
{
    return rows;
}

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))
            return false;
    return *a == *b;
}

const struct config_row *config_find(const char *name)
{
    for (const struct config_row *row = rows; row->name; row++)
        if (same_name(row->name, name))
            return row;
    return NULL;
}

static void *field(const struct config *c, const struct config_row *row)
{
    return (char *)c + row->offset;
}

void config_defaults(struct config *c)
{
    for (const struct config_row *row = rows; row->name; row++) {
        if (row->kind == CONFIG_INT)
            *(int64_t *)field(c, row) = (int64_t)row->value;
        else if (row->kind == CONFIG_REAL)
            *(double *)field(c, row) = row->value;
        else
            *(const char **)field(c, row) = row->word;
    }
}

static const char *row_name(void *ctx, int index)
{
    (void)ctx;
    return rows[index].name;
}

static consm_status unknown_name(const char *name)
{
    const char *near = nearest_word(name, row_name, NULL);
    if (near)
        return status_fail(CONSM_ENOTFOUND, "no parameter %s; did you mean %s?", name, near);
    return status_fail(CONSM_ENOTFOUND, "no parameter %s", name);
}

static consm_status set_word(struct config *c, const struct config_row *row, const char *text)
{
    char list[256] = "";
    for (int i = 0; row->choices[i]; i++) {
        if (strcmp(row->choices[i], text) == 0) {
            *(const char **)field(c, row) = row->choices[i];
            return CONSM_OK;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "",
                 row->choices[i]);
    }
    return status_fail(CONSM_EINVAL, "%s %s: expected one of %s", row->name, text, list);
}

consm_status config_set(struct config *c, const char *name, const char *text)
{
    const struct config_row *row = config_find(name);
    char *end;
    if (!row)
        return unknown_name(name);
    if (row->kind == CONFIG_WORD)
        return set_word(c, row, text);
    errno = 0;
    double value = row->kind == CONFIG_INT ? (double)strtoll(text, &end, 10) : strtod(text, &end);
    if (errno || end == text || *end || !isfinite(value) || value < row->min || value > row->max)
        return status_fail(CONSM_EINVAL, "%s %s: expected a %snumber from %g to %g", name, text,
                           row->kind == CONFIG_INT ? "whole " : "", row->min, row->max);
    if (row->kind == CONFIG_INT)
        *(int64_t *)field(c, row) = (int64_t)value;
    else
        *(double *)field(c, row) = value;
    return CONSM_OK;
}

const char *config_text(const struct config *c, const struct config_row *row, char buffer[32])
{
    if (row->kind == CONFIG_WORD)
        return *(const char *const *)field(c, row);
    if (row->kind == CONFIG_INT) {
        snprintf(buffer, 32, "%lld", (long long)*(int64_t *)field(c, row));
        return buffer;
    }
    /* The shortest text that reads back the same is what a person wants to see. */
    double value = *(double *)field(c, row);
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buffer, 32, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            break;
    }
    return buffer;
}
