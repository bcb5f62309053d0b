/*
 * Most edge lists are two numbers a line, so that is tried first and fast; the first id that is no
 * small number sends the reader back to the beginning, to a table of names.
 */
#include "data/readers/edge_text.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/utf8.h"
#include "io/csv.h"
#include "io/faults.h"

enum id_mode {
    KNOWN_IDS,  /* look ids up */
    NUMBER_IDS, /* store the numbers as they are */
    NEW_NAMES   /* add ids to the list */
};

/* Rows whose ids are texts wait until there are some, so that the hash table's memory answers for
 * all of them at once. Their fields lie in the file and stay. */
enum { BATCH = 32 };

struct waiting_row {
    struct csv_field end[2];
    uint64_t hash[2];
    int64_t line;
};

struct edge_reader {
    struct csv csv;
    struct faults faults;
    struct wanted *wanted;
    struct waiting_row waiting[BATCH];
    int waiters;
    struct node_ids *ids;
    enum id_mode mode;
    int source, target, weight; /* columns; weight -1: none */
    int columns;
    bool not_numbers; /* NUMBER_IDS met something else and gave up */
    int32_t *from, *to;
    float *value;
    int64_t count, capacity;
};

static const char source_names[] = "source|src|from|u|head|tail|node1|node_1|id1|id_1|sender|start";
static const char target_names[] = "target|dst|to|v|node2|node_2|id2|id_2|receiver|end|destination";
static const char weight_names[] = "weight|w|value|weights|edge_weight";

/* Known ids are all numbers, and found without the table of names. */
static bool numbers_known(const struct edge_reader *r)
{
    return r->ids->places || r->ids->bits;
}

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
    return csv_fail_columns(c,
                            "2 (source, target) or 3 (source, target, weight); of more, name the "
                            "two ends source and target in a header");
}

/* What a column of the header is, by the wanted names first. */
enum edge_column { EDGE_OTHER, EDGE_SOURCE, EDGE_TARGET, EDGE_WEIGHT, EDGE_PASSED };

static enum edge_column said_of(struct edge_reader *r, int column)
{
    const struct csv_field *f = &r->csv.field[column];
    if (wanted_weight(r->wanted, f->text, f->length))
        return EDGE_WEIGHT;
    return wanted_ignores(r->wanted, f->text, f->length) ? EDGE_PASSED : EDGE_OTHER;
}

/* The first column of a header that is nothing yet, behind `from`. */
static int next_free(struct edge_reader *r, int from, int source, int target)
{
    int i = from;
    while (i < r->csv.fields && (i == source || i == target || said_of(r, i) != EDGE_OTHER))
        i++;
    return i;
}

/* Columns that are neither end nor weight: passed over where the weight is known, with a note; a
 * weight nobody named is asked for, so that a timestamp is not mistaken for one. */
static consm_status check_others(struct edge_reader *r)
{
    const struct csv *c = &r->csv;
    for (int i = 0; i < c->fields; i++) {
        if (i == r->source || i == r->target || i == r->weight || said_of(r, i) == EDGE_PASSED)
            continue;
        int length = c->field[i].length < 40 ? (int)c->field[i].length : 40;
        if (r->weight < 0)
            return csv_fail(
                c, i,
                "\"weight\" as the name of a third column; say --weight-column %.*s, or "
                "--ignore %.*s",
                length, c->field[i].text, length, c->field[i].text);
        log_warn("%s: column %.*s is passed over", c->name, length, c->field[i].text);
    }
    return CONSM_OK;
}

/* The columns by the names of a header row. */
static consm_status read_header(struct edge_reader *r)
{
    struct csv *c = &r->csv;
    int source = -1, target = -1, weight = -1;
    for (int i = 0; i < c->fields; i++)
        if (said_of(r, i) == EDGE_WEIGHT)
            weight = i;
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
    if (source < 0 || target < 0) {
        source = next_free(r, 0, -1, -1);
        target = next_free(r, source + 1, -1, -1);
    }
    if (target >= c->fields)
        return bad_columns(c);
    r->source = source;
    r->target = target;
    r->weight = weight;
    consm_status st = check_others(r);
    return st < 0 ? st : csv_name_columns(c);
}

