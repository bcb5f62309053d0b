/* Fusion, before differentiation: a bias, ReLU and dropout that follow each other become one pass
 * over memory, and when a sparse product comes right before them they become its last step. So does
 * a sum with a sparse product, and a leaky ReLU right behind the sum of an edge's two ends. Only
 * intermediate results that nobody else reads disappear, and only into operations that the backend
 * has. */
#include "program/internal.h"

/* x is the given operation, read once, and nobody asked to keep it. */
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

consm_status program_fuse(struct program *p)
{
    consm_status st = CONSM_OK;
    int *uses = NULL;
    TRY(ZNEW(uses, p->count));
    for (node x = 0; x < p->count; x++)
        for (int i = 0; i < NODE_SOURCES; i++)
            if (p->node[x].src[i] != POISON)
                uses[p->node[x].src[i]]++;
    /* Backwards, so that a dropout takes its ReLU before the ReLU is looked at alone. */
    for (node x = p->count - 1; x >= 0; x--) {
        enum op op = p->node[x].op;
        bool absorbed = uses[x] == 0 && !p->node[x].keep;
        if ((op == OP_DROPOUT || op == OP_RELU) && !absorbed) {
            node inner = p->node[x].src[0];
            fuse_at(p, uses, x);
            if (p->node[x].op != op && op == OP_DROPOUT)
                uses[inner] = 0;
        }
        if (op == OP_AXPBY && !absorbed)
            fuse_sum(p, uses, x);
        if (op == OP_LEAKY_RELU && !absorbed)
            fuse_leaky(p, uses, x);
    }
done:
    mem_free(uses);
    return st;
}
