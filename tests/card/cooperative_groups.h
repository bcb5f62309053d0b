/* Blocks that wait for each other, on the simulated card of cuda_runtime.h. */
#ifndef CARD_COOPERATIVE_GROUPS_H
#define CARD_COOPERATIVE_GROUPS_H

#include <cuda_runtime.h>

namespace cooperative_groups
{
struct grid {
    void sync() const
    {
        card_grid_barrier();
    }
};
static inline grid this_grid()
{
    return grid();
}
} // namespace cooperative_groups

#endif
