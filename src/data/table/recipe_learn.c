/* Learns a recipe: each column's kind from its cells, then its parameters. Rows may be divided
 * among processes: counts are sums over all, means are sums in row order. A single process is the
 * case without a partition. */
#include "data/table/recipe_inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "graph/partition.h"

/* ---- kinds --------------------------------------------------------------- */

/* Counts of a column's cells by kind. */
struct tally {
    int64_t numbers, bits;                         /* bits: numbers that are 0 or 1 */
    int64_t words, missing, nones, booleans, days; /* nones are among the missing */
};

static struct tally tally_of(const struct look *l, int32_t column)
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

static enum recipe_kind kind_of(const struct tally *t, enum cell_kind given)
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

/* Columns without any value; one line names them all, or the first few. */
struct empty_columns {
    int64_t count;
    char list[400];
};

static void note_empty(struct empty_columns *e, const char *column)
{
    size_t used = strlen(e->list);
    if (++e->count <= 5)
        snprintf(e->list + used, sizeof e->list - used, "%s%.60s", e->count > 1 ? ", " : "",
                 column);
}

static void say_empty(const struct empty_columns *e, const char *file)
{
    if (e->count == 1)
        log_warn("ignored column %s: it is empty", e->list);
    else if (e->count > 5)
        log_warn("%s: ignored columns %s and %lld more: they are empty", file, e->list,
                 (long long)e->count - 5);
    else if (e->count > 1)
        log_warn("%s: ignored columns %s: they are empty", file, e->list);
}

enum { TALLIES = sizeof(struct tally) / sizeof(int64_t) };

static consm_status learn_kinds(struct recipe *r, struct empty_columns *empty, const struct look *l,
                                const struct partition *partition)
{
    consm_status st = CONSM_OK;
    struct tally *t = NULL;
    const struct cells *c = l->c;
    TRY(NEW(t, c->columns));
    for (int32_t i = 0; i < c->columns; i++)
        t[i] = tally_of(l, i);
    if (c->columns > 0)
        TRY(partition_sum(&t[0].numbers, (int64_t)c->columns * TALLIES, partition));
    for (int32_t i = 0; i < c->columns; i++) {
        struct recipe_column *column = &r->column[i];
        column->kind = kind_of(&t[i], c->kind ? (enum cell_kind)c->kind[i] : CELLS_ANY);
        int64_t blanks = t[i].missing - (column->kind == RECIPE_CATEGORY ? t[i].nones : 0);
        column->blanks = blanks > 0 && column->kind != RECIPE_LEFT_OUT;
        if (column->kind == RECIPE_LEFT_OUT)
            note_empty(empty, column->name);
    }
done:
    mem_free(t);
    return st;
}

/* ---- means --------------------------------------------------------------- */

/* Adds the numbers of a column in row order. */
static void add_numbers(double *sum, int64_t *known, const struct look *l, int32_t column)
{
    size_t at = 0;
    for (int64_t r = 0; r < l->c->rows; r++) {
        double value = look_number(l, column, r, &at);
        *known += !isnan(value);
        *sum += isnan(value) ? 0 : value;
    }
}

/* How many of a column's numbers and dates are so close to their mean that a float would hardly
 * distinguish them. */
static int64_t count_near(const struct look *l, int32_t column, const struct recipe_column *rc)
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

/* Adds the meanings of words, with a fault for each that does not fit the column's kind. */
static consm_status add_words(double *sum, int64_t *known, const struct recipe_column *out,
                              const struct look *l, int32_t column)
{
    consm_status st = CONSM_OK;
    for (size_t k = l->start[column]; k < l->start[column + 1]; k++) {
        const struct odd_cell *cell = look_odd(l, k);
        const struct meaning *m = &l->text[cell->text];
        bool boolean = out->kind == RECIPE_BOOLEAN && m->boolean >= 0;
        bool day = out->kind == RECIPE_DATE && !isnan(m->day);
        if (!m->missing && !boolean && !day)
            TRY(look_fault(l, cell,
                           out->kind == RECIPE_DATE ? "a date as in other rows (2026-11-16)"
                                                    : "a finite number as in other rows"));
        *known += boolean || day;
        *sum += boolean ? m->boolean : day ? m->day : 0;
    }
done:
    return st;
}

static bool has_mean(const struct recipe_column *c)
{
    return c->kind != RECIPE_CATEGORY && c->kind != RECIPE_LEFT_OUT;
}

/* Processes add their rows in turn: first the numbers of all rows, then the meanings of words. */
static consm_status learn_means(struct recipe *r, const struct look *l,
                                const struct partition *partition)
{
    consm_status st = CONSM_OK;
    int32_t columns = l->c->columns;
    double *sum = NULL;
    int64_t *known = NULL, *near = NULL;
    TRY(ZNEW(near, columns));
    TRY(ZNEW(sum, columns));
    TRY(ZNEW(known, columns));
    const int parts = partition_parts(partition), part = partition ? partition->part : 0;
    for (int turn = 0; turn < 2 * parts; turn++) {
        bool words = turn >= parts, mine = turn % parts == part;
        for (int32_t i = 0; mine && i < columns; i++) {
            struct recipe_column *column = &r->column[i];
            if (has_mean(column) && words)
                TRY(add_words(&sum[i], &known[i], column, l, i));
            else if (has_mean(column))
                add_numbers(&sum[i], &known[i], l, i);
        }
        TRY(partition_hand_on(sum, columns, partition, turn % parts));
    }
    TRY(partition_sum(known, columns, partition));
    for (int32_t i = 0; i < columns; i++)
        if (has_mean(&r->column[i]))
            r->column[i].fill = known[i] > 0 ? sum[i] / (double)known[i] : 0;
    for (int32_t i = 0; i < columns; i++)
        near[i] = has_mean(&r->column[i]) ? count_near(l, i, &r->column[i]) : 0;
    TRY(partition_sum(near, columns, partition));
    for (int32_t i = 0; i < columns; i++)
        if (near[i] > 0 && near[i] == known[i])
            r->column[i].shift = rint(r->column[i].fill);
done:
    mem_free(near);
    mem_free(sum);
    mem_free(known);
    return st;
}

/* ---- all together -------------------------------------------------------- */

/* Checks that feature names are distinct: a column "a=b" may clash with value b of column a. */
static consm_status check_names(const struct recipe *r, const char *file)
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
                          const char *file, const struct partition *partition)
{
    consm_status st = CONSM_OK;
    struct recipe *r = NULL;
    struct look l = {0};
    struct empty_columns empty = {0};
    *out = NULL;
    TRY(look_open(&l, c, faults, file));
    TRY(ZNEW(r, 1));
    TRY(ZNEW(r->column, c->columns));
    for (; r->columns < c->columns; r->columns++)
        if (!(r->column[r->columns].name = mem_strdup(names_at(&c->name, r->columns))))
            TRY(CONSM_ENOMEM);
    TRY(learn_kinds(r, &empty, &l, partition));
    TRY(learn_means(r, &l, partition));
    for (int32_t i = 0; i < c->columns; i++)
        if (r->column[i].kind == RECIPE_CATEGORY)
            TRY(learn_category(&r->column[i], &l, i, partition));
    say_empty(&empty, file);
    TRY(check_names(r, file));
    *out = r;
    r = NULL;
done:
    look_close(&l);
    recipe_free(r);
    return st;
}
