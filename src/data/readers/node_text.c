/* Nodes and labels from text. */
#include "data/readers/node_text.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

#include "data/readers/feature_text.h"

enum column_kind { COLUMN_ID, COLUMN_LABEL, COLUMN_SPLIT, COLUMN_FEATURE };

static bool column_is_label(const struct csv *c, int column)
{
    return token_is_one_of(c->field[column].text, c->field[column].length, "label|class|y");
}

/* "split", or "split_0", "split_1", … when there are several. */
static bool column_is_split(const struct csv *c, int column)
{
    const struct csv_field *f = &c->field[column];
    if (f->length > 6 && token_is_one_of(f->text, 6, "split_"))
        return token_number(f->text + 6, f->length - 6) >= 0;
    return token_is_one_of(f->text, f->length, "split");
}

/* Says which column something was taken from. */
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
            return csv_fail(c, column, "a class of dataset.json");
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
    int columns, splits, features, id, label;
    int64_t count;
    int32_t *place; /* (count) of the label in the list of classes */
    size_t place_capacity;
    uint8_t *role; /* (count, splits) */
    size_t role_used, role_capacity;
    struct feature_rows rows;
    struct names feature_names;
};

static consm_status read_header(struct dataset *d, struct node_table *t)
{
    consm_status st = CONSM_OK;
    const struct csv *c = &t->csv;
    int64_t index;
    for (int i = 0; i < c->fields; i++) {
        const struct csv_field *f = &c->field[i];
        if (column_is_id(c, i) && t->id < 0) {
            t->id = i;
            t->kind[i] = COLUMN_ID;
            take(d, TAKEN_ID, c, i);
        } else if (column_is_label(c, i) && t->label < 0) {
            t->label = i;
            t->kind[i] = COLUMN_LABEL;
            take(d, TAKEN_LABEL, c, i);
        } else if (column_is_split(c, i)) {
            t->kind[i] = COLUMN_SPLIT;
            t->splits++;
        } else {
            t->kind[i] = COLUMN_FEATURE;
            if (f->length == 0 || !utf8_valid(f->text, f->length))
                return csv_fail(c, i, "the name of a column");
            TRY(names_add(&index, &t->feature_names, f->text, f->length));
            if (index != t->features++)
                return csv_fail(c, i, "a name that no other column has");
        }
    }
done:
    return st;
}

/* The first row: a header if one of its fields is the word id, else already a node. */
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
    TRY(NEW(t->kind, c->fields));
    for (int i = 0; i < c->fields; i++)
        header |= column_is_id(c, i);
    if (header)
        return read_header(d, t);
    if (c->fields > 2)
        return csv_fail(c, 0, "a header with \"id\" (needed above more than two columns)");
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

static consm_status read_role(struct node_table *t, int column)
{
    const struct csv_field *f = &t->csv.field[column];
    consm_status st = GROW(t->role, t->role_used, t->role_capacity, 1);
    if (st < 0)
        return st;
    uint8_t role = SPLIT_NONE;
    if (token_is_one_of(f->text, f->length, "train|training"))
        role = SPLIT_TRAIN;
    else if (token_is_one_of(f->text, f->length, "val|valid|validation|dev"))
        role = SPLIT_VAL;
    else if (token_is_one_of(f->text, f->length, "test|testing"))
        role = SPLIT_TEST;
    else if (f->length > 0 && !token_is_one_of(f->text, f->length, "none"))
        return csv_fail(&t->csv, column, "train, val, test, none or nothing");
    t->role[t->role_used++] = role;
    return CONSM_OK;
}

static consm_status read_node(struct node_table *t, struct node_ids *ids, struct classes *classes)
{
    consm_status st = CONSM_OK;
    const struct csv *c = &t->csv;
    const struct csv_field *f = &c->field[t->id];
    int64_t node;
    if (c->fields != t->columns)
        return csv_fail_columns(c, "%d as in the first row", t->columns);
    if (f->length == 0 || !utf8_valid(f->text, f->length))
        return csv_fail(c, t->id, "a node id in UTF-8 text");
    TRY(names_add(&node, &ids->names, f->text, f->length));
    if (node != t->count)
        return csv_fail(c, t->id, "an id that no other row has");
    TRY(GROW(t->place, t->count, t->place_capacity, 1));
    t->place[t->count] = -1;
    for (int i = 0; i < c->fields; i++) {
        if (t->kind[i] == COLUMN_LABEL)
            TRY(classes_read(&t->place[t->count], classes, c, i));
        else if (t->kind[i] == COLUMN_SPLIT)
            TRY(read_role(t, i));
        else if (t->kind[i] == COLUMN_FEATURE)
            TRY(feature_rows_add(&t->rows, c, i));
    }
    t->count++;
done:
    return st;
}

