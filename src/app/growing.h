/*
 * A graph that grows. What it is at a moment is a version, which never changes: a base, and for
 * every node that changed since what is new of it. A writer makes the next version out of the last
 * one at the cost of what changes; readers hold the version they began with. When much has changed,
 * a writer makes a new base of everything.
 */
#ifndef APP_GROWING_H
#define APP_GROWING_H

#include "app/objects.h"

/* Something that several versions share. */
struct shared {
    int owners; /* under the graph's lock */
    void *thing;
    void (*release)(void *thing);
};

/* What is new of a node. */
struct change {
    int32_t node; /* -1: an empty slot of the table */
    bool row, place, labelled;
    struct csr_row edges; /* row: all its edges, as they are now */
    int32_t chunk, at;    /* place: its features are row `at` of that chunk */
    int32_t home, seat; /* of a node behind the base's: the chunk it came with and its row there */
    int32_t label;      /* labelled: its class, -1 unknown */
};

struct version {
    int owners; /* under the graph's lock */
    uint64_t number;
    struct consm_dataset *base; /* held */
    const struct prepared *prepared;
    int64_t nodes, edges; /* undirected */
    struct change *table; /* (slots) by node, open addressing */
    int64_t slots, changes;
    struct shared **chunk; /* (chunks) datasets of rows that were added or set, in this order */
    int64_t chunks;
    struct shared **block; /* (blocks) memory of the rows of edges */
    int64_t blocks;
};

struct consm_graph {
    pthread_mutex_t lock;    /* of what is counted and of `now` */
    pthread_mutex_t writing; /* held by a writer from beginning to end */
    struct version *now;
    struct names *added; /* under `lock`: ids of nodes that were added, or NULL: nodes have none */
    int64_t *number;     /* (ids) which node bears it, if it does: version_id() tells … */
    size_t room;         /* … since a call that failed leaves its ids here */
    int64_t most;        /* changes from which on a new base is made */
};

/* The version of this moment; to be given back. */
struct version *version_hold(struct consm_graph *g);
void version_release(struct consm_graph *g, struct version *v);

/* What is new of a node, or NULL. */
const struct change *version_change(const struct version *v, int64_t number);

/* The rows of its graph; v must outlive them. */
struct csr_rows version_rows(const struct version *v);

/* The dataset that holds a node's features, and in which row. */
const struct consm_dataset *version_place(int64_t *row, const struct version *v, int64_t number);
/* The node of an id, -1: no node of this version has it. */
int64_t version_find(struct consm_graph *g, const struct version *v, const char *id);
/* A node's id, or its number written into buffer. */
const char *version_id(const struct version *v, int64_t number, char buffer[24]);

/* Whether base and chunks are rows of numbers, which can be put together; then an ordinary dataset
 * of the version, built anew. */
bool version_joins(const struct version *v);
consm_status version_dataset(struct consm_dataset **out, const struct version *v);

/* Makes the next version by change(ctx, next) and publishes it, with a new base where that pays. A
 * failure leaves the graph as it was. One writer at a time; readers go on meanwhile. */
consm_status version_write(struct consm_graph *g,
                           consm_status (*change)(void *ctx, struct version *next), void *ctx);
/* While changing: where to write down what is new of a node, valid until the next call; and a chunk
 * or a block that joins the version, which takes the thing over, also on failure. */
consm_status version_touch(struct change **out, struct version *next, int64_t number);
consm_status version_share(struct shared ***list, int64_t *count, void *thing,
                           void (*release)(void *thing));

/* The first version of a graph; takes the dataset over, also on failure. */
consm_status version_of(struct version **out, struct consm_dataset *base);

#endif
