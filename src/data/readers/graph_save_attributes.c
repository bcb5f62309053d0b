/* Attributes of nodes and edges in graph files: their declarations in the head, their values, and
 * the text of each format. */
#include "data/readers/graph_save_inside.h"

#include "base/number.h"
#include "data/table/cells.h"
#include "data/table/notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- text ---------------------------------------------------------------- */

void saving_put(struct saving *s, const char *text)
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
void saving_xml(struct saving *s, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&': saving_put(s, "&amp;"); break;
        case '<': saving_put(s, "&lt;"); break;
        case '>': saving_put(s, "&gt;"); break;
        case '"': saving_put(s, "&quot;"); break;
        case '\n': saving_put(s, "&#10;"); break;
        case '\t': saving_put(s, "&#9;"); break;
        case '\r': saving_put(s, "&#13;"); break;
        default:
            if ((unsigned char)*text < 0x20)
                saving_put(s, "\xef\xbf\xbd");
            else
                put_byte(s, *text);
        }
}

void saving_json(struct saving *s, const char *text)
{
    char code[8];
    saving_put(s, "\"");
    for (; *text; text++)
        if (*text == '"' || *text == '\\') {
            put_byte(s, '\\');
            put_byte(s, *text);
        } else if ((unsigned char)*text < 0x20) {
            snprintf(code, sizeof code, "\\u%04x", (unsigned)*text);
            saving_put(s, code);
        } else {
            put_byte(s, *text);
        }
    saving_put(s, "\"");
}

/* GML's keys are letters and digits. */
static void put_key(struct saving *s, const char *name)
{
    if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z')))
        saving_put(s, "x");
    for (; *name; name++) {
        bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                     (*name >= '0' && *name <= '9');
        put_byte(s, plain ? *name : '_');
    }
}

/* ---- attributes ---------------------------------------------------------- */

void saving_attribute(struct saving *s, const char *key, const char *name, enum graph_type type,
                      const char *value)
{
    bool words = type == GRAPH_TEXT;
    switch (s->form) {
    case GRAPH_GRAPHML:
        saving_put(s, "<data key=\"");
        saving_put(s, key);
        saving_put(s, "\">");
        saving_xml(s, value);
        saving_put(s, "</data>");
        return;
    case GRAPH_GEXF:
        saving_put(s, "<attvalue for=\"");
        saving_put(s, key);
        saving_put(s, "\" value=\"");
        saving_xml(s, value);
        saving_put(s, "\"/>");
        return;
    case GRAPH_GML:
        saving_put(s, " ");
        put_key(s, name);
        saving_put(s, words || type == GRAPH_TRUTH ? " \"" : " ");
        saving_xml(s, value);
        saving_put(s, words || type == GRAPH_TRUTH ? "\"" : "");
        return;
    case GRAPH_JSON:
        saving_put(s, ", ");
        saving_json(s, name);
        saving_put(s, ": ");
        if (words)
            saving_json(s, value);
        else
            saving_put(s, value);
    }
}

void saving_real(struct saving *s, const char *key, const char *name, double value)
{
    char text[32];
    number_print(text, sizeof text, "%.9g", value);
    saving_attribute(s, key, name, GRAPH_REAL, text);
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
            saving_attribute(s, feature_key(key, k), name, s->text[k] ? GRAPH_TEXT : GRAPH_REAL,
                             text ? text : number);
    }
}

void saving_features(struct saving *s, int64_t i)
{
    const struct dataset *d = s->d;
    char key[32], name[32];
    if (d->cells) {
        table_row(s, i);
        return;
    }
    for (int64_t k = 0; d->dense && k < d->features; k++)
        saving_real(s, feature_key(key, k), feature_name(name, d, k),
                    (double)d->dense[i * d->features + k]);
    for (int64_t e = d->sparse ? d->sparse->start[i] : 0; d->sparse && e < d->sparse->start[i + 1];
         e++)
        saving_real(s, feature_key(key, d->sparse->col[e]),
                    feature_name(name, d, d->sparse->col[e]),
                    d->sparse->val ? (double)d->sparse->val[e] : 1);
}

