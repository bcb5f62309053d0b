/* Makes datasets from arrays in memory, 32-bit or 64-bit. The arrays come from the caller's
 * program, so every value is checked. They are copied, except for borrowed features. */
#include "app/arrays.h"
#include "base/given.h"
#include "base/sized.h"
#include "base/utf8.h"
#include "data/table/recipe.h"

#include <math.h>
#include <string.h>

/* ---- either width -------------------------------------------------------- */

static int64_t integer_at(const void *array, bool wide, int64_t i)
{
    return wide ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}

static consm_status outside(const char *name, int64_t i, int64_t found, int64_t least, int64_t most)
{
    return status_fail(CONSM_EINVAL, "%s[%lld] is %lld: expected %lld to %lld", name, (long long)i,
                       (long long)found, (long long)least, (long long)most);
}

/* Copies (count) integers as int32_t and checks that they are in least … most; NULL stays NULL. */
static consm_status take_integers(int32_t **out, const char *name, const void *array, bool wide,
                                  int64_t count, int64_t least, int64_t most)
{
    consm_status st = CONSM_OK;
    *out = NULL;
    if (!array)
        return CONSM_OK;
    TRY(NEW(*out, count));
    for (int64_t i = 0; i < count; i++) {
        int64_t value = integer_at(array, wide, i);
        if (value < least || value > most)
            TRY(outside(name, i, value, least, most));
        (*out)[i] = (int32_t)value;
    }
done:
    return st;
}

/* Copies (count) reals as float; NULL stays NULL. A double too large for a float becomes infinite,
 * which dataset_check() refuses. */
static consm_status take_reals(float **out, const void *array, bool wide, int64_t count)
{
    consm_status st = CONSM_OK;
    *out = NULL;
    if (!array)
        return CONSM_OK;
    TRY(NEW(*out, count));
    if (!wide && count > 0)
        memcpy(*out, array, (size_t)count * sizeof **out);
    for (int64_t i = 0; wide && i < count; i++)
        (*out)[i] = (float)((const double *)array)[i];
done:
    return st;
}

/* ---- the parts ----------------------------------------------------------- */

static consm_status check_sizes(const struct consm_arrays *a)
{
    if (a->nodes < 1 || a->nodes > INT32_MAX)
        return status_fail(CONSM_EINVAL, "%lld nodes: expected 1 to %d", (long long)a->nodes,
                           INT32_MAX);
    if (a->edges < 0 || a->features < 0 || a->features > INT32_MAX || a->classes < 0)
        return status_fail(CONSM_EINVAL,
                           "the number of edges, features or classes is negative or too large");
    if (a->edges > 0 && (!a->from || !a->to))
        return status_fail(CONSM_EINVAL, "%lld edges, but source and target are NULL",
                           (long long)a->edges);
    if (a->features > 0 && !a->feature && !a->feature_start)
        return status_fail(CONSM_EINVAL, "%lld features, but no feature values",
                           (long long)a->features);
    if (a->features > 0 && a->feature_start && !a->feature_column)
        return status_fail(CONSM_EINVAL, "sparse features, but feature_column is NULL");
    return CONSM_OK;
}

consm_status take_labels(struct dataset *d, const struct consm_arrays *a)
{
    consm_status st = CONSM_OK;
    TRY(NEW(d->label, a->nodes));
    for (int64_t i = 0; i < a->nodes; i++) {
        int64_t label = a->label ? integer_at(a->label, a->wide_labels, i) : -1;
        if (label >= a->classes)
            TRY(outside("label", i, label, -1, a->classes - 1));
        d->label[i] = label < 0 ? -1 : (int32_t)label;
    }
done:
    return st;
}

consm_status take_roles(struct dataset *d, const struct consm_arrays *a)
{
    consm_status st = CONSM_OK;
    if (!a->role)
        return CONSM_OK;
    TRY(NEW(d->role, a->nodes));
    for (int64_t i = 0; i < a->nodes; i++) {
        if (a->role[i] > CONSM_TEST)
            TRY(outside("role", i, a->role[i], 0, CONSM_TEST));
        d->role[i] = a->role[i];
    }
    d->splits = 1;
done:
    return st;
}

/* The row of each entry; starts must ascend from 0. */
static consm_status entry_rows(int32_t **out, int64_t *entries, const struct consm_arrays *a)
{
    consm_status st = CONSM_OK;
    bool wide = a->wide_columns || a->wide_starts;
    int64_t before = 0, first = integer_at(a->feature_start, wide, 0);
    *out = NULL;
    if (first != 0)
        return outside("feature_start", 0, first, 0, 0);
    for (int64_t i = 1; i <= a->nodes; i++) {
        int64_t next = integer_at(a->feature_start, wide, i);
        if (next < before || next - before > a->features)
            return outside("feature_start", i, next, before, before + a->features);
        before = next;
    }
    *entries = before;
    TRY(NEW(*out, before));
    for (int64_t i = 0, e = 0; i < a->nodes; i++)
        for (; e < integer_at(a->feature_start, wide, i + 1); e++)
            (*out)[e] = (int32_t)i;
done:
    return st;
}

