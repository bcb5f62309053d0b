/* Which instructions may run side by side: see lanes.cu. */
#ifndef CUDA_LANES_CUH
#define CUDA_LANES_CUH

#include "cuda/kernels.cuh"

/* Streams of captured steps; those from BEHIND on are for what follows the optimiser. */
enum { LANES = 6, BEHIND = 4 };

/* Where an instruction runs; and while steps are captured, what has ended when its last run has. */
struct lane_plan {
    int lane;
    int32_t since, left; /* kernels from the step's beginning to its end; from its beginning on */
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

/* How many lanes a program has, whose numbers may be any up to LANES. */
int lanes_of(const struct planned *plan);

/* Chooses the lanes; of and meets have room. */
void lanes_plan(struct lanes *l);

/* Before the first of some steps, then for every instruction of every step, in order: wait[k] is
 * the run of lane k that it waits for, or -1. */
void lanes_begin(struct lanes *l);
void lanes_next(struct lanes *l, int64_t wait[LANES], int64_t step, int32_t at);

#endif
