/* The one place that knows which backends there are. Everybody else is handed an open one. */
#ifndef BACKENDS_OPEN_H
#define BACKENDS_OPEN_H

#include "program/backend.h"

/* Opens a backend by name: cpu, reference, cuda, cuda:1, …; auto is a card where one is and else
 * the CPU, NULL the CPU. threads of the host, its own and those for loops beside programs; 0: as
 * many as the machine has. */
consm_status backend_open(struct backend **out, const char *name, int threads);

/* What numbers depend on beside the seed: the backend and the instruction set. */
enum { BACKEND_DESCRIPTION = 96 };
void backend_describe(char text[BACKEND_DESCRIPTION], const struct backend *b);

/* Whether a backend of that name could exist, here or elsewhere. */
bool backend_possible(const char *name);

/* Name i of those that this machine has; NULL behind the last. Looks for a card when first asked
 * past the others. */
const char *backend_name(int i);

#endif
