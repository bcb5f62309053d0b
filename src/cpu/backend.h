/* The CPU backend: every operation of ops.def on a team of threads, with the same bits for any
 * team. It shares the host's memory, so nothing is sent: leaves are read in place. */
#ifndef CPU_BACKEND_H
#define CPU_BACKEND_H

#include "program/backend.h"

/* threads 0: all processors; each program then uses the number that makes it fastest. */
consm_status cpu_open(struct backend **out, int threads);

#endif
