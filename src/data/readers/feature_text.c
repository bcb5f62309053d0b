/* Feature tables: reads the header, then the rows, then assigns each row to its node. */
#include "data/readers/feature_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "io/faults.h"

bool column_is_id(const struct csv *c, int column)
{
    return token_is_one_of(c->field[column].text, c->field[column].length,
                           "id|node|node_id|nodeid");
}

consm_status feature_cell_add(struct cells *cells, const struct csv *c, int field, int32_t column)
{
    const struct csv_field *f = &c->field[field];
    if (!utf8_valid(f->text, f->length))
        return csv_fail(c, field, "UTF-8 text");
    return cells_add(cells, column, f->text, f->length, c->line);
}

consm_status feature_rows_match(struct node_ids *ids, int64_t rows, const char *name)
{
    if (!ids->expected) {
        ids->expected = "the number of a row of the features, starting at 0";
        return node_ids_rows(ids, 0, rows);
    }
    if (rows != ids->count)
        return status_fail(CONSM_EFORMAT,
                           "%s: found %lld rows, expected one for each of %lld nodes", name,
                           (long long)rows, (long long)ids->count);
    return CONSM_OK;
}

struct table {
    struct csv csv;
    struct cells cells;
    struct faults faults;
    struct wanted *wanted;
    uint8_t *passed; /* (columns) not a feature */
    bool header;
    int id;        /* the column of ids, or -1 */
    int columns;   /* of the file */
    int64_t count; /* rows */
    int32_t *node; /* (count) of each row, when there are ids */
    size_t node_capacity;
    bool new_ids; /* the table makes the list of ids */
};

/* The names of the feature columns: the header's, or their positions. */
static consm_status name_features(struct table *t)
{
    consm_status st = CONSM_OK;
    const struct csv *c = &t->csv;
    char number[24];
    int64_t index;
    for (int i = 0; i < t->columns; i++) {
        struct csv_field f = c->field[i];
        if (t->passed[i])
            continue;
        if (!t->header) {
            f.text = number;
            f.length = (size_t)snprintf(number, sizeof number, "%d", t->cells.columns);
        }
        if (!utf8_valid(f.text, f.length))
            return csv_fail(c, i, "UTF-8 text");
        TRY(names_add(&index, &t->cells.name, f.text, f.length));
        if (index != t->cells.columns++)
            return csv_fail(c, i, "a unique column name; rename one of the columns");
    }
done:
    return st;
}

/* A first row with anything but numbers is a header. */
static consm_status read_header(struct table *t)
{
    consm_status st = CONSM_OK;
    struct csv *c = &t->csv;
    struct csv_place first = csv_tell(c);
    bool more;
    float ignored;
    TRY(csv_row(&more, c));
    if (!more)
        return status_fail(CONSM_EFORMAT, "%s: is empty: expected a row of numbers for each node",
                           c->name);
    t->columns = c->fields;
    t->cells.decimal_comma = c->delimiter == ';';
    TRY(ZNEW(t->passed, t->columns));
    for (int i = 0; i < c->fields; i++)
        t->header |= !token_float(&ignored, c->field[i].text, c->field[i].length);
    for (int i = 0; t->header && i < c->fields; i++) {
        if (t->id < 0 && wanted_id(t->wanted, c->field[i].text, c->field[i].length))
            t->id = i;
        t->passed[i] = wanted_ignores(t->wanted, c->field[i].text, c->field[i].length);
    }
    if (t->id < 0 && t->header && column_is_id(c, 0))
        t->id = 0;
    if (t->id >= 0)
        t->passed[t->id] = true;
    TRY(name_features(t));
    if (t->cells.columns == 0)
        return csv_fail_columns(c, "at least one feature column");
    if (t->header)
        TRY(csv_name_columns(c));
    else
        csv_seek(c, first);
done:
    return st;
}

