/* Learns a recipe: each column's kind from its cells, then its parameters. */
#include "data/table/recipe_inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/known.h"
#include "base/log.h"
#include "io/token.h"

struct tally learn_tally(const struct look *l, int32_t column)
{
    const struct cells *c = l->c;
    struct tally t = {0};
    for (size_t k = l->start[column]; k < l->start[column + 1]; k++) {
        const struct meaning *m = &l->text[look_odd(l, k)->text];
        t.missing += m->missing;
        t.nones += m->none;
        t.words += !m->missing;
        t.booleans += m->boolean >= 0;
        t.days += !isnan(m->day);
    }
    t.numbers = c->rows - (int64_t)(l->start[column + 1] - l->start[column]);
    for (int64_t r = 0; r < c->rows; r++) {
        float value = c->value[r * c->columns + column];
        t.bits += value == 0 || value == 1;
    }
    return t;
}

enum recipe_kind learn_kind(const struct tally *t, enum cell_kind given)
{
    if (given == CELLS_CATEGORY)
        return t->words + t->nones > 0 ? RECIPE_CATEGORY : RECIPE_LEFT_OUT;
    if (t->numbers + t->words == 0)
        return RECIPE_LEFT_OUT;
    if (given == CELLS_DAYS)
        return RECIPE_DATE;
    if (t->words > 0 && t->booleans == t->words && t->bits == t->numbers)
        return RECIPE_BOOLEAN;
    if (t->numbers > 0 && t->numbers >= t->words)
        return RECIPE_NUMBER;
    if (t->days > 0 && 2 * t->days >= t->words && t->numbers == 0)
        return RECIPE_DATE;
    return RECIPE_CATEGORY;
}

void learn_numbers(double *sum, int64_t *known, const struct look *l, int32_t column)
{
    size_t at = 0;
    for (int64_t r = 0; r < l->c->rows; r++) {
        double value = look_number(l, column, r, &at);
        *known += !isnan(value);
        *sum += isnan(value) ? 0 : value;
    }
}

int64_t learn_near(const struct look *l, int32_t column, const struct recipe_column *rc)
{
    int64_t near = 0;
    size_t at = 0;
    double reach = fabs(rc->fill) / 1024;
    if (rc->kind != RECIPE_DATE && !(rc->kind == RECIPE_NUMBER && fabs(rc->fill) >= 1 << 17))
        return 0;
    for (int64_t r = 0; r < l->c->rows; r++)
        near += fabs(look_number(l, column, r, &at) - rc->fill) <= reach; /* not of NAN */
    for (size_t k = l->start[column]; rc->kind == RECIPE_DATE && k < l->start[column + 1]; k++)
        near += fabs(l->text[look_odd(l, k)->text].day - rc->fill) <= reach;
    return near;
}

void learn_shift(struct recipe_column *rc, int64_t near, int64_t known)
{
    rc->shift = near > 0 && near == known ? rint(rc->fill) : 0;
}

consm_status learn_words(double *sum, int64_t *known, struct recipe_column *out,
                         const struct look *l, int32_t column)
{
    consm_status st = CONSM_OK;
    for (size_t k = l->start[column]; k < l->start[column + 1]; k++) {
        const struct odd_cell *cell = look_odd(l, k);
        const struct meaning *m = &l->text[cell->text];
        bool boolean = out->kind == RECIPE_BOOLEAN && m->boolean >= 0;
        bool day = out->kind == RECIPE_DATE && !isnan(m->day);
        if (m->missing)
            out->blanks = true;
        else if (!boolean && !day)
            TRY(look_fault(l, cell,
                           out->kind == RECIPE_DATE ? "a date as in other rows (2026-11-16)"
                                                    : "a finite number as in other rows"));
        *known += boolean || day;
        *sum += boolean ? m->boolean : day ? m->day : 0;
    }
done:
    return st;
}

/* The mean of the known values. */
static consm_status learn_mean(struct recipe_column *out, const struct look *l, int32_t column)
{
    consm_status st = CONSM_OK;
    double sum = 0;
    int64_t known = 0;
    learn_numbers(&sum, &known, l, column);
    TRY(learn_words(&sum, &known, out, l, column));
    out->fill = known > 0 ? sum / (double)known : 0;
    learn_shift(out, learn_near(l, column, out), known);
done:
    return st;
}

/* ---- categories ---------------------------------------------------------- */

int learn_by_count(const void *a, const void *b)
{
    const struct value_count *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->text, y->text);
}

static int by_text(const void *a, const void *b)
{
    const struct value_count *x = a, *y = b;
    return strcmp(x->text, y->text);
}

