/* Pajek's .net, as Pajek and networkx.write_pajek write it, and networkx's adjacency lists: lines
 * of words, some quoted. */

/*
 *   *Vertices 3                      0 1 2
 *   1 "a" 0.0 0.0 ellipse            1 3
 *   *Edges                           (adjacency: a node, then its neighbours)
 *   1 2 0.5
 */
#include "data/readers/graph_maker.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/csv.h"

/* The word at that position of the row, terminated; false: there is none. */
static bool word(char *out, size_t room, const struct csv *c, int place)
{
    if (place >= c->fields || c->field[place].length >= room)
        return false;
    memcpy(out, c->field[place].text, c->field[place].length);
    out[c->field[place].length] = 0;
    return true;
}

enum { WORD = 1024 };

/* Vertices need not have a line, but there cannot be many more than the file has bytes. */
enum { FREE_VERTICES = 1 << 16 };

enum section { NOTHING, VERTICES, PAIRS, LISTS };

struct pajek {
    struct graph_maker *m;
    struct csv csv;
    enum section section;
    int64_t declared, vertices; /* from *Vertices; found so far */
};

static consm_status begin_section(struct pajek *p)
{
    const struct csv *c = &p->csv;
    const struct csv_field *f = &c->field[0];
    if (token_is_one_of(f->text, f->length, "*vertices")) {
        int64_t number = c->fields > 1 ? token_number(c->field[1].text, c->field[1].length) : -1;
        p->section = VERTICES;
        if (number < 1 || (uint64_t)number > FREE_VERTICES + p->m->file->size)
            return csv_fail(c, c->fields > 1, "the number of vertices after *Vertices");
        if (p->declared > 0)
            return csv_fail(c, 0, "one section of vertices; split the file");
        p->declared = number;
    } else if (token_is_one_of(f->text, f->length, "*arcs|*edges")) {
        p->section = PAIRS;
        p->m->directed |= token_is_one_of(f->text, f->length, "*arcs");
    } else if (token_is_one_of(f->text, f->length, "*arcslist|*edgeslist")) {
        p->section = LISTS;
        p->m->directed |= token_is_one_of(f->text, f->length, "*arcslist");
    } else if (token_is_one_of(f->text, f->length, "*network")) {
        p->section = NOTHING;
    } else {
        return csv_fail(c, 0,
                        "*Vertices, *Arcs, *Edges, *Arcslist or *Edgeslist; delete other sections");
    }
    return CONSM_OK;
}

/* 1 "name" x y z shape key value …: coordinates and shape are ignored. */
static consm_status read_vertex(struct pajek *p)
{
    consm_status st = CONSM_OK;
    const struct csv *c = &p->csv;
    char text[WORD], key[WORD];
    float ignored;
    int at = 2;
    int64_t node;
    if (token_number(c->field[0].text, c->field[0].length) != p->vertices + 1)
        return csv_fail(c, 0, "vertex %lld (vertices must be in order)",
                        (long long)p->vertices + 1);
    if (!word(text, sizeof text, c, 0))
        return csv_fail(c, 0, "the number of a vertex");
    TRY(maker_node(&node, p->m, text, c->line));
    p->vertices++;
    if (word(text, sizeof text, c, 1))
        TRY(maker_value(p->m, node, "name", text, c->line));
    while (at < c->fields && at < 5 &&
           token_float(&ignored, c->field[at].text, c->field[at].length))
        at++;
    if (at < c->fields && (c->fields - at) % 2 == 1)
        at++; /* the shape */
    for (; word(key, sizeof key, c, at) && word(text, sizeof text, c, at + 1); at += 2)
        if (*key)
            TRY(maker_value(p->m, node, key, text, c->line));
done:
    return st;
}

/* The vertex at that position: 1 … vertices. */
static consm_status vertex(char out[24], const struct pajek *p, int place)
{
    const struct csv *c = &p->csv;
    if (place >= c->fields)
        return csv_fail_columns(c, "two vertices");
    int64_t number = token_number(c->field[place].text, c->field[place].length);
    if (number < 1 || number > p->declared)
        return csv_fail(c, place, "a vertex from 1 to %lld", (long long)p->declared);
    (void)word(out, 24, c, place);
    return CONSM_OK;
}

