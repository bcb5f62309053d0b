/* Operations on single elements. Their gradients share one backward operation, which gets the
 * function to differentiate. */
#include "program/internal.h"

static node unary(struct program *p, enum op op, node x, float a, float b)
{
    if (!node_good(p, x))
        return POISON;
    return RECORD(p, .op = op, .rows = ROWS(p, x), .cols = COLS(p, x), .src = {x}, .sources = 1,
                  .attr = {.a = a, .b = b});
}

node relu(struct program *p, node x)
{
    return unary(p, OP_RELU, x, 0, 0);
}

node leaky_relu(struct program *p, node x, float slope)
{
    return unary(p, OP_LEAKY_RELU, x, slope, 0);
}

node elu(struct program *p, node x)
{
    return unary(p, OP_ELU, x, 0, 0);
}

node tanh_(struct program *p, node x)
{
    return unary(p, OP_TANH, x, 0, 0);
}

node sigmoid(struct program *p, node x)
{
    return unary(p, OP_SIGMOID, x, 0, 0);
}

node log_sigmoid(struct program *p, node x)
{
    return unary(p, OP_LOG_SIGMOID, x, 0, 0);
}

node exp_(struct program *p, node x)
{
    return unary(p, OP_EXP, x, 0, 0);
}

node log_(struct program *p, node x, float floor)
{
    return unary(p, OP_LOG, x, floor, 0);
}

node square(struct program *p, node x)
{
    return unary(p, OP_SQUARE, x, 0, 0);
}

node abs_(struct program *p, node x)
{
    return unary(p, OP_ABS, x, 0, 0);
}

node clamp(struct program *p, node x, float low, float high)
{
    return unary(p, OP_CLAMP, x, low, high);
}

/* X̄ += G∘f'(X), written with y = f(x) if that is cheaper */
void grad_unary(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    struct attr attr = info.attr;
    attr.function = info.op;
    grad_add(p, info.src[0],
             RECORD(p, .op = OP_UNARY_GRAD, .rows = info.rows, .cols = info.cols,
                    .src = {g, info.src[0], self}, .sources = 3, .attr = attr));
}

/* Dropping from a sparse matrix drops from its values. */
static node dropout_sparse(struct program *p, node x, float rate)
{
    const struct csr *matrix = p->node[x].attr.csr;
    node values = p->node[x].src[0];
    if (values == POISON)
        values = matrix->val ? input(p, matrix->val, matrix->nnz, 1) : fill(p, 1, matrix->nnz, 1);
    node dropped = sparse(p, matrix), kept = dropout(p, values, rate);
    if (dropped != POISON)
        p->node[dropped].src[0] = kept;
    return dropped;
}

node dropout(struct program *p, node x, float rate)
{
    if (!node_good(p, x) || !p->training || rate == 0)
        return x;
    if (!(rate > 0 && rate < 1))
        return program_fault(p, "dropout of %g: expected 0 to below 1", (double)rate);
    if (p->node[x].op == OP_SPARSE)
        return dropout_sparse(p, x, rate);
    return RECORD(p, .op = OP_DROPOUT, .rows = ROWS(p, x), .cols = COLS(p, x), .src = {x},
                  .sources = 1, .attr = {.a = rate, .stream = p->streams++});
}

/* The mask is a function of (seed, step, stream, element): the same operation on the gradient. */
void grad_dropout(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    grad_add(p, info.src[0],
             RECORD(p, .op = OP_DROPOUT, .rows = info.rows, .cols = info.cols, .src = {g},
                    .sources = 1, .attr = info.attr));
}
