/* Connected components of an undirected graph. */
#ifndef GRAPH_COMPONENTS_H
#define GRAPH_COMPONENTS_H

#include "graph/csr.h"

struct components {
    int64_t count;   /* isolated nodes are components too */
    int64_t largest; /* nodes of the largest */
    int32_t *of;     /* (n) number of a node's component, in order of their first nodes */
};

/* O(n + m). */
consm_status components_find(struct components *out, const struct csr *g);
void components_free(struct components *c);

#endif