/* Whether the first row names a source and a target, or a column that somebody named. */
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

/* Looks at the first rows. A header names a source and a target, or is words above numbers. */
static consm_status find_columns(struct edge_reader *r)
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
    if (c->fields < 2 || (c->fields > 3 && !named))
        return bad_columns(c);
    second = csv_tell(c);
    r->columns = c->fields;
    r->source = 0;
    r->target = 1;
    r->weight = c->fields == 3 ? 2 : -1;
    if (r->weight == 2 && c->field[2].length == 2 && memcmp(c->field[2].text, "{}", 2) == 0)
        r->weight = -1; /* networkx.write_edgelist: attributes, none */
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

/* One end of an edge, in the way of the mode; the hash counts for ids that are texts. */
static consm_status read_end(int32_t *out, struct edge_reader *r, int column, uint64_t hash)
{
    consm_status st = CONSM_OK;
    struct csv *c = &r->csv;
    struct names *names = &r->ids->names;
    const struct csv_field *f = &c->field[column];
    int64_t node = -1, known = names->count;
    switch (r->mode) {
    case KNOWN_IDS:
        node = numbers_known(r) ? node_ids_find(r->ids, f->text, f->length)
                                : names_find_hashed(names, hash, f->text, f->length);
        if (node < 0)
            return csv_fail(c, column, "%s", r->ids->expected);
        break;
    case NUMBER_IDS:
        node = token_number(f->text, f->length);
        r->not_numbers |= node < 0 || node >= INT32_MAX;
        break;
    case NEW_NAMES:
        TRY(names_add_hashed(&node, names, hash, f->text, f->length));
        if (node == known && !utf8_valid(f->text, f->length))
            return csv_fail(c, column, "UTF-8 text");
        break;
    }
    *out = (int32_t)node;
done:
    return st;
}

static consm_status read_ends(struct edge_reader *r, const struct waiting_row *row)
{
    consm_status st = CONSM_OK;
    TRY(read_end(&r->from[r->count], r, r->source, row->hash[0]));
    TRY(read_end(&r->to[r->count], r, r->target, row->hash[1]));
    r->count++;
done:
    return st;
}

/* Looks the waiting rows up, in order. */
static consm_status flush_rows(struct edge_reader *r)
{
    consm_status st = CONSM_OK;
    struct csv *c = &r->csv;
    for (int i = 0; i < r->waiters; i++) {
        const struct waiting_row *row = &r->waiting[i];
        c->field[r->source] = row->end[0]; /* for messages */
        c->field[r->target] = row->end[1];
        c->line = row->line;
        TRY(faults_take(&r->faults, read_ends(r, row)));
    }
    r->waiters = 0;
done:
    return st;
}

/* A row of any make. */
static consm_status read_row(struct edge_reader *r)
{
    consm_status st = CONSM_OK;
    struct csv *c = &r->csv;
    struct waiting_row *row = &r->waiting[r->waiters];
    const int column[2] = {r->source, r->target};
    if (c->fields != r->columns)
        return csv_fail_columns(c, "%d as in the first row; quote texts that hold the separator",
                                r->columns);
    row->line = c->line;
    for (int i = 0; i < 2; i++) {
        row->end[i] = c->field[column[i]];
        if (row->end[i].length == 0)
            return csv_fail(c, column[i], "a node id");
        if (r->mode == NEW_NAMES || (r->mode == KNOWN_IDS && !numbers_known(r)))
            row->hash[i] = names_hash(&r->ids->names, row->end[i].text, row->end[i].length);
    }
    if (r->weight >= 0) {
        const struct csv_field *f = &c->field[r->weight];
        if (!token_float(&r->value[r->count + r->waiters], f->text, f->length))
            return csv_fail(c, r->weight,
                            "a finite number as weight; mend it, or leave the line out");
    }
    r->waiters++;
    /* Unescaped fields only last until the next row. */
    if (r->waiters == BATCH || c->scratch_used > 0)
        TRY(flush_rows(r));
done:
    return st;
}