/* What was gathered row by row, as the dataset wants it. */
static consm_status give_table(struct dataset *d, struct node_table *t)
{
    consm_status st = CONSM_OK;
    d->nodes = t->count;
    d->label = t->place;
    t->place = NULL;
    if (t->splits) {
        TRY(NEW(d->role, (size_t)t->splits * (size_t)t->count));
        d->splits = t->splits;
        for (int64_t i = 0; i < t->count; i++)
            for (int s = 0; s < t->splits; s++)
                d->role[s * t->count + i] = t->role[i * t->splits + s];
    }
    if (t->features) {
        TRY(feature_rows_give(d, &t->rows, t->features));
        TRY(names_pack(&d->feature_name, &t->feature_names, NULL));
        d->borrowed |= DATASET_PACKED_FEATURES;
    }
done:
    return st;
}

consm_status node_text_read(struct dataset *d, struct node_ids *ids, struct classes *classes,
                            const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct node_table t = {0};
    bool more = true;
    csv_start(&t.csv, file);
    TRY(find_columns(d, &t));
    while (more) {
        TRY(csv_row(&more, &t.csv));
        if (more)
            TRY(read_node(&t, ids, classes));
    }
    if (t.count == 0)
        TRY(status_fail(CONSM_EFORMAT, "%s: no row behind the header: expected a row for each node",
                        file->name));
    TRY(give_table(d, &t));
    TRY(node_ids_index(ids));
    ids->expected = "a node of nodes.csv";
done:
    csv_free(&t.csv);
    names_free(&t.feature_names);
    mem_free(t.kind);
    mem_free(t.place);
    mem_free(t.role);
    mem_free(t.rows.value);
    return st;
}

/* ---- labels alone -------------------------------------------------------- */

/* Begins a file of labels: behind its header, if it has one. */
static consm_status start_labels(struct csv *c, enum row_naming *naming,
                                 const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct csv_place first;
    bool more;
    csv_start(c, file);
    first = csv_tell(c);
    TRY(csv_row(&more, c));
    if (!more)
        return status_fail(CONSM_EFORMAT, "%s: is empty: expected labels", file->name);
    if (c->fields > 2)
        return csv_fail_columns(c, "1 (label) or 2 (id, label)");
    *naming = c->fields == 1 ? ROWS_IN_ORDER : ROWS_WITH_IDS;
    bool header =
        column_is_label(c, c->fields - 1) && (*naming == ROWS_IN_ORDER || column_is_id(c, 0));
    if (!header)
        csv_seek(c, first);
    c->keep_blank = *naming == ROWS_IN_ORDER;
done:
    return st;
}

consm_status label_text_naming(enum row_naming *out, const struct text_file *file)
{
    struct csv c;
    consm_status st = start_labels(&c, out, file);
    csv_free(&c);
    return st;
}

consm_status label_text_rows(int64_t *rows, const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct csv c;
    enum row_naming naming = ROWS_IN_ORDER;
    bool more = true;
    *rows = 0;
    TRY(start_labels(&c, &naming, file));
    while (more) {
        TRY(csv_row(&more, &c));
        *rows += more;
    }
done:
    csv_free(&c);
    return st;
}

consm_status label_text_ids(struct node_ids *ids, const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct csv c;
    enum row_naming naming = ROWS_IN_ORDER;
    bool more = true;
    int64_t index;
    TRY(start_labels(&c, &naming, file));
    while (more) {
        TRY(csv_row(&more, &c));
        if (!more)
            break;
        if (c.field[0].length == 0 || !utf8_valid(c.field[0].text, c.field[0].length))
            TRY(csv_fail(&c, 0, "a node id in UTF-8 text"));
        TRY(names_add(&index, &ids->names, c.field[0].text, c.field[0].length));
    }
done:
    csv_free(&c);
    return st;
}

consm_status label_text_read(struct dataset *d, const struct node_ids *ids, struct classes *classes,
                             const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct csv c;
    enum row_naming naming = ROWS_IN_ORDER;
    bool more = true, *seen = NULL;
    TRY(start_labels(&c, &naming, file));
    snprintf(d->taken[TAKEN_LABEL], sizeof d->taken[TAKEN_LABEL], "column %d of the labels",
             naming == ROWS_WITH_IDS ? 2 : 1);
    TRY(ZNEW(seen, ids->count));
    for (int64_t row = 0;; row++) {
        TRY(csv_row(&more, &c));
        if (!more)
            break;
        if (c.fields != (naming == ROWS_WITH_IDS ? 2 : 1))
            TRY(csv_fail_columns(&c, naming == ROWS_WITH_IDS ? "2 (id, label)" : "1 (label)"));
        int64_t node = row;
        if (naming == ROWS_WITH_IDS)
            node = node_ids_find(ids, c.field[0].text, c.field[0].length);
        if (node < 0 || node >= ids->count)
            TRY(csv_fail(&c, 0, naming == ROWS_WITH_IDS ? "%s" : "no more rows than nodes",
                         ids->expected));
        if (seen[node])
            TRY(csv_fail(&c, 0, "an id that no other row has"));
        seen[node] = true;
        TRY(classes_read(&d->label[node], classes, &c, c.fields - 1));
    }
done:
    csv_free(&c);
    mem_free(seen);
    return st;
}
