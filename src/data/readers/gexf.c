/* GEXF 1.1 to 1.3 as Gephi and networkx write it: <attributes class="node"> name the attributes,
 * <attvalue for="0" value="…"/> give them. Dynamic data (spells, dynamic attributes) is read
 * without its time. */
#include "data/readers/graph_maker.h"

#include <string.h>

#include "io/xml.h"

enum { MOST_TITLES = 4096 };

/* The attributes of one class: ids, and the title of each. */
struct titles {
    struct names id, title;
    int64_t at[MOST_TITLES];
};

struct gexf {
    struct graph_maker *m;
    struct xml xml;
    struct titles of[2]; /* nodes, edges */
    int declaring;       /* the one being declared, or -1 */
    int64_t attribute;   /* the open one, an index into of[declaring], or -1 */
    bool is_default;
    int64_t node; /* the open one, or -1 */
    bool edge;
};

static consm_status open_attribute(struct gexf *g)
{
    consm_status st = CONSM_OK;
    struct titles *t = &g->of[g->declaring];
    const char *id = xml_attribute(&g->xml, "id"), *title = xml_attribute(&g->xml, "title");
    int64_t place, before = t->id.count;
    if (!id)
        return xml_fail(&g->xml, "the XML attribute id");
    if (before == MOST_TITLES)
        return xml_fail(&g->xml, "at most %d attributes", MOST_TITLES);
    title = title && *title ? title : id;
    TRY(names_add(&place, &t->id, id, strlen(id)));
    if (place != before)
        return xml_fail(&g->xml, "a unique attribute id");
    TRY(names_add(&t->at[before], &t->title, title, strlen(title)));
    g->attribute = before;
done:
    return st;
}

/* <attvalue for="0" value="3"/>; GEXF 1.0 said id. */
static consm_status read_value(struct gexf *g)
{
    if (g->node < 0 && !g->edge)
        return xml_fail(&g->xml, "an attvalue inside a node or an edge");
    const char *of = xml_attribute(&g->xml, "for"), *value = xml_attribute(&g->xml, "value");
    const struct titles *t = &g->of[g->edge];
    of = of ? of : xml_attribute(&g->xml, "id");
    if (!of || !value)
        return xml_fail(&g->xml, "the XML attributes for and value");
    int64_t place = names_find(&t->id, of, strlen(of));
    if (place < 0)
        return xml_fail(&g->xml, "an attribute declared above, not \"%.40s\"", of);
    const char *title = names_at(&t->title, t->at[place]);
    if (g->edge)
        return maker_edge_value(g->m, title, value, xml_line(&g->xml));
    return maker_value(g->m, g->node, title, value, xml_line(&g->xml));
}

static consm_status open_edge(struct gexf *g)
{
    consm_status st = CONSM_OK;
    struct xml *x = &g->xml;
    const char *from = xml_attribute(x, "source"), *to = xml_attribute(x, "target");
    const char *weight = xml_attribute(x, "weight"), *type = xml_attribute(x, "type");
    if (!from || !to)
        return xml_fail(x, "the XML attributes source and target");
    g->edge = true;
    g->m->directed |= type && strcmp(type, "directed") == 0;
    TRY(maker_edge(g->m, from, to, xml_line(x)));
    TRY(maker_edge_id(g->m, xml_attribute(x, "id"), xml_line(x)));
    if (weight && !g->m->reading->wanted.weight)
        TRY(maker_edge_value(g->m, "weight", weight, xml_line(x)));
done:
    return st;
}

/* Declarations may not be inside each other, nodes or edges. */
static consm_status open_declaration(struct gexf *g)
{
    struct xml *x = &g->xml;
    bool attributes = xml_is(x, "attributes");
    if (g->node >= 0 || g->edge || g->attribute >= 0 || (attributes && g->declaring >= 0))
        return xml_fail(x, "<%s> outside of nodes, edges and other attributes",
                        attributes ? "attributes" : "attribute");
    if (attributes) {
        const char *text = xml_attribute(x, "class");
        g->declaring = text && strcmp(text, "edge") == 0;
        return CONSM_OK;
    }
    return g->declaring >= 0 ? open_attribute(g) : CONSM_OK;
}

