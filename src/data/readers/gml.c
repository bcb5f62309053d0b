/* GML (Himsolt 1996) as networkx, igraph and Newman's collection write it: keys and values, lists
 * in square brackets. Edges name nodes by id. Nodes are named by their label if all labels are
 * different, so the class is not called label here. Lists inside nodes (graphics) are ignored. */
#include "data/readers/graph_maker.h"

#include <string.h>

#include "base/utf8.h"

enum { DEPTH = 64 };

enum list { LIST_OTHER, LIST_GRAPH, LIST_NODE, LIST_EDGE };

/* An attribute of the open node or edge; key and text are terminated strings in room. */
struct pending {
    size_t key, text;
    int64_t line;
};

struct gml {
    struct graph_maker *m;
    const char *at, *end;
    int64_t line;
    int depth;
    enum list open[DEPTH];
    int64_t begun; /* the line where the node or edge began */
    struct pending *pending;
    size_t pendings, pending_capacity;
    char *room;
    size_t used, capacity;
};

static consm_status fail(const struct gml *g, const char *expected)
{
    return status_fail(CONSM_EFORMAT, "%s: line %lld: expected %s", g->m->file->name,
                       (long long)g->line, expected);
}

/* Skips blanks and comments. */
static void skip(struct gml *g)
{
    bool comment = false;
    for (; g->at < g->end; g->at++) {
        comment = *g->at == '\n' ? false : comment || (*g->at == '#');
        g->line += *g->at == '\n';
        if (!comment && !(*g->at && strchr(" \t\r\n", *g->at)))
            break;
    }
}

static consm_status put(size_t *at, struct gml *g, const char *text, size_t length)
{
    consm_status st = CONSM_OK;
    *at = g->used;
    TRY(GROW(g->room, g->used, g->capacity, length + 1));
    memcpy(g->room + g->used, text, length);
    g->used += length;
    g->room[g->used++] = 0;
done:
    return st;
}

/* A word: a key or a number. */
static consm_status read_word(size_t *at, struct gml *g)
{
    const char *from = g->at;
    while (g->at < g->end && *g->at && !strchr(" \t\r\n[]\"#", *g->at))
        g->at++;
    if (g->at == from || g->at - from > 200)
        return fail(g, "a key, as in node [ id 1 ]");
    return put(at, g, from, (size_t)(g->at - from));
}

