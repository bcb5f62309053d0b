/* Dense algebra: each operation's shape rule and gradient. G is the gradient of the result; "x̄ +=
 * …" above a gradient says what it records. */
#include "program/internal.h"

static bool same_shape(struct program *p, const char *op, node x, node y)
{
    if (!node_good(p, x) || !node_good(p, y))
        return false;
    if (ROWS(p, x) == ROWS(p, y) && COLS(p, x) == COLS(p, y))
        return true;
    program_fault(p, "%s of %s (%lld x %lld) and %s (%lld x %lld): expected equal shapes", op,
                  p->node[x].name, (long long)ROWS(p, x), (long long)COLS(p, x), p->node[y].name,
                  (long long)ROWS(p, y), (long long)COLS(p, y));
    return false;
}

/* ---- matmul: op(x)·op(y) ------------------------------------------------- */

node matmul_t(struct program *p, node x, bool tx, node y, bool ty)
{
    if (!node_good(p, x) || !node_good(p, y))
        return POISON;
    int64_t rows = tx ? COLS(p, x) : ROWS(p, x), inner = tx ? ROWS(p, x) : COLS(p, x);
    int64_t cols = ty ? ROWS(p, y) : COLS(p, y), other = ty ? COLS(p, y) : ROWS(p, y);
    if (inner != other)
        return program_fault(
            p, "matmul of %s (%lld x %lld) and %s (%lld x %lld): %lld and %lld differ",
            p->node[x].name, (long long)rows, (long long)inner, p->node[y].name, (long long)other,
            (long long)cols, (long long)inner, (long long)other);
    return RECORD(p, .op = OP_MATMUL, .rows = rows, .cols = cols, .src = {x, y}, .sources = 2,
                  .attr = {.transposed = tx, .other_transposed = ty});
}

node matmul(struct program *p, node x, node y)
{
    if (!node_good(p, x) || !node_good(p, y))
        return POISON;
    const struct node_info *left = &p->node[x];
    if (left->op != OP_SPARSE)
        return matmul_t(p, x, false, y, false);
    if (left->src[0] == POISON)
        return spmm(p, left->attr.csr, y);
    return spmm_values(p, left->attr.csr, left->src[0], y);
}

/* Z = op(X)·op(Y):  X̄ += G·op(Y)ᵀ (transposed if X was),  Ȳ += op(X)ᵀ·G (likewise) */
void grad_matmul(struct program *p, node self, node g)
{
    node x = p->node[self].src[0], y = p->node[self].src[1];
    bool tx = p->node[self].attr.transposed, ty = p->node[self].attr.other_transposed;
    if (grad_wanted(p, x))
        grad_add(p, x, tx ? matmul_t(p, y, ty, g, true) : matmul_t(p, g, false, y, !ty));
    if (grad_wanted(p, y))
        grad_add(p, y, ty ? matmul_t(p, g, true, x, tx) : matmul_t(p, x, !tx, g, false));
}

/* ---- sums and products --------------------------------------------------- */

node axpby(struct program *p, float a, node x, float b, node y)
{
    if (!same_shape(p, "axpby", x, y))
        return POISON;
    return RECORD(p, .op = OP_AXPBY, .rows = ROWS(p, x), .cols = COLS(p, x), .src = {x, y},
                  .sources = 2, .attr = {.a = a, .b = b});
}

node add(struct program *p, node x, node y)
{
    return axpby(p, 1, x, 1, y);
}

node sub(struct program *p, node x, node y)
{
    return axpby(p, 1, x, -1, y);
}

/* X̄ += a·G,  Ȳ += b·G */
void grad_axpby(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    for (int i = 0; i < 2; i++) {
        float factor = i ? info.attr.b : info.attr.a;
        if (grad_wanted(p, info.src[i]))
            grad_add(p, info.src[i], factor == 1 ? g : scale(p, factor, g));
    }
}

node scale(struct program *p, float a, node x)
{
    if (!node_good(p, x))
        return POISON;
    return RECORD(p, .op = OP_SCALE, .rows = ROWS(p, x), .cols = COLS(p, x), .src = {x},
                  .sources = 1, .attr = {.a = a});
}

void grad_scale(struct program *p, node self, node g)
{
    grad_add(p, p->node[self].src[0], scale(p, p->node[self].attr.a, g));
}

node mul(struct program *p, node x, node y)
{
    if (!same_shape(p, "mul", x, y))
        return POISON;
    return RECORD(p, .op = OP_MUL, .rows = ROWS(p, x), .cols = COLS(p, x), .src = {x, y},
                  .sources = 2);
}

/* X̄ += G∘Y,  Ȳ += G∘X */
void grad_mul(struct program *p, node self, node g)
{
    node x = p->node[self].src[0], y = p->node[self].src[1];
    if (grad_wanted(p, x))
        grad_add(p, x, mul(p, g, y));
    if (grad_wanted(p, y))
        grad_add(p, y, mul(p, g, x));
}

