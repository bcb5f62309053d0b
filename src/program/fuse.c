/* Fusion, before differentiation. */

/*
 * Bias, ReLU and dropout in a row become one pass over memory; after a sparse product they become
 * its last step. The same holds for a sum with a sparse product, and for a leaky ReLU after the sum
 * of an edge's two ends. Whole attention (edge scores, softmax or gate, dropout, weighted sum)
 * becomes one walk over the rows; lower.c splits it again if the backend lacks it. Only
 * intermediate results without other readers disappear, and only into operations that the backend
 * has.
 */
#include "program/internal.h"

/* Whether x is the given operation, read once and not kept. */
static bool absorbable(const struct program *p, const int *uses, node x, enum op op)
{
    return x != POISON && p->node[x].op == op && uses[x] == 1 && !p->node[x].keep;
}

static bool supported(const struct program *p, enum op op)
{
    return p->backend->kind->supports(p->backend, op);
}

/* Rewrites last = dropout(relu(x + b)), or relu(x + b), into one operation. */
static void fuse_at(struct program *p, const int *uses, node last)
{
    struct node_info *info = &p->node[last];
    node activated = info->op == OP_DROPOUT ? info->src[0] : last;
    if (info->op == OP_DROPOUT && !absorbable(p, uses, activated, OP_RELU))
        return;
    node biased = p->node[activated].src[0];
    if (!absorbable(p, uses, biased, OP_ADD_BIAS))
        return;
    node x = p->node[biased].src[0], bias = p->node[biased].src[1];
    bool product = absorbable(p, uses, x, OP_SPMM) && supported(p, OP_SPMM_FUSED);
    if ((!product && !supported(p, OP_BIAS_RELU_DROPOUT)) ||
        !supported(p, OP_BIAS_RELU_DROPOUT_GRAD))
        return;
    info->attr.a = info->op == OP_DROPOUT ? info->attr.a : 0;
    info->src[1] = bias;
    if (product) {
        info->op = OP_SPMM_FUSED;
        info->src[0] = p->node[x].src[0];
        info->attr.csr = p->node[x].attr.csr;
    } else {
        info->op = OP_BIAS_RELU_DROPOUT;
        info->src[0] = x;
    }
}

/* Rewrites a·S·x + b·y into one operation, whichever of the two is the product. */
static void fuse_sum(struct program *p, const int *uses, node x)
{
    struct node_info *info = &p->node[x];
    int side = absorbable(p, uses, info->src[0], OP_SPMM) ? 0 : 1;
    if (!absorbable(p, uses, info->src[side], OP_SPMM) || !supported(p, OP_SPMM_ADD))
        return;
    const struct node_info *product = &p->node[info->src[side]];
    float a = side ? info->attr.b : info->attr.a, b = side ? info->attr.a : info->attr.b;
    info->op = OP_SPMM_ADD;
    info->src[1] = info->src[1 - side];
    info->src[0] = product->src[0];
    info->attr = (struct attr){.csr = product->attr.csr, .a = a, .b = b};
}

/* Rewrites leaky_relu(x_row + y_col) into one operation. */
static void fuse_leaky(struct program *p, const int *uses, node x)
{
    struct node_info *info = &p->node[x];
    if (!absorbable(p, uses, info->src[0], OP_EDGE_ADD) || info->attr.a <= 0)
        return;
    const struct node_info *ends = &p->node[info->src[0]];
    float slope = info->attr.a;
    info->op = OP_EDGE_ADD;
    info->src[1] = ends->src[1];
    info->attr = (struct attr){.csr = ends->attr.csr, .a = slope};
    info->src[0] = ends->src[0];
}

/* ---- attention ---- */

enum { MOST_HEADS = 64 }; /* kernels hold a row's scores of all heads */

/* A weighted sum over edges while its weights are traced to the edges' ends. */
struct weighing {
    const struct csr *csr;
    node ends;        /* the sum of the two ends' scores */
    node absorbed[5]; /* all nodes that disappear */
    int count;
    struct attr attr;
};

static bool absorb(struct weighing *w, const struct program *p, const int *uses, node x, enum op op)
{
    if (!absorbable(p, uses, x, op))
        return false;
    w->absorbed[w->count++] = x;
    return true;
}

