/* A surrogate GCN on a list of weighted pairs: forward pass, and the gradient by each weight. */
#ifndef ATTACK_SURROGATE_H
#define ATTACK_SURROGATE_H

#include "attack/attack.h"

/* The graph as pairs, left < right, each once. */
struct pair_list {
    int64_t count;
    const int32_t *left, *right; /* (count) */
    const double *weight;        /* (count) 0: no edge */
};

struct surrogate_room; /* scratch of a surrogate, reused by every pass */
consm_status surrogate_room_new(struct surrogate_room **out, const struct surrogate *m);
void surrogate_room_free(struct surrogate_room *r);

/* Mean over the victims of max(Z_y − max_{c≠y} Z_c, 0). gradient (count), or NULL: by each weight,
 * degrees included. */
double surrogate_pass(struct surrogate_room *r, const struct victims *v,
                      const struct pair_list *pairs, double *gradient);

#endif
