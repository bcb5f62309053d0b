/* The CPU as a backend: every operation of ops.def on a team of threads, same bits for any team.
 * Its memory is the host's, so nothing is ever sent: leaves are read where they are. */
#ifndef CPU_BACKEND_H
#define CPU_BACKEND_H

#include "program/backend.h"

/* threads 0: as many as the machine has, of which each program uses those that make it fastest. */
consm_status cpu_open(struct backend **out, int threads);

#endif