static consm_status take_sparse(struct dataset *d, const struct consm_arrays *a)
{
    consm_status st = CONSM_OK;
    int32_t *row = NULL, *column = NULL;
    float *value = NULL;
    int64_t entries = 0;
    TRY(entry_rows(&row, &entries, a));
    TRY(take_integers(&column, "feature_column", a->feature_column, a->wide_columns, entries, 0,
                      a->features - 1));
    TRY(take_reals(&value, a->feature, a->wide_features, entries));
    TRY(csr_from_edges(&d->sparse, a->nodes, a->features, entries, row, column, value, CSR_DIRECTED,
                       NULL));
    d->features = a->features;
    if (d->sparse->nnz != entries)
        TRY(status_fail(CONSM_EINVAL, "%lld entries of feature_column occur twice in the same row",
                        (long long)(entries - d->sparse->nnz)));
done:
    mem_free(row);
    mem_free(column);
    mem_free(value);
    return st;
}

/* Where a text came from, for messages. */
static consm_status bad_text(const struct consm_column *c, int64_t row)
{
    return status_fail(CONSM_EINVAL, "column %.60s, row %lld: the text is not UTF-8", c->name,
                       (long long)row);
}

static consm_status take_cell(struct cells *cells, const struct consm_column *c, int32_t column,
                              int64_t row)
{
    if (c->number) {
        double number = c->number[row];
        if (!isnan(number) && !isfinite((float)number))
            return status_fail(CONSM_EINVAL,
                               "column %.60s, row %lld: %g does not fit a float: expected a finite "
                               "number, or NaN if it is missing",
                               c->name, (long long)row, number);
        return cells_add_number(cells, column, number);
    }
    const char *text = c->text[row] ? c->text[row] : "";
    if (!utf8_valid(text, strlen(text)))
        return bad_text(c, row);
    return cells_add(cells, column, text, strlen(text), 0);
}

/* Copies the caller's columns. Each may be of another version of the struct. */
static consm_status take_column_list(struct consm_column *out, struct cells *cells,
                                     const struct consm_arrays *a)
{
    consm_status st = CONSM_OK;
    int64_t index;
    for (int64_t k = 0; k < a->columns; k++) {
        if (!a->column || !a->column[k])
            return status_fail(CONSM_EINVAL, "column[%lld] is NULL", (long long)k);
        TRY(sized_take(&out[k], sizeof out[k], a->column[k],
                       SIZED_UP_TO(struct consm_column, days)));
        if (!out[k].name || !utf8_valid(out[k].name, strlen(out[k].name)))
            return status_fail(CONSM_EINVAL, "column[%lld] has no name, or its name is not UTF-8",
                               (long long)k);
        if (!out[k].number == !out[k].text && a->nodes > 0)
            return status_fail(CONSM_EINVAL,
                               "column %.60s: expected either number or text, not both or neither",
                               out[k].name);
        TRY(names_add(&index, &cells->name, out[k].name, strlen(out[k].name)));
        if (index != k)
            return status_fail(CONSM_EINVAL, "two columns have the name \"%.60s\"", out[k].name);
        cells->kind[k] = (uint8_t)(out[k].category ? CELLS_CATEGORY
                                   : out[k].days   ? CELLS_DAYS
                                                   : CELLS_ANY);
    }
done:
    return st;
}

static consm_status take_table(struct dataset *d, const struct consm_arrays *a)
{
    consm_status st = CONSM_OK;
    struct cells cells = {0};
    struct consm_column *column = NULL;
    struct faults *faults = NULL;
    if (a->features > 0)
        return status_fail(CONSM_EINVAL,
                           "both features and columns are given: expected one of them");
    if (a->columns < 0 || a->columns > 1 << 20)
        return status_fail(CONSM_EINVAL, "%lld columns: expected 0 to %d", (long long)a->columns,
                           1 << 20);
    TRY(ZNEW(faults, 1));
    TRY(ZNEW(column, a->columns));
    TRY(ZNEW(cells.kind, a->columns));
    cells.columns = (int32_t)a->columns;
    TRY(take_column_list(column, &cells, a));
    for (int64_t i = 0; i < a->nodes; i++) {
        for (int32_t k = 0; k < cells.columns; k++)
            TRY(take_cell(&cells, &column[k], k, i));
        cells.rows++;
    }
    TRY(dataset_take_cells(d, &cells, faults, d->name));
    TRY(faults_status(faults, d->name));
done:
    cells_free(&cells);
    mem_free(column);
    mem_free(faults);
    return st;
}