/* As many rows as are two plain numbers each, up to the first that needs read_row(). */
static void read_plain_rows(struct edge_reader *r)
{
    uint32_t a, b;
    bool lookup = r->mode == KNOWN_IDS;
    if (r->columns != 2 || r->source != 0 || r->mode == NEW_NAMES || (lookup && !numbers_known(r)))
        return;
    for (;;) {
        struct csv_place before = csv_tell(&r->csv);
        if (!csv_two_numbers(&r->csv, &a, &b))
            return;
        int64_t from = lookup ? node_ids_number(r->ids, a) : (int64_t)a;
        int64_t to = lookup ? node_ids_number(r->ids, b) : (int64_t)b;
        if (from < 0 || to < 0) {
            csv_seek(&r->csv, before); /* read_row() says what is wrong */
            return;
        }
        r->from[r->count] = (int32_t)from;
        r->to[r->count++] = (int32_t)to;
    }
}

static consm_status read_rows(struct edge_reader *r)
{
    consm_status st = CONSM_OK;
    bool more = true;
    r->count = 0;
    r->waiters = 0;
    r->not_numbers = false;
    r->faults.count = 0;
    while (more && !r->not_numbers) {
        if (r->waiters == 0)
            read_plain_rows(r);
        TRY(csv_row(&more, &r->csv));
        if (more)
            TRY(faults_take(&r->faults, read_row(r)));
        if (!more || numbers_known(r) || r->mode == NUMBER_IDS)
            TRY(flush_rows(r));
    }
done:
    return st;
}

/* Nodes come from the edges themselves: numbers if all ids are, else names. */
static consm_status discover_ids(struct edge_reader *r)
{
    consm_status st = CONSM_OK;
    struct csv_place begin = csv_tell(&r->csv);
    bool done_with_numbers = false;
    r->mode = NUMBER_IDS;
    TRY(read_rows(r));
    if (!r->not_numbers)
        TRY(node_ids_from_numbers(&done_with_numbers, r->ids, r->from, r->to, r->count));
    if (done_with_numbers)
        return CONSM_OK;
    csv_seek(&r->csv, begin);
    r->mode = NEW_NAMES;
    TRY(read_rows(r));
    TRY(node_ids_from_names(r->ids, r->from, r->to, r->count));
done:
    return st;
}

/* Says which column the weights were taken from. */
static void take_weight(struct dataset *d, const struct edge_reader *r)
{
    const struct csv *c = &r->csv;
    char *out = d->taken[TAKEN_WEIGHT];
    size_t room = sizeof d->taken[TAKEN_WEIGHT];
    if (c->heading && c->heading[r->weight].length > 0)
        snprintf(out, room, "column %.*s",
                 c->heading[r->weight].length < 60 ? (int)c->heading[r->weight].length : 60,
                 c->heading[r->weight].text);
    else
        snprintf(out, room, "column %d of the edges", r->weight + 1);
}

consm_status edge_text_read(struct dataset *d, struct node_ids *ids, struct wanted *wanted,
                            const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct edge_reader r = {
        .ids = ids, .wanted = wanted, .mode = ids->expected ? KNOWN_IDS : NUMBER_IDS};
    csv_start(&r.csv, file);
    TRY(find_columns(&r));
    r.capacity = token_lines(file) + 1; /* no line holds two edges */
    TRY(NEW(r.from, r.capacity));
    TRY(NEW(r.to, r.capacity));
    if (r.weight >= 0)
        TRY(NEW(r.value, r.capacity));
    if (r.mode == KNOWN_IDS)
        TRY(read_rows(&r));
    else
        TRY(discover_ids(&r));
    TRY(faults_status(&r.faults, file->name));
    d->edges = r.count;
    d->from = r.from;
    d->to = r.to;
    d->weight = r.value;
    if (r.value)
        take_weight(d, &r);
    r.from = r.to = NULL;
    r.value = NULL;
done:
    csv_free(&r.csv);
    mem_free(r.from);
    mem_free(r.to);
    mem_free(r.value);
    return st;
}
