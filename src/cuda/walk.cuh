/* Several steps over one matrix as one kernel; see walk.cu. */
#ifndef CUDA_WALK_CUH
#define CUDA_WALK_CUH

#include "cuda/patterns.cuh"

enum { WALK_MOST = 32 }; /* steps */

/* The instructions, starting with `first`, that are the steps of one walk and may run as one
 * kernel; step (WALK_MOST). Returns their number: 0 or 1 if there is no walk. */
int walk_find(const struct planned *plan, const int32_t *chain_of, int32_t first, int32_t *step);

/* Launches the walk that starts with an instruction; the members of its chain are its steps. False
 * if it starts none. */
bool walk_launch(const struct instr *instr, int32_t instrs, const int32_t *chain_of, int32_t first,
                 const struct cuda_context *cx);

#endif
