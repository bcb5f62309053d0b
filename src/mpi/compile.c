/* Turns a plan for the whole graph into this rank's list of pieces: instructions on its own rows,
 * and the exchanges that they wait for. Every rank makes the same list. */
#include "base/known.h"
#include "mpi/inside.h"

#include <string.h>

/* ---- values ---- */

struct value *compiled_value(const struct compiled *c, const struct operand *at)
{
    bool arena = at->place == PLACE_ARENA || at->place == PLACE_OTHER;
    if (at->place == PLACE_LEAF)
        return c->leaf_value[at->leaf].axis ? &c->leaf_value[at->leaf] : NULL;
    return arena ? memory_value((struct far_memory *)c->plan->memory[at->place], at->offset) : NULL;
}

consm_status note_value(const struct compiled *c, const struct operand *at, struct value value)
{
    struct far_memory *m = (struct far_memory *)c->plan->memory[at->place];
    if (at->place != PLACE_ARENA && at->place != PLACE_OTHER)
        return CONSM_OK;
    struct value *known = memory_value(m, at->offset);
    value.offset = at->offset;
    if (!known) {
        consm_status st = grow(&m->value, m->values, &m->room, sizeof *m->value);
        if (st < 0)
            return st;
        known = &m->value[m->values++];
    }
    *known = value;
    return CONSM_OK;
}

static float *address(const struct compiled *c, const struct operand *at)
{
    if (at->place == PLACE_LEAF)
        return (float *)(uintptr_t)c->plan->leaf[at->leaf].data;
    return (float *)(void *)((char *)c->near[at->place]->host + at->offset);
}

/* ---- the list ---- */

consm_status add_piece(struct compiled *c, struct piece **out, enum piece_kind kind)
{
    consm_status st = grow(&c->piece, (size_t)c->pieces, &c->piece_room, sizeof *c->piece);
    if (st < 0)
        return st;
    *out = &c->piece[c->pieces++];
    **out = (struct piece){.kind = kind, .once = true};
    return CONSM_OK;
}

consm_status add_instr(struct compiled *c, const struct instr *in)
{
    consm_status st = CONSM_OK;
    struct piece *last = c->pieces ? &c->piece[c->pieces - 1] : NULL;
    if (!last || last->kind != PIECE_COMPUTE) {
        TRY(add_piece(c, &last, PIECE_COMPUTE));
        last->first = c->instrs;
    }
    TRY(grow(&c->instr, (size_t)c->instrs, &c->instr_room, sizeof *c->instr));
    c->instr[c->instrs++] = *in;
    last->count++;
    last->once = last->once && in->once;
done:
    return st;
}

consm_status add_gather(struct compiled *c, const struct operand *at, struct value *v)
{
    struct piece *piece;
    consm_status st = axis_travels(v->axis);
    if (st < 0)
        return st;
    st = add_piece(c, &piece, PIECE_GATHER);
    if (st < 0)
        return st;
    piece->once = v->once;
    piece->value = address(c, at);
    piece->axis = v->axis;
    piece->cols = v->cols;
    v->gathered = c;
    return CONSM_OK;
}

consm_status add_exchange(struct compiled *c, const struct instr *in, int slot, struct value *v,
                          enum reads reads, const struct axis *to, const struct sum_shape *shape)
{
    consm_status st = CONSM_OK;
    struct halo *halo, wanted = {.reads = reads,
                                 .transposed = in->attr.transposed,
                                 .csr = in->attr.csr,
                                 .index = in->attr.index,
                                 .other = in->attr.other,
                                 .from = v->axis,
                                 .to = to,
                                 .shape = shape ? *shape : (struct sum_shape){0},
                                 .width = shape ? v->cols : 0};
    struct piece *piece;
    float *value = address(c, &in->src_at[slot]);
    TRY(halo_of(&halo, &c->halos, &wanted));
    for (int32_t i = 0; i < c->pieces; i++) /* it was already brought for another reader */
        if (c->piece[i].kind == PIECE_EXCHANGE && c->piece[i].halo == halo &&
            c->piece[i].value == value)
            return CONSM_OK;
    TRY(add_piece(c, &piece, PIECE_EXCHANGE));
    piece->once = v->once;
    piece->halo = halo;
    piece->value = value;
    piece->cols = v->cols;
    piece->seen = halo->seen;
    TRY(exchange_new(&piece->exchange, halo, value, v->cols));
done:
    return st;
}

