/* Writes a graph as GraphML, GEXF, GML or node-link JSON, for Gephi, NetworkX and others: ids,
 * direction, weights, labels, the split and features as attributes, attributes that no model reads
 * (struct notes), and what a caller adds. */
#ifndef DATA_READERS_GRAPH_SAVE_H
#define DATA_READERS_GRAPH_SAVE_H

#include "data/dataset.h"

enum graph_form { GRAPH_GRAPHML, GRAPH_GEXF, GRAPH_GML, GRAPH_JSON };

enum graph_type { GRAPH_TEXT, GRAPH_REAL, GRAPH_TRUTH };

/* An additional attribute of every node or stored edge. */
struct graph_attribute {
    const char *name;
    enum graph_type type;
    /* The value for item i as text, in buffer or owned by the attribute; NULL: none. */
    const char *(*value)(void *ctx, int64_t i, char buffer[32]);
    void *ctx;
};

struct graph_extras {
    const struct graph_attribute *node, *edge;
    int nodes, edges; /* how many of each */
};

/* extras may be NULL. Writing replaces a file in one step. */
consm_status graph_save(const struct dataset *d, const char *path, enum graph_form form,
                        const struct graph_extras *extras);

/* For the table of formats. */
consm_status graphml_save(const struct dataset *d, const char *path);
consm_status gexf_save(const struct dataset *d, const char *path);
consm_status gml_save(const struct dataset *d, const char *path);
consm_status node_link_save(const struct dataset *d, const char *path);

#endif
