/*
 * Measures of homophily: how often edges join nodes of one class. An edge counts if both ends have
 * a label. The graph has no loops.
 */
#ifndef GRAPH_HOMOPHILY_H
#define GRAPH_HOMOPHILY_H

#include "graph/csr.h"

/* NAN if a measure is undefined (no labelled edge, one class). */
struct homophily {
    double edge;              /* share of edges inside a class */
    double node;              /* mean over nodes of the share of neighbours of their class */
    double class_insensitive; /* Lim et al. 2021, eq. 3 */
    double adjusted;          /* Platonov et al. 2023: 0 for random edges with the same degrees */
    double informativeness;   /* Platonov et al. 2023: information in a neighbour's label, 0 to 1 */
};

/* g is symmetric; label (n) is 0 … classes-1 or -1. O(n + m + classes). */
consm_status homophily_measure(struct homophily *out, const struct csr *g, const int32_t *label,
                               int32_t classes);

#endif
