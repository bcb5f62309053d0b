/* Reverse-mode differentiation by recording: walks the program backwards and lets each operation
 * record the nodes of its gradient. So planning and every backend support the backward pass without
 * special code. */
#include "program/internal.h"

bool grad_wanted(const struct program *p, node x)
{
    return x != POISON && p->node[x].needs_grad;
}

void grad_add(struct program *p, node x, node g)
{
    if (!grad_wanted(p, x) || g == POISON)
        return;
    g = p->gradient[x] == POISON ? g : add(p, p->gradient[x], g);
    p->gradient[x] = g;
}

/* Puts a parameter's gradient where the optimiser reads it. A node that is used elsewhere (two
 * parameters with one gradient, a leaf) is copied. */
static void place_gradient(struct program *p, node parameter, node g)
{
    const struct node_info *info = &p->node[g];
    if (info->place != PLACE_ARENA || info->keep)
        g = scale(p, 1, g);
    if (g == POISON)
        return;
    p->node[g].place = PLACE_GRAD;
    p->node[g].parameter = p->node[parameter].parameter;
    p->node[g].keep = true;
}

/* The last operation of a step: Adam over all trained parameters of the store, with the available
 * gradients. */
static void record_optimiser(struct program *p)
{
    if (!p->optimizes)
        return;
    node step = RECORD(p, .op = OP_ADAM, .rows = 1, .cols = p->params->size,
                       .attr = {.optimiser = &p->optimiser});
    if (step == POISON)
        return;
    p->node[step].place = PLACE_VALUE;
    p->node[step].keep = true;
}

consm_status program_differentiate(struct program *p)
{
    consm_status st = CONSM_OK;
    node *gradients = NULL;
    p->forward = p->count;
    if (p->loss == POISON || !grad_wanted(p, p->loss))
        goto done;
    TRY(NEW(gradients, p->forward));
    for (node x = 0; x < p->forward; x++)
        gradients[x] = POISON;
    p->gradient = gradients;
    gradients[p->loss] = fill(p, 1, 1, 1);
    for (node x = p->loss; x >= 0; x--) {
        enum op op = p->node[x].op;
        if (gradients[x] == POISON || op == OP_PARAM)
            continue;
        if (!op_table[op].gradient)
            program_fault(p, "%s has no gradient", op_table[op].name);
        else
            op_table[op].gradient(p, x, gradients[x]);
    }
    for (node x = 0; x < p->forward; x++)
        if (p->node[x].op == OP_PARAM && gradients[x] != POISON)
            place_gradient(p, x, gradients[x]);
done:
    if (st == CONSM_OK)
        record_optimiser(p);
    p->gradient = NULL;
    mem_free(gradients);
    return st;
}
