/* Recipes: applying them, their names, making and freeing them. */
#include "base/counted.h"
#include "data/table/recipe_inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "io/token.h"

const char *const recipe_kind_name[RECIPE_KINDS] = {"number", "boolean", "date", "category",
                                                    "left out"};

void recipe_free(struct recipe *r)
{
    if (!r)
        return;
    for (int64_t i = 0; i < r->columns; i++) {
        mem_free(r->column[i].name);
        mem_free_texts(r->column[i].value, r->column[i].values);
    }
    mem_free(r->column);
    mem_free(r);
}

static int64_t features_of(const struct recipe_column *c)
{
    if (c->kind == RECIPE_LEFT_OUT)
        return 0;
    return (c->kind == RECIPE_CATEGORY ? c->values : 1) + c->blanks;
}

int64_t recipe_features(const struct recipe *r)
{
    int64_t features = 0;
    for (int64_t i = 0; i < r->columns; i++)
        features += features_of(&r->column[i]);
    return features;
}

/* Joins "a", "=", "b" into a new text. */
static consm_status join(char **out, const char *a, const char *b, const char *c)
{
    size_t room = strlen(a) + strlen(b) + strlen(c) + 1;
    *out = mem_alloc(room, 1);
    if (!*out)
        return CONSM_ENOMEM;
    snprintf(*out, room, "%s%s%s", a, b, c);
    return CONSM_OK;
}

consm_status recipe_names(char ***out, const struct recipe *r)
{
    consm_status st = CONSM_OK;
    int64_t count = recipe_features(r), k = 0;
    TRY(ZNEW(*out, count));
    for (int64_t i = 0; i < r->columns; i++) {
        const struct recipe_column *c = &r->column[i];
        if (c->kind == RECIPE_LEFT_OUT)
            continue;
        for (int32_t v = 0; c->kind == RECIPE_CATEGORY && v < c->values; v++)
            TRY(join(&(*out)[k++], c->name, "=", c->value[v]));
        char shift[40] = "";
        if (c->shift != 0)
            number_print(shift, sizeof shift, "%+.0f", -c->shift);
        if (c->kind != RECIPE_CATEGORY)
            TRY(join(&(*out)[k++], c->name, shift, ""));
        if (c->blanks)
            TRY(join(&(*out)[k++], c->name, " is missing", ""));
    }
done:
    if (st < 0) {
        mem_free_texts(*out, count);
        *out = NULL;
    }
    return st;
}

consm_status recipe_copy(struct recipe **out, const struct recipe *r)
{
    consm_status st = CONSM_OK;
    struct recipe *copy = NULL;
    *out = NULL;
    TRY(ZNEW(copy, 1));
    TRY(ZNEW(copy->column, r->columns));
    for (; copy->columns < r->columns;) {
        const struct recipe_column *from = &r->column[copy->columns];
        struct recipe_column *to = &copy->column[copy->columns++];
        *to = (struct recipe_column){
            .kind = from->kind, .fill = from->fill, .shift = from->shift, .blanks = from->blanks};
        if (!(to->name = mem_strdup(from->name)))
            TRY(CONSM_ENOMEM);
        TRY(ZNEW(to->value, from->values));
        for (; to->values < from->values; to->values++)
            if (!(to->value[to->values] = mem_strdup(from->value[to->values])))
                TRY(CONSM_ENOMEM);
    }
    *out = copy;
    copy = NULL;
done:
    recipe_free(copy);
    return st;
}

/* ---- applying ------------------------------------------------------------ */

/* The destination of a column's features: out[row * width + at …]. */
struct target {
    float *out;
    int64_t width, at;
};

static float *cell_of(const struct target *t, int64_t row)
{
    return t->out + row * t->width + t->at;
}

static int compare_text(const void *key, const void *item)
{
    return strcmp(key, *(char *const *)item);
}

/* The value's index in the column's list, or -1. */
static int64_t place_of(const struct recipe_column *rc, const char *text)
{
    if (rc->values == 0)
        return -1;
    char **hit = bsearch(text, rc->value, (size_t)rc->values, sizeof *rc->value, compare_text);
    return hit ? hit - rc->value : -1;
}

/* The index for a cell that was read as a number. A category given as text may be spelled
 * differently ("00123"): then the only one with that value is meant. */
static int64_t place_of_number(const struct recipe_column *rc, float value, char number[32])
{
    token_write_float(number, value);
    int64_t place = place_of(rc, number), last = -1, found = 0;
    float other;
    if (place >= 0)
        return place;
    for (int64_t k = 0; k < rc->values; k++)
        if (token_float(&other, rc->value[k], strlen(rc->value[k])) && other == value) {
            last = k;
            found++;
        }
    return found == 1 ? last : -1;
}

