/* Finds the columns of an edge list: by a header's names, by the user's choices, or by position. */
#include "data/readers/edge_text_inside.h"

#include <string.h>

#include "base/log.h"
#include "base/utf8.h"
#include "data/table/names.h"

static const char source_names[] = "source|src|from|u|head|tail|node1|node_1|id1|id_1|sender|start";
static const char target_names[] = "target|dst|to|v|node2|node_2|id2|id_2|receiver|end|destination";
static const char weight_names[] = "weight|w|value|weights|edge_weight";

static const unsigned ends = 1U << CHOICE_SOURCE | 1U << CHOICE_TARGET;

static bool column_is(const struct csv *c, int column, const char *list)
{
    return token_is_one_of(c->field[column].text, c->field[column].length, list);
}

static bool column_is_number(const struct csv *c, int column)
{
    return token_number(c->field[column].text, c->field[column].length) >= 0;
}

static consm_status bad_columns(const struct csv *c)
{
    return csv_fail_columns(c, "2 (source, target) or 3 (source, target, weight); with more "
                               "columns, add a header with source and target");
}

/* The meaning of a header's column; the user's names come first. */
enum edge_column { EDGE_OTHER, EDGE_SOURCE, EDGE_TARGET, EDGE_WEIGHT, EDGE_PASSED };

static enum edge_column said_of(struct edge_reader *r, int column)
{
    const struct csv_field *f = &r->csv.field[column];
    if (wanted_weight(r->wanted, f->text, f->length))
        return EDGE_WEIGHT;
    if (wanted_source(r->wanted, f->text, f->length))
        return EDGE_SOURCE;
    if (wanted_target(r->wanted, f->text, f->length))
        return EDGE_TARGET;
    const struct names *apart = r->wanted ? r->wanted->attributes : NULL;
    bool passed = wanted_ignores(r->wanted, f->text, f->length) ||
                  (apart && names_find(apart, f->text, f->length) >= 0);
    return passed ? EDGE_PASSED : EDGE_OTHER;
}

/* The first unused column of a header after `from`. */
static int next_free(struct edge_reader *r, int from, int source, int target)
{
    int i = from;
    while (i < r->csv.fields && (i == source || i == target || said_of(r, i) != EDGE_OTHER))
        i++;
    return i;
}

/* A column whose cells are kept as notes; of two with one name, the first. */
static consm_status keep_column(struct edge_reader *r, int column)
{
    consm_status st = CONSM_OK;
    const struct csv_field *f = &r->csv.field[column];
    int64_t place;
    if (f->length == 0 || !utf8_valid(f->text, f->length))
        return csv_fail(&r->csv, column, "the name of a column in UTF-8");
    if (!r->kept)
        TRY(NEW(r->kept, r->csv.fields));
    TRY(names_add(&place, &r->notes.column, f->text, f->length));
    if (place == r->kepts)
        r->kept[r->kepts++] = column;
done:
    return st;
}

/* Handles columns that are neither end nor weight: ignored with a note if the weight is known;
 * otherwise the user must name the weight, so that a timestamp is not mistaken for it. */
static consm_status check_others(struct edge_reader *r)
{
    consm_status st = CONSM_OK;
    const struct csv *c = &r->csv;
    for (int i = 0; i < c->fields; i++) {
        if (i == r->source || i == r->target || i == r->weight)
            continue;
        int length = c->field[i].length < 40 ? (int)c->field[i].length : 40;
        bool passed = said_of(r, i) == EDGE_PASSED;
        if (wanted_keeps(r->wanted, c->field[i].text, c->field[i].length)) {
            TRY(keep_column(r, i));
            if (r->weight < 0 && !passed)
                log_warn("%s: column %.*s is stored as an attribute; to use it as weight: "
                         "--weight-column %.*s",
                         c->name, length, c->field[i].text, length, c->field[i].text);
            continue;
        }
        if (passed)
            continue;
        if (r->weight < 0)
            return csv_fail(c, i,
                            "\"weight\" as the name of a third column; use --weight-column %.*s or "
                            "--ignore %.*s",
                            length, c->field[i].text, length, c->field[i].text);
        log_warn("%s: ignored column %.*s", c->name, length, c->field[i].text);
    }
done:
    return st;
}

