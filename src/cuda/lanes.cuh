/* Which instructions may run side by side; see lanes.cu. */
#ifndef CUDA_LANES_CUH
#define CUDA_LANES_CUH

#include "cuda/kernels.cuh"

/* Streams of captured steps; those from BEHIND on are for what follows the optimiser. */
enum { LANES = 6, BEHIND = 4 };

/* The lane of an instruction; and during capture, what has ended when its last run has. */
struct lane_plan {
    int lane;
    int32_t since,
        left; /* kernels from the step's start to its end; from its start to the step's end */
    int64_t seen[LANES]; /* the last run of each lane, or -1 */
};

/* Instruction `at` of step `step` is run number step·instrs + at. */
struct lanes {
    const struct planned *plan;
    const int32_t *chain_of;
    struct lane_plan *of; /* (instrs) */
    bool *meets;          /* (instrs, instrs) whether two must keep their order */
    int64_t tail[LANES];  /* the last run of each, or -1 */
};

/* The number of lanes of a program, up to LANES. */
int lanes_of(const struct planned *plan);

/* Chooses the lanes; `of` and `meets` are allocated. */
void lanes_plan(struct lanes *l);

/* Call lanes_begin before the first of some steps, then the other for every instruction of every
 * step, in order: wait[k] is the run of lane k that it waits for, or -1. */
void lanes_begin(struct lanes *l);
void lanes_next(struct lanes *l, int64_t wait[LANES], int64_t step, int32_t at);

#endif
