/* Lowering: splits fused attention again if the backend lacks it. It is undone here, after
 * restriction, instead of not being done, so that every backend computes the same rows and draws
 * the same random numbers. */
#include "program/internal.h"

static bool supported(const struct program *p, enum op op)
{
    return p->backend->kind->supports(p->backend, op);
}

/* softmax over the row's entries of leaky(ends), or tanh(ends)∘S */
static node weigh(struct program *p, const struct attr *attr, node left, node right)
{
    const struct csr *s = attr->csr;
    if (attr->function == OP_TANH) {
        node gate = tanh_(p, edge_add(p, s, left, right));
        return mul(p, gate, input(p, s->val, s->nnz, 1));
    }
    return edge_softmax(p, s,
                        RECORD(p, .op = OP_EDGE_ADD, .rows = s->nnz, .cols = attr->heads,
                               .src = {left, right}, .sources = 2,
                               .attr = {.csr = s, .a = attr->b}));
}

/* Attention as its parts; the last one gets its name and keeps its value. */
static consm_status record_parts(node *out, struct program *p, const struct node_info *old,
                                 void *ctx, node x, const node *renamed)
{
    const struct node_info *info = &old[x];
    const struct attr *attr = &info->attr;
    (void)ctx;
    if (info->op != OP_ATTEND)
        return CONSM_OK;
    node weights = weigh(p, attr, renamed[info->src[0]], renamed[info->src[1]]);
    if (attr->a > 0)
        weights =
            RECORD(p, .op = OP_DROPOUT, .rows = attr->csr->nnz, .cols = attr->heads,
                   .src = {weights}, .sources = 1, .attr = {.a = attr->a, .stream = attr->stream});
    *out = spmm_values(p, attr->csr, weights, renamed[info->src[2]]);
    if (*out != POISON)
        p->node[*out].keep = info->keep;
    program_name(p, *out, info->name);
    return CONSM_OK;
}

static consm_status copy_node(struct program *p, const struct node_info *old, const node *renamed)
{
    consm_status st = CONSM_OK;
    struct node_info info = *old;
    for (int i = 0; i < NODE_SOURCES; i++)
        if (info.src[i] != POISON)
            info.src[i] = renamed[info.src[i]];
    for (int i = 0; i < NODE_UPDATES; i++)
        if (info.update[i] != POISON)
            info.update[i] = renamed[info.update[i]];
    TRY(GROW(p->node, p->count, p->capacity, 1));
    p->node[p->count++] = info;
done:
    return st;
}

consm_status program_rewrite(struct program *p, instead_fn *instead, void *ctx)
{
    consm_status st = CONSM_OK;
    struct node_info *old = p->node;
    node *renamed = NULL, count = p->count;
    TRY(NEW(renamed, count));
    if (!p->renamed) {
        TRY(NEW(p->renamed, count));
        p->recorded = count;
        for (node x = 0; x < count; x++)
            p->renamed[x] = x;
    }
    p->node = NULL;
    p->count = 0;
    p->capacity = 0;
    for (node x = 0; x < count && st == CONSM_OK; x++) {
        renamed[x] = POISON;
        st = instead(&renamed[x], p, old, ctx, x, renamed);
        if (st == CONSM_OK && renamed[x] == POISON) {
            st = copy_node(p, &old[x], renamed);
            renamed[x] = p->count - 1;
        }
    }
    mem_free(old);
    TRY(st);
    for (node i = 0; i < p->recorded; i++)
        if (p->renamed[i] != POISON)
            p->renamed[i] = renamed[p->renamed[i]];
    if (p->loss != POISON)
        p->loss = renamed[p->loss];
done:
    mem_free(renamed);
    return st;
}

consm_status program_lower(struct program *p)
{
    bool attends = false;
    for (node x = 0; x < p->count; x++)
        attends = attends || p->node[x].op == OP_ATTEND;
    if (!attends || (supported(p, OP_ATTEND) && supported(p, OP_ATTEND_ROWS) &&
                     supported(p, OP_ATTEND_COLUMNS)))
        return CONSM_OK;
    return program_rewrite(p, record_parts, NULL);
}
