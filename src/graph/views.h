/*
 * The matrices that models derive from one graph (normalised, with loops, two-hop …). Each is built
 * on first use and shared by all programs and parallel runs on that graph. Those of a large graph
 * stay only while somebody holds them.
 */
#ifndef GRAPH_VIEWS_H
#define GRAPH_VIEWS_H

#include "graph/ball.h"
#include "graph/csr.h"

enum view {
    VIEW_ADJACENCY, /* A as given: no loops, weights kept                                   */
    VIEW_LOOPS,     /* A + I                                                                */
    VIEW_GCN,       /* D^-1/2 (A+I) D^-1/2                     (Kipf and Welling 2017)       */
    VIEW_SYMMETRIC, /* D^-1/2 A D^-1/2, no loops               (FAGCN; H2GCN's first hop)    */
    VIEW_TWO_HOP,   /* the same of the strict two-hop graph: A² without A and I (H2GCN)      */
    VIEW_COUNT
};

/* A matrix with more entries takes more than 16 MB, and some hundredths of a second to build again.
 */
enum { VIEW_LARGE = 1 << 21 };

struct views;

/* Views of a square matrix, which must outlive them. They are freed when nobody holds a matrix. */
consm_status views_new(struct views **out, const struct csr *adjacency);
void views_free(struct views *views);

/* Views of the part of a graph inside a ball: cut from the views of the whole graph, with its
 * degrees. A row is complete if all its neighbours are in the ball, else empty. Without transposes.
 * Whole and ball must outlive them. */
consm_status views_part(struct views **out, struct views *whole, const struct ball *ball);

/* Views of the part of a graph inside a ball, made from the graph's rows alone: for graphs without
 * ready matrices. There is no two-hop view. The ball and the graph's rows must outlive them. */
consm_status views_of_rows(struct views **out, const struct csr_rows *graph,
                           const struct ball *ball);

/* The matrix, with its transpose cached; NULL with a message if it cannot be built. Any thread may
 * call it. The matrix stays as long as the views. */
const struct csr *views_get(struct views *views, enum view kind);

/* The same until views_leave(), which follows each call that did not return NULL. */
const struct csr *views_hold(struct views *views, enum view kind);
void views_leave(struct views *views, enum view kind);

/* The matrix if it was built before, else NULL. */
const struct csr *views_built(struct views *views, enum view kind);

#endif
