/* Writes GraphML 1.0 (http://graphml.graphdrawing.org), GEXF 1.3 (https://gexf.net), GML and
 * NetworkX's node-link JSON in one walk over nodes and edges: the formats differ in how an item
 * begins, how an attribute is written, and how it ends. */
#include "data/readers/graph_save_inside.h"

#include "base/log.h"
#include "base/number.h"
#include "data/table/cells.h"
#include "data/table/notes.h"

#include <stdio.h>
#include <string.h>

/* ---- nodes and edges ----------------------------------------------------- */

/* The display name that a node was read with, else its id. */
static const char *title_of(const struct saving *s, int64_t i, const char *name)
{
    const struct notes *n = saving_notes_of(s, false);
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
        saving_put(s, "<node id=\"");
        saving_xml(s, name);
        saving_put(s, "\">");
        return;
    case GRAPH_GEXF:
        saving_put(s, "<node id=\"");
        saving_xml(s, name);
        saving_put(s, "\" label=\"");
        saving_xml(s, title_of(s, i, name));
        saving_put(s, "\"><attvalues>");
        return;
    case GRAPH_GML:
        snprintf(text, sizeof text, "  node [ id %lld label \"", (long long)i);
        saving_put(s, text);
        saving_xml(s, name);
        saving_put(s, "\"");
        return;
    case GRAPH_JSON:
        saving_put(s, s->first ? "{\"id\": " : ",\n{\"id\": ");
        saving_json(s, name);
        s->first = false;
    }
}

static void end_item(struct saving *s, bool edge)
{
    static const char *const node_end[] = {"</node>\n", "</attvalues></node>\n", " ]\n", "}"};
    static const char *const edge_end[] = {"</edge>\n", "</attvalues></edge>\n", " ]\n", "}"};
    saving_put(s, edge ? edge_end[s->form] : node_end[s->form]);
}

static void save_node(struct saving *s, int64_t i)
{
    static const char *const role[] = {NULL, "train", "val", "test"};
    const struct dataset *d = s->d;
    char name[24];
    const char *label = s->form == GRAPH_GML ? "class" : "label"; /* GML's label is the id */
    begin_node(s, i);
    if (d->label[i] >= 0)
        saving_attribute(s, "label", label, GRAPH_TEXT, dataset_class_name(d, d->label[i], name));
    if (d->splits == 1 && d->role[i] <= SPLIT_TEST && role[d->role[i]])
        saving_attribute(s, "split", "split", GRAPH_TEXT, role[d->role[i]]);
    saving_features(s, i);
    saving_notes(s, false, i);
    saving_extras(s, false, i);
    end_item(s, false);
}

static void put_end(struct saving *s, const char *word, int32_t end)
{
    char id[24];
    saving_put(s, word);
    if (s->form == GRAPH_JSON)
        saving_json(s, dataset_node_id(s->d, end, id));
    else
        saving_xml(s, dataset_node_id(s->d, end, id));
}

/* The id that an edge was read with, if any: both formats allow edges without. */
static void put_edge_id(struct saving *s, int64_t e)
{
    const struct notes *n = saving_notes_of(s, true);
    for (size_t k = s->note[1]; n && k < n->count && n->note[k].item == e; k++)
        if (n->note[k].column == s->id) {
            saving_put(s, " id=\"");
            saving_xml(s, names_at(&n->text, n->note[k].text));
            saving_put(s, "\"");
        }
}

static void begin_edge(struct saving *s, int64_t e)
{
    char text[80];
    if (s->form == GRAPH_GML) {
        snprintf(text, sizeof text, "  edge [ source %d target %d", s->d->from[e], s->d->to[e]);
        saving_put(s, text);
        return;
    }
    if (s->form == GRAPH_JSON) {
        put_end(s, s->first ? "{\"source\": " : ",\n{\"source\": ", s->d->from[e]);
        put_end(s, ", \"target\": ", s->d->to[e]);
        s->first = false;
        return;
    }
    saving_put(s, "<edge");
    put_edge_id(s, e);
    put_end(s, " source=\"", s->d->from[e]);
    put_end(s, "\" target=\"", s->d->to[e]);
    if (s->form == GRAPH_GEXF && s->d->weight) {
        number_print(text, sizeof text, "\" weight=\"%.9g", (double)s->d->weight[e]);
        saving_put(s, text);
    }
    saving_put(s, s->form == GRAPH_GEXF ? "\"><attvalues>" : "\">");
}

static void save_edge(struct saving *s, int64_t e)
{
    begin_edge(s, e);
    if (s->d->weight && s->form != GRAPH_GEXF)
        saving_real(s, "weight", "weight", (double)s->d->weight[e]);
    saving_notes(s, true, e);
    saving_extras(s, true, e);
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
        const struct notes *n = saving_notes_of(s, edge);
        int count = !s->extras ? 0 : edge ? s->extras->edges : s->extras->nodes;
        if (n)
            TRY(notes_kinds(&s->kind[edge], n));
        for (int k = 0; k < count; k++) {
            const char *name = edge ? s->extras->edge[k].name : s->extras->node[k].name;
            s->taken[edge] |= (unsigned)saving_has(s, name, edge) << k;
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
    saving_head(&s);
    for (int64_t i = 0; i < d->nodes && s.st >= 0; i++)
        save_node(&s, i);
    saving_put(&s, between[form]);
    s.first = true;
    for (int64_t e = 0; e < d->edges && s.st >= 0; e++)
        save_edge(&s, e);
    saving_put(&s, end[form]);
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