/* The node in the id column of a row. */
static consm_status read_row_id(struct table *t, struct node_ids *ids)
{
    consm_status st = CONSM_OK;
    const struct csv_field *f = &t->csv.field[t->id];
    int64_t node;
    TRY(GROW(t->node, t->count, t->node_capacity, 1));
    if (f->length == 0 || !utf8_valid(f->text, f->length))
        return csv_fail(&t->csv, t->id, "a node id");
    if (t->new_ids) {
        int64_t before = ids->names.count;
        TRY(names_add(&node, &ids->names, f->text, f->length));
        if (node != before)
            return csv_fail(&t->csv, t->id, "a unique id; delete one of the rows");
    } else if ((node = node_ids_find(ids, f->text, f->length)) < 0) {
        return csv_fail(&t->csv, t->id, "%s", ids->expected);
    }
    t->node[t->count] = (int32_t)node;
done:
    return st;
}

static consm_status read_row(struct table *t, struct node_ids *ids)
{
    consm_status st = CONSM_OK;
    const struct csv *c = &t->csv;
    int32_t column = 0;
    if (c->fields != t->columns)
        return csv_fail_columns(c, "%d as in the first row", t->columns);
    if (t->id >= 0)
        TRY(read_row_id(t, ids));
    for (int i = 0; i < c->fields; i++)
        if (!t->passed[i])
            TRY(feature_cell_add(&t->cells, c, i, column++));
    t->count++;
    t->cells.rows++;
done:
    return st;
}

static consm_status read_rows(struct table *t, struct node_ids *ids)
{
    consm_status st = CONSM_OK;
    bool more = true;
    while (more) {
        TRY(csv_row(&more, &t->csv));
        if (more)
            TRY(faults_take(&t->faults, read_row(t, ids)));
    }
    TRY(faults_status(&t->faults, t->csv.name));
done:
    return st;
}

