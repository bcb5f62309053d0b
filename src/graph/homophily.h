/*
 * How much edges join nodes of one class, by the measures in use. An edge counts when both its ends
 * have a label; loops are expected to be gone.
 */
#ifndef GRAPH_HOMOPHILY_H
#define GRAPH_HOMOPHILY_H

#include "graph/csr.h"

/* NAN where a measure is not defined (no labelled edge, one class). */
struct homophily {
    double edge;              /* share of edges inside a class */
    double node;              /* mean over nodes of the partition of neighbours of their class */
    double class_insensitive; /* Lim et al. 2021, eq. 3 */
    double adjusted;          /* Platonov et al. 2023: 0 for random wiring of the same degrees */
    double informativeness;   /* Platonov et al. 2023: what a neighbour's label tells, 0 to 1 */
};

/* g is symmetric; label (n) is 0 … classes-1 or -1. O(n + m + classes). */
consm_status homophily_measure(struct homophily *out, const struct csr *g, const int32_t *label,
                               int32_t classes);

#endif
