/* Turns a planned program into what a backend compiles: memory blocks, the list of leaves, and one
 * instruction per needed operation. */
#include "program/internal.h"
#include "program/spectral.h"

uint64_t leaf_version(const struct leaf *leaf)
{
    switch (leaf->kind) {
    case LEAF_INDEX: return ((const struct index *)leaf->data)->version;
    case LEAF_CSR: return ((const struct csr *)leaf->data)->version;
    default: return leaf->version;
    }
}

static const void *address(const struct operand *at, void *const base[PLACES],
                           const void *const *leaf)
{
    if (at->place == PLACE_LEAF)
        return leaf[at->leaf];
    return base[at->place] ? (const char *)base[at->place] + at->offset : NULL;
}

void instr_resolve(struct instr *in, void *const base[PLACES], const void *const *leaf)
{
    in->out = (float *)address(&in->out_at, base, leaf);
    for (int i = 0; i < NODE_SOURCES; i++)
        in->src[i] = address(&in->src_at[i], base, leaf);
    for (int i = 0; i < NODE_UPDATES; i++)
        in->update[i] = (float *)address(&in->update_at[i], base, leaf);
    in->state = base[PLACE_STATE] ? (char *)base[PLACE_STATE] + in->attr.state : NULL;
}

/* ---- memory ---- */

/* Parameters, and blocks of the same size that this program needs. */
static consm_status allocate_params(struct program *p)
{
    consm_status st = CONSM_OK;
    bool gradients = p->optimizes;
    for (node x = p->forward; x < p->count; x++)
        gradients = gradients || p->node[x].place == PLACE_GRAD;
    TRY(params_allocate(p->params, p->backend, PLACE_VALUE));
    if (gradients)
        TRY(params_allocate(p->params, p->backend, PLACE_GRAD));
    if (p->optimizes) {
        TRY(params_allocate(p->params, p->backend, PLACE_MOMENT1));
        TRY(params_allocate(p->params, p->backend, PLACE_MOMENT2));
    }
    for (int place = PLACE_VALUE; place <= PLACE_BEST; place++)
        p->plan.memory[place] = p->params->block[place].memory;
done:
    return st;
}

/* The state of operations before the first run. */
static consm_status allocate_state(struct program *p)
{
    consm_status st = CONSM_OK;
    void *host;
    if (p->state_bytes == 0)
        return CONSM_OK;
    TRY(block_new(&p->state, p->backend, p->state_bytes));
    TRY(block_write(&host, &p->state));
    for (node x = 0; x < p->count; x++)
        if (p->node[x].op == OP_NUCLEAR) {
            const struct attr *attr = &p->node[x].attr;
            spectral_start((char *)host + attr->state, attr->csr->rows, attr->csr->cols,
                           attr->rank);
        }
    p->plan.memory[PLACE_STATE] = p->state.memory;
done:
    return st;
}

/* Host copies of kept values, if the host does not see the arena. */
static consm_status allocate_mirrors(struct program *p)
{
    consm_status st = CONSM_OK;
    if (p->arena.memory->host)
        return CONSM_OK;
    for (node x = 0; x < p->count; x++) {
        struct node_info *info = &p->node[x];
        if (info->keep && info->place == PLACE_ARENA)
            TRY(NEW(info->mirror, info->rows * info->cols));
    }
done:
    return st;
}

/* ---- leaves ---- */

static consm_status add_leaf(struct program *p, int32_t *index, struct leaf leaf)
{
    consm_status st = GROW(p->leaf, p->plan.leaves, p->leaf_capacity, 1);
    if (st < 0)
        return st;
    *index = p->plan.leaves;
    p->leaf[p->plan.leaves++] = leaf;
    return CONSM_OK;
}

/* Adds a leaf that attr names, once. */
static consm_status note_leaf(struct program *p, enum leaf_kind kind, const void *data,
                              int64_t count, bool constant)
{
    int32_t index;
    if (!data)
        return CONSM_OK;
    for (int32_t i = 0; i < p->plan.leaves; i++)
        if (p->leaf[i].kind == kind && p->leaf[i].data == data && p->leaf[i].count == count) {
            p->leaf[i].constant = p->leaf[i].constant || constant;
            return CONSM_OK;
        }
    return add_leaf(p, &index, (struct leaf){kind, data, count, constant, 0, NULL});
}