const struct notes *saving_notes_of(const struct saving *s, bool edge)
{
    return edge ? s->d->edge_notes : s->d->node_notes;
}

static const char *note_name(char out[NOTES_NAME], const struct notes *n, int64_t column, bool edge)
{
    return edge ? notes_edge_name(out, n, column) : names_at(&n->column, column);
}

/* Attributes that no model reads, as they were read. */
void saving_notes(struct saving *s, bool edge, int64_t i)
{
    static const enum graph_type type[] = {GRAPH_TEXT, GRAPH_REAL, GRAPH_TRUTH};
    const struct notes *n = saving_notes_of(s, edge);
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
        saving_attribute(s, extra_key(key, edge ? 'b' : 'a', one->column),
                         note_name(name, n, one->column, edge), type[kind], text);
    }
}

bool saving_has(const struct saving *s, const char *name, bool edge)
{
    const struct dataset *d = s->d;
    const struct notes *n = saving_notes_of(s, edge);
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

void saving_extras(struct saving *s, bool edge, int64_t i)
{
    char key[32], buffer[32], name[EXTRA_NAME];
    int count = !s->extras ? 0 : edge ? s->extras->edges : s->extras->nodes;
    for (int k = 0; k < count; k++) {
        const struct graph_attribute *a = edge ? &s->extras->edge[k] : &s->extras->node[k];
        const char *value = a->value(a->ctx, i, buffer);
        if (value)
            saving_attribute(s, extra_key(key, edge ? 'e' : 'n', k), extra_name(name, s, a, edge),
                             a->type, value);
    }
}

/* ---- the head: what attributes there are --------------------------------- */

static void declare(struct saving *s, const char *key, const char *name, enum graph_type type,
                    bool edge)
{
    static const char *const types[] = {"string", "double", "boolean"};
    saving_put(s, s->form == GRAPH_GEXF ? "<attribute id=\"" : "<key id=\"");
    saving_put(s, key);
    saving_put(s, s->form == GRAPH_GEXF ? "\" title=\"" : "\" attr.name=\"");
    saving_xml(s, name);
    saving_put(s, s->form == GRAPH_GEXF ? "\" type=\"" : "\" attr.type=\"");
    saving_put(s, types[type]);
    if (s->form == GRAPH_GRAPHML)
        saving_put(s, edge ? "\" for=\"edge" : "\" for=\"node");
    saving_put(s, "\"/>\n");
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
    const struct notes *n = saving_notes_of(s, edge);
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

void saving_head(struct saving *s)
{
    bool gexf = s->form == GRAPH_GEXF, directed = s->d->directed;
    if (s->form == GRAPH_JSON) {
        saving_put(s, directed ? "{\"directed\": true" : "{\"directed\": false");
        saving_put(s, ", \"multigraph\": false, \"graph\": {}, \"nodes\": [\n");
        return;
    }
    if (s->form == GRAPH_GML) {
        saving_put(s, directed ? "graph [\n  directed 1\n" : "graph [\n  directed 0\n");
        return;
    }
    saving_put(s, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    saving_put(
        s, gexf ? "<gexf xmlns=\"http://gexf.net/1.3\" version=\"1.3\">\n<graph defaultedgetype=\""
                : "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n");
    if (gexf)
        saving_put(s, directed ? "directed\">\n<attributes class=\"node\">\n"
                               : "undirected\">\n<attributes class=\"node\">\n");
    declare_nodes(s);
    saving_put(s, gexf ? "</attributes>\n<attributes class=\"edge\">\n" : "");
    if (s->d->weight && !gexf)
        declare(s, "weight", "weight", GRAPH_REAL, true);
    declare_notes(s, true);
    declare_extras(s, true);
    saving_put(s, gexf ? "</attributes>\n<nodes>\n" : "<graph edgedefault=\"");
    if (!gexf)
        saving_put(s, directed ? "directed\">\n" : "undirected\">\n");
}
