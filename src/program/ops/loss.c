/* Softmax and the losses. Each loss is a (1,1) node; its gradient takes the (1,1) gradient g. */
#include "program/internal.h"

static node rowwise(struct program *p, enum op op, node x)
{
    if (!node_good(p, x))
        return POISON;
    return RECORD(p, .op = op, .rows = ROWS(p, x), .cols = COLS(p, x), .src = {x}, .sources = 1);
}

static void grad_rowwise(struct program *p, enum op op, node self, node g)
{
    struct node_info info = p->node[self];
    grad_add(
        p, info.src[0],
        RECORD(p, .op = op, .rows = info.rows, .cols = info.cols, .src = {g, self}, .sources = 2));
}

node softmax(struct program *p, node x)
{
    return rowwise(p, OP_SOFTMAX, x);
}

/* x̄ += y∘(G - ⟨G, y⟩) */
void grad_softmax(struct program *p, node self, node g)
{
    grad_rowwise(p, OP_SOFTMAX_GRAD, self, g);
}

node log_softmax(struct program *p, node x)
{
    return rowwise(p, OP_LOG_SOFTMAX, x);
}

/* x̄ += G - exp(y)·sum(G) */
void grad_log_softmax(struct program *p, node self, node g)
{
    grad_rowwise(p, OP_LOG_SOFTMAX_GRAD, self, g);
}

node nll(struct program *p, node x, const struct index *rows, const int32_t *label,
         const float *weight)
{
    if (!node_good(p, x))
        return POISON;
    if (!rows || rows->targets != ROWS(p, x) || rows->count < 1)
        return program_fault(
            p,
            "nll: %lld labelled rows, %lld rows in all: expected an index of these rows, not empty",
            rows ? (long long)rows->count : 0LL, (long long)ROWS(p, x));
    for (int64_t k = 0; k < rows->count; k++)
        if (label[rows->row[k]] < 0 || label[rows->row[k]] >= COLS(p, x))
            return program_fault(p, "nll: label %d: expected a class below %lld",
                                 label[rows->row[k]], (long long)COLS(p, x));
    return RECORD(p, .op = OP_NLL, .rows = 1, .cols = 1, .src = {x}, .sources = 1,
                  .attr = {.index = rows, .label = label, .weight = weight});
}

/* x̄_r += g·w_r/Σw·(softmax(x_r) - one-hot), zero in rows without a label */
void grad_nll(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    node x = info.src[0];
    grad_add(p, x,
             RECORD(p, .op = OP_NLL_GRAD, .rows = ROWS(p, x), .cols = COLS(p, x), .src = {g, x},
                    .sources = 2, .attr = info.attr));
}

/* ---- losses of elements against targets, with weights -------------------- */

static node weighted(struct program *p, enum op op, const char *name, node x, node target,
                     node weight)
{
    if (!node_good(p, x) || !node_good(p, target) || !node_good(p, weight))
        return POISON;
    if (ROWS(p, target) != ROWS(p, x) || COLS(p, target) != COLS(p, x) ||
        ROWS(p, weight) != ROWS(p, x) || COLS(p, weight) != COLS(p, x))
        return program_fault(p, "%s: values, targets and weights differ in shape", name);
    return RECORD(p, .op = op, .rows = 1, .cols = 1, .src = {x, target, weight}, .sources = 3);
}

static void grad_weighted(struct program *p, enum op op, node self, node g)
{
    struct node_info info = p->node[self];
    node x = info.src[0];
    grad_add(p, x,
             RECORD(p, .op = op, .rows = ROWS(p, x), .cols = COLS(p, x),
                    .src = {g, x, info.src[1], info.src[2]}, .sources = 4));
}

node bce(struct program *p, node x, node target, node weight)
{
    return weighted(p, OP_BCE, "bce", x, target, weight);
}

/* x̄ += g·w·(sigmoid(x) - t) */
void grad_bce(struct program *p, node self, node g)
{
    grad_weighted(p, OP_BCE_GRAD, self, g);
}

node l1(struct program *p, node x, node target, node weight)
{
    return weighted(p, OP_L1, "l1", x, target, weight);
}

/* x̄ += g·w·sign(x - t) */
void grad_l1(struct program *p, node self, node g)
{
    grad_weighted(p, OP_L1_GRAD, self, g);
}

node mse(struct program *p, node x, node target, node weight)
{
    return weighted(p, OP_MSE, "mse", x, target, weight);
}

/* x̄ += 2·g·w·(x - t) */
void grad_mse(struct program *p, node self, node g)
{
    grad_weighted(p, OP_MSE_GRAD, self, g);
}