node scale_by(struct program *p, node x, node scalar)
{
    if (!node_good(p, x) || !node_good(p, scalar))
        return POISON;
    if (ROWS(p, scalar) != 1 || COLS(p, scalar) != 1)
        return program_fault(p, "scale_by: %s is %lld x %lld: expected 1 x 1", p->node[scalar].name,
                             (long long)ROWS(p, scalar), (long long)COLS(p, scalar));
    return RECORD(p, .op = OP_SCALE_BY, .rows = ROWS(p, x), .cols = COLS(p, x), .src = {x, scalar},
                  .sources = 2);
}

/* Z = s·X:  X̄ += s·G,  s̄ += ⟨G, X⟩ */
void grad_scale_by(struct program *p, node self, node g)
{
    node x = p->node[self].src[0], s = p->node[self].src[1];
    if (grad_wanted(p, x))
        grad_add(p, x, scale_by(p, g, s));
    if (grad_wanted(p, s))
        grad_add(p, s, dot(p, g, x));
}

node scale_rows(struct program *p, node x, node factor)
{
    if (!node_good(p, x) || !node_good(p, factor))
        return POISON;
    if (ROWS(p, factor) != ROWS(p, x) || COLS(p, factor) != 1)
        return program_fault(p, "scale_rows: %s is %lld x %lld: expected %lld x 1",
                             p->node[factor].name, (long long)ROWS(p, factor),
                             (long long)COLS(p, factor), (long long)ROWS(p, x));
    return RECORD(p, .op = OP_SCALE_ROWS, .rows = ROWS(p, x), .cols = COLS(p, x),
                  .src = {x, factor}, .sources = 2);
}

/* Z = diag(v)·X:  X̄ += diag(v)·G,  v̄ += row sums of G∘X */
void grad_scale_rows(struct program *p, node self, node g)
{
    node x = p->node[self].src[0], v = p->node[self].src[1];
    if (grad_wanted(p, x))
        grad_add(p, x, scale_rows(p, g, v));
    if (grad_wanted(p, v))
        grad_add(p, v, row_sum(p, mul(p, g, x)));
}

/* ---- bias, alone and with what usually follows it ------------------------ */

node add_bias(struct program *p, node x, node bias)
{
    if (!node_good(p, x) || !node_good(p, bias))
        return POISON;
    if (ROWS(p, bias) != 1 || COLS(p, bias) != COLS(p, x))
        return program_fault(p, "add_bias: %s is %lld x %lld: expected 1 x %lld",
                             p->node[bias].name, (long long)ROWS(p, bias), (long long)COLS(p, bias),
                             (long long)COLS(p, x));
    return RECORD(p, .op = OP_ADD_BIAS, .rows = ROWS(p, x), .cols = COLS(p, x), .src = {x, bias},
                  .sources = 2);
}

void grad_add_bias(struct program *p, node self, node g)
{
    node x = p->node[self].src[0], bias = p->node[self].src[1];
    grad_add(p, x, g);
    if (grad_wanted(p, bias))
        grad_add(p, bias, col_sum(p, g));
}

/* y = dropout(relu(x + b)): an element is positive exactly if both kept it, so x̄ += [y >
 * 0]·G/(1-rate) needs neither x nor the mask. */
void grad_bias_relu_dropout(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    node through = RECORD(p, .op = OP_BIAS_RELU_DROPOUT_GRAD, .rows = info.rows, .cols = info.cols,
                          .src = {g, self}, .sources = 2, .attr = info.attr);
    grad_add(p, info.src[0], through);
    if (grad_wanted(p, info.src[1]))
        grad_add(p, info.src[1], col_sum(p, through));
}

/* ---- columns ------------------------------------------------------------- */

node concat(struct program *p, node x, node y)
{
    if (!node_good(p, x) || !node_good(p, y))
        return POISON;
    if (ROWS(p, x) != ROWS(p, y))
        return program_fault(p, "concat: %lld and %lld rows: expected equal numbers",
                             (long long)ROWS(p, x), (long long)ROWS(p, y));
    return RECORD(p, .op = OP_CONCAT, .rows = ROWS(p, x), .cols = COLS(p, x) + COLS(p, y),
                  .src = {x, y}, .sources = 2);
}

void grad_concat(struct program *p, node self, node g)
{
    node x = p->node[self].src[0], y = p->node[self].src[1];
    if (grad_wanted(p, x))
        grad_add(p, x, slice(p, g, 0, COLS(p, x)));
    if (grad_wanted(p, y))
        grad_add(p, y, slice(p, g, COLS(p, x), COLS(p, y)));
}

