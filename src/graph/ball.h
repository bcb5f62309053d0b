/*
 * The part of a graph around a few nodes: all nodes within a number of steps, renumbered. Time and
 * memory depend on its size, not on the graph's.
 */
#ifndef GRAPH_BALL_H
#define GRAPH_BALL_H

#include "graph/csr.h"

struct ball {
    int64_t nodes, radius;
    int32_t *node;     /* (nodes) numbers in the graph, ascending */
    int32_t *distance; /* (nodes) steps from the nearest centre */
    int32_t *key;      /* (slots) hash table: number in the graph, -1: empty */
    int32_t *place;    /* (slots) number in the ball */
    int64_t slots;     /* a power of two */
    bool too_large;    /* more nodes than allowed; the other members are not filled */
};

/* Centres may repeat. most: the largest number of nodes. */
consm_status ball_new(struct ball *out, const struct csr_rows *graph, const int32_t *centre,
                      int64_t centres, int64_t radius, int64_t most);
void ball_free(struct ball *b);

/* The number of a node in the ball; -1: outside. */
int64_t ball_find(const struct ball *b, int32_t node);

/* The square matrix `a` restricted to the ball's nodes, entries in the order of `a`. Rows of nodes
 * farther away than `complete` are empty; all neighbours of the others must be in the ball. */
consm_status ball_cut(struct csr **out, const struct ball *b, const struct csr_rows *a,
                      int64_t complete);

#endif
