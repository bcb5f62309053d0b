/* A grammar of graph files in XML with every element in every place. A document is a list of
 * choices: each opens one of the elements below inside the open one, writes a value, or closes the
 * open element. test_graph_xml.c walks all short lists, fuzz_xml_grammar.c long ones. */
#ifndef TESTS_XML_GRAMMAR_H
#define TESTS_XML_GRAMMAR_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *const xml_grammar[2][16] = {
    {"key id=\"k\" for=\"all\" attr.name=\"weight\"", "key id=\"n\" for=\"node\" attr.name=\"x\"",
     "key id=\"e\" for=\"edge\" attr.name=\"w\"", "key id=\"o\" for=\"graph\"", "default",
     "graph edgedefault=\"directed\"", "node id=\"a\"", "node id=\"b\"",
     "edge source=\"a\" target=\"b\"", "data key=\"k\"", "data key=\"n\"", "data key=\"e\"",
     "data key=\"o\"", "port name=\"p\"", "hyperedge", "graphml"},
    {"attributes class=\"node\"", "attributes class=\"edge\"", "attributes",
     "attribute id=\"0\" title=\"x\"", "attribute id=\"1\" title=\"weight\"", "default",
     "graph defaultedgetype=\"directed\"", "nodes", "node id=\"a\"", "node id=\"b\"",
     "edge source=\"a\" target=\"b\" weight=\"2\"", "attvalues", "attvalue for=\"0\" value=\"3\"",
     "attvalue for=\"1\" value=\"4\"", "spells", "gexf"}};

enum { GRAMMAR_TEXT = 16, GRAMMAR_CLOSE = 17, GRAMMAR_CHOICES = 18, GRAMMAR_DEEP = 20 };

/* Writes the document of these choices, of GraphML (0) or GEXF (1); returns its length. */
static inline size_t xml_grammar_write(char *out, size_t room, int language, const uint8_t *choice,
                                       size_t count)
{
    const char *open[GRAMMAR_DEEP];
    size_t used = (size_t)snprintf(out, room, language ? "<gexf>" : "<graphml>");
    int depth = 0;
    for (size_t i = 0; i < count && used + 200 + 20 * GRAMMAR_DEEP < room; i++) {
        int pick = choice[i] % GRAMMAR_CHOICES;
        if (pick == GRAMMAR_TEXT) {
            used += (size_t)snprintf(out + used, room - used, "7");
        } else if (pick == GRAMMAR_CLOSE && depth > 0) {
            const char *name = open[--depth];
            used +=
                (size_t)snprintf(out + used, room - used, "</%.*s>", (int)strcspn(name, " "), name);
        } else if (pick < GRAMMAR_TEXT && depth < GRAMMAR_DEEP) {
            open[depth] = xml_grammar[language][pick];
            used += (size_t)snprintf(out + used, room - used, "<%s>", open[depth++]);
        }
    }
    while (depth > 0) {
        const char *name = open[--depth];
        used += (size_t)snprintf(out + used, room - used, "</%.*s>", (int)strcspn(name, " "), name);
    }
    return used + (size_t)snprintf(out + used, room - used, language ? "</gexf>" : "</graphml>");
}

#endif
