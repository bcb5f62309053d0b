/* Feature tables: the header, then the rows, then each row to its node. */
#include "data/readers/feature_text.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

bool column_is_id(const struct csv *c, int column)
{
    return token_is_one_of(c->field[column].text, c->field[column].length,
                           "id|node|node_id|nodeid");
}

consm_status feature_rows_add(struct feature_rows *rows, const struct csv *c, int column)
{
    const struct csv_field *f = &c->field[column];
    consm_status st = GROW(rows->value, rows->used, rows->capacity, 1);
    if (st < 0)
        return st;
    if (!token_float(&rows->value[rows->used], f->text, f->length))
        return csv_fail(c, column, "a finite number");
    rows->used++;
    return CONSM_OK;
}

consm_status feature_rows_give(struct dataset *d, struct feature_rows *rows, int64_t columns)
{
    float *value = rows->value;
    rows->value = NULL;
    return dataset_set_features(d, value, columns);
}

consm_status feature_rows_match(struct node_ids *ids, int64_t rows, const char *name)
{
    if (!ids->expected) {
        ids->expected = "the number of a row of the features, from 0 on";
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
    struct feature_rows rows;
    struct names names;    /* of the features */
    bool header, with_ids; /* ids stand in the first column */
    int columns;           /* of the file */
    int64_t count;         /* rows */
    int32_t *node;         /* (count) of each row, when with_ids */
    size_t node_capacity;
    bool new_ids; /* the table makes the list of ids */
};

/* A first row with anything but numbers in it is a header. */
static consm_status read_header(struct table *t)
{
    consm_status st = CONSM_OK;
    struct csv *c = &t->csv;
    struct csv_place first = csv_tell(c);
    bool more;
    float ignored;
    int64_t index;
    TRY(csv_row(&more, c));
    if (!more)
        return status_fail(CONSM_EFORMAT, "%s: is empty: expected a row of numbers for each node",
                           c->name);
    t->columns = c->fields;
    for (int i = 0; i < c->fields; i++)
        t->header |= !token_float(&ignored, c->field[i].text, c->field[i].length);
    t->with_ids = t->header && column_is_id(c, 0);
    if (c->fields == t->with_ids)
        return csv_fail_columns(c, "at least one of features");
    for (int i = t->with_ids; t->header && i < c->fields; i++) {
        const struct csv_field *f = &c->field[i];
        if (!utf8_valid(f->text, f->length))
            return csv_fail(c, i, "UTF-8 text");
        TRY(names_add(&index, &t->names, f->text, f->length));
        if (index != i - t->with_ids)
            return csv_fail(c, i, "a name that no other column has");
    }
    if (!t->header)
        csv_seek(c, first);
done:
    return st;
}

/* The node in the first column of a row. */
static consm_status read_row_id(struct table *t, struct node_ids *ids)
{
    consm_status st = CONSM_OK;
    const struct csv_field *f = &t->csv.field[0];
    int64_t node;
    TRY(GROW(t->node, t->count, t->node_capacity, 1));
    if (f->length == 0 || !utf8_valid(f->text, f->length))
        return csv_fail(&t->csv, 0, "a node id");
    if (t->new_ids) {
        TRY(names_add(&node, &ids->names, f->text, f->length));
        if (node != t->count)
            return csv_fail(&t->csv, 0, "an id that no other row has");
    } else if ((node = node_ids_find(ids, f->text, f->length)) < 0) {
        return csv_fail(&t->csv, 0, "%s", ids->expected);
    }
    t->node[t->count] = (int32_t)node;
done:
    return st;
}

static consm_status read_rows(struct table *t, struct node_ids *ids)
{
    consm_status st = CONSM_OK;
    struct csv *c = &t->csv;
    bool more = true;
    while (more) {
        TRY(csv_row(&more, c));
        if (!more)
            break;
        if (c->fields != t->columns)
            return csv_fail_columns(c, "%d as in the first row", t->columns);
        if (t->with_ids)
            TRY(read_row_id(t, ids));
        for (int i = t->with_ids; i < c->fields; i++)
            TRY(feature_rows_add(&t->rows, c, i));
        t->count++;
    }
done:
    return st;
}

/* Puts the rows of a table with ids into node order. */
static consm_status order_rows(struct table *t, int64_t nodes)
{
    consm_status st = CONSM_OK;
    int64_t width = t->columns - 1;
    float *ordered = NULL;
    bool *seen = NULL;
    TRY(NEW(ordered, (size_t)nodes * (size_t)width));
    TRY(ZNEW(seen, nodes));
    for (int64_t r = 0; r < t->count; r++) {
        if (seen[t->node[r]])
            TRY(status_fail(CONSM_EFORMAT, "%s: row %lld names a node that an earlier row names",
                            t->csv.name, (long long)r + 1));
        seen[t->node[r]] = true;
        memcpy(ordered + t->node[r] * width, t->rows.value + r * width,
               (size_t)width * sizeof *ordered);
    }
    mem_free(t->rows.value);
    t->rows.value = ordered;
    ordered = NULL;
done:
    mem_free(seen);
    mem_free(ordered);
    return st;
}

static consm_status give_names(struct dataset *d, struct table *t)
{
    consm_status st = CONSM_OK;
    if (!t->header || names_are_places(&t->names))
        return CONSM_OK;
    TRY(names_pack(&d->feature_name, &t->names, NULL));
    d->borrowed |= DATASET_PACKED_FEATURES;
done:
    return st;
}

consm_status feature_text_read(struct dataset *d, struct node_ids *ids,
                               const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct table t = {.new_ids = !ids->expected};
    csv_start(&t.csv, file);
    TRY(read_header(&t));
    TRY(read_rows(&t, ids));
    if (t.with_ids && t.new_ids) {
        ids->expected = "a node of the feature file";
        TRY(node_ids_index(ids));
    }
    TRY(feature_rows_match(ids, t.count, file->name));
    if (t.with_ids)
        TRY(order_rows(&t, ids->count));
    d->nodes = ids->count;
    TRY(feature_rows_give(d, &t.rows, t.columns - t.with_ids));
    TRY(give_names(d, &t));
done:
    csv_free(&t.csv);
    names_free(&t.names);
    mem_free(t.rows.value);
    mem_free(t.node);
    return st;
}
