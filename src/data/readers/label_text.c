/* Reads labels from a separate file, beside an edge list. */
#include "data/readers/node_text.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "data/readers/feature_text.h"
#include "io/faults.h"

struct label_table {
    struct csv csv;
    enum row_naming naming;
    int id, label, columns;
};

/* Finds the columns by the first row's names; false: they are not there. */
static bool find_label_columns(struct label_table *t, struct wanted *w)
{
    const struct csv *c = &t->csv;
    t->id = t->label = -1;
    for (int i = 0; i < c->fields; i++) {
        const struct csv_field *f = &c->field[i];
        if (t->id < 0 && wanted_id(w, f->text, f->length))
            t->id = i;
        else if (t->label < 0 && wanted_label(w, f->text, f->length))
            t->label = i;
        else
            (void)wanted_ignores(w, f->text, f->length);
    }
    for (int i = 0; i < c->fields; i++) {
        if (t->id < 0 && i != t->label && column_is_id(c, i))
            t->id = i;
        else if (t->label < 0 && i != t->id && column_is_label(c, i))
            t->label = i;
    }
    if (c->fields == 2 && t->id >= 0 && t->label < 0 && w && w->found_id)
        t->label = 1 - t->id;
    if (c->fields == 2 && t->label >= 0 && t->id < 0 && w && w->found_label)
        t->id = 1 - t->label;
    if (c->fields == 1)
        t->id = t->label;
    return t->label >= 0 && t->id >= 0;
}

/* Starts a file of labels, after its header if it has one. */
static consm_status start_labels(struct label_table *t, struct wanted *w,
                                 const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct csv *c = &t->csv;
    struct csv_place first;
    bool more;
    *t = (struct label_table){0};
    csv_start(c, file);
    first = csv_tell(c);
    TRY(csv_row(&more, c));
    if (!more)
        return status_fail(CONSM_EFORMAT, "%s: is empty: expected labels", file->name);
    t->columns = c->fields;
    if (find_label_columns(t, w)) {
        TRY(csv_name_columns(c));
    } else {
        if (c->fields > 2)
            TRY(wanted_first(w, 1U << CHOICE_ID | 1U << CHOICE_LABEL, c->name));
        if (c->fields > 2)
            return csv_fail_columns(
                c, "1 (label) or 2 (id, label); with more columns, use --id-column and "
                   "--label-column, or save it as nodes.csv beside edges.csv");
        t->id = 0;
        t->label = c->fields - 1;
        csv_seek(c, first);
    }
    t->naming = c->fields == 1 ? ROWS_IN_ORDER : ROWS_WITH_IDS;
    c->keep_blank = t->naming == ROWS_IN_ORDER;
done:
    return st;
}

consm_status label_text_naming(enum row_naming *out, struct wanted *wanted,
                               const struct text_file *file)
{
    struct label_table t;
    consm_status st = start_labels(&t, wanted, file);
    *out = t.naming;
    csv_free(&t.csv);
    return st;
}

consm_status label_text_rows(int64_t *rows, struct wanted *wanted, const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct label_table t;
    bool more = true;
    *rows = 0;
    TRY(start_labels(&t, wanted, file));
    while (more) {
        TRY(csv_row(&more, &t.csv));
        *rows += more;
    }
done:
    csv_free(&t.csv);
    return st;
}

consm_status label_text_ids(struct node_ids *ids, struct wanted *wanted,
                            const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct label_table t;
    bool more = true;
    int64_t index;
    TRY(start_labels(&t, wanted, file));
    while (more) {
        TRY(csv_row(&more, &t.csv));
        if (!more)
            break;
        if (t.csv.fields != t.columns)
            continue; /* label_text_read lists it */
        const struct csv_field *f = &t.csv.field[t.id];
        if (f->length > 0 && utf8_valid(f->text, f->length))
            TRY(names_add(&index, &ids->names, f->text, f->length));
    }
done:
    csv_free(&t.csv);
    return st;
}

static consm_status read_label(struct dataset *d, const struct label_table *t, bool *seen,
                               const struct node_ids *ids, struct classes *classes, int64_t row)
{
    const struct csv *c = &t->csv;
    bool named = t->naming == ROWS_WITH_IDS;
    if (c->fields != t->columns)
        return t->columns > 2 ? csv_fail_columns(c, "%d as in the first row", t->columns)
                              : csv_fail_columns(c, named ? "2 (id, label)" : "1 (label)");
    const struct csv_field *f = &c->field[t->id];
    if (named && (f->length == 0 || !utf8_valid(f->text, f->length)))
        return csv_fail(c, t->id, "a node id in UTF-8 text");
    int64_t node = named ? node_ids_find(ids, f->text, f->length) : row;
    if (node < 0 || node >= ids->count)
        return csv_fail(c, t->id, named ? "%s" : "at most one row per node", ids->expected);
    if (seen[node])
        return csv_fail(c, t->id, "a unique id; delete one of the rows");
    seen[node] = true;
    return classes_read(&d->label[node], classes, c, t->label);
}

consm_status label_text_read(struct dataset *d, const struct node_ids *ids, struct classes *classes,
                             struct wanted *wanted, const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct label_table t;
    struct faults faults = {0};
    bool more = true, *seen = NULL;
    TRY(start_labels(&t, wanted, file));
    snprintf(d->taken[TAKEN_LABEL], sizeof d->taken[TAKEN_LABEL], "column %d of the labels",
             t.label + 1);
    TRY(ZNEW(seen, ids->count));
    for (int64_t row = 0;; row++) {
        TRY(csv_row(&more, &t.csv));
        if (!more)
            break;
        TRY(faults_take(&faults, read_label(d, &t, seen, ids, classes, row)));
    }
    TRY(faults_status(&faults, file->name));
done:
    csv_free(&t.csv);
    mem_free(seen);
    return st;
}
