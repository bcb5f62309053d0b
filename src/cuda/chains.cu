/* Decides which instructions run as one kernel. A chain starts with a product or a sum over the
 * rows of a pattern, in which a warp finishes a row. It continues with instructions that need only
 * the same row of what the chain computes (tail.cuh). An index may lead from the chain's rows to
 * others: a row continues as the rows that gather it. */

/*
 * An instruction that joins a chain runs earlier than its position, so nothing in between may write
 * what it reads, or touch what it writes. Within a chain other rows may be at any stage, so no
 * member may write what another member uses for something else. Small programs are planned without
 * shared memory (backend_kind.separate), otherwise there would be few chains.
 */
#include "cuda/spans.cuh"
#include "cuda/spmm.cuh"
#include "cuda/walk.cuh"
#include "program/traits.h"

enum {
    ROWS_MOST = 1 << 14, /* with more rows, separate kernels use the card better */
    COLS_MOST = 256,
    MATRIX_MOST = 64 * 64, /* elements of a small matrix */
};

/* ---- what may begin a chain, what may follow ------------------------------ */

static bool begins(const struct instr *in)
{
    if (in->once || in->rows == 0 || in->rows > ROWS_MOST || !op_is(in->op, LEADS_CHAIN))
        return false;
    if (in->op != OP_ATTEND && in->op != OP_ATTEND_COLUMNS)
        return spmm_row_in_warp(in);
    const int64_t d = in->cols / in->attr.heads;
    return d <= WARP * vector_for(d) && in->attr.heads <= WARP / (d / vector_for(d));
}

/* How an operation that may join reads a source. */
enum reading { SAME_ROW, BY_INDEX, FROM_INDEX, WHOLE };

static enum reading reading(const struct instr *in, int slot)
{
    switch (op_reads(in->op, slot)) {
    case 'e':
    case 'r': return SAME_ROW;
    case 'i': return BY_INDEX;
    case 't': return FROM_INDEX;
    default: return WHOLE;
    }
}

static bool may_follow(const struct instr *in)
{
    if (in->once || in->rows > ROWS_MOST || in->cols > COLS_MOST || !op_is(in->op, JOINS_CHAIN))
        return false;
    if (in->op == OP_MATMUL)
        return !in->attr.transposed && in->src_rows[1] * in->src_cols[1] <= MATRIX_MOST;
    if (in->op == OP_GATHER) /* another index may have stale lists: index_set_rows */
        return in->attr.index->fixed;
    return in->op != OP_NLL_GRAD || !in->attr.weight;
}

/* ---- chains --------------------------------------------------------------- */

/* What a member writes: its result, or an update. */
struct output {
    struct span span;
    const struct index *space; /* the index whose rows it has; NULL: the chain's */
};

struct chain {
    const struct planned *plan;
    int32_t first, count;
    int32_t member[TAIL_MOST + 1];
    int written;
    struct output made[(TAIL_MOST + 1) * (1 + NODE_UPDATES)];
};

static void note_written(struct chain *c, int32_t at, const struct index *space)
{
    struct span span[1 + NODE_UPDATES];
    const int count = spans_written(span, &c->plan->instr[at]);
    for (int i = 0; i < count; i++)
        c->made[c->written++] = {span[i], space};
    c->member[c->count++] = at;
}

static const struct output *made_by(const struct chain *c, struct span s)
{
    for (int i = 0; i < c->written; i++)
        if (c->made[i].span.place == s.place && c->made[i].span.from == s.from)
            return &c->made[i];
    return NULL;
}

static bool in_chain(const struct chain *c, int32_t at)
{
    for (int i = 0; i < c->count; i++)
        if (c->member[i] == at)
            return true;
    return false;
}

/* Whether its sources are available in time; *space: its rows. False also if it needs nothing of
 * the chain. */
static bool fits_sources(const struct chain *c, const struct instr *in, const struct index **space)
{
    const struct index *own = in->attr.index;
    bool follows = false;
    *space = NULL;
    for (int i = 0; i < NODE_SOURCES; i++) {
        const struct span s = span_read(in, i);
        const struct output *made = made_by(c, s);
        const enum reading how = reading(in, i);
        if (s.place == PLACE_NONE || s.place == PLACE_LEAF)
            continue;
        if (!made) { /* it existed before the chain, and the chain does not write it */
            for (int k = 0; k < c->written; k++)
                if (spans_meet(c->made[k].span, s))
                    return false;
            continue;
        }
        const struct index *mine = how == BY_INDEX ? own : how == FROM_INDEX ? NULL : made->space;
        if (how == WHOLE || (how == BY_INDEX && made->space) ||
            (how == FROM_INDEX && made->space != own) || (follows && mine != *space))
            return false;
        *space = mine;
        follows = true;
    }
    return follows && in->rows == (*space ? (*space)->count : c->plan->instr[c->first].rows);
}

/* Whether no member of the chain uses what it writes. */
static bool fits_results(const struct chain *c, const struct instr *in)
{
    struct span out[1 + NODE_UPDATES];
    const int count = spans_written(out, in);
    for (int k = 0; k < c->count; k++)
        for (int i = 0; i < count; i++)
            if (instr_reads(&c->plan->instr[c->member[k]], out[i]) ||
                instr_writes(&c->plan->instr[c->member[k]], out[i]))
                return false;
    for (int i = 0; i < count; i++)
        if (instr_reads(in, out[i]))
            return false;
    return true;
}

