/* Reads nodes and labels from text. */
#include "data/readers/node_text.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "data/readers/edge_text.h"
#include "data/readers/feature_text.h"
#include "data/table/notes.h"
#include "io/faults.h"

enum column_kind { COLUMN_ID, COLUMN_LABEL, COLUMN_SPLIT, COLUMN_FEATURE, COLUMN_PASSED };

bool column_is_label(const struct csv *c, int column)
{
    return token_is_one_of(c->field[column].text, c->field[column].length, "label|class|y");
}

static bool column_may_be_label(const struct csv *c, int column, const struct wanted *w)
{
    const struct csv_field *f = &c->field[column];
    return wanted_only_label(w) ? token_is_one_of(f->text, f->length, "label")
                                : column_is_label(c, column);
}

/* Whether it is "split", or "split_0", "split_1", … if there are several. */
static bool column_is_split(const struct csv *c, int column)
{
    const struct csv_field *f = &c->field[column];
    if (f->length > 6 && token_is_one_of(f->text, 6, "split_"))
        return token_number(f->text + 6, f->length - 6) >= 0;
    return token_is_one_of(f->text, f->length, "split");
}

/* Records which column something came from. */
static void take(struct dataset *d, enum dataset_taken what, const struct csv *c, int column)
{
    const struct csv_field *f = &c->field[column];
    int length = f->length < 60 ? (int)f->length : 60;
    snprintf(d->taken[what], sizeof d->taken[what], "column %.*s", length, f->text);
}

consm_status classes_read(int32_t *out, struct classes *classes, const struct csv *c, int column)
{
    consm_status st = CONSM_OK;
    const struct csv_field *f = &c->field[column];
    int64_t index, known = classes->names.count;
    *out = -1;
    if (f->length == 0)
        return CONSM_OK;
    if (classes->fixed) {
        if ((index = names_find(&classes->names, f->text, f->length)) < 0)
            return csv_fail(c, column, "a class listed in dataset.json");
    } else {
        TRY(names_add(&index, &classes->names, f->text, f->length));
        if (index == known && !utf8_valid(f->text, f->length))
            return csv_fail(c, column, "UTF-8 text");
    }
    *out = (int32_t)index;
done:
    return st;
}

consm_status classes_settle(struct dataset *d, const struct classes *classes)
{
    consm_status st = CONSM_OK;
    int32_t *order = NULL, *place = NULL;
    const struct names *n = &classes->names;
    TRY(NEW(place, n->count));
    if (!classes->fixed)
        TRY(names_sort(&order, n));
    bool places = true;
    for (int64_t k = 0; k < n->count; k++) {
        int64_t from = order ? order[k] : k;
        place[from] = (int32_t)k;
        places = places && token_number(names_at(n, from), names_length(n, from)) == k;
    }
    for (int64_t i = 0; i < d->nodes; i++)
        d->label[i] = d->label[i] < 0 ? -1 : place[d->label[i]];
    d->classes = (int32_t)n->count;
    if (!places) {
        TRY(names_pack(&d->class_name, n, order));
        d->borrowed |= DATASET_PACKED_CLASSES;
    }
done:
    mem_free(order);
    mem_free(place);
    return st;
}

/* ---- nodes.csv ----------------------------------------------------------- */

struct node_table {
    struct csv csv;
    uint8_t *kind; /* (columns) of enum column_kind */
    int columns, splits, id, label;
    int64_t count;
    int32_t *place; /* (count) index of the label in the list of classes */
    size_t place_capacity;
    uint8_t *role; /* (count, splits) */
    size_t role_used, role_capacity;
    struct cells cells;
    bool keep;          /* whether to store the cells */
    int64_t *note;      /* (columns) positions in notes.column, or -1 */
    struct notes notes; /* of columns that a model ignores */
    struct faults faults;
    struct wanted *wanted;
};

/* Columns without a user's choice have the meaning of their name; choices come first. */
static void sort_columns(struct dataset *d, struct node_table *t)
{
    const struct csv *c = &t->csv;
    struct wanted *w = t->wanted;
    for (int i = 0; i < c->fields; i++) {
        const struct csv_field *f = &c->field[i];
        t->kind[i] = COLUMN_FEATURE;
        if (t->id < 0 && wanted_id(w, f->text, f->length))
            t->kind[t->id = i] = COLUMN_ID;
        else if (t->label < 0 && wanted_label(w, f->text, f->length))
            t->kind[t->label = i] = COLUMN_LABEL;
        else if (wanted_ignores(w, f->text, f->length))
            t->kind[i] = COLUMN_PASSED;
    }
    for (int i = 0; i < c->fields; i++) {
        if (t->kind[i] != COLUMN_FEATURE)
            continue;
        if (t->id < 0 && column_is_id(c, i))
            t->kind[t->id = i] = COLUMN_ID;
        else if (t->label < 0 && column_may_be_label(c, i, w))
            t->kind[t->label = i] = COLUMN_LABEL;
        else if (column_is_split(c, i))
            t->kind[i] = COLUMN_SPLIT;
        t->splits += t->kind[i] == COLUMN_SPLIT;
    }
    if (t->id >= 0)
        take(d, TAKEN_ID, c, t->id);
    if (t->label >= 0)
        take(d, TAKEN_LABEL, c, t->label);
}