/* softmax over a row of leaky(ends), or of ends */
static bool trace_softmax(struct weighing *w, const struct program *p, const int *uses, node x)
{
    if (!absorb(w, p, uses, x, OP_EDGE_SOFTMAX) || p->node[x].attr.csr != w->csr)
        return false;
    w->attr.function = OP_EDGE_SOFTMAX;
    w->attr.b = 1;
    w->ends = p->node[x].src[0];
    if (absorb(w, p, uses, w->ends, OP_LEAKY_RELU)) {
        w->attr.b = p->node[w->ends].attr.a;
        w->ends = p->node[w->ends].src[0];
    }
    return w->attr.b > 0;
}

/* tanh(ends)∘S, S the matrix's own values */
static bool trace_gate(struct weighing *w, const struct program *p, const int *uses, node x)
{
    if (!absorb(w, p, uses, x, OP_MUL) || w->csr->changes || !w->csr->val)
        return false;
    const node *src = p->node[x].src;
    int side = absorbable(p, uses, src[0], OP_TANH) ? 0 : 1;
    const struct node_info *own = &p->node[src[1 - side]];
    if (!absorb(w, p, uses, src[side], OP_TANH) || own->op != OP_INPUT || own->data != w->csr->val)
        return false;
    w->attr.function = OP_TANH;
    w->ends = p->node[src[side]].src[0];
    return true;
}

/* Rewrites Σ_j w_ij z_j, w = dropout(softmax or gate of the scores of i and j), into one operation.
 */
static void fuse_attention(struct program *p, int *uses, node x)
{
    struct node_info *info = &p->node[x];
    struct weighing w = {.csr = info->attr.csr};
    node weights = info->src[0];
    w.attr = (struct attr){.csr = w.csr, .heads = info->attr.heads};
    if (info->attr.transposed || info->attr.heads > MOST_HEADS)
        return;
    if (absorb(&w, p, uses, weights, OP_DROPOUT)) {
        const struct node_info *dropped = &p->node[weights];
        if (dropped->attr.number)
            return;
        w.attr.a = dropped->attr.a;
        w.attr.stream = dropped->attr.stream;
        weights = dropped->src[0];
    }
    struct weighing gate = w;
    if (!trace_softmax(&w, p, uses, weights)) {
        w = gate;
        if (!trace_gate(&w, p, uses, weights))
            return;
    }
    const struct node_info *ends = &p->node[w.ends];
    if (!absorb(&w, p, uses, w.ends, OP_EDGE_ADD) || ends->attr.csr != w.csr || ends->attr.a != 1)
        return;
    info->op = OP_ATTEND;
    info->src[2] = info->src[1];
    info->src[0] = ends->src[0];
    info->src[1] = ends->src[1];
    info->attr = w.attr;
    for (int i = 0; i < w.count; i++)
        uses[w.absorbed[i]] = 0;
}

consm_status program_fuse(struct program *p)
{
    consm_status st = CONSM_OK;
    int *uses = NULL;
    TRY(ZNEW(uses, p->count));
    for (node x = 0; x < p->count; x++)
        for (int i = 0; i < NODE_SOURCES; i++)
            if (p->node[x].src[i] != POISON)
                uses[p->node[x].src[i]]++;
    /* Backwards, so that a dropout absorbs its ReLU before the ReLU is considered alone. */
    for (node x = p->count - 1; x >= 0; x--) {
        enum op op = p->node[x].op;
        bool absorbed = uses[x] == 0 && !p->node[x].keep;
        if ((op == OP_DROPOUT || op == OP_RELU) && !absorbed) {
            node inner = p->node[x].src[0];
            fuse_at(p, uses, x);
            if (p->node[x].op != op && op == OP_DROPOUT)
                uses[inner] = 0;
        }
        if (op == OP_SPMM_VALUES && !absorbed)
            fuse_attention(p, uses, x);
        if (op == OP_AXPBY && !absorbed)
            fuse_sum(p, uses, x);
        if (op == OP_LEAKY_RELU && !absorbed)
            fuse_leaky(p, uses, x);
    }
done:
    mem_free(uses);
    return st;
}
