/* Sparse matrices and per-edge values. The pattern S is constant; its values are constant (spmm) or
 * nodes (nnz, heads). Backward passes use the cached transpose (attr.transposed). */
#include "program/internal.h"

/* Whether the pattern exists and x has the expected number of rows. */
static bool fits(struct program *p, const char *op, const struct csr *s, node x, int64_t rows)
{
    if (!node_good(p, x))
        return false;
    if (!s) {
        program_fault(p, "%s: the sparse matrix is missing", op);
        return false;
    }
    if (ROWS(p, x) == rows)
        return true;
    program_fault(p, "%s: %s has %lld rows: expected %lld", op, p->node[x].name,
                  (long long)ROWS(p, x), (long long)rows);
    return false;
}

/* ---- S·x with constant values -------------------------------------------- */

node spmm(struct program *p, const struct csr *s, node x)
{
    if (!fits(p, "spmm", s, x, s ? s->cols : 0))
        return POISON;
    return RECORD(p, .op = OP_SPMM, .rows = s->rows, .cols = COLS(p, x), .src = {x}, .sources = 1,
                  .attr = {.csr = s});
}

/* X̄ += Sᵀ·G */
void grad_spmm(struct program *p, node self, node g)
{
    node x = p->node[self].src[0];
    const struct csr *s = p->node[self].attr.csr;
    if (!program_transpose(p, s))
        return;
    grad_add(p, x,
             RECORD(p, .op = OP_SPMM, .rows = ROWS(p, x), .cols = COLS(p, x), .src = {g},
                    .sources = 1, .attr = {.csr = s, .transposed = true}));
}

/* y = dropout(relu(S·X + b)), see grad_bias_relu_dropout:  T = [y > 0]·G/(1-rate),
 * X̄ += Sᵀ·T,  b̄ += column sums of T */
void grad_spmm_fused(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    node x = info.src[0];
    node through = RECORD(p, .op = OP_BIAS_RELU_DROPOUT_GRAD, .rows = info.rows, .cols = info.cols,
                          .src = {g, self}, .sources = 2, .attr = {.a = info.attr.a});
    if (grad_wanted(p, info.src[1]))
        grad_add(p, info.src[1], col_sum(p, through));
    if (grad_wanted(p, x) && program_transpose(p, info.attr.csr))
        grad_add(p, x,
                 RECORD(p, .op = OP_SPMM, .rows = ROWS(p, x), .cols = COLS(p, x), .src = {through},
                        .sources = 1, .attr = {.csr = info.attr.csr, .transposed = true}));
}

/* The number of steps of a walk Z_k = a·S·Z_k-1 + b·Z_0 that ends in self; 0 if it is not a walk.
 */
static int walk_length(const struct program *p, node self)
{
    const struct node_info *last = &p->node[self], *step = last;
    int length = 1;
    for (; step->src[0] != last->src[1]; length++) {
        node before = step->src[0];
        step = &p->node[before];
        if (step->op != OP_SPMM_ADD || p->gradient[before] != POISON ||
            step->src[1] != last->src[1] || step->attr.csr != last->attr.csr ||
            step->attr.a != last->attr.a || step->attr.b != last->attr.b)
            return 0;
    }
    return length;
}

/* Z = a·S·X + b·Y:  X̄ += a·Sᵀ·G,  Ȳ += b·G
 * A whole walk goes back as it came, by Horner's rule and without a sum of its steps' gradients:
 * with M = a·Sᵀ,  Z̄_0 = M^K·G + b·(M^K-1 + … + M + 1)·G,  so  Q_0 = G,  Q_k = M·Q_k-1 + b·G,
 * Z̄_0 += Q_K. */
void grad_spmm_add(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    node x = info.src[0], y = info.src[1], q = g;
    int steps = walk_length(p, self);
    if (grad_wanted(p, x) && !program_transpose(p, info.attr.csr))
        return;
    struct attr back = {.csr = info.attr.csr, .transposed = true, .a = info.attr.a};
    if (steps > 0 && grad_wanted(p, y)) {
        back.b = info.attr.b;
        for (int k = 0; k < steps; k++)
            q = RECORD(p, .op = OP_SPMM_ADD, .rows = info.rows, .cols = info.cols, .src = {q, g},
                       .sources = 2, .attr = back);
        grad_add(p, y, q);
        return;
    }
    if (grad_wanted(p, x))
        grad_add(p, x,
                 RECORD(p, .op = OP_SPMM_ADD, .rows = ROWS(p, x), .cols = COLS(p, x), .src = {g},
                        .sources = 1, .attr = back));
    if (grad_wanted(p, y))
        grad_add(p, y, info.attr.b == 1 ? g : scale(p, info.attr.b, g));
}

