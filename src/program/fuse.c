/* Fusion, before differentiation: a bias, ReLU and dropout that follow each other become one pass
 * over memory, and when a sparse product comes right before them they become its last step. Only
 * intermediate results that nobody else reads disappear. */
#include "program/internal.h"

/* x is the given operation, read once, and nobody asked to keep it. */
static bool absorbable(const struct program *p, const int *uses, node x, enum op op)
{
    return x != POISON && p->node[x].op == op && uses[x] == 1 && !p->node[x].keep;
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
    info->attr.a = info->op == OP_DROPOUT ? info->attr.a : 0;
    info->src[1] = bias;
    if (absorbable(p, uses, x, OP_SPMM)) {
        info->op = OP_SPMM_FUSED;
        info->src[0] = p->node[x].src[0];
        info->attr.csr = p->node[x].attr.csr;
    } else {
        info->op = OP_BIAS_RELU_DROPOUT;
        info->src[0] = x;
    }
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
    }
done:
    mem_free(uses);
    return st;
}
