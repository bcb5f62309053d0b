/* Calls a function in a process of its own: its peak memory is its own, and if it dies, the caller
 * gets an error. */

/*
 * The child is a copy of the caller with one thread, so no other thread may hold a lock, and a
 * device that the caller has open does not work in it. Its peak counts what the caller holds.
 */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include "base/status.h"

#include <stdbool.h>

struct child {
    consm_status (*work)(void *out, void *arg); /* in the child; fills out */
    void *arg;
    bool (*stop)(void *ctx); /* may be NULL; asked ten times a second: true ends the child */
    void *ctx;
};

/* Returns what work() returned, with its message, and copies the bytes of out. peak_mb (may be
 * NULL): the child's largest resident size in MB (10^6). CONSM_ECANCEL if stop() returned true. */
consm_status child_run(void *out, size_t bytes, double *peak_mb, const struct child *c);

/* In a child: whether its caller is gone, so that nobody reads what it computes. */
bool child_is_orphan(void);

#endif
