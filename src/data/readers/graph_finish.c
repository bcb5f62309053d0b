/* Turns the collected nodes and edges into a dataset: first the meaning of columns, then names,
 * labels, roles and features. */
#include "data/readers/graph_maker.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/counted.h"
#include "base/log.h"
#include "data/readers/feature_file.h"
#include "data/readers/node_text.h"
#include "data/table/recipe.h"

/* The attributes as columns. */
struct table {
    int64_t nodes, columns;
    int32_t *place; /* (nodes, columns) index of the value, or -1 */
    int32_t id, label, split;
    uint8_t *passed; /* (columns) not a feature */
};

/* A mostly empty table can be far larger than its file, so its size is limited. */
static consm_status check_size(const struct graph_maker *m)
{
    double cells = (double)m->id.count * (double)m->column.count;
    if (cells > (double)(1 << 24) && cells > 16 * (double)m->file->size)
        return status_fail(CONSM_ELIMIT,
                           "%s: the table of %lld nodes and %lld attributes would be mostly empty "
                           "and too large; remove attributes that few nodes have, or move all "
                           "features to a sparse file (--features)",
                           m->file->name, (long long)m->id.count, (long long)m->column.count);
    return CONSM_OK;
}

static consm_status fill_table(struct table *t, const struct graph_maker *m)
{
    consm_status st = CONSM_OK;
    t->nodes = m->id.count;
    t->columns = m->column.count;
    t->id = t->label = t->split = -1;
    TRY(check_size(m));
    TRY(NEW(t->place, t->nodes * t->columns));
    TRY(ZNEW(t->passed, t->columns));
    memset(t->place, 0xff, (size_t)(t->nodes * t->columns) * sizeof *t->place);
    for (size_t k = 0; k < m->values; k++) {
        const struct node_value *v = &m->value[k];
        if (v->node >= 0 && t->place[v->node * t->columns + v->column] < 0)
            t->place[v->node * t->columns + v->column] = (int32_t)k;
    }
    for (size_t k = 0; k < m->values; k++) { /* the file's default, once per column */
        int32_t column = m->value[k].column;
        bool fresh = m->value[k].node < 0 && !t->passed[column];
        for (int64_t i = 0; fresh && i < t->nodes; i++)
            if (t->place[i * t->columns + column] < 0)
                t->place[i * t->columns + column] = (int32_t)k;
        t->passed[column] |= fresh;
    }
    memset(t->passed, 0, (size_t)t->columns * sizeof *t->passed);
done:
    return st;
}

static const char *cell(const struct table *t, const struct graph_maker *m, int64_t node,
                        int64_t column, int64_t *line)
{
    int32_t place = t->place[node * t->columns + column];
    *line = place < 0 ? 0 : m->value[place].line;
    return place < 0 ? "" : names_at(&m->text, m->value[place].text);
}

static void sort_columns(struct dataset *d, struct table *t, struct graph_maker *m)
{
    struct wanted *w = &m->reading->wanted;
    bool no_id = !w->id || ((w->remembered >> CHOICE_ID & 1) &&
                            names_find(&m->column, w->id, strlen(w->id)) < 0);
    const char *usual = !w->label ? "label|class|y" : wanted_only_label(w) ? "label" : "";
    for (int32_t k = 0; k < t->columns; k++) {
        const char *name = names_at(&m->column, k);
        size_t length = names_length(&m->column, k);
        bool display = m->name_column && strcmp(name, m->name_column) == 0;
        if (wanted_id(w, name, length))
            t->id = k;
        else if (wanted_label(w, name, length))
            t->label = k;
        else if (wanted_ignores(w, name, length))
            t->passed[k] = true;
        else if (display && no_id)
            t->id = k;
        else if (t->label < 0 && !display && token_is_one_of(name, length, usual))
            t->label = k;
        else if (t->split < 0 && token_is_one_of(name, length, "split"))
            t->split = k;
        t->passed[k] |= k == t->id || k == t->label || k == t->split ||
                        (m->has_titles && strcmp(name, NOTES_TITLE) == 0);
    }
    if (t->label >= 0)
        snprintf(d->taken[TAKEN_LABEL], sizeof d->taken[TAKEN_LABEL], "attribute %.60s",
                 names_at(&m->column, t->label));
}

/* ---- the parts ----------------------------------------------------------- */

