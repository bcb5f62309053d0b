/*
 * GraphML as networkx, Gephi, igraph and yEd write it: <key>s name the attributes of nodes and
 * edges, <data> elements give them. Graphs inside nodes, and hyperedges, are refused.
 */
#include "data/readers/graph_maker.h"

#include <stdio.h>
#include <string.h>

#include "io/xml.h"

/* The state of the reader. */
struct graphml {
    struct graph_maker *m;
    struct xml xml;
    struct names key;   /* ids of <key>s */
    struct names named; /* "1name": attributes of nodes, "2name": of edges, "3name": of both */
    int64_t *name;      /* (keys) the index of each in named */
    size_t name_capacity;
    int64_t node;               /* the open one, or -1 */
    bool edge;                  /* one is open */
    int64_t data;               /* the open <data>'s or <key>'s key, or -1 */
    bool declaring, is_default; /* a <key> is open, and its <default> */
};

enum { FOR_OTHER = 0, FOR_NODE = 1, FOR_EDGE = 2 }; /* bits */

static const char *need(struct graphml *g, const char *name, consm_status *st)
{
    const char *value = xml_attribute(&g->xml, name);
    if (!value && *st >= 0)
        *st = xml_fail(&g->xml, "the XML attribute %s", name);
    return value;
}

/* <key id="d0" for="node" attr.name="club" attr.type="string">; yEd has keys without a name. */
static consm_status open_key(struct graphml *g)
{
    consm_status st = CONSM_OK;
    const char *id = need(g, "id", &st), *of = xml_attribute(&g->xml, "for");
    const char *name = xml_attribute(&g->xml, "attr.name");
    char full[512];
    int64_t place, before = g->key.count;
    if (st < 0)
        return st;
    if (strlen(id) > 200 || (name && strlen(name) > 200))
        return xml_fail(&g->xml, "names of at most 200 bytes");
    if (g->node >= 0 || g->edge || g->data >= 0)
        return xml_fail(&g->xml, "<key> outside of nodes, edges and other keys");
    int kind = !of || strcmp(of, "all") == 0 ? FOR_NODE | FOR_EDGE
               : strcmp(of, "node") == 0     ? FOR_NODE
               : strcmp(of, "edge") == 0     ? FOR_EDGE
                                             : FOR_OTHER;
    if (!name && xml_attribute(&g->xml, "yfiles.type"))
        kind = FOR_OTHER;
    TRY(names_add(&place, &g->key, id, strlen(id)));
    if (place != before)
        return xml_fail(&g->xml, "a unique key id");
    snprintf(full, sizeof full, "%c%s", '0' + kind, name ? name : id);
    TRY(names_add(&place, &g->named, full, strlen(full)));
    TRY(GROW(g->name, before, g->name_capacity, 1));
    g->name[before] = place;
    g->data = before;
    g->declaring = true;
done:
    return st;
}

static consm_status open_data(struct graphml *g)
{
    consm_status st = CONSM_OK;
    const char *key = need(g, "key", &st);
    if (st < 0)
        return st;
    if (g->data >= 0)
        return xml_fail(&g->xml, "<data> outside of <key> and <data>");
    g->data = names_find(&g->key, key, strlen(key));
    if (g->data < 0)
        return xml_fail(&g->xml, "a key declared above, not \"%.40s\"", key);
    return CONSM_OK;
}

static consm_status open_element(struct graphml *g)
{
    consm_status st = CONSM_OK;
    struct xml *x = &g->xml;
    const char *a, *b;
    if (xml_is(x, "key")) {
        TRY(open_key(g));
    } else if (xml_is(x, "graph")) {
        if (g->node >= 0 || x->depth > 2)
            return xml_fail(x, "one <graph>, not a nested one");
        a = xml_attribute(x, "edgedefault");
        g->m->directed = a && strcmp(a, "directed") == 0;
    } else if (xml_is(x, "node")) {
        a = need(g, "id", &st);
        if (g->node >= 0 || g->edge)
            return xml_fail(x, "<node> outside of nodes and edges");
        if (st >= 0)
            TRY(maker_node(&g->node, g->m, a, xml_line(x)));
    } else if (xml_is(x, "edge")) {
        a = need(g, "source", &st);
        b = need(g, "target", &st);
        if (g->node >= 0 || g->edge)
            return xml_fail(x, "<edge> outside of nodes and edges");
        if (st >= 0)
            TRY(maker_edge(g->m, a, b, xml_line(x)));
        if (st >= 0)
            TRY(maker_edge_id(g->m, xml_attribute(x, "id"), xml_line(x)));
        g->edge = true;
    } else if (xml_is(x, "data")) {
        TRY(open_data(g));
    } else if (xml_is(x, "default")) {
        g->is_default = g->declaring;
    } else if (xml_is(x, "hyperedge")) {
        return xml_fail(x, "edges between two nodes, not hyperedges");
    }
done:
    return st;
}

static consm_status read_text(struct graphml *g)
{
    consm_status st = CONSM_OK;
    const char *text = g->xml.buffer;
    int64_t line = xml_line(&g->xml);
    if (g->data < 0 || text[strspn(text, " \t\r\n")] == 0 || (g->declaring && !g->is_default))
        return CONSM_OK;
    const char *name = names_at(&g->named, g->name[g->data]) + 1;
    int kind = name[-1] - '0';
    if ((kind & FOR_NODE) && (g->is_default || g->node >= 0))
        TRY(maker_value(g->m, g->is_default ? -1 : g->node, name, text, line));
    if ((kind & FOR_EDGE) && g->is_default)
        TRY(maker_edge_default(g->m, name, text, line));
    else if ((kind & FOR_EDGE) && g->edge)
        TRY(maker_edge_value(g->m, name, text, line));
done:
    return st;
}

static void close_element(struct graphml *g)
{
    const struct xml *x = &g->xml;
    if (xml_is(x, "node"))
        g->node = -1;
    else if (xml_is(x, "edge"))
        g->edge = false;
    else if (xml_is(x, "data") || xml_is(x, "key"))
        g->data = -1, g->declaring = false;
    else if (xml_is(x, "default"))
        g->is_default = false;
}

consm_status graphml_read(struct graph_maker *m)
{
    consm_status st = CONSM_OK;
    struct graphml g = {.m = m, .node = -1, .data = -1};
    enum xml_kind kind = XML_TEXT;
    m->declares = true;
    xml_start(&g.xml, m->file);
    while (kind != XML_END) {
        TRY(xml_next(&kind, &g.xml));
        if (kind == XML_OPEN && g.xml.depth == 1 && !xml_is(&g.xml, "graphml"))
            TRY(xml_fail(&g.xml, "<graphml>"));
        if (kind == XML_OPEN)
            TRY(open_element(&g));
        else if (kind == XML_TEXT)
            TRY(read_text(&g));
        else if (kind == XML_CLOSE)
            close_element(&g);
    }
done:
    xml_free(&g.xml);
    names_free(&g.key);
    names_free(&g.named);
    mem_free(g.name);
    return st;
}

enum sniffed graphml_sniff(const struct probe *p)
{
    return maker_opens_with(p, "<graphml") ? SNIFF_YES : SNIFF_NO;
}

consm_status graphml_load(struct dataset **out, const char *path, struct reading_options *reading)
{
    return maker_load(out, path, reading, graphml_read);
}
