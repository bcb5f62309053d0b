/*
 * Reads edge lists as text. Most have two numbers a line, so that is tried first and fast; the
 * first id that is not a small number restarts the reader with a table of names.
 */
#include "data/readers/edge_text_inside.h"

#include <stdio.h>
#include <string.h>

#include "base/counted.h"
#include "base/log.h"
#include "base/utf8.h"
#include "io/file.h"

/* Known ids are all numbers and need no table of names. */
static bool numbers_known(const struct edge_reader *r)
{
    return r->ids->places || r->ids->bits;
}

/* One end of an edge, by the current mode; the hash is for ids that are texts. */
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
        if (node < 0 && !(r->wanted && r->wanted->unknown == UNKNOWN_DROP))
            return csv_fail(c, column, "%s%s", r->ids->expected,
                            r->wanted ? "; or use --unknown-nodes drop or add" : "");
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

static consm_status read_ends(bool *dropped, struct edge_reader *r, const struct waiting_row *row)
{
    consm_status st = CONSM_OK;
    TRY(read_end(&r->from[r->count], r, r->source, row->hash[0]));
    TRY(read_end(&r->to[r->count], r, r->target, row->hash[1]));
    bool drop = r->mode == KNOWN_IDS && (r->from[r->count] < 0 || r->to[r->count] < 0);
    *dropped = drop;
    r->dropped += drop;
    r->count += !drop;
done:
    return st;
}

/* Moves the notes of a waiting row that became the last edge to `to`; returns the next position. */
static size_t settle_notes(struct edge_reader *r, int row, size_t to)
{
    struct notes *n = &r->notes;
    size_t end = row + 1 < r->waiters ? r->waiting[row + 1].note : n->count;
    for (size_t k = r->waiting[row].note; k < end; k++) {
        n->note[to] = n->note[k];
        n->note[to++].item = r->count - 1;
    }
    return to;
}

static consm_status read_notes(struct edge_reader *r)
{
    consm_status st = CONSM_OK;
    const struct csv *c = &r->csv;
    for (int i = 0; i < r->kepts; i++) {
        const struct csv_field *f = &c->field[r->kept[i]];
        if (!utf8_valid(f->text, f->length))
            return csv_fail(c, r->kept[i], "UTF-8 text");
        TRY(notes_put(&r->notes, 0, i, f->text, f->length));
    }
done:
    return st;
}

/* Looks the waiting rows up, in order. */
static consm_status flush_rows(struct edge_reader *r)
{
    consm_status st = CONSM_OK;
    struct csv *c = &r->csv;
    int64_t first = r->count;
    size_t keep = r->waiters > 0 ? r->waiting[0].note : 0;
    for (int i = 0; i < r->waiters; i++) {
        const struct waiting_row *row = &r->waiting[i];
        if (r->weight >= 0) /* earlier rows may have been dropped */
            r->value[r->count] = r->value[first + i];
        c->field[r->source] = row->end[0]; /* for messages */
        c->field[r->target] = row->end[1];
        c->line = row->line;
        bool dropped = false;
        TRY(faults_take(&r->faults, read_ends(&dropped, r, row)));
        if (!dropped)
            keep = settle_notes(r, i, keep);
    }
    if (r->kepts > 0 && r->waiters > 0)
        r->notes.count = keep;
    r->waiters = 0;
done:
    return st;
}

/* Between semicolons 0,5 is a number, as in tables of nodes. */
static bool read_weight(float *out, const struct csv *c, const struct csv_field *f)
{
    char text[40];
    const char *comma = memchr(f->text, ',', f->length);
    if (c->delimiter != ';' || !comma || f->length >= sizeof text)
        return token_float(out, f->text, f->length);
    memcpy(text, f->text, f->length);
    text[comma - f->text] = '.';
    return token_float(out, text, f->length);
}

/* Reads any kind of row. */
static consm_status read_row(struct edge_reader *r)
{
    consm_status st = CONSM_OK;
    struct csv *c = &r->csv;
    struct waiting_row *row = &r->waiting[r->waiters];
    const int column[2] = {r->source, r->target};
    if (c->fields != r->columns)
        return csv_fail_columns(
            c, "%d as in the first row; put quotes around texts that contain the separator",
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
        float *weight = &r->value[r->count + r->waiters];
        if (!read_weight(weight, c, f))
            return csv_fail(c, r->weight, "a finite number as weight; fix or delete the line");
        if (*weight < 0)
            return csv_fail(c, r->weight, "a weight >= 0 (it says how close two nodes are)");
    }
    row->note = r->notes.count;
    TRY(read_notes(r));
    r->waiters++;
    /* Unescaped fields only last until the next row. */
    if (r->waiters == BATCH || c->scratch_used > 0)
        TRY(flush_rows(r));
done:
    return st;
}

/* Reads rows of two plain numbers, up to the first that needs read_row(). */
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
            csv_seek(&r->csv, before); /* read_row() reports the fault */
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
    r->dropped = 0;
    r->notes.count = 0;
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

/* Finds the nodes in the edges themselves: numbers if all ids are, else names. */
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