/* Removes undeclared nodes and their edges. */
static consm_status drop_unknown(struct graph_maker *m)
{
    consm_status st = CONSM_OK;
    struct names kept = {0};
    int32_t *place = NULL;
    struct notes *n = &m->notes;
    size_t edges = 0, values = 0, note = 0, notes = 0;
    int64_t at;
    TRY(NEW(place, m->id.count));
    for (int64_t i = 0; i < m->id.count; i++) {
        place[i] = -1;
        if (m->declared[i]) {
            TRY(names_add(&at, &kept, names_at(&m->id, i), names_length(&m->id, i)));
            place[i] = (int32_t)at;
        }
    }
    for (size_t e = 0; e < m->edges; e++) {
        int32_t from = place[m->from[e]], to = place[m->to[e]];
        if (from < 0 || to < 0)
            continue;
        m->from[edges] = from;
        m->to[edges] = to;
        m->line[edges] = m->line[e];
        for (; note < n->count && n->note[note].item <= (int64_t)e; note++)
            if (n->note[note].item < 0 || n->note[note].item == (int64_t)e) {
                n->note[notes] = n->note[note];
                n->note[notes++].item = n->note[note].item < 0 ? -1 : (int64_t)edges;
            }
        m->weight[edges++] = m->weight[e];
    }
    for (size_t k = 0; k < m->values; k++) {
        m->value[values] = m->value[k];
        if (m->value[k].node >= 0)
            m->value[values].node = place[m->value[k].node];
        values += m->value[k].node < 0 || m->value[values].node >= 0;
    }
    log_warn("%s: dropped %s to nodes that are not listed (--unknown-nodes drop)", m->file->name,
             COUNTED((int64_t)(m->edges - edges), "edge"));
    m->edges = edges;
    n->count = notes;
    m->values = values;
    names_free(&m->id);
    m->id = kept;
    kept = (struct names){0};
done:
    names_free(&kept);
    mem_free(place);
    return st;
}

static consm_status check_declared(struct graph_maker *m)
{
    consm_status st = CONSM_OK;
    enum unknown_nodes unknown = m->reading->wanted.unknown;
    int64_t strangers = 0;
    for (int64_t i = 0; m->declares && i < m->id.count; i++)
        strangers += !m->declared[i];
    if (strangers == 0)
        return CONSM_OK;
    if (unknown == UNKNOWN_DROP)
        return drop_unknown(m);
    if (unknown == UNKNOWN_ADD) {
        log_warn("%s: added %s found only in edges, without label and features "
                 "(--unknown-nodes add)",
                 m->file->name, COUNTED(strangers, "node"));
        return CONSM_OK;
    }
    for (size_t e = 0; e < m->edges; e++)
        for (int end = 0; end < 2; end++) {
            int32_t node = end ? m->to[e] : m->from[e];
            if (!m->declared[node])
                TRY(maker_fault(m, m->line[e],
                                "an edge refers to \"%.40s\", expected a node of the file",
                                names_at(&m->id, node)));
        }
done:
    return st;
}

/* Names nodes by an attribute. If one lacks it or two are equal, nothing is done and *done_so is
 * false. */
static consm_status rename_nodes(bool *done_so, struct graph_maker *m, const struct table *t)
{
    consm_status st = CONSM_OK;
    struct names called = {0};
    int64_t line, place, i = 0;
    for (; i < t->nodes; i++) {
        const char *name = cell(t, m, i, t->id, &line);
        TRY(names_add(&place, &called, name, strlen(name)));
        if (!*name || place != i)
            break;
    }
    *done_so = i == t->nodes;
    if (*done_so) {
        names_free(&m->id);
        m->id = called;
        called = (struct names){0};
    } else if (m->reading->wanted.found_id) {
        TRY(maker_fault(m, 0,
                        "--id-column %.60s: node %lld has no such attribute, or shares its value "
                        "with another node",
                        names_at(&m->column, t->id), (long long)i));
    }
done:
    names_free(&called);
    return st;
}

static consm_status give_labels(struct dataset *d, struct graph_maker *m, const struct table *t,
                                struct classes *classes)
{
    consm_status st = CONSM_OK;
    int64_t line, place;
    TRY(NEW(d->label, t->nodes));
    for (int64_t i = 0; i < t->nodes; i++) {
        const char *text = t->label < 0 ? "" : cell(t, m, i, t->label, &line);
        d->label[i] = -1;
        if (*text) {
            TRY(names_add(&place, &classes->names, text, strlen(text)));
            d->label[i] = (int32_t)place;
        }
    }
done:
    return st;
}

static consm_status give_roles(struct dataset *d, struct graph_maker *m, const struct table *t)
{
    consm_status st = CONSM_OK;
    int64_t line;
    if (t->split < 0)
        return CONSM_OK;
    TRY(ZNEW(d->role, t->nodes));
    d->splits = 1;
    for (int64_t i = 0; i < t->nodes; i++) {
        const char *text = cell(t, m, i, t->split, &line);
        if (!role_of_text(&d->role[i], text, strlen(text)))
            TRY(maker_fault(m, line,
                            "found split \"%.40s\", expected train, val, test, none or no value",
                            text));
    }
done:
    return st;
}

static consm_status give_features(struct dataset *d, struct graph_maker *m, const struct table *t)
{
    consm_status st = CONSM_OK;
    struct cells cells = {0};
    int64_t index, line;
    for (int32_t k = 0; k < t->columns; k++)
        if (!t->passed[k]) {
            TRY(names_add(&index, &cells.name, names_at(&m->column, k),
                          names_length(&m->column, k)));
            cells.columns++;
        }
    if (cells.columns == 0)
        goto done;
    for (int64_t i = 0; i < t->nodes; i++, cells.rows++)
        for (int32_t k = 0, column = 0; k < t->columns; k++)
            if (!t->passed[k]) {
                const char *text = cell(t, m, i, k, &line);
                TRY(cells_add(&cells, column++, text, strlen(text), line));
            }
    TRY(dataset_take_cells(d, &cells, &m->faults, m->file->name));
done:
    cells_free(&cells);
    return st;
}

