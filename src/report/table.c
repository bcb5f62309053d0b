/* The table model: filling it, and the text of a cell before escaping. */
#include <math.h>
#include <string.h>

#include "report/table_inside.h"

const struct table_sign table_signs[5] = {
    {TABLE_BEST, "*", "best"},
    {TABLE_TIED, "≈", "no significant difference from the best"},
    {TABLE_DIFFERS, "!", "differs from the reference"},
    {TABLE_ORACLE, "†", "oracle: uses true labels, for comparison only"},
    {0, NULL, NULL},
};

static char *copy(struct table *t, const char *s)
{
    char *words = t->status >= 0 && s ? mem_strdup(s) : NULL;
    if (s && !words && t->status >= 0)
        t->status = CONSM_ENOMEM;
    return words;
}

consm_status table_new(struct table **out, const char *name, const char *caption)
{
    consm_status st = CONSM_OK;
    struct table *t;
    struct text slug = {0};
    *out = NULL;
    TRY(ZNEW(t, 1));
    text_slug(&slug, name);
    t->name = copy(t, text_string(&slug));
    t->caption = copy(t, caption ? caption : "");
    TRY(text_status(&slug));
    TRY(t->status);
    *out = t;
    t = NULL;
done:
    text_free(&slug);
    table_free(t);
    return st;
}

void table_free(struct table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->columns; i++) {
        mem_free(t->column[i].name);
        mem_free(t->column[i].about);
    }
    for (size_t i = 0; i < t->cells; i++)
        mem_free(t->cell[i].text);
    for (size_t i = 0; i < t->notes; i++)
        mem_free(t->note[i]);
    for (size_t i = 0; i < t->remarks; i++)
        mem_free(t->remark[i]);
    mem_free(t->column);
    mem_free(t->cell);
    mem_free(t->note);
    mem_free(t->remark);
    mem_free(t->name);
    mem_free(t->caption);
    mem_free(t);
}

const char *table_name(const struct table *t)
{
    return t->name;
}

void table_column(struct table *t, const char *name, enum table_align align, const char *about)
{
    if (t && t->status >= 0 && t->rows > 0)
        t->status = status_fail(CONSM_EINVAL, "table %s: column %s was added after the first row",
                                t->name, name);
    if (!t || t->status < 0 ||
        (t->status = GROW(t->column, t->columns, t->columns_capacity, 1)) < 0)
        return;
    t->column[t->columns++] = (struct table_column){copy(t, name), copy(t, about), align};
}

void table_row(struct table *t)
{
    if (!t || t->status < 0 ||
        (t->status = GROW(t->cell, t->cells, t->cells_capacity, t->columns)) < 0)
        return;
    for (size_t i = 0; i < t->columns; i++)
        t->cell[t->cells++] = (struct table_cell){.value = NAN, .note = -1, .empty = true};
    t->rows++;
    t->next = 0;
}

/* The next cell of the row; NULL after a failure. */
static struct table_cell *next_cell(struct table *t)
{
    if (t && t->status >= 0 && (t->rows == 0 || t->next >= t->columns))
        t->status = status_fail(CONSM_EINVAL, "table %s: row %lld has more than %zu cells", t->name,
                                (long long)t->rows, t->columns);
    if (!t || t->status < 0)
        return NULL;
    struct table_cell *cell = &t->cell[(size_t)(t->rows - 1) * t->columns + t->next++];
    cell->empty = false;
    return cell;
}

static struct table_cell *last_cell(struct table *t)
{
    if (!t || t->status < 0 || t->rows == 0 || t->next == 0)
        return NULL;
    return &t->cell[(size_t)(t->rows - 1) * t->columns + t->next - 1];
}

void table_text(struct table *t, const char *text)
{
    struct table_cell *cell = next_cell(t);
    if (cell)
        cell->text = copy(t, text ? text : "");
}

void table_number(struct table *t, double value, int decimals)
{
    struct table_cell *cell = next_cell(t);
    if (!cell)
        return;
    cell->value = value;
    cell->decimals = decimals;
}

void table_mean(struct table *t, double mean, double std, int decimals)
{
    struct table_cell *cell = next_cell(t);
    if (!cell)
        return;
    cell->value = mean;
    cell->spread = std;
    cell->has_spread = !isnan(std);
    cell->decimals = decimals;
}

void table_empty(struct table *t)
{
    struct table_cell *cell = next_cell(t);
    if (cell)
        cell->empty = true;
}

void table_mark(struct table *t, unsigned marks)
{
    struct table_cell *cell = last_cell(t);
    if (!cell)
        return;
    cell->marks |= marks;
    t->marks |= marks;
}

void table_reference(struct table *t, double value)
{
    struct table_cell *cell = last_cell(t);
    if (!cell || isnan(value))
        return;
    cell->reference = value;
    cell->has_reference = true;
}

void table_note(struct table *t, const char *note)
{
    struct table_cell *cell = last_cell(t);
    if (!cell)
        return;
    for (size_t i = 0; i < t->notes; i++)
        if (strcmp(t->note[i], note) == 0) {
            cell->note = (int)i;
            return;
        }
    if ((t->status = GROW(t->note, t->notes, t->notes_capacity, 1)) < 0)
        return;
    char *words = copy(t, note);
    if (!words)
        return;
    cell->note = (int)t->notes;
    t->note[t->notes++] = words;
}

void table_remark(struct table *t, const char *remark)
{
    if (!t || t->status < 0 ||
        (t->status = GROW(t->remark, t->remarks, t->remarks_capacity, 1)) < 0)
        return;
    char *words = copy(t, remark);
    if (words)
        t->remark[t->remarks++] = words;
}

void table_show(struct text *out, const struct table_cell *cell, int64_t columns)
{
    char *clipped = NULL;
    if (cell->empty)
        return;
    if (cell->text) {
        consm_status st = text_clip(&clipped, cell->text, columns);
        if (st < 0)
            out->status = st;
        else
            text_add(out, clipped);
        mem_free(clipped);
    } else {
        text_number(out, cell->value, cell->decimals);
        if (cell->has_spread) {
            text_add(out, " ± ");
            text_number(out, cell->spread, cell->decimals);
        }
    }
    if (cell->has_reference) {
        text_add(out, " [");
        text_number(out, cell->reference, cell->decimals);
        text_add(out, "]");
    }
}
