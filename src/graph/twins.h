/*
 * Twins: nodes that no model can tell apart, because they have equal rows in every matrix. If one
 * of them trains and the other tests, the test score measures memory.
 */
#ifndef GRAPH_TWINS_H
#define GRAPH_TWINS_H

#include "graph/csr.h"

/* The matrices that describe the nodes: sparse ones of n rows, and a dense one (n, width) or NULL.
 */
struct twin_view {
    int64_t nodes;
    const struct csr *sparse[3]; /* unused ones NULL */
    const float *dense;
    int64_t width;
};

/* leader[i] is the smallest node with the same rows as i (possibly i itself). Compares rows, not
 * only hashes. Expected time O(n + entries). */
consm_status twins_find(int32_t *leader, const struct twin_view *view);

/* How many nodes have at least one twin. */
consm_status twins_count(int64_t *out, const int32_t *leader, int64_t nodes);

/* Number of nodes with role `asked` that have a twin with role `from`. */
consm_status twins_shared(int64_t *out, const int32_t *leader, const uint8_t *role, int64_t nodes,
                          uint8_t asked, uint8_t from);

#endif