static consm_status read_header(struct dataset *d, struct node_table *t)
{
    consm_status st = CONSM_OK;
    struct csv *c = &t->csv;
    int64_t index;
    sort_columns(d, t);
    if (t->id < 0)
        return csv_fail(c, 0, "a column named id; or use --id-column");
    for (int i = 0; i < c->fields; i++) {
        const struct csv_field *f = &c->field[i];
        t->note[i] = -1;
        if (t->kind[i] == COLUMN_PASSED && f->length > 0 && utf8_valid(f->text, f->length) &&
            wanted_keeps(t->wanted, f->text, f->length))
            TRY(names_add(&t->note[i], &t->notes.column, f->text, f->length));
        if (t->kind[i] != COLUMN_FEATURE)
            continue;
        if (f->length == 0 || !utf8_valid(f->text, f->length))
            return csv_fail(c, i, "the name of a column in UTF-8");
        TRY(names_add(&index, &t->cells.name, f->text, f->length));
        if (index != t->cells.columns++)
            return csv_fail(c, i, "a unique column name; rename one of the columns");
    }
    TRY(csv_name_columns(c));
done:
    return st;
}

/* The first row is a header if one of its fields is the word id, else it is a node. */
static consm_status find_columns(struct dataset *d, struct node_table *t)
{
    consm_status st = CONSM_OK;
    struct csv *c = &t->csv;
    struct csv_place first = csv_tell(c);
    bool more, header = false;
    TRY(csv_row(&more, c));
    if (!more)
        return status_fail(CONSM_EFORMAT, "%s: is empty: expected a row for each node", c->name);
    t->columns = c->fields;
    t->id = t->label = -1;
    t->cells.decimal_comma = c->delimiter == ';';
    TRY(NEW(t->kind, c->fields));
    TRY(NEW(t->note, c->fields));
    for (int i = 0; i < c->fields; i++)
        header |= wanted_id(t->wanted, c->field[i].text, c->field[i].length) || column_is_id(c, i);
    if (header)
        return read_header(d, t);
    if (c->fields > 2)
        TRY(wanted_first(t->wanted, 1U << CHOICE_ID, c->name));
    if (c->fields > 2)
        return csv_fail(
            c, 0, "a header with \"id\" (required with more than two columns); or use --id-column");
    t->id = 0;
    t->kind[0] = COLUMN_ID;
    if (c->fields == 2) {
        t->label = 1;
        t->kind[1] = COLUMN_LABEL;
    }
    csv_seek(c, first);
done:
    return st;
}

bool role_of_text(uint8_t *out, const char *text, size_t length)
{
    *out = SPLIT_NONE;
    if (token_is_one_of(text, length, "train|training"))
        *out = SPLIT_TRAIN;
    else if (token_is_one_of(text, length, "val|valid|validation|dev"))
        *out = SPLIT_VAL;
    else if (token_is_one_of(text, length, "test|testing"))
        *out = SPLIT_TEST;
    return *out != SPLIT_NONE || length == 0 || token_is_one_of(text, length, "none");
}

static consm_status read_role(struct node_table *t, int column)
{
    const struct csv_field *f = &t->csv.field[column];
    consm_status st = GROW(t->role, t->role_used, t->role_capacity, 1);
    if (st < 0)
        return st;
    if (!role_of_text(&t->role[t->role_used], f->text, f->length))
        return csv_fail(&t->csv, column, "train, val, test, none or an empty cell");
    t->role_used++;
    return CONSM_OK;
}

static consm_status read_node(struct node_table *t, struct node_ids *ids, struct classes *classes)
{
    consm_status st = CONSM_OK;
    const struct csv *c = &t->csv;
    const struct csv_field *f = &c->field[t->id];
    int64_t node, before = ids->names.count;
    int32_t column = 0;
    if (c->fields != t->columns)
        return csv_fail_columns(
            c, "%d as in the first row; put quotes around texts that contain the separator",
            t->columns);
    if (f->length == 0 || !utf8_valid(f->text, f->length))
        return csv_fail(c, t->id, "a node id in UTF-8 text");
    TRY(names_add(&node, &ids->names, f->text, f->length));
    if (node != before)
        return csv_fail(c, t->id, "a unique id; delete one of the rows");
    TRY(GROW(t->place, t->count, t->place_capacity, 1));
    t->place[t->count] = -1;
    for (int i = 0; i < c->fields; i++) {
        if (t->kind[i] == COLUMN_LABEL)
            TRY(classes_read(&t->place[t->count], classes, c, i));
        else if (t->kind[i] == COLUMN_SPLIT)
            TRY(read_role(t, i));
        else if (t->kind[i] == COLUMN_FEATURE && t->keep)
            TRY(feature_cell_add(&t->cells, c, i, column++));
        else if (t->kind[i] == COLUMN_PASSED && t->note[i] >= 0 &&
                 utf8_valid(c->field[i].text, c->field[i].length))
            TRY(notes_put(&t->notes, t->count, t->note[i], c->field[i].text, c->field[i].length));
    }
    t->count++;
    t->cells.rows++;
done:
    return st;
}