consm_status add_waits(struct compiled *c, int32_t first)
{
    consm_status st = CONSM_OK;
    struct piece *piece;
    for (int32_t i = first, last = c->pieces; i < last; i++)
        if (c->piece[i].kind == PIECE_EXCHANGE) {
            bool once = c->piece[i].once;
            TRY(add_piece(c, &piece, PIECE_WAIT));
            piece->once = once;
            piece->started = i;
        }
done:
    return st;
}

/* ---- leaves ---- */

/* A leaf of the plan from some byte on, as one of our leaves. */
static consm_status shift_leaf(struct compiled *c, struct operand *at, size_t bytes)
{
    int32_t extra = c->leaves - c->plan->leaves;
    if (bytes == 0)
        return CONSM_OK;
    for (int32_t i = 0; i < extra; i++)
        if (c->shift[i].leaf == at->leaf && c->shift[i].bytes == bytes) {
            at->leaf = c->plan->leaves + i;
            return CONSM_OK;
        }
    consm_status st = grow(&c->shift, (size_t)extra, &c->shift_room, sizeof *c->shift);
    if (st < 0)
        return st;
    c->shift[extra] = (struct shifted){at->leaf, bytes};
    at->leaf = c->leaves++;
    return CONSM_OK;
}

/* ---- one instruction ---- */

bool is_spread(const struct compiled *c, const struct value *v)
{
    return v && v->axis && v->gathered != c;
}

/* Whether to divide an operation that can be: a source that it reads by rows is divided, or it has
 * no such source and many rows. Every rank computes parameters and what depends only on them. */
static bool worth_dividing(const struct compiled *c, const struct instr *in,
                           const struct rule *rule)
{
    bool sources = false;
    if (rule->division == BY_ENTRIES)
        return true;
    if (in->rows < 2)
        return false;
    for (int i = 0; i < NODE_SOURCES; i++) {
        const struct operand *at = &in->src_at[i];
        const struct value *v = compiled_value(c, at);
        if (at->place == PLACE_NONE || rule->reads[i] == READS_WHOLE)
            continue;
        if (at->place == PLACE_LEAF || rule->reads[i] != READS_ROWS ||
            (v && (v->axis || v->divides)))
            return true;
        sources = true;
    }
    return !sources;
}

/* Whether the rows of a result are those of parameters, though made from other values. */
static bool sums_rows(enum op op)
{
    return op == OP_MATMUL || op_made(op) == MADE_SUM;
}

/* The whole instruction, on every rank. */
static consm_status whole(struct compiled *c, const struct instr *in)
{
    consm_status st = CONSM_OK;
    bool many = false;
    TRY(partition_allow(in));
    for (int i = 0; i < NODE_SOURCES; i++) {
        struct value *v = compiled_value(c, &in->src_at[i]);
        many = many || (v && v->axis) || in->src_at[i].place == PLACE_LEAF || in->attr.csr;
        if (is_spread(c, v))
            TRY(add_gather(c, &in->src_at[i], v));
    }
    TRY(add_instr(c, in));
    struct value made = {.rows = in->rows,
                         .cols = in->cols,
                         .divides = many && in->rows > 1 && !sums_rows(in->op),
                         .once = in->once};
    TRY(note_value(c, &in->out_at, made));
    for (int i = 0; i < NODE_UPDATES; i++) {
        made.cols = in->update_cols[i];
        TRY(note_value(c, &in->update_at[i], made));
    }
done:
    return st;
}

