/* The one place that knows which backends there are. Everybody else is handed an open one. */
#ifndef BACKENDS_OPEN_H
#define BACKENDS_OPEN_H

#include "program/backend.h"

/* Opens a backend by name, NULL for the usual one. threads of the host, its own and those for
 * loops beside programs; 0: as many as the machine has. */
consm_status backend_open(struct backend **out, const char *name, int threads);

/* What numbers depend on beside the seed: the backend, the instruction set, the BLAS's kernels. */
enum { BACKEND_DESCRIPTION = 96 };
void backend_describe(char text[BACKEND_DESCRIPTION], const struct backend *b);

/* Name i; NULL behind the last. */
const char *backend_name(int i);

#endif
