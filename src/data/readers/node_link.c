/* Node-link JSON, as written by networkx.node_link_data and d3: {"directed": false, "nodes":
 * [{"id": 0, "club": "Mr. Hi"}, …], "links": [{"source": 0, "target": 1, "weight": 4}, …]}; newer
 * versions say "edges". jansson parses it, which bounds nesting (2,048) and takes at most about 120
 * bytes per value. */
#include "data/readers/graph_maker.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"

enum { MOST_BYTES = 1 << 30 };

/* The shortest digits that give the number back. */
static void shortest(char number[40], double value)
{
    char *end;
    for (int digits = 15; digits <= 17; digits++) {
        number_print(number, 40, "%.*g", digits, value);
        if (number_parse(number, &end) == value)
            return;
    }
}

/* A text, number or truth value as text; NULL for anything else, "" for null. */
static const char *scalar(const json_t *value, char number[40])
{
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_integer(value))
        snprintf(number, 40, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        shortest(number, json_real_value(value));
    else if (json_is_boolean(value))
        snprintf(number, 40, "%s", json_is_true(value) ? "true" : "false");
    else if (json_is_null(value))
        *number = 0;
    else
        return NULL;
    return number;
}

static consm_status read_node(struct graph_maker *m, json_t *item, size_t index)
{
    consm_status st = CONSM_OK;
    const char *key, *text;
    json_t *value, *id = json_object_get(item, "id");
    char number[40];
    int64_t node;
    id = id ? id : json_object_get(item, "name");
    if (!id || !(text = scalar(id, number)) || !*text)
        return maker_fault(m, 0, "nodes[%zu] has no id: expected a text or a number", index);
    TRY(maker_node(&node, m, text, 0));
    json_object_foreach(item, key, value)
    {
        if (value == id)
            continue;
        if (!(text = scalar(value, number)))
            return maker_fault(m, 0,
                               "nodes[%zu]: \"%.40s\" is a list or an object: expected a text or a "
                               "number; remove it, or split it into several attributes",
                               index, key);
        TRY(maker_value(m, node, key, text, 0));
    }
done:
    return st;
}

static consm_status read_link(struct graph_maker *m, json_t *item, size_t index)
{
    consm_status st = CONSM_OK;
    const char *key, *text;
    json_t *value;
    char from[40], to[40];
    const char *a = scalar(json_object_get(item, "source"), from);
    const char *b = scalar(json_object_get(item, "target"), to);
    if (!a || !b)
        return maker_fault(m, 0, "edge %zu lacks source or target", index);
    TRY(maker_edge(m, a, b, 0));
    json_object_foreach(item, key, value)
    {
        text = scalar(value, from);
        if (!text)
            TRY(maker_pass_over(m, key));
        if (text && *text && strcmp(key, "source") != 0 && strcmp(key, "target") != 0 &&
            strcmp(key, "key") != 0)
            TRY(maker_edge_value(m, key, text, 0));
    }
done:
    return st;
}

consm_status node_link_read(struct graph_maker *m)
{
    consm_status st = CONSM_OK;
    json_error_t fault;
    json_t *root = NULL, *nodes, *links, *item;
    size_t i;
    if (m->file->size > MOST_BYTES)
        return status_fail(CONSM_ELIMIT,
                           "%s: has %zu bytes, but the limit is %d; convert it to CSV",
                           m->file->name, m->file->size, MOST_BYTES);
    root = json_loadb(m->file->data, m->file->size, JSON_REJECT_DUPLICATES, &fault);
    if (!root)
        TRY(status_fail(CONSM_EFORMAT, "%s: line %d, column %d: %.150s: expected JSON",
                        m->file->name, fault.line, fault.column, fault.text));
    nodes = json_object_get(root, "nodes");
    links = json_object_get(root, "links");
    links = links ? links : json_object_get(root, "edges");
    if (!json_is_array(nodes) || !json_is_array(links))
        TRY(status_fail(CONSM_EFORMAT,
                        "%s: expected an object with lists \"nodes\" and \"links\" "
                        "(or \"edges\")",
                        m->file->name));
    m->directed = json_is_true(json_object_get(root, "directed"));
    m->declares = true;
    json_array_foreach(nodes, i, item) TRY(read_node(m, item, i));
    json_array_foreach(links, i, item) TRY(read_link(m, item, i));
done:
    json_decref(root);
    return st;
}

enum sniffed node_link_sniff(const struct probe *p)
{
    return maker_opens_with(p, "{") ? SNIFF_YES : SNIFF_NO;
}

consm_status node_link_load(struct dataset **out, const char *path, struct reading_options *reading)
{
    return maker_load(out, path, reading, node_link_read);
}