/* networkx writes what is not ASCII, and quotes, as &#233; and &quot;. */
static void decode(char *text)
{
    static const struct {
        const char *name;
        char character;
    } known[] = {{"&quot;", '"'}, {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&apos;", '\''}};
    char *to = text;
    while (*text) {
        size_t i = 0, taken, length = 0;
        uint32_t c = 0;
        for (taken = 2;
             strncmp(text, "&#", 2) == 0 && taken < 9 && text[taken] >= '0' && text[taken] <= '9';
             taken++)
            c = c * 10 + (uint32_t)(text[taken] - '0');
        if (c >= ' ' && text[taken] == ';')
            length = utf8_put(to, c); /* never longer than its number */
        while (length == 0 && i < sizeof known / sizeof *known &&
               strncmp(text, known[i].name, strlen(known[i].name)) != 0)
            i++;
        if (length > 0) {
            to += length;
            text += taken + 1;
        } else if (i < sizeof known / sizeof *known) {
            *to++ = known[i].character;
            text += strlen(known[i].name);
        } else {
            *to++ = *text++;
        }
    }
    *to = 0;
}

static consm_status read_string(size_t *at, struct gml *g)
{
    consm_status st = CONSM_OK;
    const char *from = ++g->at, *quote = memchr(from, '"', (size_t)(g->end - from));
    if (!quote || memchr(from, 0, (size_t)(quote - from)))
        return fail(g, "a closing quote");
    TRY(put(at, g, from, (size_t)(quote - from)));
    for (; g->at < quote; g->at++)
        g->line += *g->at == '\n';
    g->at++;
    decode(g->room + *at);
done:
    return st;
}

static const char *find(const struct gml *g, const char *key)
{
    for (size_t k = 0; k < g->pendings; k++)
        if (strcmp(g->room + g->pending[k].key, key) == 0)
            return g->room + g->pending[k].text;
    return NULL;
}

static consm_status close_node(struct gml *g)
{
    consm_status st = CONSM_OK;
    const char *id = find(g, "id");
    int64_t node;
    if (!id)
        return maker_fault(g->m, g->begun, "a node has no id");
    TRY(maker_node(&node, g->m, id, g->begun));
    for (size_t k = 0; k < g->pendings; k++) {
        const struct pending *p = &g->pending[k];
        if (strcmp(g->room + p->key, "id") != 0)
            TRY(maker_value(g->m, node, g->room + p->key, g->room + p->text, p->line));
    }
done:
    return st;
}

static consm_status close_edge(struct gml *g)
{
    consm_status st = CONSM_OK;
    const char *from = find(g, "source"), *to = find(g, "target");
    if (!from || !to)
        return maker_fault(g->m, g->begun, "an edge lacks source or target");
    TRY(maker_edge(g->m, from, to, g->begun));
    TRY(maker_edge_id(g->m, find(g, "id"), g->begun));
    for (size_t k = 0; k < g->pendings; k++) {
        const char *key = g->room + g->pending[k].key;
        if (strcmp(key, "source") != 0 && strcmp(key, "target") != 0 && strcmp(key, "key") != 0 &&
            strcmp(key, "id") != 0)
            TRY(maker_edge_value(g->m, key, g->room + g->pending[k].text, g->pending[k].line));
    }
done:
    return st;
}

static consm_status open_list(struct gml *g, const char *key)
{
    enum list around = g->depth ? g->open[g->depth - 1] : LIST_OTHER;
    enum list kind = LIST_OTHER;
    if (g->depth == DEPTH)
        return fail(g, "at most 64 nested lists");
    if (g->depth == 0 && strcmp(key, "graph") == 0)
        kind = LIST_GRAPH;
    else if (around == LIST_GRAPH && strcmp(key, "node") == 0)
        kind = LIST_NODE;
    else if (around == LIST_GRAPH && strcmp(key, "edge") == 0)
        kind = LIST_EDGE;
    if (kind == LIST_NODE || kind == LIST_EDGE)
        g->begun = g->line;
    g->open[g->depth++] = kind;
    return CONSM_OK;
}

static consm_status close_list(struct gml *g)
{
    consm_status st = CONSM_OK;
    g->at++;
    if (g->depth == 0)
        return fail(g, "[ before ]");
    enum list kind = g->open[--g->depth];
    if (kind == LIST_NODE)
        TRY(close_node(g));
    if (kind == LIST_EDGE)
        TRY(close_edge(g));
    if (kind == LIST_NODE || kind == LIST_EDGE)
        g->pendings = g->used = 0;
done:
    return st;
}

/* A value after its key, or the start of a list. */
static consm_status read_value(struct gml *g, size_t key)
{
    consm_status st = CONSM_OK;
    enum list around = g->depth ? g->open[g->depth - 1] : LIST_OTHER;
    int64_t line = g->line;
    size_t text;
    if (g->at < g->end && *g->at == '[') {
        g->at++;
        return open_list(g, g->room + key);
    }
    TRY(g->at < g->end && *g->at == '"' ? read_string(&text, g) : read_word(&text, g));
    if (around == LIST_NODE || around == LIST_EDGE) {
        TRY(GROW(g->pending, g->pendings, g->pending_capacity, 1));
        g->pending[g->pendings++] = (struct pending){key, text, line};
    } else {
        if (around == LIST_GRAPH && strcmp(g->room + key, "directed") == 0)
            g->m->directed = strcmp(g->room + text, "1") == 0;
        bool inside = g->pendings > 0; /* a list in a node: its keys are ignored */
        g->used = inside ? key : 0;
    }
done:
    return st;
}

consm_status gml_read(struct graph_maker *m)
{
    consm_status st = CONSM_OK;
    const char *text = m->file->size ? m->file->data : "";
    struct gml g = {.m = m, .at = text, .end = text + m->file->size, .line = 1};
    size_t key;
    m->declares = true;
    m->name_column = "label";
    for (;;) {
        skip(&g);
        if (g.at == g.end)
            break;
        if (*g.at == ']') {
            TRY(close_list(&g));
            continue;
        }
        TRY(read_word(&key, &g));
        skip(&g);
        TRY(read_value(&g, key));
    }
    if (g.depth > 0)
        TRY(fail(&g, "] before the end of the file"));
done:
    mem_free(g.pending);
    mem_free(g.room);
    return st;
}

/* "graph [", possibly after comments and "Creator …". */
enum sniffed gml_sniff(const struct probe *p)
{
    enum { LOOK = 4096 };
    size_t length = p->file.size < LOOK ? p->file.size : LOOK;
    const char *text = p->file.data;
    if (p->folder || length == 0 || memchr(text, 0, length) || *text == '<' || *text == '{')
        return SNIFF_NO;
    for (const char *at = text; (at = memmem(at, length - (size_t)(at - text), "graph", 5)); at++) {
        const char *behind = at + 5;
        while (behind < text + length && strchr(" \t\r\n", *behind))
            behind++;
        if ((at == text || at[-1] == '\n' || at[-1] == ' ') && behind < text + length &&
            *behind == '[')
            return SNIFF_YES;
    }
    return SNIFF_NO;
}

consm_status gml_load(struct dataset **out, const char *path, struct reading_options *reading)
{
    return maker_load(out, path, reading, gml_read);
}
