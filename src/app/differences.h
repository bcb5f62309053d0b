/* What two models say differently of one graph: labels, and trust in edges. */
#ifndef APP_DIFFERENCES_H
#define APP_DIFFERENCES_H

#include "consm.h"

/* A node with another label, or an edge with another trust, and how much it matters. */
struct difference {
    int64_t at; /* the node's or edge's number */
    double by;
};

/* The first three members are the caller's: model A and model B, and their answers. */
struct differences {
    const struct consm_model *model[2];
    const struct consm_prediction *said[2];
    const struct consm_edge_scores *trust[2];
    int64_t flips, moves;
    struct difference *flip, *move; /* the largest first */
};

/* Fills the lists: nodes with labels of different names, and edges whose trust differs by `least`
 * or more. A changed label matters as much as the confidence of the less certain model. */
consm_status differences_find(struct differences *c, double least);
void differences_free(struct differences *c); /* the lists */

/* The name of the class that model A (0) or B (1) predicts for a node. */
const char *differences_label(const struct differences *c, int which, int64_t number,
                              char buffer[24]);

#endif
