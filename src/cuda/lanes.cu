/* Lanes: independent instructions of captured steps run side by side. On a small graph a kernel
 * fills only part of the card, so gradients of parameters, the loss and sums that are needed much
 * later cost no extra time. Neither does validation: it has its own lanes and runs beside the next
 * step, whose optimiser waits for it. */

/*
 * An instruction waits for earlier ones that write what it reads or writes, or that read what it
 * writes. In large programs values share memory, so these may be otherwise unrelated. It continues
 * in the lane of one of them and waits for the others by events, unless an instruction that it
 * waits for has already waited.
 *
 * A kernel that only follows the previous one in its lane is on the card before that has ended; one
 * that waits for another lane is not. So the longest path through a step should stay in one lane.
 * Of all that wait for an instruction, the one farthest from the end of the step, its heir,
 * continues in its lane; the others go elsewhere.
 *
 * Earlier instructions are those before it in its step, and those from itself on in the previous
 * step. It need not look farther back: every instruction writes something, so it waits for its own
 * last run.
 */
#include "cuda/lanes.cuh"
#include "cuda/spans.cuh"
#include "program/traits.h"

enum { SMALL_BYTES = 64 << 20 }; /* larger arenas gain less, and their scratch is large */

static bool is_small(const struct planned *plan)
{
    const struct memory *arena = plan->memory[PLACE_ARENA];
    return !arena || arena->bytes <= SMALL_BYTES;
}

int lanes_of(const struct planned *plan)
{
    return is_small(plan) ? LANES : 2;
}

/* Whether one must wait for the other to end. */
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

/* The same for all instructions in one kernel. */
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

/* Libraries and kernels of the whole card use one stream; state between runs is not part of any
 * span. */
static bool keeps_to_main(const struct instr *in)
{
    return op_is(in->op, REMEMBERS) || cuda_calls_blas(in);
}

/* The time of an instruction, in kernels of a small graph. */
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

/* The longest paths from a step's start to the end of each instruction, and from its start to the
 * step's end. */
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

/* Whether a is farther from the end than b; ties: whether a takes longer. */
static bool farther(const struct lanes *l, int32_t a, int32_t b)
{
    const struct instr *x = &l->plan->instr[a], *y = &l->plan->instr[b];
    return l->of[a].left > l->of[b].left ||
           (l->of[a].left == l->of[b].left && x->rows * x->cols > y->rows * y->cols);
}

/* The instruction that continues in the lane of instruction `at`; -1: none before `end`. */
static int32_t heir_of(const struct lanes *l, int32_t at, int32_t end)
{
    int32_t heir = -1;
    for (int32_t k = at + 1; k < end; k++)
        if (meet(l, at, k) && (heir < 0 || farther(l, k, heir)))
            heir = k;
    return heir;
}

/* How well a lane suits: the heir of its last instruction takes it, of several the one that ends
 * last; else a lane without an heir, preferably of an instruction that `at` waits for anyway; else
 * any. Within each class the one idle longest. */
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

/* Among lanes [first, last), for an instruction of those before `end` that share them. */
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

/* The position of the optimiser, after which validation has its own lanes; or the end. */
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
    for (int lane = 0; lane < LANES; lane++) { /* what its predecessor in its lane has waited for */
        mine->seen[lane] = before >= 0 ? l->of[before % count].seen[lane] : -1;
        wait[lane] = -1;
    }
    for (int lane = 0; lane < LANES; lane++)
        if (lane != mine->lane && last[lane] > mine->seen[lane])
            wait[lane] = last[lane];
    for (int lane = 0; lane < LANES; lane++) /* and what those had waited for */
        for (int k = 0; k < LANES && wait[lane] >= 0; k++) {
            const int64_t theirs = l->of[wait[lane] % count].seen[k];
            mine->seen[k] = theirs > mine->seen[k] ? theirs : mine->seen[k];
        }
    mine->seen[mine->lane] = step * count + at;
    l->tail[mine->lane] = step * count + at;
}
