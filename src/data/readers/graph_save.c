/* Writes GraphML 1.0 (http://graphml.graphdrawing.org), GEXF 1.3 (https://gexf.net), GML and
 * NetworkX's node-link JSON in one walk over nodes and edges: the formats differ in how an item
 * begins, how an attribute is written, and how it ends. */
#include "data/readers/graph_save.h"

#include "base/log.h"
#include "base/number.h"
#include "data/table/cells.h"
#include "data/table/notes.h"
#include "io/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct saving {
    const struct dataset *d;
    const struct graph_extras *extras;
    enum graph_form form;
    struct file_writer *w;
    consm_status st;
    bool first;        /* no item, or no attribute, was written yet */
    size_t odd;        /* the next odd cell of the table */
    size_t exact;      /* the next exact one */
    unsigned taken[2]; /* bits: the name of this extra attribute of nodes, of edges is taken */
    size_t note[2];    /* the next note of nodes, of edges */
    int64_t id;        /* the column of notes that holds the edges' ids, or -1 */
    int64_t title;     /* the one with the display names of nodes, or -1 */
    uint8_t *kind[2];  /* (columns of notes) of enum note_kind */
    uint8_t *text;     /* (columns of cells) 1: the column holds words */
};

/* ---- text ---------------------------------------------------------------- */

static void put(struct saving *s, const char *text)
{
    if (s->st >= 0)
        s->st = file_write(s->w, text, strlen(text));
}

static void put_byte(struct saving *s, char c)
{
    if (s->st >= 0)
        s->st = file_write(s->w, &c, 1);
}

/* Characters that XML cannot hold at all become U+FFFD. */
static void put_xml(struct saving *s, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&': put(s, "&amp;"); break;
        case '<': put(s, "&lt;"); break;
        case '>': put(s, "&gt;"); break;
        case '"': put(s, "&quot;"); break;
        case '\n': put(s, "&#10;"); break;
        case '\t': put(s, "&#9;"); break;
        case '\r': put(s, "&#13;"); break;
        default:
            if ((unsigned char)*text < 0x20)
                put(s, "\xef\xbf\xbd");
            else
                put_byte(s, *text);
        }
}

static void put_json(struct saving *s, const char *text)
{
    char code[8];
    put(s, "\"");
    for (; *text; text++)
        if (*text == '"' || *text == '\\') {
            put_byte(s, '\\');
            put_byte(s, *text);
        } else if ((unsigned char)*text < 0x20) {
            snprintf(code, sizeof code, "\\u%04x", (unsigned)*text);
            put(s, code);
        } else {
            put_byte(s, *text);
        }
    put(s, "\"");
}

/* GML's keys are letters and digits. */
static void put_key(struct saving *s, const char *name)
{
    if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z')))
        put(s, "x");
    for (; *name; name++) {
        bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                     (*name >= '0' && *name <= '9');
        put_byte(s, plain ? *name : '_');
    }
}

/* ---- attributes ---------------------------------------------------------- */

static void attribute(struct saving *s, const char *key, const char *name, enum graph_type type,
                      const char *value)
{
    bool words = type == GRAPH_TEXT;
    switch (s->form) {
    case GRAPH_GRAPHML:
        put(s, "<data key=\"");
        put(s, key);
        put(s, "\">");
        put_xml(s, value);
        put(s, "</data>");
        return;
    case GRAPH_GEXF:
        put(s, "<attvalue for=\"");
        put(s, key);
        put(s, "\" value=\"");
        put_xml(s, value);
        put(s, "\"/>");
        return;
    case GRAPH_GML:
        put(s, " ");
        put_key(s, name);
        put(s, words || type == GRAPH_TRUTH ? " \"" : " ");
        put_xml(s, value);
        put(s, words || type == GRAPH_TRUTH ? "\"" : "");
        return;
    case GRAPH_JSON:
        put(s, ", ");
        put_json(s, name);
        put(s, ": ");
        if (words)
            put_json(s, value);
        else
            put(s, value);
    }
}

static void real(struct saving *s, const char *key, const char *name, double value)
{
    char text[32];
    number_print(text, sizeof text, "%.9g", value);
    attribute(s, key, name, GRAPH_REAL, text);
}

/* Feature columns have the keys f0, f1, …, which cannot be mistaken for names. */
static const char *feature_key(char out[32], int64_t column)
{
    snprintf(out, 32, "f%lld", (long long)column);
    return out;
}