/* Whether it may move ahead of all instructions between the chain's first and itself. */
static bool may_move(const struct chain *c, const int32_t *chain_of, int32_t at)
{
    const struct instr *in = &c->plan->instr[at];
    struct span out[1 + NODE_UPDATES];
    const int count = spans_written(out, in);
    for (int32_t i = c->first + 1; i < at; i++) {
        const struct instr *other = &c->plan->instr[i];
        if (other->once || in_chain(c, i) || chain_of[i] < c->first)
            continue;
        for (int k = 0; k < NODE_SOURCES; k++)
            if (instr_writes(other, span_read(in, k)))
                return false;
        for (int k = 0; k < count; k++)
            if (instr_reads(other, out[k]) || instr_writes(other, out[k]))
                return false;
    }
    return true;
}

/* Joins instructions that may follow in the same kernel; returns their number, including the first.
 */
static int32_t grow(const struct planned *plan, int32_t *chain_of, int32_t first)
{
    struct chain c = {};
    if (!begins(&plan->instr[first]))
        return 1;
    c.plan = plan;
    c.first = first;
    note_written(&c, first, NULL);
    for (int32_t k = first + 1; k < plan->instrs && k < first + CHAIN_REACH && c.count <= TAIL_MOST;
         k++) {
        const struct instr *in = &plan->instr[k];
        const struct index *space;
        if (chain_of[k] != k || !may_follow(in) || !fits_sources(&c, in, &space) ||
            !fits_results(&c, in) || !may_move(&c, chain_of, k))
            continue;
        chain_of[k] = first;
        note_written(&c, k, space);
    }
    return c.count;
}

/* Joins the steps of a walk; its last step stays separate if something can follow in its kernel. */
static void join_walk(const struct planned *plan, int32_t *chain_of, const int32_t *step, int steps)
{
    if (grow(plan, chain_of, step[steps - 1]) > 1)
        steps--;
    for (int i = 1; i < steps; i++)
        chain_of[step[i]] = step[0];
    if (steps == 1)
        grow(plan, chain_of, step[0]);
}

static bool has_followers(const struct planned *plan, const int32_t *chain_of, int32_t first)
{
    for (int32_t i = first + 1; i < plan->instrs && i < first + CHAIN_REACH; i++)
        if (chain_of[i] == first)
            return true;
    return false;
}

void chains_plan(const struct planned *plan, int32_t *chain_of)
{
    int32_t step[WALK_MOST];
    for (int32_t i = 0; i < plan->instrs; i++)
        chain_of[i] = i;
    for (int32_t i = 0; i < plan->instrs; i++) {
        if (chain_of[i] != i || has_followers(plan, chain_of, i))
            continue;
        const int steps = walk_find(plan, chain_of, i, step);
        if (steps > 1)
            join_walk(plan, chain_of, step, steps);
        else
            grow(plan, chain_of, i);
    }
}

/* ---- launching ------------------------------------------------------------ */

static struct tail_op tail_op_of(const struct instr *in, const struct cuda_context *cx)
{
    struct tail_op t = {};
    t.op = in->op;
    t.function = in->attr.function;
    t.transposed = in->attr.other_transposed;
    t.cols = (int)in->cols;
    t.inner = (int)in->src_cols[0];
    t.heads = (int)(in->op == OP_HEAD_DOT ? in->cols : in->attr.heads);
    t.a = in->attr.a;
    t.b = in->attr.b;
    t.out = in->out;
    t.beside = in->update[0];
    for (int i = 0; i < NODE_SOURCES; i++)
        t.src[i] = in->src[i];
    if (in->attr.index) {
        t.start = in->attr.index->start;
        t.item = in->attr.index->item;
        t.row = in->attr.index->row;
        t.count = (float)in->attr.index->count;
    }
    t.label = in->attr.label;
    if (in->op == OP_DROPOUT || in->op == OP_BIAS_RELU_DROPOUT ||
        in->op == OP_BIAS_RELU_DROPOUT_GRAD)
        t.drop = drop_of(in, cx);
    return t;
}

/* The index that leads to a member's rows, as planned: that of its gather. */
static void follow_indices(struct tail *tail, const struct instr *instr, const int32_t *member)
{
    for (int i = 0; i < tail->count; i++) {
        struct tail_op *t = &tail->op[i];
        const struct instr *in = &instr[member[i]];
        if (t->op == OP_GATHER) {
            t->via_start = in->attr.index->start;
            t->via_item = in->attr.index->item;
        }
        for (int k = 0; k < i && t->op != OP_GATHER && t->op != OP_SEGMENT_SUM; k++)
            for (int s = 0; s < NODE_SOURCES; s++)
                if (tail->op[k].via_start && t->src[s] &&
                    (t->src[s] == tail->op[k].out || t->src[s] == tail->op[k].beside)) {
                    t->via_start = tail->op[k].via_start;
                    t->via_item = tail->op[k].via_item;
                }
    }
}

void chain_launch(const struct instr *instr, int32_t instrs, const int32_t *chain_of, int32_t first,
                  const struct cuda_context *cx)
{
    struct tail tail = {};
    int32_t member[TAIL_MOST];
    if (walk_launch(instr, instrs, chain_of, first, cx))
        return;
    for (int32_t i = first + 1; i < instrs && i < first + CHAIN_REACH; i++)
        if (chain_of[i] == first) {
            member[tail.count] = i;
            tail.op[tail.count++] = tail_op_of(&instr[i], cx);
        }
    follow_indices(&tail, instr, member);
    struct cuda_context with = *cx;
    with.tail = tail.count ? &tail : NULL;
    cuda_kernels[instr[first].op](&instr[first], &with);
}
