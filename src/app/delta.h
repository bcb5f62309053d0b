/*
 * The changes of a growing graph's nodes, as a tree by node number. A state of it never changes:
 * the next state copies the few parts of the tree that a write touches and shares the others. So a
 * write takes time and memory for what it changes, however much changed before.
 */
#ifndef APP_DELTA_H
#define APP_DELTA_H

#include "app/objects.h"

/* The changes of a node. */
struct change {
    int32_t node;
    int32_t label; /* labelled: its class, -1 unknown */
    bool row, place, labelled;
    struct csr_row edges;              /* row: all its current edges */
    const struct consm_dataset *chunk; /* place: its features are row `at` of that dataset */
    const struct consm_dataset *home;  /* of a node that the base lacks: its first dataset */
    int32_t at, seat;                  /* seat: its row in home */
};

struct written;

struct delta {
    void *root;              /* NULL: nothing changed */
    int height;              /* levels of branches above the leaves */
    int64_t count;           /* nodes with changes */
    struct written *written; /* what the last write added; it holds those of earlier writes */
};

/* A state that shares everything with `before` (NULL: nothing changed). Free it with
 * delta_free(). Several states may be freed at once by several threads. */
consm_status delta_next(struct delta *out, const struct delta *before);
void delta_free(struct delta *c);

/* The changes of a node, or NULL. */
const struct change *delta_find(const struct delta *c, int64_t number);

/* ---- before a state is shared with other threads ---- */

/* Where to record a node's changes; valid until the next call. */
consm_status delta_touch(struct change **out, struct delta *c, int64_t number);
/* Memory that lives as long as the state and those after it; NULL with a message. */
void *delta_room(struct delta *c, size_t bytes);
/* Keeps a dataset as long; takes ownership, also on failure. */
consm_status delta_keep(struct delta *c, struct consm_dataset *dataset);

/* Bytes that a state keeps, with those that later writes replaced. */
size_t delta_bytes(const struct delta *c);

/* Calls visit(ctx, change) for nodes in order, without most of those that did not change since the
 * older state `since` (NULL: all). */
consm_status delta_each(const struct delta *c, const struct delta *since,
                        consm_status (*visit)(void *ctx, const struct change *change), void *ctx);

#endif