/* Fetches what this rank's rows read from others. *columns: the axis of the fetched rows. */
static consm_status bring_sources(struct compiled *c, const struct instr *in,
                                  const struct rule *rule, const struct axis *axis,
                                  const struct axis **columns)
{
    consm_status st = CONSM_OK;
    for (int i = 0; i < NODE_SOURCES; i++) {
        struct value *v = compiled_value(c, &in->src_at[i]);
        enum reads reads = rule->reads[i];
        if (!is_spread(c, v) || (reads == READS_ROWS && v->axis == axis))
            continue;
        if (reads == READS_WHOLE || reads == READS_ROWS)
            TRY(add_gather(c, &in->src_at[i], v));
        else if (reads != READS_ENTRIES || in->attr.transposed) {
            TRY(add_exchange(c, in, i, v, reads, axis, NULL));
            *columns = v->axis;
        }
    }
done:
    return st;
}

/* The instruction on rows [low, high). */
static consm_status compute_rows(struct compiled *c, const struct instr *in,
                                 const struct rule *rule, struct axis *axis, int64_t low,
                                 int64_t high)
{
    consm_status st = CONSM_OK;
    struct instr mine = *in;
    if (high <= low)
        return CONSM_OK;
    for (int i = 0; i < NODE_SOURCES; i++)
        if (rule->reads[i] == READS_ROWS && in->src_at[i].place == PLACE_LEAF)
            TRY(shift_leaf(c, &mine.src_at[i], (size_t)(low * in->src_cols[i]) * sizeof(float)));
    TRY(rule_narrow(&mine, &c->keeper, rule, axis, low, high));
    TRY(add_instr(c, &mine));
done:
    return st;
}

/* First the rows that need no others, while the rows of others are sent. */
static consm_status compute(struct compiled *c, const struct instr *in, const struct rule *rule,
                            struct axis *axis)
{
    consm_status st = CONSM_OK;
    const struct axis *columns = NULL;
    struct runs runs = {0};
    int32_t first = c->pieces;
    TRY(bring_sources(c, in, rule, axis, &columns));
    if (columns && !(in->attr.csr && in->attr.csr->changes))
        inner_runs(&runs, in, rule, axis, columns);
    for (int i = 0; i < runs.count; i++)
        TRY(compute_rows(c, in, rule, axis, runs.run[i].low, runs.run[i].high));
    TRY(add_waits(c, first));
    int64_t from = axis_low(axis);
    for (int i = 0; i < runs.count; i++) {
        TRY(compute_rows(c, in, rule, axis, from, runs.run[i].low));
        from = runs.run[i].high;
    }
    TRY(compute_rows(c, in, rule, axis, from, axis_high(axis)));
done:
    return st;
}

/* Who computes which rows: the owner of the matrix's entries, or of a source's rows; else by row
 * number. */
static consm_status rows_of(struct axis **out, struct compiled *c, const struct instr *in,
                            const struct rule *rule)
{
    struct divided *d = c->owner;
    const struct csr *s = in->attr.csr;
    if (s && in->attr.transposed)
        s = s->t;
    KNOWN(in->attr.csr || rule->division != BY_ENTRIES);
    if (rule->division == BY_ENTRIES)
        return axis_of(out, d, in->attr.csr->rows, NULL);
    if (s && s->partition && s->rows == in->rows)
        return axis_cut(out, d, s->rows, s->partition->cut);
    for (int i = 0; i < NODE_SOURCES; i++) {
        const struct value *v = compiled_value(c, &in->src_at[i]);
        if (rule->reads[i] == READS_ROWS && v && v->axis && v->rows == in->rows) {
            *out = (struct axis *)(uintptr_t)v->axis;
            return CONSM_OK;
        }
    }
    return axis_of(out, d, in->rows, NULL);
}

