/* Which instructions of a step may run side by side: see lanes.cu. */
#ifndef CUDA_LANES_CUH
#define CUDA_LANES_CUH

#include "cuda/kernels.cuh"

enum { LANES = 4 }; /* streams of a captured step */

/* Where an instruction of a captured step runs. */
struct lane_plan {
    int lane;
    bool awaited;        /* somebody in another lane waits for it */
    int32_t wait[LANES]; /* the instruction of each other lane that it waits for; -1: none */
    int32_t seen[LANES]; /* the last of each lane that has ended when it has */
};

int lanes_of(const struct planned *plan);
void lanes_plan(const struct planned *plan, const int32_t *chain_of, struct lane_plan *out);

#endif
