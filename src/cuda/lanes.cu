/*
 * Two lanes: what a step's way to its end does not need runs beside it. The gradients of parameters
 * are read by the optimiser alone, and the loss by nobody; on a small graph, where a kernel fills a
 * part of the card only, they cost nothing beside the rest.
 *
 * An instruction may stand aside when nobody reads its result before the optimiser does. It begins
 * when all instructions ahead of it have ended. The main lane waits for the side lane before the
 * first instruction that reads or writes what is read or written there: values share memory, so that
 * may be one that has nothing else to do with it.
 */
#include "cuda/backend.cuh"

/* Bytes [from, to) of a place. */
struct span {
    enum place place;
    size_t from, to;
};

static struct span span_of(const struct operand *at, int64_t rows, int64_t cols)
{
    return {at->place, at->offset, at->offset + (size_t)(rows * cols) * sizeof(float)};
}

/* How far an update reaches is the kernel's business. */
static struct span span_behind(const struct operand *at)
{
    return {at->place, at->offset, SIZE_MAX};
}

static bool meet(struct span a, struct span b)
{
    return a.place == b.place && a.place != PLACE_NONE && a.place != PLACE_LEAF && a.from < b.to &&
           b.from < a.to;
}

static bool reads(const struct instr *in, struct span s)
{
    for (int i = 0; i < NODE_SOURCES; i++)
        if (meet(span_of(&in->src_at[i], in->src_rows[i], in->src_cols[i]), s))
            return true;
    return false;
}

static bool writes(const struct instr *in, struct span s)
{
    for (int i = 0; i < NODE_UPDATES; i++)
        if (meet(span_behind(&in->update_at[i]), s))
            return true;
    return meet(span_of(&in->out_at, in->rows, in->cols), s);
}

/* Whether two instructions may not run at the same time. */
static bool disturb(const struct instr *aside, const struct instr *in)
{
    struct span out = span_of(&aside->out_at, aside->rows, aside->cols);
    if (reads(in, out) || writes(in, out))
        return true;
    for (int i = 0; i < NODE_SOURCES; i++)
        if (writes(in, span_of(&aside->src_at[i], aside->src_rows[i], aside->src_cols[i])))
            return true;
    return false;
}

static bool ends_step(enum op op)
{
    return op == OP_ADAM || op == OP_KEEP;
}

/* What keeps to its own result, and does not call a library that has one stream. */
static bool plain(const struct instr *in)
{
    for (int i = 0; i < NODE_UPDATES; i++)
        if (in->update_at[i].place != PLACE_NONE)
            return false;
    return !in->once && !ends_step(in->op) && in->op != OP_NUCLEAR && in->op != OP_NUCLEAR_GRAD &&
           !cuda_calls_blas(in);
}

/* Nobody reads its result before the optimiser. */
static bool waits_for_nobody(const struct planned *plan, int32_t at)
{
    const struct instr *in = &plan->instr[at];
    struct span out = span_of(&in->out_at, in->rows, in->cols);
    for (int32_t i = at + 1; i < plan->instrs; i++) {
        const struct instr *later = &plan->instr[i];
        if (reads(later, out))
            return ends_step(later->op);
        if (writes(later, out))
            return true;
    }
    return true;
}

void lanes_plan(const struct planned *plan, enum lane *lane)
{
    int32_t first = 0; /* of those aside that may still run is behind here */
    for (int32_t i = 0; i < plan->instrs; i++) {
        const struct instr *in = &plan->instr[i];
        lane[i] = LANE_MAIN;
        if (in->once) /* no part of a step */
            continue;
        lane[i] = plain(in) && waits_for_nobody(plan, i) ? LANE_ASIDE : LANE_MAIN;
        for (int32_t k = first; lane[i] == LANE_MAIN && k < i; k++)
            if (lane[k] == LANE_ASIDE && disturb(&plan->instr[k], in))
                lane[i] = LANE_JOIN;
        if (lane[i] == LANE_JOIN)
            first = i;
    }
}
