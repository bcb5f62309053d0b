/*
 * Lanes: instructions of captured steps that do not need each other run side by side. On a small
 * graph a kernel fills a part of the card only, so that gradients of parameters, the loss and sums
 * that are needed much later cost nothing beside the rest. Nor does validation: it has lanes of its
 * own, in which it runs beside the next step, whose optimiser waits for it.
 *
 * An instruction waits for those ahead of it that write what it reads or writes, or read what it
 * writes; values share memory in large programs, so that may be one that has nothing else to do
 * with it. It goes on in the lane of one of them, and waits for the others by name, where nobody
 * whom it waits for has done so already.
 *
 * A kernel that only follows the one ahead in its lane is on the card before that has ended; one
 * that waits for another lane is not. So the longest way through a step is to stay in one lane: of
 * all that wait for an instruction, its heir, from which it is farthest to the end of the step,
 * goes on in its lane, and the others go elsewhere.
 *
 * Ahead of it are those before it in its step and those from itself on in the step before. Farther
 * back nobody need look: every instruction writes something, and so waits for its own last run.
 */
#include "cuda/lanes.cuh"
#include "cuda/spans.cuh"
#include "program/traits.h"

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
        for (int32_t k = ahead; l->chain_of[i] == at && k < plan->instrs && k < ahead + CHAIN_REACH;
             k++)
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
    return op_is(in->op, REMEMBERS) || cuda_calls_blas(in);
}

/* How long an instruction takes, in kernels of a small graph. */
static int32_t weight_of(const struct lanes *l, int32_t at)
{
    int32_t weight = 1;
    for (int32_t i = at + 1; i < l->plan->instrs && i < at + CHAIN_REACH; i++)
        weight += l->chain_of[i] == at && l->plan->instr[i].op == OP_SPMM_ADD; /* walk.cu */
    return weight;
}

static bool meet(const struct lanes *l, int32_t a, int32_t b)
{
    return l->meets[(int64_t)a * l->plan->instrs + b];
}

/* The longest ways from a step's beginning to the end of each instruction, and from its beginning
 * to the step's end. */
static void find_ways(struct lanes *l)
{
    const int32_t count = l->plan->instrs;
    for (int32_t i = 0; i < count; i++) {
        int32_t before = 0;
        for (int32_t k = 0; k < i; k++)
            before = meet(l, i, k) && l->of[k].since > before ? l->of[k].since : before;
        l->of[i].since = before + weight_of(l, i);
    }
    for (int32_t i = count - 1; i >= 0; i--) {
        int32_t after = 0;
        for (int32_t k = i + 1; k < count; k++)
            after = meet(l, i, k) && l->of[k].left > after ? l->of[k].left : after;
        l->of[i].left = after + weight_of(l, i);
    }
}

/* Whether it is farther to the end from a than from b; of equals, whether a has more to do. */
static bool farther(const struct lanes *l, int32_t a, int32_t b)
{
    const struct instr *x = &l->plan->instr[a], *y = &l->plan->instr[b];
    return l->of[a].left > l->of[b].left ||
           (l->of[a].left == l->of[b].left && x->rows * x->cols > y->rows * y->cols);
}

/* Who goes on in the lane of instruction `at`; -1: nobody before `end`. */
static int32_t heir_of(const struct lanes *l, int32_t at, int32_t end)
{
    int32_t heir = -1;
    for (int32_t k = at + 1; k < end; k++)
        if (meet(l, at, k) && (heir < 0 || farther(l, k, heir)))
            heir = k;
    return heir;
}

/* How well a lane suits: the heir of its last takes it, of several the one that ends last; else one
 * that no heir will come for, best that of somebody whom `at` waits for anyway; else any. Within
 * each class the one that has rested longest. */
enum suit { TAKEN, RESTING, FOLLOWING, INHERITED };

static enum suit suit_of(const struct lanes *l, int32_t at, int lane, int32_t end)
{
    const int32_t tail = (int32_t)l->tail[lane];
    const int32_t heir = tail < 0 ? -1 : heir_of(l, tail, end);
    if (heir == at)
        return INHERITED;
    if (heir > at)
        return TAKEN;
    return tail >= 0 && meet(l, at, tail) ? FOLLOWING : RESTING;
}

/* Of lanes [first, last), for an instruction of those before `end` that share them. */
static int choose_lane(const struct lanes *l, int32_t at, int first, int last, int32_t end)
{
    int best = first;
    enum suit most = suit_of(l, at, first, end);
    for (int lane = first + 1; lane < last; lane++) {
        const enum suit suit = suit_of(l, at, lane, end);
        const int64_t tail = l->tail[lane], other = l->tail[best];
        const bool better = suit == INHERITED || suit == FOLLOWING
                                ? tail >= 0 && other >= 0 && l->of[tail].since > l->of[other].since
                                : tail < other;
        if (suit > most || (suit == most && better)) {
            best = lane;
            most = suit;
        }
    }
    return best;
}

/* Where the optimiser stands, behind which validation has lanes of its own; or the end. */
static int32_t find_optimiser(const struct planned *plan)
{
    int32_t at = 0;
    while (at < plan->instrs && plan->instr[at].op != OP_ADAM)
        at++;
    return at;
}

void lanes_plan(struct lanes *l)
{
    const bool small = is_small(l->plan);
    const int32_t count = l->plan->instrs, optimiser = find_optimiser(l->plan);
    find_meetings(l);
    find_ways(l);
    lanes_begin(l);
    for (int32_t i = 0; i < count; i++) {
        const bool behind = small && i > optimiser;
        l->of[i].lane = 0;
        if (!runs(l, i))
            continue;
        if (!keeps_to_main(&l->plan->instr[i]))
            l->of[i].lane = behind
                                ? choose_lane(l, i, BEHIND, LANES, count)
                                : choose_lane(l, i, 0, small ? BEHIND : 2,
                                              small && optimiser < count ? optimiser + 1 : count);
        l->tail[l->of[i].lane] = i;
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