/* Adds nodes that only edges name: no label, no role, empty cells. */
static consm_status add_nodes(struct node_table *t, struct node_ids *ids,
                              const struct text_file *edges)
{
    consm_status st = CONSM_OK;
    TRY(edge_text_add_nodes(&ids->names, t->wanted, edges));
    for (; t->count < ids->names.count; t->count++, t->cells.rows++) {
        TRY(GROW(t->place, t->count, t->place_capacity, 1));
        t->place[t->count] = -1;
        for (int s = 0; s < t->splits; s++) {
            TRY(GROW(t->role, t->role_used, t->role_capacity, 1));
            t->role[t->role_used++] = SPLIT_NONE;
        }
        for (int32_t i = 0; i < t->cells.columns && t->keep; i++)
            TRY(cells_add(&t->cells, i, "", 0, 0));
    }
done:
    return st;
}

/* Puts the collected rows into the dataset. */
static consm_status give_table(struct dataset *d, struct node_table *t)
{
    consm_status st = CONSM_OK;
    d->nodes = t->count;
    d->label = t->place;
    t->place = NULL;
    TRY(notes_take(&d->node_notes, &t->notes));
    if (t->splits) {
        TRY(NEW(d->role, (size_t)t->splits * (size_t)t->count));
        d->splits = t->splits;
        for (int64_t i = 0; i < t->count; i++)
            for (int s = 0; s < t->splits; s++)
                d->role[s * t->count + i] = t->role[i * t->splits + s];
    }
    if (t->cells.columns > 0 && t->keep) {
        TRY(dataset_take_cells(d, &t->cells, &t->faults, t->csv.name));
        TRY(faults_status(&t->faults, t->csv.name));
    }
done:
    return st;
}

static void free_table(struct node_table *t)
{
    csv_free(&t->csv);
    cells_free(&t->cells);
    mem_free(t->kind);
    mem_free(t->note);
    notes_free(&t->notes);
    mem_free(t->place);
    mem_free(t->role);
}

consm_status node_text_read(struct dataset *d, struct node_ids *ids, struct classes *classes,
                            struct wanted *wanted, const struct text_file *file, bool features,
                            const struct text_file *edges)
{
    consm_status st = CONSM_OK;
    struct node_table t = {.wanted = wanted, .keep = features};
    bool more = true;
    csv_start(&t.csv, file);
    TRY(find_columns(d, &t));
    while (more) {
        TRY(csv_row(&more, &t.csv));
        if (more)
            TRY(faults_take(&t.faults, read_node(&t, ids, classes)));
    }
    TRY(faults_status(&t.faults, file->name));
    if (t.count == 0)
        TRY(status_fail(CONSM_EFORMAT,
                        "%s: has no row after the header: expected a row for each node",
                        file->name));
    if (edges)
        TRY(add_nodes(&t, ids, edges));
    TRY(give_table(d, &t));
    TRY(node_ids_index(ids));
    ids->expected = "a node of nodes.csv";
    if (!features)
        d->features = t.cells.columns;
done:
    free_table(&t);
    return st;
}

consm_status node_text_cells(struct cells *out, struct wanted *wanted, const struct text_file *file,
                             int64_t nodes, int64_t low, int64_t high)
{
    consm_status st = CONSM_OK;
    struct dataset unused = {0};
    struct node_table t = {.wanted = wanted};
    bool more = true;
    csv_start(&t.csv, file);
    TRY(find_columns(&unused, &t));
    TRY(cells_spread(&t.cells, nodes, low, high));
    for (int64_t row = 0; row < high && more; row++) {
        int32_t column = 0;
        TRY(row < low ? csv_pass(&more, &t.csv) : csv_row(&more, &t.csv));
        for (int i = 0; row >= low && i < t.csv.fields && i < t.columns; i++)
            if (t.kind[i] == COLUMN_FEATURE)
                TRY(faults_take(&t.faults, feature_cell_add(&t.cells, &t.csv, i, column++)));
        t.cells.rows += row >= low;
    }
    TRY(faults_status(&t.faults, file->name));
    *out = t.cells;
    t.cells = (struct cells){0};
done:
    free_table(&t);
    return st;
}
