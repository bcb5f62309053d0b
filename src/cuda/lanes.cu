/*
 * Lanes: instructions of a captured step that do not need each other run side by side. On a small
 * graph a kernel fills a part of the card only, so that gradients of parameters, the loss and sums
 * that are needed much later cost nothing beside the rest.
 *
 * An instruction waits for those ahead of it that write what it reads or writes, or read what it
 * writes; values share memory in large programs, so that may be one that has nothing else to do with
 * it. It goes on in the lane of the last of them, if that lane has not gone on without it, and waits
 * for the others by name, where nobody whom it waits for has done so already.
 */
#include "cuda/lanes.cuh"
#include "cuda/spans.cuh"

enum { SMALL_BYTES = 64 << 20 }; /* larger arenas have less to gain, and scratch is large */

int lanes_of(const struct planned *plan)
{
    const struct memory *arena = plan->memory[PLACE_ARENA];
    return arena && arena->bytes > SMALL_BYTES ? 2 : LANES;
}

/* Whether one may not begin before the other has ended. */
static bool depends(const struct instr *in, const struct instr *ahead)
{
    struct span out[1 + NODE_UPDATES];
    int count = spans_written(out, ahead);
    for (int i = 0; i < count; i++)
        if (instr_reads(in, out[i]) || instr_writes(in, out[i]))
            return true;
    count = spans_written(out, in);
    for (int i = 0; i < count; i++)
        if (instr_reads(ahead, out[i]))
            return true;
    return false;
}

/* The same of all that runs in one kernel. */
static bool chain_depends(const struct planned *plan, const int32_t *chain_of, int32_t at,
                          int32_t ahead)
{
    for (int32_t i = at; i < plan->instrs && i < at + CHAIN_REACH; i++)
        for (int32_t k = ahead; chain_of[i] == at && k < plan->instrs && k < ahead + CHAIN_REACH; k++)
            if (chain_of[k] == ahead && depends(&plan->instr[i], &plan->instr[k]))
                return true;
    return false;
}

/* Libraries and kernels of the whole card are used from one stream; what is remembered from run to
 * run is no part of any span. */
static bool keeps_to_main(const struct instr *in)
{
    return in->op == OP_NUCLEAR || in->op == OP_NUCLEAR_GRAD || cuda_calls_blas(in);
}

/* Where the lanes are while they are planned. */
struct lanes_now {
    int count;
    int32_t tail[LANES];           /* the last instruction of each, or -1 */
    const struct lane_plan *plans; /* of those planned so far */
};

/* The last instruction that `at` must wait for, in each lane; -1: none. */
static void find_ahead(int32_t last[LANES], const struct lanes_now *now, const struct planned *plan,
                       const int32_t *chain_of, int32_t at, bool all)
{
    for (int lane = 0; lane < LANES; lane++)
        last[lane] = -1;
    for (int32_t k = 0; k < at; k++) {
        if (plan->instr[k].once || chain_of[k] != k)
            continue;
        const int lane = now->plans[k].lane;
        if (all || chain_depends(plan, chain_of, at, k))
            last[lane] = k;
    }
}

/* The lane of the last of them if nobody has gone on there, else the one that has rested longest. */
static int choose_lane(const struct lanes_now *now, const int32_t last[LANES])
{
    int best = -1, rested = 0;
    for (int lane = 0; lane < now->count; lane++) {
        if (last[lane] >= 0 && last[lane] == now->tail[lane] &&
            (best < 0 || last[lane] > last[best]))
            best = lane;
        if (now->tail[lane] < now->tail[rested])
            rested = lane;
    }
    return best >= 0 ? best : rested;
}

void lanes_plan(const struct planned *plan, const int32_t *chain_of, struct lane_plan *out)
{
    struct lanes_now now = {lanes_of(plan), {-1, -1, -1, -1}, out};
    int32_t final = -1;
    for (int32_t i = 0; i < plan->instrs; i++)
        if (!plan->instr[i].once && chain_of[i] == i)
            final = i;
    for (int32_t i = 0; i < plan->instrs; i++) {
        int32_t last[LANES];
        struct lane_plan *mine = &out[i];
        *mine = {0, false, {-1, -1, -1, -1}, {-1, -1, -1, -1}};
        if (plan->instr[i].once || chain_of[i] != i)
            continue;
        find_ahead(last, &now, plan, chain_of, i, i == final);
        mine->lane = i == final || keeps_to_main(&plan->instr[i]) ? 0 : choose_lane(&now, last);
        const int32_t before = now.tail[mine->lane];
        for (int lane = 0; lane < LANES; lane++) /* what the one before it in its lane has seen */
            mine->seen[lane] = before >= 0 ? out[before].seen[lane] : -1;
        for (int lane = 0; lane < LANES; lane++)
            if (lane != mine->lane && last[lane] > mine->seen[lane]) {
                mine->wait[lane] = last[lane];
                out[last[lane]].awaited = true;
            }
        for (int lane = 0; lane < LANES; lane++) /* and whom they had waited for */
            for (int k = 0; k < LANES && mine->wait[lane] >= 0; k++)
                mine->seen[k] = out[mine->wait[lane]].seen[k] > mine->seen[k]
                                    ? out[mine->wait[lane]].seen[k]
                                    : mine->seen[k];
        mine->seen[mine->lane] = i;
        now.tail[mine->lane] = i;
    }
}
