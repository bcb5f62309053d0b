/* A walk of two steps from one node: scratch that is reused without clearing. */
#ifndef MATCH_WALK_H
#define MATCH_WALK_H

#include "graph/csr.h"

struct walk {
    int64_t round, count;
    int64_t *mark;  /* (n) the last walk that met the node */
    int32_t *found; /* (n + 1) the nodes of the current walk, the start first */
};

consm_status walk_new(struct walk *w, int64_t nodes);
void walk_free(struct walk *w);

/* Fills found with Ã[node] over the kept entries (keep, one byte per entry). Returns true if the
 * set was larger than cap (0: no limit) and was sampled. */
bool walk_two_hops(struct walk *w, const struct csr *graph, const uint8_t *keep, int32_t node,
                   int64_t cap, uint64_t seed);

#endif