static consm_status take_features(struct dataset *d, const struct consm_arrays *a)
{
    consm_status st = CONSM_OK;
    float *dense = NULL;
    if (a->columns != 0)
        return take_table(d, a);
    if (a->features == 0)
        return CONSM_OK;
    if (a->feature_start) {
        TRY(take_sparse(d, a));
    } else if ((a->borrow & CONSM_BORROW_FEATURES) && !a->wide_features) {
        TRY(dataset_borrow_features(d, a->feature, a->features));
    } else {
        TRY(take_reals(&dense, a->feature, a->wide_features, a->nodes * a->features));
        TRY(dataset_set_features(d, dense, a->features));
    }
    for (int64_t k = 0; a->feature_name && k < a->features; k++)
        if (!a->feature_name[k])
            TRY(status_fail(CONSM_EINVAL, "feature_name[%lld] is NULL: expected a name",
                            (long long)k));
    TRY(mem_copy_texts(&d->feature_name, (char *const *)a->feature_name, a->features));
done:
    return st;
}

consm_status take_names(char ***out, const char *const *name, int64_t count, const char *what)
{
    consm_status st = CONSM_OK;
    struct names seen = {0};
    int64_t index;
    *out = NULL;
    for (int64_t i = 0; name && i < count; i++) {
        if (!name[i])
            TRY(status_fail(CONSM_EINVAL, "%s[%lld] is NULL: expected a name", what, (long long)i));
        TRY(names_add(&index, &seen, name[i], strlen(name[i])));
        if (index != i)
            TRY(status_fail(CONSM_EINVAL, "%s[%lld] and [%lld] are both \"%s\"", what,
                            (long long)index, (long long)i, name[i]));
    }
    TRY(mem_copy_texts(out, (char *const *)name, count));
done:
    names_free(&seen);
    return st;
}

/* Copies how the data was read. */
static consm_status take_reading(struct dataset *d, const struct consm_arrays *a)
{
    consm_status st = CONSM_OK;
    struct consm_open_options r = {0};
    int rule = 0;
    if (!a->reading)
        return CONSM_OK;
    TRY(sized_take(&r, sizeof r, a->reading, SIZED_UP_TO(struct consm_open_options, features)));
    while (r.duplicates && rule < DUPLICATES_KINDS &&
           strcmp(r.duplicates, duplicates_name[rule]) != 0)
        rule++;
    if (rule == DUPLICATES_KINDS)
        TRY(status_fail(CONSM_EINVAL, "duplicates %.40s: expected mean, keep-first or error",
                        r.duplicates));
    d->duplicates = (enum repeat_rule)rule;
    TRY(choices_copy(&d->choices,
                     (const char *const[CHOICES]){[CHOICE_ID] = r.id_column,
                                                  [CHOICE_LABEL] = r.label_column,
                                                  [CHOICE_WEIGHT] = r.weight_column,
                                                  [CHOICE_SOURCE] = r.source_column,
                                                  [CHOICE_TARGET] = r.target_column,
                                                  [CHOICE_IGNORE] = r.ignore,
                                                  [CHOICE_DUPLICATES] = r.duplicates,
                                                  [CHOICE_UNKNOWN] = r.unknown_nodes}));
done:
    return st;
}

/* ---- all together -------------------------------------------------------- */

static consm_status fill_from(struct dataset *d, const struct consm_arrays *a)
{
    consm_status st = CONSM_OK;
    d->nodes = a->nodes;
    d->edges = a->edges;
    d->classes = a->classes;
    d->directed = a->directed;
    TRY(take_integers(&d->from, "from", a->from, a->wide_ends, a->edges, 0, a->nodes - 1));
    TRY(take_integers(&d->to, "to", a->to, a->wide_ends, a->edges, 0, a->nodes - 1));
    TRY(take_reals(&d->weight, a->weight, a->wide_weights, a->edges));
    TRY(take_labels(d, a));
    TRY(take_roles(d, a));
    TRY(take_names(&d->node_id, a->node_id, a->nodes, "node_id"));
    TRY(take_names(&d->class_name, a->class_name, a->classes, "class_name"));
    TRY(take_features(d, a));
    TRY(take_reading(d, a));
    TRY(dataset_check(d));
done:
    return st;
}

consm_status consm_dataset_from_arrays(struct consm_dataset **out,
                                       const struct consm_arrays *arrays)
{
    consm_status st = CONSM_OK;
    struct consm_arrays whole = {0};
    struct dataset *data = NULL;
    struct consm_dataset *made;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, arrays));
    TRY(sized_take(&whole, sizeof whole, arrays, SIZED_UP_TO(struct consm_arrays, feature_name)));
    TRY(check_sizes(&whole));
    TRY(dataset_new(&data, whole.name ? whole.name : "arrays"));
    utf8_mend(data->name); /* it is stored in the model */
    if ((st = fill_from(data, &whole)) < 0) {
        dataset_free(data);
        return st;
    }
    TRY(dataset_wrap(&made, data));
    made->known = whole.known;
    *out = made;
done:
    return st;
}
