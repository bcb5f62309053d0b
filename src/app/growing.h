/* A growing graph: nodes, edges, features and labels may change while others read. */

/*
 * Its state at one moment is a version, which never changes: a base, plus the changes of every node
 * since (app/delta.h). A writer makes the next version from the last one, at the cost of the
 * change; readers keep the version they started with. After many changes a thread builds a new
 * base, while readers and writers continue.
 */
#ifndef APP_GROWING_H
#define APP_GROWING_H

#include "app/delta.h"

struct version {
    int owners; /* under the graph's lock */
    uint64_t number;
    struct consm_dataset *base; /* held */
    const struct prepared *prepared;
    int64_t nodes, edges; /* undirected */
    struct delta changed; /* since the base */
    bool tables;          /* some rows came with a recipe, which cannot be joined to the base */
};

struct consm_graph {
    pthread_mutex_t lock;    /* protects the counters and `now` */
    pthread_mutex_t writing; /* a writer holds it from start to end */
    struct version *now;
    struct names *added; /* under `lock`: ids of added nodes; NULL: nodes have no ids */
    int64_t *number;     /* (ids) the node with that id; version_id() checks it, because */
    size_t room;         /* a failed call leaves its ids here */
    int64_t most;        /* a new base is built after this many nodes changed, */
    size_t most_bytes;   /* or when the changes keep this much memory */
    bool aside;          /* by a thread of its own; tests turn that off */
    bool building;       /* under `lock`: a new base is being built */
    bool to_join;        /* under `lock`: `builder` was started and not joined yet */
    pthread_t builder;
    pthread_cond_t built; /* with `lock`: building became false */
};

/* The current version; release it afterwards. */
struct version *version_hold(struct consm_graph *g);
void version_release(struct consm_graph *g, struct version *v);

/* The changes of a node, or NULL. */
const struct change *version_change(const struct version *v, int64_t number);

/* The rows of its graph; v must outlive them. */
struct csr_rows version_rows(const struct version *v);

/* The dataset and row that hold a node's features. */
const struct consm_dataset *version_place(int64_t *row, const struct version *v, int64_t number);
/* The node with an id; -1: none in this version. */
int64_t version_find(struct consm_graph *g, const struct version *v, const char *id);
/* A node's id, or its number written into buffer. */
const char *version_id(const struct version *v, int64_t number, char buffer[24]);

/* Whether base and chunks are rows of numbers, which can be joined; and an ordinary dataset of the
 * version, built anew. */
bool version_joins(const struct version *v);
consm_status version_dataset(struct consm_dataset **out, const struct version *v);

/* Makes the next version by change(ctx, next) and publishes it; begins with a new base if that
 * pays. A failure changes nothing. One writer at a time; readers continue meanwhile. */
consm_status version_write(struct consm_graph *g,
                           consm_status (*change)(void *ctx, struct version *next), void *ctx);
/* grow_base.c: begins with a new base if there are many changes, after a write. */
void base_renew(struct consm_graph *g);
/* Waits until no base is being built. */
void base_wait(struct consm_graph *g);
/* Builds a base that holds a version of the graph, carries over what changed since, and publishes
 * it. A failure changes nothing. */
consm_status base_build(struct consm_graph *g, const struct version *from);

/* The first version of a graph; takes ownership of the dataset, also on failure. */
consm_status version_of(struct version **out, struct consm_dataset *base);

#endif
