/* Reads and writes parameters by name, by the table of config.def. */
#include "models/config.h"
#include "base/number.h"

#include "base/nearest.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The choices of each word, NULL at the end. Its field is read and written as an int. */
#define INT(name, value, min, max, help)
#define REAL(name, value, min, max, help)
#define AUTO(name, min, max, help)
#define CHOICE(constant, word) word
#define WORD(name, value, help, ...)                               \
    const char *const config_names_##name[] = {__VA_ARGS__, NULL}; \
    _Static_assert(sizeof(enum config_##name) == sizeof(int), "an enum is as wide as an int");
#include "models/config.def"
#undef INT
#undef REAL
#undef AUTO
#undef CHOICE
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
#define AUTO(n, lo, hi, h)    NUMBER(n, CONFIG_AUTO, NAN, lo, hi, h)
#define WORD(n, v, h, ...)        \
    {.name = #n,                  \
     .help = h,                   \
     .kind = CONFIG_WORD,         \
     .value = v,                  \
     .choices = config_names_##n, \
     .offset = offsetof(struct config, n)},

static const struct config_row rows[] = {
#include "models/config.def"
    {0}};

const struct config_row *config_rows(void)
{
    return rows;
}

bool config_same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))
            return false;
    return *a == *b;
}

const struct config_row *config_find(const char *name)
{
    for (const struct config_row *row = rows; row->name; row++)
        if (config_same_name(row->name, name))
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
        else if (row->kind == CONFIG_WORD)
            *(int *)field(c, row) = (int)row->value;
        else
            *(double *)field(c, row) = row->value;
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
        return status_fail(CONSM_ENOTFOUND, "unknown parameter %s; did you mean %s?", name, near);
    return status_fail(CONSM_ENOTFOUND, "unknown parameter %s", name);
}

static const char *choice_name(void *ctx, int index)
{
    return ((const struct config_row *)ctx)->choices[index];
}

static consm_status set_word(struct config *c, const struct config_row *row, const char *text)
{
    char list[256] = "";
    for (int i = 0; row->choices[i]; i++) {
        if (strcmp(row->choices[i], text) == 0) {
            *(int *)field(c, row) = i;
            return CONSM_OK;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "",
                 row->choices[i]);
    }
    const char *near = nearest_word(text, choice_name, (void *)row);
    if (near)
        return status_fail(CONSM_EINVAL, "%s %s: expected one of %s; did you mean %s?", row->name,
                           text, list, near);
    return status_fail(CONSM_EINVAL, "%s %s: expected one of %s", row->name, text, list);
}

/* Settings of the two other profiles of ConSM; the default profile is the table itself. */
static const struct {
    enum config_profile profile;
    const char *name, *text;
} profile_rows[] = {
    /* The paper's text, sections 4.1.3 to 5.2. */
    {PROFILE_PAPER, "backbone", "gcn"},
    {PROFILE_PAPER, "lr", "0.001"},
    {PROFILE_PAPER, "match_lr", "0.001"},
    {PROFILE_PAPER, "warmup", "0"},
    {PROFILE_PAPER, "rounds", "20"},
    {PROFILE_PAPER, "round_patience", "0"},
    {PROFILE_PAPER, "gnn_steps", "200"},
    {PROFILE_PAPER, "lambda", "0.05"},
    {PROFILE_PAPER, "lambda_per", "sum"},
    {PROFILE_PAPER, "attract", "zeta"},
    {PROFILE_PAPER, "guesses", "no"},
    {PROFILE_PAPER, "entropy", "0"},
    {PROFILE_PAPER, "drop_share", "0"},
    {PROFILE_PAPER, "add_share", "0"},
    {PROFILE_PAPER, "match_join", "concat"},
    {PROFILE_PAPER, "match_error", "l1"},
    {PROFILE_PAPER, "match_layers", "2"},
    {PROFILE_PAPER, "match_refresh", "1"},
    {PROFILE_PAPER, "transport", "exact"},
    {PROFILE_PAPER, "coefficients", "match"},
    {PROFILE_PAPER, "match_update", "ego"},
    {PROFILE_PAPER, "match_steps", "0"},
    {PROFILE_PAPER, "prune_by", "references"},
    {PROFILE_PAPER, "match_slope", "0"},
    {PROFILE_PAPER, "match_ego", "no"},
    {PROFILE_PAPER, "match_pairs", "19"},
    /* The authors' published program, without its faults. */
    {PROFILE_AUTHORS, "backbone", "gcn"},
    {PROFILE_AUTHORS, "lr", "0.001"},
    {PROFILE_AUTHORS, "match_lr", "0.001"},
    {PROFILE_AUTHORS, "warmup", "0"},
    {PROFILE_AUTHORS, "rounds", "300"},
    {PROFILE_AUTHORS, "round_patience", "0"},
    {PROFILE_AUTHORS, "gnn_steps", "500"},
    {PROFILE_AUTHORS, "match_refresh", "1"},
    {PROFILE_AUTHORS, "prune_by", "coefficients"},
    {PROFILE_AUTHORS, "coefficients", "match"},
    {PROFILE_AUTHORS, "match_update", "ego"},
    {PROFILE_AUTHORS, "match_steps", "0"},
    {PROFILE_AUTHORS, "lambda", "1"},
    {PROFILE_AUTHORS, "attract", "zeta"},
    {PROFILE_AUTHORS, "guesses", "no"},
    {PROFILE_AUTHORS, "entropy", "0"},
    {PROFILE_AUTHORS, "drop_share", "0"},
    {PROFILE_AUTHORS, "add_share", "0"},
    {PROFILE_AUTHORS, "match_slope", "0"},
    {PROFILE_AUTHORS, "match_ego", "no"},
    {PROFILE_AUTHORS, "match_pairs", "19"},
    {PROFILE_AUTHORS, "match_join", "squared"},
    {PROFILE_AUTHORS, "transport", "nearest"},
};