/* ---- S·x with learned values --------------------------------------------- */

node spmm_values(struct program *p, const struct csr *s, node values, node x)
{
    if (!fits(p, "spmm_values", s, x, s ? s->cols : 0) ||
        !fits(p, "spmm_values", s, values, s->nnz))
        return POISON;
    int64_t heads = COLS(p, values);
    if (heads < 1 || COLS(p, x) % heads != 0)
        return program_fault(p, "spmm_values: %lld columns: expected a multiple of the %lld heads",
                             (long long)COLS(p, x), (long long)heads);
    /* Entries that dropout removed need not be multiplied; a backend may ask for their share. */
    float dropped = p->node[values].op == OP_DROPOUT ? p->node[values].attr.a : 0;
    return RECORD(p, .op = OP_SPMM_VALUES, .rows = s->rows, .cols = COLS(p, x), .src = {values, x},
                  .sources = 2, .attr = {.csr = s, .heads = heads, .a = dropped});
}

/* Whether S(v) is its own transpose, to the bit: DropEdge treats both directions of an edge alike.
 * The positions of the transposed entries, 8 bytes each, are then not needed. */
static bool mirrored(struct program *p, const struct csr *s, node values)
{
    return p->node[values].op == OP_EDGE_DROP && program_transpose(p, s) == s;
}

/* Z = S(v)·X:  X̄ += S(v)ᵀ·G,  v̄_ij += ⟨G_i, X_j⟩ per head */
void grad_spmm_values(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    node values = info.src[0], x = info.src[1];
    if (grad_wanted(p, values))
        grad_add(p, values, sddmm(p, info.attr.csr, g, x, info.attr.heads));
    bool same = mirrored(p, info.attr.csr, values);
    if (grad_wanted(p, x) && (same || program_transpose_entries(p, info.attr.csr)))
        grad_add(p, x,
                 RECORD(p, .op = OP_SPMM_VALUES, .rows = ROWS(p, x), .cols = COLS(p, x),
                        .src = {values, g}, .sources = 2,
                        .attr = {.csr = info.attr.csr,
                                 .heads = info.attr.heads,
                                 .transposed = !same,
                                 .a = info.attr.a}));
}

/* ---- sampled dense-dense product: ⟨x_i, y_j⟩ on the edges ---------------- */

node sddmm(struct program *p, const struct csr *s, node x, node y, int64_t heads)
{
    if (!fits(p, "sddmm", s, x, s ? s->rows : 0) || !fits(p, "sddmm", s, y, s->cols))
        return POISON;
    if (COLS(p, x) != COLS(p, y) || heads < 1 || COLS(p, x) % heads != 0)
        return program_fault(
            p, "sddmm: %lld and %lld columns: expected equal numbers, a multiple of the %lld heads",
            (long long)COLS(p, x), (long long)COLS(p, y), (long long)heads);
    return RECORD(p, .op = OP_SDDMM, .rows = s->nnz, .cols = heads, .src = {x, y}, .sources = 2,
                  .attr = {.csr = s, .heads = heads});
}

/* X̄ += S(G)·Y,  Ȳ += S(G)ᵀ·X */
void grad_sddmm(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    node x = info.src[0], y = info.src[1];
    if (grad_wanted(p, x))
        grad_add(p, x, spmm_values(p, info.attr.csr, g, y));
    if (grad_wanted(p, y) && program_transpose_entries(p, info.attr.csr))
        grad_add(
            p, y,
            RECORD(p, .op = OP_SPMM_VALUES, .rows = ROWS(p, y), .cols = COLS(p, y), .src = {g, x},
                   .sources = 2,
                   .attr = {.csr = info.attr.csr, .heads = info.attr.heads, .transposed = true}));
}

/* ---- one vector per head ------------------------------------------------- */

node head_dot(struct program *p, node x, node a)
{
    if (!node_good(p, x) || !node_good(p, a))
        return POISON;
    if (ROWS(p, a) * COLS(p, a) != COLS(p, x))
        return program_fault(p, "head_dot: %lld columns: expected %lld heads times %lld columns",
                             (long long)COLS(p, x), (long long)ROWS(p, a), (long long)COLS(p, a));
    return RECORD(p, .op = OP_HEAD_DOT, .rows = ROWS(p, x), .cols = ROWS(p, a), .src = {x, a},
                  .sources = 2, .attr = {.heads = ROWS(p, a)});
}