static const char *feature_name(char out[32], const struct dataset *d, int64_t column)
{
    if (d->feature_name)
        return d->feature_name[column];
    snprintf(out, 32, "x%lld", (long long)column);
    return out;
}

static const char *extra_key(char out[32], char kind, int number)
{
    snprintf(out, 32, "%c%d", kind, number);
    return out;
}

/* A row of the table as it was; missing cells have no attribute. */
static void table_row(struct saving *s, int64_t i)
{
    const struct cells *c = s->d->cells;
    char key[32], number[32];
    for (int32_t k = 0; k < c->columns; k++) {
        double value = (double)c->value[i * c->columns + k];
        const char *name = names_at(&c->name, k), *text = NULL;
        if (isnan(value) && s->odd < c->odds && c->odd[s->odd].row == i &&
            c->odd[s->odd].column == k)
            text = names_at(&c->text, c->odd[s->odd++].text);
        /* In a column of words "none" is a value; empty cells are left out. */
        if (text && (s->text[k] ? !*text : cells_missing(text, strlen(text))))
            continue;
        number_print(number, sizeof number, "%.9g", value);
        if (s->exact < c->exacts && c->exact[s->exact].row == i && c->exact[s->exact].column == k)
            number_print(number, sizeof number, "%.17g", c->exact[s->exact++].value);
        if (text || !isnan(value))
            attribute(s, feature_key(key, k), name, s->text[k] ? GRAPH_TEXT : GRAPH_REAL,
                      text ? text : number);
    }
}

static void features(struct saving *s, int64_t i)
{
    const struct dataset *d = s->d;
    char key[32], name[32];
    if (d->cells) {
        table_row(s, i);
        return;
    }
    for (int64_t k = 0; d->dense && k < d->features; k++)
        real(s, feature_key(key, k), feature_name(name, d, k),
             (double)d->dense[i * d->features + k]);
    for (int64_t e = d->sparse ? d->sparse->start[i] : 0; d->sparse && e < d->sparse->start[i + 1];
         e++)
        real(s, feature_key(key, d->sparse->col[e]), feature_name(name, d, d->sparse->col[e]),
             d->sparse->val ? (double)d->sparse->val[e] : 1);
}

static const struct notes *notes_of(const struct saving *s, bool edge)
{
    return edge ? s->d->edge_notes : s->d->node_notes;
}

static const char *note_name(char out[NOTES_NAME], const struct notes *n, int64_t column, bool edge)
{
    return edge ? notes_edge_name(out, n, column) : names_at(&n->column, column);
}

/* Attributes that no model reads, as they were read. */
static void notes(struct saving *s, bool edge, int64_t i)
{
    static const enum graph_type type[] = {GRAPH_TEXT, GRAPH_REAL, GRAPH_TRUTH};
    const struct notes *n = notes_of(s, edge);
    size_t *at = &s->note[edge];
    char key[32], name[NOTES_NAME];
    for (; n && *at < n->count && n->note[*at].item == i; ++*at) {
        const struct note *one = &n->note[*at];
        const char *text = names_at(&n->text, one->text);
        if (one->column == (edge ? s->id : s->title))
            continue;
        enum note_kind kind = (enum note_kind)s->kind[edge][one->column];
        if (kind == NOTE_TRUTH) /* in any spelling */
            text = *text == 't' || *text == 'T' ? "true" : "false";
        attribute(s, extra_key(key, edge ? 'b' : 'a', one->column),
                  note_name(name, n, one->column, edge), type[kind], text);
    }
}

/* Whether nodes or edges already have an attribute with that name. */
static bool name_taken(const struct saving *s, const char *name, bool edge)
{
    const struct dataset *d = s->d;
    const struct notes *n = notes_of(s, edge);
    bool taken = n && names_find(&n->column, name, strlen(name)) >= 0;
    if (edge)
        return taken;
    if (d->cells)
        taken |= names_find(&d->cells->name, name, strlen(name)) >= 0;
    for (int64_t k = 0; !d->cells && d->feature_name && k < d->features; k++)
        taken |= strcmp(d->feature_name[k], name) == 0;
    return taken;
}