/* Records which column the weights came from. */
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
    TRY(edge_columns_find(&r));
    r.capacity = token_lines(file) + 1; /* a line holds at most one edge */
    TRY(NEW(r.from, r.capacity));
    TRY(NEW(r.to, r.capacity));
    if (r.weight >= 0)
        TRY(NEW(r.value, r.capacity));
    if (r.mode == KNOWN_IDS)
        TRY(read_rows(&r));
    else
        TRY(discover_ids(&r));
    TRY(faults_status(&r.faults, file->name));
    if (r.dropped > 0)
        log_warn("%s: dropped %s to nodes that are not listed (--unknown-nodes drop)", file->name,
                 COUNTED((int64_t)(r.dropped), "edge"));
    d->edges = r.count;
    d->from = r.from;
    d->to = r.to;
    d->weight = r.value;
    if (r.value)
        take_weight(d, &r);
    r.from = r.to = NULL;
    r.value = NULL;
    TRY(notes_take(&d->edge_notes, &r.notes));
done:
    notes_free(&r.notes);
    mem_free(r.kept);
    csv_free(&r.csv);
    mem_free(r.from);
    mem_free(r.to);
    mem_free(r.value);
    return st;
}

consm_status edge_text_add_nodes(struct names *names, struct wanted *wanted,
                                 const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct node_ids ids = {.names = *names};
    struct edge_reader *r = NULL;
    int64_t before = names->count;
    TRY(edge_blocks_new(&r, &ids, wanted, file));
    for (int64_t block = 0; block < edge_blocks_count(r); block++)
        TRY(edge_blocks_names(&ids, r, block));
    if (ids.names.count > before)
        log_warn("%s: added %s found only in edges, without label and features "
                 "(--unknown-nodes add)",
                 file->name, COUNTED(ids.names.count - before, "node"));
done:
    *names = ids.names;
    edge_blocks_free(r);
    return st;
}

/* ---- in blocks ----------------------------------------------------------- */

consm_status edge_blocks_new(struct edge_reader **out, struct node_ids *ids, struct wanted *wanted,
                             const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct edge_reader *r = NULL;
    *out = NULL;
    TRY(ZNEW(r, 1));
    r->ids = ids;
    r->wanted = wanted;
    r->mode = ids->expected ? KNOWN_IDS : NEW_NAMES;
    csv_start(&r->csv, file);
    TRY(edge_columns_find(r));
    r->mode = KNOWN_IDS;
    r->csv.kept = NULL; /* a block is released as a whole */
    r->file = file;
    r->first = csv_tell(&r->csv);
    *out = r;
    r = NULL;
done:
    edge_blocks_free(r);
    return st;
}

void edge_blocks_free(struct edge_reader *r)
{
    if (!r)
        return;
    csv_free(&r->csv);
    notes_free(&r->notes);
    mem_free(r->kept);
    mem_free(r->from);
    mem_free(r->to);
    mem_free(r->value);
    mem_free(r);
}

int64_t edge_blocks_count(const struct edge_reader *r)
{
    return (int64_t)((r->file->size + EDGE_BLOCK - 1) / EDGE_BLOCK);
}

bool edge_blocks_weighted(const struct edge_reader *r)
{
    return r->weight >= 0;
}

/* Start of the first line at or after that byte; never before the first edge. */
static const char *line_at(const struct edge_reader *r, int64_t byte)
{
    const char *text = r->file->data, *end = text + r->file->size, *newline;
    if (byte >= (int64_t)r->file->size)
        return end;
    if (text + byte <= r->first.at)
        return r->first.at;
    newline = memchr(text + byte - 1, '\n', (size_t)(end - text - byte + 1));
    newline = newline ? newline + 1 : end;
    return newline > r->first.at ? newline : r->first.at;
}

/* The rows of a block whose first row is in that line, from 0. */
static consm_status read_block(struct edge_reader *r, const char *begin, const char *end,
                               int64_t line)
{
    consm_status st = CONSM_OK;
    const char *text = r->file->data;
    csv_seek(&r->csv, (struct csv_place){begin, line});
    r->csv.end = end;
    r->csv.cut = end < text + r->file->size;
    TRY(read_rows(r));
    TRY(faults_status(&r->faults, r->file->name));
done:
    return st;
}

consm_status edge_blocks_read(struct edge_block *out, struct edge_reader *r, int64_t block)
{
    consm_status st = CONSM_OK;
    const char *begin = line_at(r, block * EDGE_BLOCK), *end = line_at(r, (block + 1) * EDGE_BLOCK);
    struct text_file lines = {.data = begin, .size = (size_t)(end - begin)};
    int64_t room = token_lines(&lines) + 1;
    if (room > r->capacity) {
        mem_free(r->from);
        mem_free(r->to);
        mem_free(r->value);
        r->from = r->to = NULL;
        r->value = NULL;
        r->capacity = 0;
        TRY(NEW(r->from, room));
        TRY(NEW(r->to, room));
        if (r->weight >= 0)
            TRY(NEW(r->value, room));
        r->capacity = room;
    }
    st = read_block(r, begin, end, 0);
    if (st == CONSM_EFORMAT) { /* again, with the line numbers of the file */
        lines = (struct text_file){.data = r->file->data,
                                   .size = (size_t)(begin - (const char *)r->file->data)};
        st = read_block(r, begin, end, token_lines(&lines));
    }
    if (r->file->passing)
        file_forget(begin, end);
    TRY(st);
    *out = (struct edge_block){r->count, r->from, r->to, r->value};
done:
    return st;
}

consm_status edge_blocks_names(struct node_ids *out, struct edge_reader *r, int64_t block)
{
    struct node_ids *known = r->ids;
    struct edge_block unused;
    r->ids = out;
    r->mode = NEW_NAMES;
    consm_status st = edge_blocks_read(&unused, r, block);
    r->ids = known;
    r->mode = KNOWN_IDS;
    return st;
}

void edge_blocks_about(struct dataset *d, const struct edge_reader *r)
{
    if (r->weight >= 0)
        take_weight(d, r);
}