/* Finds columns by a header row: those that the user named, then by their usual names. */
static consm_status read_header(struct edge_reader *r)
{
    struct csv *c = &r->csv;
    static const struct wanted nothing;
    const struct wanted *w = r->wanted ? r->wanted : &nothing;
    int source = -1, target = -1, weight = -1;
    for (int i = 0; i < c->fields; i++) {
        enum edge_column said = said_of(r, i);
        if (said == EDGE_WEIGHT)
            weight = i;
        else if (said == EDGE_SOURCE && source < 0)
            source = i;
        else if (said == EDGE_TARGET && target < 0)
            target = i;
    }
    for (int i = 0; i < c->fields; i++) {
        if (said_of(r, i) != EDGE_OTHER)
            continue;
        if (source < 0 && column_is(c, i, source_names))
            source = i;
        else if (target < 0 && column_is(c, i, target_names))
            target = i;
        else if (weight < 0 && column_is(c, i, weight_names))
            weight = i;
    }
    consm_status st = wanted_first(r->wanted, ends, c->name);
    if (st < 0)
        return st;
    if ((source < 0) != (target < 0) && (w->found_source || w->found_target))
        return status_fail(
            CONSM_EINVAL,
            "%s: --%s-column names one end of the edges: name the other end with --%s-column",
            c->name, source < 0 ? "target" : "source", source < 0 ? "source" : "target");
    if (source < 0 || target < 0) {
        source = next_free(r, 0, -1, -1);
        target = next_free(r, source + 1, -1, -1);
    }
    if (target >= c->fields)
        return bad_columns(c);
    r->source = source;
    r->target = target;
    r->weight = weight;
    st = check_others(r);
    return st < 0 ? st : csv_name_columns(c);
}

/* Whether the first row names a source and a target, or a column that the user named. */
static bool header_named(struct edge_reader *r)
{
    const struct csv *c = &r->csv;
    bool named = false;
    for (int i = 0; i < c->fields; i++) {
        named |= said_of(r, i) != EDGE_OTHER;
        for (int k = 0; k < c->fields; k++)
            named |= column_is(c, i, source_names) && i != k && column_is(c, k, target_names);
    }
    return named;
}

consm_status edge_columns_find(struct edge_reader *r)
{
    consm_status st = CONSM_OK;
    struct csv *c = &r->csv;
    struct csv_place first = csv_tell(c), second;
    bool more, named, words = false;
    enum { MOST_COLUMNS = 1000 };
    TRY(csv_row(&more, c));
    if (!more)
        return status_fail(CONSM_EFORMAT,
                           "%s: is empty: expected a source and a target on each line", c->name);
    named = c->fields >= 2 && c->fields <= MOST_COLUMNS && header_named(r);
    if (!named)
        TRY(wanted_first(r->wanted, ends | 1U << CHOICE_WEIGHT, c->name));
    if (c->fields < 2 || (c->fields > 3 && !named))
        return bad_columns(c);
    second = csv_tell(c);
    r->columns = c->fields;
    r->source = 0;
    r->target = 1;
    r->weight = c->fields == 3 ? 2 : -1;
    if (r->weight == 2 && c->field[2].length == 2 && memcmp(c->field[2].text, "{}", 2) == 0)
        r->weight = -1; /* networkx.write_edgelist: attributes, here none */
    if (!named && !column_is_number(c, 0) && !column_is_number(c, 1)) {
        words =
            r->mode != KNOWN_IDS || node_ids_find(r->ids, c->field[0].text, c->field[0].length) < 0;
        TRY(csv_row(&more, c));
        words = words && more && c->fields == r->columns && column_is_number(c, 0) &&
                column_is_number(c, 1);
    }
    csv_seek(c, first);
    if (named || words) {
        TRY(csv_row(&more, c));
        TRY(read_header(r));
        csv_seek(c, second);
    }
done:
    return st;
}