static node head_spread(struct program *p, node g, node a)
{
    return RECORD(p, .op = OP_HEAD_SPREAD, .rows = ROWS(p, g), .cols = ROWS(p, a) * COLS(p, a),
                  .src = {g, a}, .sources = 2, .attr = {.heads = ROWS(p, a)});
}

/* x̄ += G_h·a_h,  ā_h += sum over rows of G_h·x_h */
void grad_head_dot(struct program *p, node self, node g)
{
    node x = p->node[self].src[0], a = p->node[self].src[1];
    if (g == POISON)
        return;
    grad_add(p, x, head_spread(p, g, a));
    if (grad_wanted(p, a))
        grad_add(p, a,
                 RECORD(p, .op = OP_HEAD_OUTER, .rows = ROWS(p, a), .cols = COLS(p, a),
                        .src = {g, x}, .sources = 2, .attr = {.heads = ROWS(p, a)}));
}

/* ---- sums between rows and edges ----------------------------------------- */

node edge_add(struct program *p, const struct csr *s, node x, node y)
{
    if (!fits(p, "edge_add", s, x, s ? s->rows : 0) || !fits(p, "edge_add", s, y, s->cols))
        return POISON;
    if (COLS(p, x) != COLS(p, y))
        return program_fault(p, "edge_add: %lld and %lld columns: expected equal numbers",
                             (long long)COLS(p, x), (long long)COLS(p, y));
    return RECORD(p, .op = OP_EDGE_ADD, .rows = s->nnz, .cols = COLS(p, x), .src = {x, y},
                  .sources = 2, .attr = {.csr = s, .a = 1});
}

static node edge_sum_along(struct program *p, const struct csr *s, node values, bool transposed)
{
    return RECORD(p, .op = OP_EDGE_SUM, .rows = transposed ? s->cols : s->rows,
                  .cols = COLS(p, values), .src = {values}, .sources = 1,
                  .attr = {.csr = s, .transposed = transposed});
}

/* T = G, times a where the result is below zero:  X̄_i += sum of T over row i,  Ȳ_j += sum of G over
 * column j */
void grad_edge_add(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    if (g != POISON && info.attr.a != 1)
        g = RECORD(p, .op = OP_UNARY_GRAD, .rows = info.rows, .cols = info.cols,
                   .src = {g, self, self}, .sources = 3,
                   .attr = {.a = info.attr.a, .function = OP_LEAKY_RELU});
    if (g == POISON)
        return;
    if (grad_wanted(p, info.src[0]))
        grad_add(p, info.src[0], edge_sum_along(p, info.attr.csr, g, false));
    if (grad_wanted(p, info.src[1]) && program_transpose_entries(p, info.attr.csr))
        grad_add(p, info.src[1], edge_sum_along(p, info.attr.csr, g, true));
}

node edge_sum(struct program *p, const struct csr *s, node values)
{
    if (!fits(p, "edge_sum", s, values, s ? s->nnz : 0))
        return POISON;
    return edge_sum_along(p, s, values, false);
}

/* v̄_ij += G_i: an edge_add whose second term is zero */
void grad_edge_sum(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    grad_add(p, info.src[0],
             edge_add(p, info.attr.csr, g, fill(p, 0, info.attr.csr->cols, info.cols)));
}

/* ---- softmax over each row's edges --------------------------------------- */

node edge_softmax(struct program *p, const struct csr *s, node values)
{
    if (!fits(p, "edge_softmax", s, values, s ? s->nnz : 0))
        return POISON;
    return RECORD(p, .op = OP_EDGE_SOFTMAX, .rows = s->nnz, .cols = COLS(p, values),
                  .src = {values}, .sources = 1, .attr = {.csr = s});
}

/* v̄ += y∘(G - sum over the row of G∘y) */
void grad_edge_softmax(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    grad_add(p, info.src[0],
             RECORD(p, .op = OP_EDGE_SOFTMAX_GRAD, .rows = info.rows, .cols = info.cols,
                    .src = {g, self}, .sources = 2, .attr = info.attr));
}

/* ---- DropEdge ------------------------------------------------------------ */

node edge_drop(struct program *p, const struct csr *s, float rate)
{
    if (!s)
        return program_fault(p, "edge_drop: the sparse matrix is missing");
    if (!(rate >= 0 && rate < 1))
        return program_fault(p, "edge_drop of %g: expected 0 to below 1", (double)rate);
    return RECORD(p, .op = OP_EDGE_DROP, .rows = s->nnz, .cols = 1,
                  .attr = {.csr = s, .a = p->training ? rate : 0, .stream = p->streams++});
}