consm_status learn_values(struct names *seen, struct value_count **out, int64_t *present,
                          bool *blanks, const struct look *l, int32_t column)
{
    consm_status st = CONSM_OK;
    const struct cells *c = l->c;
    size_t capacity = 0;
    char number[32];
    int64_t place, before;
    *present = 0;
    for (size_t k = l->start[column]; k < l->start[column + 1]; k++) {
        int32_t text = look_odd(l, k)->text;
        if (l->text[text].missing && !l->text[text].none) {
            *blanks = true;
            continue;
        }
        before = seen->count;
        TRY(names_add(&place, seen, names_at(&c->text, text), names_length(&c->text, text)));
        TRY(GROW(*out, before, capacity, 1));
        (*out)[place].count = place == before ? 1 : (*out)[place].count + 1;
        ++*present;
    }
    for (int64_t r = 0; r < c->rows; r++) {
        float value = c->value[r * c->columns + column];
        if (isnan(value))
            continue;
        before = seen->count;
        TRY(names_add(&place, seen, number, (size_t)token_write_float(number, value)));
        TRY(GROW(*out, before, capacity, 1));
        (*out)[place].count = place == before ? 1 : (*out)[place].count + 1;
        ++*present;
    }
    for (int64_t i = 0; i < seen->count; i++)
        (*out)[i].text = names_at(seen, i);
done:
    return st;
}

consm_status learn_keep(struct recipe_column *out, struct value_count *value, int64_t count,
                        int64_t different, int64_t present)
{
    consm_status st = CONSM_OK;
    bool unique = different > RECIPE_VALUES ? 2 * different > present
                                            : different >= 10 && 10 * different > 9 * present;
    if (unique) {
        log_warn("ignored column %s: it has %lld different texts in %lld cells", out->name,
                 (long long)different, (long long)present);
        out->kind = RECIPE_LEFT_OUT;
        out->blanks = false;
        goto done;
    }
    if (count > 0)
        qsort(value, (size_t)count, sizeof *value, learn_by_count);
    int32_t kept = different < RECIPE_VALUES ? (int32_t)different : RECIPE_VALUES;
    if (kept < different)
        log_warn("column %s has %lld different texts: the %d most frequent become features",
                 out->name, (long long)different, kept);
    if (kept > 0)
        qsort(value, (size_t)kept, sizeof *value, by_text);
    TRY(ZNEW(out->value, kept));
    KNOWN(value || out->values >= kept);
    for (; out->values < kept; out->values++)
        if (!(out->value[out->values] = mem_strdup(value[out->values].text)))
            TRY(CONSM_ENOMEM);
done:
    return st;
}

static consm_status learn_category(struct recipe_column *out, const struct look *l, int32_t column)
{
    consm_status st = CONSM_OK;
    struct names seen = {0};
    struct value_count *value = NULL;
    int64_t present;
    TRY(learn_values(&seen, &value, &present, &out->blanks, l, column));
    TRY(learn_keep(out, value, seen.count, seen.count, present));
done:
    names_free(&seen);
    mem_free(value);
    return st;
}

/* ---- all together -------------------------------------------------------- */

void learn_empty(struct empty_columns *e, const char *column)
{
    size_t used = strlen(e->list);
    if (++e->count <= 5)
        snprintf(e->list + used, sizeof e->list - used, "%s%.60s", e->count > 1 ? ", " : "",
                 column);
}

void learn_say_empty(const struct empty_columns *e, const char *file)
{
    if (e->count == 1)
        log_warn("ignored column %s: it is empty", e->list);
    else if (e->count > 5)
        log_warn("%s: ignored columns %s and %lld more: they are empty", file, e->list,
                 (long long)e->count - 5);
    else if (e->count > 1)
        log_warn("%s: ignored columns %s: they are empty", file, e->list);
}

static consm_status learn_column(struct recipe_column *out, const struct look *l, int32_t column,
                                 struct empty_columns *empty)
{
    const struct cells *c = l->c;
    struct tally t = learn_tally(l, column);
    if (!(out->name = mem_strdup(names_at(&c->name, column))))
        return CONSM_ENOMEM;
    out->kind = learn_kind(&t, c->kind ? (enum cell_kind)c->kind[column] : CELLS_ANY);
    switch (out->kind) {
    case RECIPE_CATEGORY: return learn_category(out, l, column);
    case RECIPE_LEFT_OUT: learn_empty(empty, out->name); return CONSM_OK;
    default: return learn_mean(out, l, column);
    }
}

consm_status learn_names(const struct recipe *r, const char *file)
{
    consm_status st = CONSM_OK;
    struct names seen = {0};
    char **name = NULL;
    int64_t count = recipe_features(r), place;
    TRY(recipe_names(&name, r));
    for (int64_t i = 0; i < count; i++) {
        TRY(names_add(&place, &seen, name[i], strlen(name[i])));
        if (place != i)
            TRY(status_fail(CONSM_EFORMAT,
                            "%s: two features would have the name \"%.60s\": rename a column", file,
                            name[i]));
    }
done:
    names_free(&seen);
    mem_free_texts(name, count);
    return st;
}

consm_status recipe_learn(struct recipe **out, const struct cells *c, struct faults *faults,
                          const char *file)
{
    consm_status st = CONSM_OK;
    struct recipe *r = NULL;
    struct look l = {0};
    struct empty_columns empty = {0};
    *out = NULL;
    TRY(look_open(&l, c, faults, file));
    TRY(ZNEW(r, 1));
    TRY(ZNEW(r->column, c->columns));
    for (int32_t i = 0; i < c->columns; i++) {
        r->columns++;
        TRY(learn_column(&r->column[i], &l, i, &empty));
    }
    learn_say_empty(&empty, file);
    TRY(learn_names(r, file));
    *out = r;
    r = NULL;
done:
    look_close(&l);
    recipe_free(r);
    return st;
}