/* Nothing is overwritten: if a graph has such an attribute, the added one is called consm_…. */
enum { EXTRA_NAME = 64 };
static const char *extra_name(char out[EXTRA_NAME], const struct saving *s,
                              const struct graph_attribute *a, bool edge)
{
    int place = (int)(a - (edge ? s->extras->edge : s->extras->node));
    if (!(s->taken[edge] >> place & 1))
        return a->name;
    snprintf(out, EXTRA_NAME, "consm_%s", a->name);
    return out;
}

static void extras(struct saving *s, bool edge, int64_t i)
{
    char key[32], buffer[32], name[EXTRA_NAME];
    int count = !s->extras ? 0 : edge ? s->extras->edges : s->extras->nodes;
    for (int k = 0; k < count; k++) {
        const struct graph_attribute *a = edge ? &s->extras->edge[k] : &s->extras->node[k];
        const char *value = a->value(a->ctx, i, buffer);
        if (value)
            attribute(s, extra_key(key, edge ? 'e' : 'n', k), extra_name(name, s, a, edge), a->type,
                      value);
    }
}

/* ---- the head: what attributes there are --------------------------------- */

static void declare(struct saving *s, const char *key, const char *name, enum graph_type type,
                    bool edge)
{
    static const char *const types[] = {"string", "double", "boolean"};
    put(s, s->form == GRAPH_GEXF ? "<attribute id=\"" : "<key id=\"");
    put(s, key);
    put(s, s->form == GRAPH_GEXF ? "\" title=\"" : "\" attr.name=\"");
    put_xml(s, name);
    put(s, s->form == GRAPH_GEXF ? "\" type=\"" : "\" attr.type=\"");
    put(s, types[type]);
    if (s->form == GRAPH_GRAPHML)
        put(s, edge ? "\" for=\"edge" : "\" for=\"node");
    put(s, "\"/>\n");
}

static void declare_extras(struct saving *s, bool edge)
{
    char key[32], name[EXTRA_NAME];
    int count = !s->extras ? 0 : edge ? s->extras->edges : s->extras->nodes;
    for (int k = 0; k < count; k++) {
        const struct graph_attribute *a = edge ? &s->extras->edge[k] : &s->extras->node[k];
        declare(s, extra_key(key, edge ? 'e' : 'n', k), extra_name(name, s, a, edge), a->type,
                edge);
    }
}

static void declare_notes(struct saving *s, bool edge)
{
    static const enum graph_type type[] = {GRAPH_TEXT, GRAPH_REAL, GRAPH_TRUTH};
    const struct notes *n = notes_of(s, edge);
    char key[32], name[NOTES_NAME];
    for (int64_t k = 0; n && k < n->column.count; k++)
        if (k != (edge ? s->id : s->title))
            declare(s, extra_key(key, edge ? 'b' : 'a', (int)k), note_name(name, n, k, edge),
                    type[s->kind[edge][k]], edge);
}

static void declare_nodes(struct saving *s)
{
    const struct dataset *d = s->d;
    char key[32], name[32];
    if (d->classes > 0)
        declare(s, "label", "label", GRAPH_TEXT, false);
    if (d->splits == 1)
        declare(s, "split", "split", GRAPH_TEXT, false);
    for (int32_t k = 0; d->cells && k < d->cells->columns; k++)
        declare(s, feature_key(key, k), names_at(&d->cells->name, k),
                s->text[k] ? GRAPH_TEXT : GRAPH_REAL, false);
    for (int64_t k = 0; !d->cells && k < d->features; k++)
        declare(s, feature_key(key, k), feature_name(name, d, k), GRAPH_REAL, false);
    declare_notes(s, false);
    declare_extras(s, false);
}