static consm_status read_pair(struct pajek *p, int target)
{
    consm_status st = CONSM_OK;
    const struct csv *c = &p->csv;
    char from[24], to[24], text[WORD];
    TRY(vertex(from, p, 0));
    TRY(vertex(to, p, target));
    TRY(maker_edge(p->m, from, to, c->line));
    if (p->section == PAIRS && word(text, sizeof text, c, 2))
        TRY(maker_edge_value(p->m, "weight", text, c->line));
done:
    return st;
}

static consm_status read_line(struct pajek *p)
{
    consm_status st = CONSM_OK;
    const struct csv *c = &p->csv;
    if (c->field[0].length > 0 && c->field[0].text[0] == '*')
        return begin_section(p);
    switch (p->section) {
    case VERTICES: return read_vertex(p);
    case PAIRS: return read_pair(p, 1);
    case LISTS:
        for (int i = 1; i < c->fields; i++)
            TRY(read_pair(p, i));
        break;
    default: return csv_fail(c, 0, "*Vertices");
    }
done:
    return st;
}

/* Vertices without a line are nodes without a name. */
static consm_status fill_vertices(struct pajek *p)
{
    consm_status st = CONSM_OK;
    char number[24];
    int64_t node;
    for (; p->vertices < p->declared; p->vertices++) {
        snprintf(number, sizeof number, "%lld", (long long)p->vertices + 1);
        TRY(maker_node(&node, p->m, number, 0));
    }
done:
    return st;
}

consm_status pajek_read(struct graph_maker *m)
{
    consm_status st = CONSM_OK;
    struct pajek p = {.m = m};
    bool more = true;
    m->name_column = "name";
    csv_start(&p.csv, m->file);
    p.csv.delimiter = ' ';
    while (more) {
        TRY(csv_row(&more, &p.csv));
        if (more)
            TRY(faults_take(&m->faults, read_line(&p)));
    }
    if (m->faults.count == 0)
        TRY(fill_vertices(&p));
done:
    csv_free(&p.csv);
    return st;
}

enum sniffed pajek_sniff(const struct probe *p)
{
    const char *text = p->file.data;
    size_t at = 0, size = p->folder ? 0 : p->file.size < 4096 ? p->file.size : 4096;
    while (at < size && (text[at] == '%' || strchr("\r\n \t", text[at])) && text[at]) {
        const char *next = text[at] == '%' ? memchr(text + at, '\n', size - at) : text + at;
        at = next ? (size_t)(next - text) + 1 : size;
    }
    return (size - at > 9 && strncasecmp(text + at, "*vertices", 9) == 0) ||
                   (size - at > 8 && strncasecmp(text + at, "*network", 8) == 0)
               ? SNIFF_YES
               : SNIFF_NO;
}

consm_status pajek_load(struct dataset **out, const char *path, struct reading_options *reading)
{
    return maker_load(out, path, reading, pajek_read);
}

/* ---- adjacency lists ----------------------------------------------------- */

static consm_status read_neighbours(struct graph_maker *m, const struct csv *c)
{
    consm_status st = CONSM_OK;
    char from[WORD], to[WORD];
    int64_t node, place;
    if (!word(from, sizeof from, c, 0) || !*from)
        return csv_fail(c, 0, "a node, followed by its neighbours");
    /* A node may begin several lines; only the first declares it. */
    place = names_find(&m->id, from, strlen(from));
    if (place < 0 || !m->declared[place])
        TRY(maker_node(&node, m, from, c->line));
    for (int i = 1; i < c->fields; i++) {
        if (!word(to, sizeof to, c, i) || !*to)
            return csv_fail(c, i, "the id of a neighbour");
        TRY(maker_edge(m, from, to, c->line));
    }
done:
    return st;
}

consm_status adjacency_read(struct graph_maker *m)
{
    consm_status st = CONSM_OK;
    struct csv c;
    bool more = true;
    csv_start(&c, m->file);
    while (more) {
        TRY(csv_row(&more, &c));
        if (more)
            TRY(faults_take(&m->faults, read_neighbours(m, &c)));
    }
done:
    csv_free(&c);
    return st;
}

/* Its text looks like an edge list, so the file name decides. */
enum sniffed adjacency_sniff(const struct probe *p)
{
    bool named = reader_has_suffix(p->path, ".adjlist") || reader_has_suffix(p->path, ".adj");
    return !p->folder && named ? SNIFF_YES : SNIFF_NO;
}

consm_status adjacency_load(struct dataset **out, const char *path, struct reading_options *reading)
{
    return maker_load(out, path, reading, adjacency_read);
}