static consm_status open_node(struct gexf *g)
{
    const char *id = xml_attribute(&g->xml, "id");
    if (g->node >= 0 || g->edge)
        return xml_fail(&g->xml, "<node> outside of nodes and edges");
    if (!id)
        return xml_fail(&g->xml, "the XML attribute id");
    consm_status st = maker_node(&g->node, g->m, id, xml_line(&g->xml));
    const char *title = xml_attribute(&g->xml, "label");
    if (st < 0 || !title || !g->m->reading->wanted.notes || g->node < 0)
        return st;
    g->m->has_titles = true;
    return maker_value(g->m, g->node, NOTES_TITLE, title, xml_line(&g->xml));
}

static consm_status open_element(struct gexf *g)
{
    consm_status st = CONSM_OK;
    struct xml *x = &g->xml;
    const char *text;
    if (xml_is(x, "graph")) {
        if (x->depth > 2)
            return xml_fail(x, "one <graph>, not a nested one");
        text = xml_attribute(x, "defaultedgetype");
        g->m->directed = text && strcmp(text, "directed") == 0;
    } else if (xml_is(x, "attributes") || xml_is(x, "attribute")) {
        TRY(open_declaration(g));
    } else if (xml_is(x, "default")) {
        g->is_default = g->attribute >= 0 && g->declaring >= 0;
    } else if (xml_is(x, "node")) {
        TRY(open_node(g));
    } else if (xml_is(x, "edge")) {
        if (g->node >= 0 || g->edge)
            return xml_fail(x, "<edge> outside of nodes and edges");
        TRY(open_edge(g));
    } else if (xml_is(x, "attvalue")) {
        TRY(read_value(g));
    }
done:
    return st;
}

static void close_element(struct gexf *g)
{
    const struct xml *x = &g->xml;
    if (xml_is(x, "node"))
        g->node = -1;
    else if (xml_is(x, "edge"))
        g->edge = false;
    else if (xml_is(x, "attributes"))
        g->declaring = -1;
    else if (xml_is(x, "attribute"))
        g->attribute = -1;
    else if (xml_is(x, "default"))
        g->is_default = false;
}

static consm_status read_text(struct gexf *g)
{
    if (!g->is_default)
        return CONSM_OK;
    const struct titles *t = &g->of[g->declaring];
    const char *title = names_at(&t->title, t->at[g->attribute]);
    if (g->declaring == 1)
        return maker_edge_default(g->m, title, g->xml.buffer, xml_line(&g->xml));
    return maker_value(g->m, -1, title, g->xml.buffer, xml_line(&g->xml));
}

consm_status gexf_read(struct graph_maker *m)
{
    consm_status st = CONSM_OK;
    struct gexf *g = NULL;
    enum xml_kind kind = XML_TEXT;
    TRY(ZNEW(g, 1));
    g->m = m;
    g->declaring = -1;
    g->node = g->attribute = -1;
    m->declares = true;
    xml_start(&g->xml, m->file);
    while (kind != XML_END) {
        TRY(xml_next(&kind, &g->xml));
        if (kind == XML_OPEN && g->xml.depth == 1 && !xml_is(&g->xml, "gexf"))
            TRY(xml_fail(&g->xml, "<gexf>"));
        if (kind == XML_OPEN)
            TRY(open_element(g));
        else if (kind == XML_TEXT)
            TRY(read_text(g));
        else if (kind == XML_CLOSE)
            close_element(g);
    }
done:
    if (g) {
        xml_free(&g->xml);
        for (int i = 0; i < 2; i++) {
            names_free(&g->of[i].id);
            names_free(&g->of[i].title);
        }
    }
    mem_free(g);
    return st;
}

enum sniffed gexf_sniff(const struct probe *p)
{
    return maker_opens_with(p, "<gexf") ? SNIFF_YES : SNIFF_NO;
}

consm_status gexf_load(struct dataset **out, const char *path, struct reading_options *reading)
{
    return maker_load(out, path, reading, gexf_read);
}