/* The instruction on this rank's rows. If all ranks need the result, it is gathered. */
static consm_status divide(struct compiled *c, const struct instr *in, const struct rule *rule)
{
    consm_status st = CONSM_OK;
    struct divided *d = c->owner;
    struct axis *axis, *made_axis;
    TRY(rows_of(&axis, c, in, rule));
    made_axis = axis;
    if (rule->division == BY_ENTRIES)
        TRY(axis_of(&made_axis, d, in->rows, NULL));
    TRY(compute(c, in, rule, axis));
    struct value made = {.rows = in->rows, .cols = in->cols, .axis = made_axis, .once = in->once};
    TRY(note_value(c, &in->out_at, made));
    if (!compiled_value(c, &in->out_at))
        TRY(add_gather(c, &in->out_at, &made));
    for (int i = 0; i < NODE_UPDATES; i++) {
        made.cols = in->update_cols[i];
        TRY(note_value(c, &in->update_at[i], made));
    }
done:
    return st;
}

/* ---- all of them ---- */

static consm_status compile_pieces(struct compiled *c)
{
    consm_status st = CONSM_OK;
    const struct backend_kind *kind = c->owner->inner->kind;
    for (int32_t i = 0; i < c->pieces; i++) {
        struct piece *piece = &c->piece[i];
        if (piece->kind != PIECE_COMPUTE)
            continue;
        piece->plan = *c->plan;
        piece->plan.instr = c->instr + piece->first;
        piece->plan.instrs = piece->count;
        piece->plan.leaf = c->leaf;
        piece->plan.leaves = c->leaves;
        memcpy(piece->plan.memory, c->near, sizeof c->near);
        TRY(kind->compile(c->owner->inner, &piece->ready, &piece->plan));
    }
done:
    return st;
}

static consm_status prepare(struct compiled *c, struct divided *d, const struct planned *plan)
{
    c->owner = d;
    c->plan = plan;
    c->leaves = plan->leaves;
    c->seen = world.os->zalloc((size_t)plan->leaves + 1, sizeof *c->seen);
    for (int place = 0; place < PLACES; place++)
        if (plan->memory[place])
            c->near[place] = &((struct far_memory *)plan->memory[place])->near;
    return c->seen ? CONSM_OK : CONSM_ENOMEM;
}

consm_status divided_compile(struct backend *b, struct compiled **out, const struct planned *plan)
{
    consm_status st = CONSM_OK;
    struct divided *d = (struct divided *)b;
    struct compiled *c = world.os->zalloc(1, sizeof *c);
    *out = NULL;
    if (!c)
        return CONSM_ENOMEM;
    TRY(prepare(c, d, plan));
    TRY(partition_leaves(c));
    TRY(axes_plan(d, plan));
    for (int32_t i = 0; i < plan->instrs; i++) {
        const struct instr *in = &plan->instr[i];
        struct rule rule = rule_of(d, in);
        const struct axis *rows;
        if (rule.division != NOT_DIVIDED && worth_dividing(c, in, &rule))
            TRY(divide(c, in, &rule));
        else if (reshape_divides(c, in))
            TRY(divide_reshape(c, in));
        else if (sum_divides(c, in, &rows))
            TRY(divide_sum(c, in, rows));
        else if (walk_divides(c, in))
            TRY(divide_walk(c, in));
        else
            TRY(whole(c, in));
    }
    c->leaf = world.os->zalloc((size_t)c->leaves + 1, sizeof *c->leaf);
    c->leaf_at = world.os->zalloc((size_t)c->leaves + 1, sizeof *c->leaf_at);
    c->partial = world.os->zalloc(1, c->partial_bytes);
    c->work = world.os->zalloc(1, c->work_bytes);
    if (!c->leaf || !c->leaf_at || !c->partial || !c->work)
        TRY(CONSM_ENOMEM);
    divided_follow(c);
    TRY(compile_pieces(c));
    *out = c;
    return CONSM_OK;
done:
    divided_discard(c);
    return st;
}
