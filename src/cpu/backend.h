/* The CPU backend: every operation of ops.def on a team of threads, same bits for any team. */
#ifndef CPU_BACKEND_H
#define CPU_BACKEND_H

#include "program/program.h"

const struct backend *cpu_backend(void);

/* One optimiser step over the trained parameters of a store, shared out over the team; m and v are
 * the two moments, as large as the store's blocks. step counts from 1. */
struct adam_options {
    double lr, beta1, beta2, eps, weight_decay;
};
void cpu_adam(struct params *params, float *m, float *v, const struct adam_options *o, int64_t step,
              struct team *team);

#endif
