/* The only place that knows all backends. Other code receives an open one. */
#ifndef BACKENDS_OPEN_H
#define BACKENDS_OPEN_H

#include "program/backend.h"

/* Opens a backend by name: cpu, reference, cuda, cuda:1, …; auto is a card if there is one, else
 * the CPU; NULL is the CPU. threads are those of the host, for its own programs and for loops
 * beside programs; 0: all processors. */
consm_status backend_open(struct backend **out, const char *name, int threads);

/* What results depend on besides the seed: the backend and the instruction set. */
enum { BACKEND_DESCRIPTION = 96 };
void backend_describe(char text[BACKEND_DESCRIPTION], const struct backend *b);

/* Number of "cuda" (0) or "cuda:N"; -1: another name. */
int backend_card(const char *name);

/* Whether a backend with that name could exist, on this machine or another. */
bool backend_possible(const char *name);

/* Name i of this machine's backends; NULL after the last. Looks for a card only when i is past the
 * others. */
const char *backend_name(int i);

#endif
