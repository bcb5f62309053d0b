/* OpenBLAS's memory, asked for before it is needed: when none is left it waits for ever. */
#ifndef CPU_BLAS_MEMORY_H
#define CPU_BLAS_MEMORY_H

#include "base/status.h"

/* Makes sure that so many threads can multiply at the same time; CONSM_ENOMEM when there is no
 * memory for it. Costs nothing once it has succeeded. */
consm_status blas_reserve(int threads);

#endif
