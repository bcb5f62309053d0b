/*
 * The reference backend: every operation as the plain loop of its equation, in double precision,
 * one thread, no vectors. It is slow, and it is what the others are compared with.
 *
 * Its memory is its own, as a card's would be: nothing that the host writes reaches a run but by
 * upload, and nothing of the caller's is read where it lies. Leaves are copied when their version
 * says so, so that whoever forgets to say it finds out here.
 */
#ifndef REFERENCE_BACKEND_H
#define REFERENCE_BACKEND_H

#include "program/backend.h"

/* threads: of the host, for loops that are no programs; 0: as many as the machine has. */
consm_status reference_open(struct backend **out, int threads);

#endif