/* Attributes that no model reads but that are kept: node columns that a model ignores, and all
 * other edge columns. */
static consm_status give_notes(struct dataset *d, struct graph_maker *m, const struct table *t)
{
    consm_status st = CONSM_OK;
    struct wanted *w = &m->reading->wanted;
    struct notes notes = {0};
    int64_t line;
    for (int64_t i = 0; w->notes && i < t->nodes; i++)
        for (int32_t k = 0; k < t->columns; k++) {
            const char *name = names_at(&m->column, k), *text = cell(t, m, i, k, &line);
            size_t length = names_length(&m->column, k);
            if (t->passed[k] && k != t->id && k != t->label && k != t->split &&
                wanted_keeps(w, name, length))
                TRY(notes_add(&notes, i, name, length, text, strlen(text)));
        }
    TRY(notes_take(&d->node_notes, &notes));
    TRY(notes_settle(&m->notes, d->edges));
    TRY(notes_take(&d->edge_notes, &m->notes));
done:
    notes_free(&notes);
    return st;
}

/* ---- all together -------------------------------------------------------- */

/* Reads the files of labels and features beside the graph. */
static consm_status read_beside(struct dataset *d, struct node_ids *ids, struct classes *classes,
                                struct reading_options *r)
{
    consm_status st = CONSM_OK;
    struct unpacked labels = {0}, features = {0};
    ids->expected = "a node of the graph";
    if (r->features) {
        if (d->features > 0)
            TRY(status_fail(CONSM_EINVAL,
                            "%s: features are in the file and in --features: omit --features, or "
                            "ignore the attributes with --ignore",
                            r->features));
        TRY(unpack_open(&features, r->features));
        TRY(feature_file_read(
            d, ids, &r->wanted,
            &(struct text_file){r->features, features.data, features.size, false}));
    }
    if (r->labels) {
        TRY(unpack_open(&labels, r->labels));
        TRY(label_text_read(d, ids, classes, &r->wanted,
                            &(struct text_file){r->labels,
                                                labels.size ? (const void *)labels.data : "",
                                                labels.size, false}));
    }
done:
    unpack_close(&labels);
    unpack_close(&features);
    return st;
}

static consm_status give_nodes(struct dataset *d, struct graph_maker *m, const struct table *t,
                               struct node_ids *ids, bool named)
{
    consm_status st = CONSM_OK;
    d->nodes = t->nodes;
    d->edges = (int64_t)m->edges;
    d->directed = m->directed;
    ids->names = m->id;
    m->id = (struct names){0};
    /* Sorts numeric ids if nothing else depends on the nodes' order. */
    if (t->columns == 0 && !named)
        TRY(node_ids_from_names(ids, m->from, m->to, d->edges));
    else
        TRY(node_ids_index(ids));
    TRY(node_ids_give(d, ids));
    d->from = m->from;
    d->to = m->to;
    m->from = m->to = NULL;
    if (m->weighted) {
        for (size_t e = 0; e < m->edges; e++)
            if (isnan(m->weight[e]))
                m->weight[e] = m->has_usual ? m->usual_weight : 1;
        d->weight = m->weight;
        m->weight = NULL;
        snprintf(d->taken[TAKEN_WEIGHT], sizeof d->taken[TAKEN_WEIGHT],
                 "an attribute of the edges");
    }
done:
    return st;
}

consm_status maker_finish(struct dataset *d, struct graph_maker *m)
{
    consm_status st = CONSM_OK;
    struct table t = {0};
    struct classes classes = {0};
    struct node_ids ids = {0};
    bool named = false;
    TRY(check_declared(m));
    if (m->id.count == 0)
        return status_fail(CONSM_EFORMAT, "%s: no nodes", m->file->name);
    TRY(fill_table(&t, m));
    sort_columns(d, &t, m);
    if (t.id >= 0)
        TRY(rename_nodes(&named, m, &t));
    TRY(give_nodes(d, m, &t, &ids, named));
    TRY(give_labels(d, m, &t, &classes));
    TRY(give_roles(d, m, &t));
    TRY(give_features(d, m, &t));
    TRY(give_notes(d, m, &t));
    TRY(faults_status(&m->faults, m->file->name));
    if (m->reading->labels || m->reading->features)
        TRY(read_beside(d, &ids, &classes, m->reading));
    TRY(classes_settle(d, &classes));
    if (m->passed.count > MAKER_WARNINGS)
        log_warn("%s: also ignored: %s of edges", m->file->name,
                 COUNTED(m->passed.count - MAKER_WARNINGS, "attribute"));
    if (m->weighted && m->reading->wanted.weight)
        m->reading->wanted.found_weight = true;
    TRY(wanted_met(&m->reading->wanted, m->file->name));
    TRY(dataset_check(d));
done:
    names_free(&classes.names);
    node_ids_free(&ids);
    mem_free(t.place);
    mem_free(t.passed);
    return st;
}
