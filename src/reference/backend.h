/* The reference backend: every operation as the plain loop of its equation, in double precision, on
 * one thread, without vectors. It is slow; the other backends are compared with it. */

/*
 * Its memory is apart from the host's, like a card's: only uploads reach a run, and nothing of the
 * caller is read in place. Leaves are copied when their version changes, so a missed version shows
 * up here.
 */
#ifndef REFERENCE_BACKEND_H
#define REFERENCE_BACKEND_H

#include "program/backend.h"

/* threads: of the host, for loops that are not programs; 0: all processors. */
consm_status reference_open(struct backend **out, int threads);

#endif