static void head(struct saving *s)
{
    bool gexf = s->form == GRAPH_GEXF, directed = s->d->directed;
    if (s->form == GRAPH_JSON) {
        put(s, directed ? "{\"directed\": true" : "{\"directed\": false");
        put(s, ", \"multigraph\": false, \"graph\": {}, \"nodes\": [\n");
        return;
    }
    if (s->form == GRAPH_GML) {
        put(s, directed ? "graph [\n  directed 1\n" : "graph [\n  directed 0\n");
        return;
    }
    put(s, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    put(s, gexf ? "<gexf xmlns=\"http://gexf.net/1.3\" version=\"1.3\">\n<graph defaultedgetype=\""
                : "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n");
    if (gexf)
        put(s, directed ? "directed\">\n<attributes class=\"node\">\n"
                        : "undirected\">\n<attributes class=\"node\">\n");
    declare_nodes(s);
    put(s, gexf ? "</attributes>\n<attributes class=\"edge\">\n" : "");
    if (s->d->weight && !gexf)
        declare(s, "weight", "weight", GRAPH_REAL, true);
    declare_notes(s, true);
    declare_extras(s, true);
    put(s, gexf ? "</attributes>\n<nodes>\n" : "<graph edgedefault=\"");
    if (!gexf)
        put(s, directed ? "directed\">\n" : "undirected\">\n");
}

/* ---- nodes and edges ----------------------------------------------------- */

/* The display name that a node was read with, else its id. */
static const char *title_of(const struct saving *s, int64_t i, const char *name)
{
    const struct notes *n = notes_of(s, false);
    for (size_t k = s->note[0]; n && k < n->count && n->note[k].item == i; k++)
        if (n->note[k].column == s->title)
            return names_at(&n->text, n->note[k].text);
    return name;
}

static void begin_node(struct saving *s, int64_t i)
{
    char id[24], text[64];
    const char *name = dataset_node_id(s->d, i, id);
    switch (s->form) {
    case GRAPH_GRAPHML:
        put(s, "<node id=\"");
        put_xml(s, name);
        put(s, "\">");
        return;
    case GRAPH_GEXF:
        put(s, "<node id=\"");
        put_xml(s, name);
        put(s, "\" label=\"");
        put_xml(s, title_of(s, i, name));
        put(s, "\"><attvalues>");
        return;
    case GRAPH_GML:
        snprintf(text, sizeof text, "  node [ id %lld label \"", (long long)i);
        put(s, text);
        put_xml(s, name);
        put(s, "\"");
        return;
    case GRAPH_JSON:
        put(s, s->first ? "{\"id\": " : ",\n{\"id\": ");
        put_json(s, name);
        s->first = false;
    }
}

static void end_item(struct saving *s, bool edge)
{
    static const char *const node_end[] = {"</node>\n", "</attvalues></node>\n", " ]\n", "}"};
    static const char *const edge_end[] = {"</edge>\n", "</attvalues></edge>\n", " ]\n", "}"};
    put(s, edge ? edge_end[s->form] : node_end[s->form]);
}

static void save_node(struct saving *s, int64_t i)
{
    static const char *const role[] = {NULL, "train", "val", "test"};
    const struct dataset *d = s->d;
    char name[24];
    const char *label = s->form == GRAPH_GML ? "class" : "label"; /* GML's label is the id */
    begin_node(s, i);
    if (d->label[i] >= 0)
        attribute(s, "label", label, GRAPH_TEXT, dataset_class_name(d, d->label[i], name));
    if (d->splits == 1 && d->role[i] <= SPLIT_TEST && role[d->role[i]])
        attribute(s, "split", "split", GRAPH_TEXT, role[d->role[i]]);
    features(s, i);
    notes(s, false, i);
    extras(s, false, i);
    end_item(s, false);
}

static void put_end(struct saving *s, const char *word, int32_t end)
{
    char id[24];
    put(s, word);
    if (s->form == GRAPH_JSON)
        put_json(s, dataset_node_id(s->d, end, id));
    else
        put_xml(s, dataset_node_id(s->d, end, id));
}

/* The id that an edge was read with, if any: both formats allow edges without. */
static void put_edge_id(struct saving *s, int64_t e)
{
    const struct notes *n = notes_of(s, true);
    for (size_t k = s->note[1]; n && k < n->count && n->note[k].item == e; k++)
        if (n->note[k].column == s->id) {
            put(s, " id=\"");
            put_xml(s, names_at(&n->text, n->note[k].text));
            put(s, "\"");
        }
}

static void begin_edge(struct saving *s, int64_t e)
{
    char text[80];
    if (s->form == GRAPH_GML) {
        snprintf(text, sizeof text, "  edge [ source %d target %d", s->d->from[e], s->d->to[e]);
        put(s, text);
        return;
    }
    if (s->form == GRAPH_JSON) {
        put_end(s, s->first ? "{\"source\": " : ",\n{\"source\": ", s->d->from[e]);
        put_end(s, ", \"target\": ", s->d->to[e]);
        s->first = false;
        return;
    }
    put(s, "<edge");
    put_edge_id(s, e);
    put_end(s, " source=\"", s->d->from[e]);
    put_end(s, "\" target=\"", s->d->to[e]);
    if (s->form == GRAPH_GEXF && s->d->weight) {
        number_print(text, sizeof text, "\" weight=\"%.9g", (double)s->d->weight[e]);
        put(s, text);
    }
    put(s, s->form == GRAPH_GEXF ? "\"><attvalues>" : "\">");
}

static void save_edge(struct saving *s, int64_t e)
{
    begin_edge(s, e);
    if (s->d->weight && s->form != GRAPH_GEXF)
        real(s, "weight", "weight", (double)s->d->weight[e]);
    notes(s, true, e);
    extras(s, true, e);
    end_item(s, true);
}

/* ---- all of it ----------------------------------------------------------- */

/* Finds the columns of the table that hold words. */
static consm_status find_words(struct saving *s)
{
    consm_status st = CONSM_OK;
    const struct cells *c = s->d->cells;
    if (!c)
        return CONSM_OK;
    TRY(ZNEW(s->text, c->columns));
    for (size_t i = 0; i < c->odds; i++) {
        const char *text = names_at(&c->text, c->odd[i].text);
        if (!cells_missing(text, strlen(text)))
            s->text[c->odd[i].column] = 1;
    }
done:
    return st;
}

/* Finds the notes that are ids, their kinds, and extra attributes that need another name. */
static consm_status look_ahead(struct saving *s)
{
    consm_status st = CONSM_OK;
    if (s->d->edge_notes && (s->form == GRAPH_GRAPHML || s->form == GRAPH_GEXF))
        TRY(notes_ids(&s->id, s->d->edge_notes));
    if (s->d->node_notes && s->form == GRAPH_GEXF)
        s->title = names_find(&s->d->node_notes->column, NOTES_TITLE, strlen(NOTES_TITLE));
    for (int edge = 0; edge < 2; edge++) {
        const struct notes *n = notes_of(s, edge);
        int count = !s->extras ? 0 : edge ? s->extras->edges : s->extras->nodes;
        if (n)
            TRY(notes_kinds(&s->kind[edge], n));
        for (int k = 0; k < count; k++) {
            const char *name = edge ? s->extras->edge[k].name : s->extras->node[k].name;
            s->taken[edge] |= (unsigned)name_taken(s, name, edge) << k;
        }
    }
done:
    return st;
}

consm_status graph_save(const struct dataset *d, const char *path, enum graph_form form,
                        const struct graph_extras *more)
{
    static const char *const between[] = {"", "</nodes>\n<edges>\n", "", "\n], \"links\": [\n"};
    static const char *const end[] = {"</graph>\n</graphml>\n", "</edges>\n</graph>\n</gexf>\n",
                                      "]\n", "\n]}\n"};
    consm_status st = CONSM_OK;
    struct saving s = {.d = d, .extras = more, .form = form, .first = true, .id = -1, .title = -1};
    if (d->rows)
        return status_fail(CONSM_EINVAL, "%s: a graph in parts cannot be written in this format",
                           path);
    if (d->splits > 1)
        log_warn("%s: %lld splits are not written: the format can store only one", path,
                 (long long)d->splits);
    TRY(find_words(&s));
    TRY(look_ahead(&s));
    TRY(file_create(&s.w, path));
    head(&s);
    for (int64_t i = 0; i < d->nodes && s.st >= 0; i++)
        save_node(&s, i);
    put(&s, between[form]);
    s.first = true;
    for (int64_t e = 0; e < d->edges && s.st >= 0; e++)
        save_edge(&s, e);
    put(&s, end[form]);
    TRY(s.st);
    TRY(file_commit(s.w));
done:
    mem_free(s.text);
    mem_free(s.kind[0]);
    mem_free(s.kind[1]);
    file_close(s.w);
    return st;
}

consm_status graphml_save(const struct dataset *d, const char *path)
{
    return graph_save(d, path, GRAPH_GRAPHML, NULL);
}

consm_status gexf_save(const struct dataset *d, const char *path)
{
    return graph_save(d, path, GRAPH_GEXF, NULL);
}

consm_status gml_save(const struct dataset *d, const char *path)
{
    return graph_save(d, path, GRAPH_GML, NULL);
}

consm_status node_link_save(const struct dataset *d, const char *path)
{
    return graph_save(d, path, GRAPH_JSON, NULL);
}