static consm_status note_leaves(struct program *p, const struct node_info *info)
{
    consm_status st = CONSM_OK;
    const struct attr *attr = &info->attr;
    TRY(note_leaf(p, LEAF_CSR, attr->csr, 0, info->constant));
    TRY(note_leaf(p, LEAF_INDEX, attr->index, 0, false));
    TRY(note_leaf(p, LEAF_INDEX, attr->other, 0, false));
    TRY(note_leaf(p, LEAF_LABELS, attr->label, attr->index ? attr->index->targets : 0, false));
    TRY(note_leaf(p, LEAF_FLOATS, attr->weight, attr->index ? attr->index->count : 0, false));
    TRY(note_leaf(p, LEAF_NUMBERS, attr->number,
                  info->op == OP_EDGE_DROP ? attr->csr->cols : info->rows, false));
done:
    return st;
}

/* ---- instructions ---- */

static struct operand operand_of(const struct program *p, node x)
{
    const struct node_info *info = &p->node[x];
    size_t floats = info->offset;
    if ((info->place == PLACE_VALUE || info->place == PLACE_GRAD) && info->parameter >= 0)
        floats = (size_t)p->params->item[info->parameter].offset;
    return (struct operand){info->place, info->leaf, floats * sizeof(float)};
}

static struct instr make_instr(const struct program *p, node x)
{
    const struct node_info *info = &p->node[x];
    struct instr in = {.op = info->op,
                       .once = info->constant,
                       .kept = info->keep,
                       .rows = info->rows,
                       .cols = info->cols,
                       .attr = info->attr,
                       .out_at = operand_of(p, x)};
    for (int i = 0; i < NODE_SOURCES; i++)
        if (info->src[i] != POISON) {
            in.src_at[i] = operand_of(p, info->src[i]);
            in.src_rows[i] = ROWS(p, info->src[i]);
            in.src_cols[i] = COLS(p, info->src[i]);
        }
    for (int i = 0; i < NODE_UPDATES; i++)
        if (info->update[i] != POISON && p->node[info->update[i]].live) {
            const struct node_info *beside = &p->node[info->update[i]];
            in.update_at[i] = operand_of(p, info->update[i]);
            in.update_cols[i] = beside->op == OP_BESIDE ? beside->cols : 0;
        }
    if (info->op == OP_ADAM) {
        in.src_at[0] = (struct operand){.place = PLACE_GRAD};
        in.src_rows[0] = in.rows;
        in.src_cols[0] = in.cols;
        in.update_at[0] = (struct operand){.place = PLACE_MOMENT1};
        in.update_at[1] = (struct operand){.place = PLACE_MOMENT2};
    }
    return in;
}

static void note_writes(struct planned *plan, const struct instr *in)
{
    plan->writes[in->out_at.place] = true;
    for (int i = 0; i < NODE_UPDATES; i++)
        plan->writes[in->update_at[i].place] = true;
    if (in->op == OP_NUCLEAR)
        plan->writes[PLACE_STATE] = true;
}

/* Instructions run in recording order: sources come before their users. */
static consm_status emit_instrs(struct program *p)
{
    consm_status st = CONSM_OK;
    struct planned *plan = &p->plan;
    TRY(NEW(p->instr, p->count));
    for (node x = 0; x < p->count; x++) {
        struct node_info *info = &p->node[x];
        if (!info->live)
            continue;
        if (info->op == OP_INPUT)
            TRY(add_leaf(p, &info->leaf,
                         (struct leaf){LEAF_FLOATS, info->data, info->rows * info->cols,
                                       info->constant, 0, info->partition}));
        if (op_made(info->op) == MADE_LEAF)
            continue;
        if (!p->backend->kind->supports(p->backend, info->op))
            TRY(status_fail(CONSM_EPROGRAM, "the %s backend has no %s", p->backend->kind->name,
                            op_name(info->op)));
        TRY(note_leaves(p, info));
        p->instr[plan->instrs] = make_instr(p, x);
        note_writes(plan, &p->instr[plan->instrs++]);
    }
    plan->writes[PLACE_NONE] = false;
    plan->instr = p->instr;
    plan->leaf = p->leaf;
done:
    return st;
}

consm_status program_emit(struct program *p)
{
    consm_status st = CONSM_OK;
    TRY(allocate_params(p));
    TRY(allocate_state(p));
    TRY(block_new(&p->arena, p->backend, p->arena_floats * sizeof(float)));
    p->plan.memory[PLACE_ARENA] = p->arena.memory;
    TRY(allocate_mirrors(p));
    TRY(emit_instrs(p));
done:
    return st;
}
