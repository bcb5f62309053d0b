/* Reverse-mode differentiation by recording: walks the program backwards and lets each operation
 * record the nodes of its gradient, so that planning and every backend serve the backward pass
 * without knowing it. */
#include "program/internal.h"

/* Gradients known so far, one per node of the recording. */
static _Thread_local node *gradient_of;

bool grad_wanted(const struct program *p, node x)
{
    return x != POISON && p->node[x].needs_grad;
}

void grad_add(struct program *p, node x, node g)
{
    if (!grad_wanted(p, x) || g == POISON)
        return;
    gradient_of[x] = gradient_of[x] == POISON ? g : add(p, gradient_of[x], g);
}

/* Puts a parameter's gradient where the optimiser reads it. A node that already serves elsewhere
 * (two parameters with one gradient, a leaf) is copied. */
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

consm_status program_differentiate(struct program *p)
{
    consm_status st = CONSM_OK;
    node *gradients = NULL;
    p->forward = p->count;
    if (p->loss == POISON || !grad_wanted(p, p->loss))
        return CONSM_OK;
    TRY(NEW(gradients, p->forward));
    for (node x = 0; x < p->forward; x++)
        gradients[x] = POISON;
    gradient_of = gradients;
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
    gradient_of = NULL;
    mem_free(gradients);
    return st;
}
