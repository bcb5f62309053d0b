/*
 * Lanes: instructions of captured steps that do not need each other run side by side. On a small
 * graph a kernel fills a part of the card only, so that gradients of parameters, the loss and sums
 * that are needed much later cost nothing beside the rest. Nor does validation: it has lanes of its
 * own, in which it runs beside the next step, whose optimiser waits for it.
 *
 * An instruction waits for those ahead of it that write what it reads or writes, or read what it
 * writes; values share memory in large programs, so that may be one that has nothing else to do with
 * it. It goes on in the lane of the last of them, if that lane has not gone on without it, and waits
 * for the others by name, where nobody whom it waits for has done so already.
 *
 * Ahead of it are those before it in its step and those from itself on in the step before. Farther
 * back nobody need look: every instruction writes something, and so waits for its own last run.
 */
#include "cuda/lanes.cuh"
#include "cuda/spans.cuh"

enum { SMALL_BYTES = 64 << 20 }; /* larger arenas have less to gain, and scratch is large */

static bool is_small(const struct planned *plan)
{
    const struct memory *arena = plan->memory[PLACE_ARENA];
    return !arena || arena->bytes <= SMALL_BYTES;
}

int lanes_of(const struct planned *plan)
{
    return is_small(plan) ? LANES : 2;
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
static bool chain_depends(const struct lanes *l, int32_t at, int32_t ahead)
{
    const struct planned *plan = l->plan;
    for (int32_t i = at; i < plan->instrs && i < at + CHAIN_REACH; i++)
        for (int32_t k = ahead;
             l->chain_of[i] == at && k < plan->instrs && k < ahead + CHAIN_REACH; k++)
            if (l->chain_of[k] == ahead && depends(&plan->instr[i], &plan->instr[k]))
                return true;
    return false;
}

static bool runs(const struct lanes *l, int32_t at)
{
    return !l->plan->instr[at].once && l->chain_of[at] == at;
}

static void find_meetings(struct lanes *l)
{
    const int32_t count = l->plan->instrs;
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k <= i; k++)
            l->meets[(int64_t)i * count + k] = l->meets[(int64_t)k * count + i] =
                runs(l, i) && runs(l, k) && chain_depends(l, i, k);
}

/* Libraries and kernels of the whole card are used from one stream; what is remembered from run to
 * run is no part of any span. */
static bool keeps_to_main(const struct instr *in)
{
    return in->op == OP_NUCLEAR || in->op == OP_NUCLEAR_GRAD || cuda_calls_blas(in);
}

/* Of some lanes, that of the last whom `at` must wait for if nobody has gone on there, else the one
 * that has rested longest. */
static int choose_lane(const struct lanes *l, int32_t at, int first, int end)
{
    int best = -1, rested = first;
    for (int lane = first; lane < end; lane++) {
        const int64_t tail = l->tail[lane];
        if (tail >= 0 && l->meets[at * (int64_t)l->plan->instrs + tail] &&
            (best < 0 || tail > l->tail[best]))
            best = lane;
        if (tail < l->tail[rested])
            rested = lane;
    }
    return best >= 0 ? best : rested;
}

void lanes_plan(struct lanes *l)
{
    const bool small = is_small(l->plan);
    bool behind = false;
    find_meetings(l);
    lanes_begin(l);
    for (int32_t i = 0; i < l->plan->instrs; i++) {
        struct lane_plan *mine = &l->of[i];
        const struct instr *in = &l->plan->instr[i];
        mine->lane = 0;
        if (!runs(l, i))
            continue;
        if (!keeps_to_main(in))
            mine->lane = small && behind ? choose_lane(l, i, BEHIND, LANES)
                                         : choose_lane(l, i, 0, small ? BEHIND : 2);
        l->tail[mine->lane] = i;
        behind = behind || in->op == OP_ADAM;
    }
}

void lanes_begin(struct lanes *l)
{
    for (int lane = 0; lane < LANES; lane++)
        l->tail[lane] = -1;
}

/* The last run of each lane that instruction `at` of that step must wait for; -1: none. */
static void find_ahead(int64_t last[LANES], const struct lanes *l, int64_t step, int32_t at)
{
    const int64_t count = l->plan->instrs;
    for (int lane = 0; lane < LANES; lane++)
        last[lane] = -1;
    for (int64_t run = step > 0 ? (step - 1) * count + at : 0; run < step * count + at; run++)
        if (l->meets[at * count + run % count])
            last[l->of[run % count].lane] = run;
}

void lanes_next(struct lanes *l, int64_t wait[LANES], int64_t step, int32_t at)
{
    const int64_t count = l->plan->instrs;
    struct lane_plan *mine = &l->of[at];
    int64_t last[LANES];
    find_ahead(last, l, step, at);
    const int64_t before = l->tail[mine->lane];
    for (int lane = 0; lane < LANES; lane++) { /* what the one before it in its lane has seen */
        mine->seen[lane] = before >= 0 ? l->of[before % count].seen[lane] : -1;
        wait[lane] = -1;
    }
    for (int lane = 0; lane < LANES; lane++)
        if (lane != mine->lane && last[lane] > mine->seen[lane])
            wait[lane] = last[lane];
    for (int lane = 0; lane < LANES; lane++) /* and whom they had waited for */
        for (int k = 0; k < LANES && wait[lane] >= 0; k++) {
            const int64_t theirs = l->of[wait[lane] % count].seen[k];
            mine->seen[k] = theirs > mine->seen[k] ? theirs : mine->seen[k];
        }
    mine->seen[mine->lane] = step * count + at;
    l->tail[mine->lane] = step * count + at;
}