static void apply_category(const struct target *t, const struct recipe_column *rc,
                           const struct look *l, int32_t column)
{
    const struct cells *c = l->c;
    char number[32] = "";
    const char *strange = NULL;
    int64_t strangers = 0, place;
    for (int64_t r = 0; r < c->rows; r++) {
        float value = c->value[r * c->columns + column];
        if (isnan(value))
            continue;
        if ((place = place_of_number(rc, value, number)) >= 0)
            cell_of(t, r)[place] = 1;
        else
            strangers++;
    }
    if (strangers > 0)
        strange = number;
    for (size_t k = l->start[column]; k < l->start[column + 1]; k++) {
        const struct odd_cell *cell = look_odd(l, k);
        const char *text = names_at(&c->text, cell->text);
        if (l->text[cell->text].missing && !l->text[cell->text].none) {
            if (rc->blanks)
                cell_of(t, cell->row)[rc->values] = 1;
        } else if ((place = place_of(rc, text)) >= 0) {
            cell_of(t, cell->row)[place] = 1;
        } else {
            strangers++;
            strange = text;
        }
    }
    if (strangers > 0 && rc->values < RECIPE_VALUES)
        log_warn("column %s: %s with a value that did not occur in training, such as \"%.40s\"",
                 rc->name, COUNTED(strangers, "cell"), strange);
}

static const char *expected_of(const struct recipe_column *rc)
{
    return rc->kind == RECIPE_NUMBER    ? "a finite number as in training"
           : rc->kind == RECIPE_BOOLEAN ? "yes or no as in training"
                                        : "a date as in training (2026-11-16)";
}

static consm_status apply_value(const struct target *t, const struct recipe_column *rc,
                                const struct look *l, int32_t column)
{
    consm_status st = CONSM_OK;
    const struct cells *c = l->c;
    bool days = c->kind && c->kind[column] == CELLS_DAYS;
    int64_t missing = 0;
    size_t at = 0;
    for (int64_t r = 0; r < c->rows; r++) {
        double value = look_number(l, column, r, &at);
        bool fits = rc->kind == RECIPE_NUMBER ? true
                    : rc->kind == RECIPE_DATE ? days
                                              : value == 0 || value == 1;
        if (!isnan(value) && !fits)
            TRY(faults_take(l->faults, status_fail(CONSM_EFORMAT,
                                                   "%s: row %lld, column %.40s: found %g, "
                                                   "expected %s",
                                                   l->file, (long long)r + 1, rc->name, value,
                                                   expected_of(rc))));
        *cell_of(t, r) = (float)((isnan(value) ? rc->fill : value) - rc->shift);
    }
    for (size_t k = l->start[column]; k < l->start[column + 1]; k++) {
        const struct odd_cell *cell = look_odd(l, k);
        const struct meaning *m = &l->text[cell->text];
        float *to = cell_of(t, cell->row);
        if (m->missing) {
            missing++;
            if (rc->blanks)
                to[1] = 1;
        } else if (rc->kind == RECIPE_BOOLEAN && m->boolean >= 0) {
            *to = m->boolean;
        } else if (rc->kind == RECIPE_DATE && !isnan(m->day)) {
            *to = (float)(m->day - rc->shift);
        } else {
            TRY(look_fault(l, cell, expected_of(rc)));
        }
    }
    if (missing > 0 && !rc->blanks)
        log_warn("column %s: %s without a value, filled with %g; no value was missing in training",
                 rc->name, COUNTED(missing, "cell"), rc->fill);
done:
    return st;
}

/* Reports the recipe's columns that the table lacks. */
static consm_status check_columns(const struct recipe *r, const struct cells *c, const char *file)
{
    char list[400] = "";
    int64_t absent = 0;
    for (int64_t i = 0; i < r->columns; i++) {
        const char *name = r->column[i].name;
        if (r->column[i].kind == RECIPE_LEFT_OUT || names_find(&c->name, name, strlen(name)) >= 0)
            continue;
        if (++absent <= 5)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%.60s",
                     absent > 1 ? ", " : "", name);
    }
    if (absent == 0)
        return CONSM_OK;
    return status_fail(CONSM_EINVAL, "%s lacks %lld of the model's %lld feature columns: %s%s",
                       file, (long long)absent, (long long)r->columns, list,
                       absent > 5 ? ", …" : "");
}

consm_status recipe_apply(float **out, const struct recipe *r, const struct cells *c,
                          struct faults *faults, const char *file)
{
    consm_status st = CONSM_OK;
    struct look l = {0};
    struct target t = {.width = recipe_features(r)};
    *out = NULL;
    TRY(check_columns(r, c, file));
    TRY(look_open(&l, c, faults, file));
    TRY(ZNEW(t.out, (size_t)c->rows * (size_t)t.width));
    for (int64_t i = 0; i < r->columns; i++) {
        const struct recipe_column *rc = &r->column[i];
        int64_t column = names_find(&c->name, rc->name, strlen(rc->name));
        if (rc->kind == RECIPE_LEFT_OUT)
            continue;
        if (rc->kind == RECIPE_CATEGORY)
            apply_category(&t, rc, &l, (int32_t)column);
        else
            TRY(apply_value(&t, rc, &l, (int32_t)column));
        t.at += features_of(rc);
    }
    *out = t.out;
    t.out = NULL;
done:
    look_close(&l);
    mem_free(t.out);
    return st;
}