/* An existing slice of these columns. */
static node same_slice(const struct program *p, node x, int64_t from, int64_t cols)
{
    for (node k = x + 1; k < p->count; k++)
        if (p->node[k].op == OP_SLICE && p->node[k].src[0] == x && p->node[k].cols == cols &&
            p->node[k].attr.column == from)
            return k;
    return POISON;
}

/* All readers of the same columns share one node: losses of the same predictions then add their
 * gradients on these columns, and the sum is padded once. */
node slice(struct program *p, node x, int64_t from, int64_t cols)
{
    if (!node_good(p, x))
        return POISON;
    if (from < 0 || cols < 0 || cols > COLS(p, x) || from > COLS(p, x) - cols)
        return program_fault(
            p,
            "slice: %lld columns from column %lld: expected columns within the %lld of its input",
            (long long)cols, (long long)from, (long long)COLS(p, x));
    node same = same_slice(p, x, from, cols);
    return same != POISON ? same
                          : RECORD(p, .op = OP_SLICE, .rows = ROWS(p, x), .cols = cols, .src = {x},
                                   .sources = 1, .attr = {.column = from});
}

void grad_slice(struct program *p, node self, node g)
{
    node x = p->node[self].src[0];
    grad_add(p, x,
             RECORD(p, .op = OP_PAD, .rows = ROWS(p, x), .cols = COLS(p, x), .src = {g},
                    .sources = 1, .attr = {.column = p->node[self].attr.column}));
}

node reshape(struct program *p, node x, int64_t rows, int64_t cols)
{
    if (!node_good(p, x))
        return POISON;
    if (rows * cols != ROWS(p, x) * COLS(p, x))
        return program_fault(p, "reshape: %lld x %lld to %lld x %lld: expected equal products",
                             (long long)ROWS(p, x), (long long)COLS(p, x), (long long)rows,
                             (long long)cols);
    return RECORD(p, .op = OP_RESHAPE, .rows = rows, .cols = cols, .src = {x}, .sources = 1);
}

void grad_reshape(struct program *p, node self, node g)
{
    node x = p->node[self].src[0];
    grad_add(p, x, reshape(p, g, ROWS(p, x), COLS(p, x)));
}

/* ---- reductions and their opposite --------------------------------------- */

node col_sum(struct program *p, node x)
{
    if (!node_good(p, x))
        return POISON;
    return RECORD(p, .op = OP_COL_SUM, .rows = 1, .cols = COLS(p, x), .src = {x}, .sources = 1);
}

node row_sum(struct program *p, node x)
{
    if (!node_good(p, x))
        return POISON;
    return RECORD(p, .op = OP_ROW_SUM, .rows = ROWS(p, x), .cols = 1, .src = {x}, .sources = 1);
}

node sum(struct program *p, node x)
{
    return RECORD(p, .op = OP_SUM, .rows = 1, .cols = 1, .src = {x}, .sources = 1);
}

static void grad_reduction(struct program *p, node self, node g)
{
    node x = p->node[self].src[0];
    grad_add(p, x, expand(p, g, ROWS(p, x), COLS(p, x)));
}

void grad_col_sum(struct program *p, node self, node g)
{
    grad_reduction(p, self, g);
}

void grad_row_sum(struct program *p, node self, node g)
{
    grad_reduction(p, self, g);
}

void grad_sum(struct program *p, node self, node g)
{
    grad_reduction(p, self, g);
}

node dot(struct program *p, node x, node y)
{
    if (!same_shape(p, "dot", x, y))
        return POISON;
    return RECORD(p, .op = OP_DOT, .rows = 1, .cols = 1, .src = {x, y}, .sources = 2);
}

/* X̄ += g·Y,  Ȳ += g·X */
void grad_dot(struct program *p, node self, node g)
{
    node x = p->node[self].src[0], y = p->node[self].src[1];
    if (grad_wanted(p, x))
        grad_add(p, x, scale_by(p, y, g));
    if (grad_wanted(p, y))
        grad_add(p, y, scale_by(p, x, g));
}

node expand(struct program *p, node x, int64_t rows, int64_t cols)
{
    if (!node_good(p, x))
        return POISON;
    if ((ROWS(p, x) != 1 && ROWS(p, x) != rows) || (COLS(p, x) != 1 && COLS(p, x) != cols))
        return program_fault(
            p, "expand: %lld x %lld to %lld x %lld: each size must be 1 or stay the same",
            (long long)ROWS(p, x), (long long)COLS(p, x), (long long)rows, (long long)cols);
    return RECORD(p, .op = OP_EXPAND, .rows = rows, .cols = cols, .src = {x}, .sources = 1);
}

void grad_expand(struct program *p, node self, node g)
{
    node x = p->node[self].src[0];
    if (ROWS(p, x) == 1 && ROWS(p, self) != 1)
        g = col_sum(p, g);
    if (COLS(p, x) == 1 && COLS(p, self) != 1)
        g = row_sum(p, g);
    grad_add(p, x, g);
}