bool config_scales_columns(const struct config *c)
{
    return c->normalize_features == FEATURES_STANDARD || c->normalize_features == FEATURES_SCALE;
}

void config_copy(struct config *to, const struct config *from, int row)
{
    _Static_assert(sizeof(int64_t) == sizeof(double), "numbers are equally wide");
    size_t size = rows[row].kind == CONFIG_WORD ? sizeof(int) : sizeof(double);
    memcpy(field(to, &rows[row]), field(from, &rows[row]), size);
}

bool config_profile_decides(int row)
{
    for (size_t i = 0; i < sizeof profile_rows / sizeof *profile_rows; i++)
        if (strcmp(profile_rows[i].name, rows[row].name) == 0)
            return true;
    return false;
}

void config_settle_profile(struct config *c, const struct config *defaults,
                           const bool given[CONFIG_ROWS])
{
    const struct config before = *c;
    for (int row = 0; row < CONFIG_ROWS; row++)
        if (config_profile_decides(row))
            config_copy(c, defaults, row);
    (void)config_set(c, "profile",
                     config_names_profile[before.profile]); /* always a valid profile */
    for (int row = 0; row < CONFIG_ROWS; row++)
        if (given[row])
            config_copy(c, &before, row);
}

static consm_status set_profile(struct config *c)
{
    consm_status st = CONSM_OK;
    enum config_profile profile = c->profile;
    for (size_t i = 0; i < sizeof profile_rows / sizeof *profile_rows; i++)
        if (profile_rows[i].profile == profile)
            TRY(config_set(c, profile_rows[i].name, profile_rows[i].text));
done:
    return st;
}

consm_status config_set(struct config *c, const char *name, const char *text)
{
    const struct config_row *row = config_find(name);
    char *end;
    if (!row)
        return unknown_name(name);
    if (row->kind == CONFIG_WORD) {
        consm_status st = set_word(c, row, text);
        return st == CONSM_OK && row->choices == config_names_profile ? set_profile(c) : st;
    }
    if (row->kind == CONFIG_AUTO && strcmp(text, "auto") == 0) {
        *(double *)field(c, row) = NAN;
        return CONSM_OK;
    }
    errno = 0;
    double value =
        row->kind == CONFIG_INT ? (double)strtoll(text, &end, 10) : number_parse(text, &end);
    if (errno || end == text || *end || !isfinite(value) || value < row->min || value > row->max)
        return status_fail(CONSM_EINVAL, "%s %s: expected %sa %snumber from %.10g to %.10g", name,
                           text, row->kind == CONFIG_AUTO ? "auto or " : "",
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
        return row->choices[*(const int *)field(c, row)];
    if (row->kind == CONFIG_INT) {
        snprintf(buffer, 32, "%lld", (long long)*(int64_t *)field(c, row));
        return buffer;
    }
    /* Writes the shortest text that reads back the same. */
    double value = *(double *)field(c, row);
    if (isnan(value))
        return "auto";
    for (int digits = 1; digits <= 17; digits++) {
        number_print(buffer, 32, "%.*g", digits, value);
        if (number_parse(buffer, NULL) == value)
            break;
    }
    return buffer;
}