static int by_row(const void *a, const void *b)
{
    const struct odd_cell *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

/* Sums over a column follow its rows, whatever their order in the file. */
static void order_odd(struct cells *c)
{
    if (c->odds > 0)
        qsort(c->odd, c->odds, sizeof *c->odd, by_row);
}

/* Puts the rows of a table with ids into node order. */
static consm_status order_rows(struct table *t, int64_t nodes)
{
    consm_status st = CONSM_OK;
    int64_t width = t->cells.columns;
    float *ordered = NULL;
    bool *seen = NULL;
    TRY(NEW(ordered, (size_t)nodes * (size_t)width));
    TRY(ZNEW(seen, nodes));
    for (int64_t r = 0; r < t->count; r++) {
        if (seen[t->node[r]])
            TRY(status_fail(CONSM_EFORMAT, "%s: row %lld repeats a node of an earlier row",
                            t->csv.name, (long long)r + 1));
        seen[t->node[r]] = true;
        memcpy(ordered + t->node[r] * width, t->cells.value + r * width,
               (size_t)width * sizeof *ordered);
    }
    for (size_t k = 0; k < t->cells.odds; k++)
        t->cells.odd[k].row = t->node[t->cells.odd[k].row];
    order_odd(&t->cells);
    for (size_t k = 0; k < t->cells.exacts; k++)
        t->cells.exact[k].row = t->node[t->cells.exact[k].row];
    mem_free(t->cells.value);
    t->cells.value = ordered;
    ordered = NULL;
done:
    mem_free(seen);
    mem_free(ordered);
    return st;
}

static void free_table(struct table *t)
{
    csv_free(&t->csv);
    cells_free(&t->cells);
    mem_free(t->passed);
    mem_free(t->node);
}

consm_status feature_text_read(struct dataset *d, struct node_ids *ids, struct wanted *wanted,
                               const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct table t = {.new_ids = !ids->expected, .id = -1, .wanted = wanted};
    csv_start(&t.csv, file);
    TRY(read_header(&t));
    TRY(read_rows(&t, ids));
    if (t.id >= 0 && t.new_ids) {
        ids->expected = "a node of the feature file";
        TRY(node_ids_index(ids));
    }
    TRY(feature_rows_match(ids, t.count, file->name));
    if (t.id >= 0)
        TRY(order_rows(&t, ids->count));
    d->nodes = ids->count;
    TRY(dataset_take_cells(d, &t.cells, &t.faults, file->name));
    TRY(faults_status(&t.faults, file->name));
done:
    free_table(&t);
    return st;
}

/* ---- own rows ------------------------------------------------------------ */

static consm_status read_name(struct table *t, struct node_ids *ids)
{
    if (t->csv.fields != t->columns)
        return csv_fail_columns(&t->csv, "%d as in the first row", t->columns);
    return read_row_id(t, ids);
}

/* The ids of all rows, or only the number of rows. */
static consm_status read_names(struct table *t, struct node_ids *ids)
{
    consm_status st = CONSM_OK;
    bool more = true;
    while (more) {
        TRY(t->id < 0 ? csv_pass(&more, &t->csv) : csv_row(&more, &t->csv));
        if (more && t->id >= 0)
            TRY(faults_take(&t->faults, read_name(t, ids)));
        t->count += more;
    }
    TRY(faults_status(&t->faults, t->csv.name));
done:
    return st;
}

consm_status feature_text_nodes(struct node_ids *ids, struct wanted *wanted,
                                const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct table t = {.new_ids = !ids->expected, .id = -1, .wanted = wanted};
    csv_start(&t.csv, file);
    TRY(read_header(&t));
    TRY(read_names(&t, ids));
    if (t.id >= 0 && t.new_ids) {
        ids->expected = "a node of the feature file";
        TRY(node_ids_index(ids));
    }
    TRY(feature_rows_match(ids, t.count, file->name));
done:
    free_table(&t);
    return st;
}

/* The cells of a row that belongs to an own node: the next node, or the one in its id column. */
static consm_status read_own_row(struct table *t, int64_t node)
{
    consm_status st = CONSM_OK;
    struct cells *cells = &t->cells;
    int32_t column = 0;
    if (t->csv.fields != t->columns)
        return csv_fail_columns(&t->csv, "%d as in the first row", t->columns);
    cells->rows = node;
    cells->used = (size_t)(node * cells->columns);
    for (int i = 0; i < t->csv.fields; i++)
        if (!t->passed[i])
            TRY(feature_cell_add(cells, &t->csv, i, column++));
done:
    return st;
}

/* Takes a row if it belongs to an own node; each names a node, and none is named twice. */
static consm_status take_own_row(struct table *t, struct node_ids *ids, bool *seen, int64_t low,
                                 int64_t high)
{
    const struct csv *c = &t->csv;
    int64_t node = t->count;
    if (t->id >= 0) {
        if (c->fields != t->columns)
            return csv_fail_columns(c, "%d as in the first row", t->columns);
        node = node_ids_find(ids, c->field[t->id].text, c->field[t->id].length);
        if (node < 0)
            return csv_fail(c, t->id, "%s", ids->expected);
    }
    if (node < low || node >= high)
        return CONSM_OK;
    if (seen[node - low])
        return csv_fail(c, t->id, "a unique id; delete one of the rows");
    seen[node - low] = true;
    return read_own_row(t, node - low);
}

consm_status feature_text_cells(struct cells *out, struct node_ids *ids, struct wanted *wanted,
                                const struct text_file *file, int64_t low, int64_t high)
{
    consm_status st = CONSM_OK;
    struct table t = {.id = -1, .wanted = wanted};
    bool more = true, *seen = NULL;
    csv_start(&t.csv, file);
    TRY(read_header(&t));
    TRY(cells_spread(&t.cells, ids->count, low, high));
    TRY(ZNEW(seen, high - low));
    while (more) {
        bool passed = t.id < 0 && (t.count < low || t.count >= high);
        TRY(passed ? csv_pass(&more, &t.csv) : csv_row(&more, &t.csv));
        if (more && !passed)
            TRY(faults_take(&t.faults, take_own_row(&t, ids, seen, low, high)));
        t.count += more;
    }
    TRY(faults_status(&t.faults, file->name));
    TRY(feature_rows_match(ids, t.count, file->name));
    t.cells.rows = high - low;
    order_odd(&t.cells);
    *out = t.cells;
    t.cells = (struct cells){0};
done:
    mem_free(seen);
    free_table(&t);
    return st;
}
