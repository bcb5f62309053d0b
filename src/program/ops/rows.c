/* Operations on whole rows: gathering and pooling by index, normalising, comparing pairs of rows,
 * batch norm. Backward passes follow the index's inverse lists, one thread per target row. */
#include "program/internal.h"

#include <stdio.h>

static bool index_fits(struct program *p, const char *op, const struct index *index, int64_t rows)
{
    if (index && index->targets == rows)
        return true;
    program_fault(p, "%s: the index names %lld rows: expected %lld", op,
                  index ? (long long)index->targets : 0LL, (long long)rows);
    return false;
}

/* ---- gather and its opposite --------------------------------------------- */

node gather(struct program *p, node x, const struct index *index)
{
    if (!node_good(p, x) || !index_fits(p, "gather", index, ROWS(p, x)))
        return POISON;
    return RECORD(p, .op = OP_GATHER, .rows = index->count, .cols = COLS(p, x), .src = {x},
                  .sources = 1, .attr = {.index = index});
}

void grad_gather(struct program *p, node self, node g)
{
    grad_add(p, p->node[self].src[0], segment_sum(p, g, p->node[self].attr.index));
}

/* The three poolings: rows of x that share an index become one row. */
static node segment(struct program *p, enum op op, const char *name, node x,
                    const struct index *index)
{
    if (!node_good(p, x))
        return POISON;
    if (!index || index->count != ROWS(p, x))
        return program_fault(p, "%s: %lld rows, index of %lld: expected equal numbers", name,
                             (long long)ROWS(p, x), index ? (long long)index->count : 0LL);
    return RECORD(p, .op = op, .rows = index->targets, .cols = COLS(p, x), .src = {x}, .sources = 1,
                  .attr = {.index = index});
}

node segment_sum(struct program *p, node x, const struct index *index)
{
    return segment(p, OP_SEGMENT_SUM, "segment_sum", x, index);
}

node segment_mean(struct program *p, node x, const struct index *index)
{
    return segment(p, OP_SEGMENT_MEAN, "segment_mean", x, index);
}

node segment_max(struct program *p, node x, const struct index *index)
{
    return segment(p, OP_SEGMENT_MAX, "segment_max", x, index);
}

void grad_segment_sum(struct program *p, node self, node g)
{
    grad_add(p, p->node[self].src[0], gather(p, g, p->node[self].attr.index));
}

/* x̄_k += G_r / (rows in r), r = index[k] */
void grad_segment_mean(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    node x = info.src[0];
    grad_add(p, x,
             RECORD(p, .op = OP_SEGMENT_MEAN_GRAD, .rows = ROWS(p, x), .cols = COLS(p, x),
                    .src = {g}, .sources = 1, .attr = info.attr));
}

/* x̄ += G at the first row that reached the maximum */
void grad_segment_max(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    node x = info.src[0];
    grad_add(p, x,
             RECORD(p, .op = OP_SEGMENT_MAX_GRAD, .rows = ROWS(p, x), .cols = COLS(p, x),
                    .src = {g, x, self}, .sources = 3, .attr = info.attr));
}

/* ---- rows to length one -------------------------------------------------- */

node row_normalize(struct program *p, node x)
{
    if (!node_good(p, x))
        return POISON;
    return RECORD(p, .op = OP_ROW_NORMALIZE, .rows = ROWS(p, x), .cols = COLS(p, x), .src = {x},
                  .sources = 1);
}

/* x̄ += (G - y⟨G, y⟩) / |x| */
void grad_row_normalize(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    grad_add(p, info.src[0],
             RECORD(p, .op = OP_ROW_NORMALIZE_GRAD, .rows = info.rows, .cols = info.cols,
                    .src = {g, info.src[0], self}, .sources = 3));
}

/* ---- the nearest of some points ------------------------------------------ */

node nearest(struct program *p, node x, node y)
{
    if (!node_good(p, x) || !node_good(p, y))
        return POISON;
    if (COLS(p, x) != COLS(p, y) || ROWS(p, y) < 1)
        return program_fault(p,
                             "nearest: points have %lld columns, the %lld references have %lld: "
                             "expected equal numbers, and at least one reference",
                             (long long)COLS(p, x), (long long)ROWS(p, y), (long long)COLS(p, y));
    return RECORD(p, .op = OP_NEAREST, .rows = ROWS(p, x), .cols = 1, .src = {x, y}, .sources = 2);
}

node nearest_share(struct program *p, const struct csr *s, node choice, node w, int64_t groups,
                   bool mean)
{
    if (!node_good(p, choice) || !node_good(p, w))
        return POISON;
    if (!s || ROWS(p, choice) != s->cols || ROWS(p, w) != s->nnz || COLS(p, choice) != 1 ||
        COLS(p, w) != 1 || groups < 1)
        return program_fault(
            p,
            "nearest_share: %lld choices and %lld weights: expected %lld, one per column, "
            "and %lld, one per entry",
            (long long)ROWS(p, choice), (long long)ROWS(p, w), (long long)(s ? s->cols : 0),
            (long long)(s ? s->nnz : 0));
    return RECORD(p, .op = OP_NEAREST_SHARE, .rows = s->nnz, .cols = 1, .src = {choice, w},
                  .sources = 2, .attr = {.csr = s, .heads = groups, .a = mean ? 1.0f : 0.0f});
}

/* ---- pairs of rows ------------------------------------------------------- */

static node pair(struct program *p, enum op op, const char *name, node x, int64_t cols,
                 const struct index *i, const struct index *j)
{
    if (!node_good(p, x) || !index_fits(p, name, i, ROWS(p, x)) ||
        !index_fits(p, name, j, ROWS(p, x)))
        return POISON;
    if (i->count != j->count)
        return program_fault(p, "%s: %lld and %lld rows: expected equal numbers", name,
                             (long long)i->count, (long long)j->count);
    return RECORD(p, .op = op, .rows = i->count, .cols = cols, .src = {x}, .sources = 1,
                  .attr = {.index = i, .other = j});
}

node pair_cosine(struct program *p, node x, const struct index *i, const struct index *j)
{
    return pair(p, OP_PAIR_COSINE, "pair_cosine", x, 1, i, j);
}

node pair_squared(struct program *p, node x, const struct index *i, const struct index *j)
{
    return pair(p, OP_PAIR_SQUARED, "pair_squared", x, program_cols(p, x), i, j);
}

static void grad_pair(struct program *p, enum op op, node self, node g)
{
    struct node_info info = p->node[self];
    node x = info.src[0];
    grad_add(p, x,
             RECORD(p, .op = op, .rows = ROWS(p, x), .cols = COLS(p, x), .src = {g, x},
                    .sources = 2, .attr = info.attr));
}

void grad_pair_cosine(struct program *p, node self, node g)
{
    grad_pair(p, OP_PAIR_COSINE_GRAD, self, g);
}

void grad_pair_squared(struct program *p, node self, node g)
{
    grad_pair(p, OP_PAIR_SQUARED_GRAD, self, g);
}

/* ---- batch norm ---------------------------------------------------------- */

/* y = γ (x - m)/sqrt(v + 1e-5) + β, column by column. In training m and v are the batch's,
 *   m = Σ x / n,  v = Σ (x - m)² / n,
 * and the running ones, from 0 and 1, move towards them by a tenth:
 *   M += (m - M)/10,  V += (v·n/(n-1) - V)/10      (v itself where n is 1)
 * so that V estimates the variance of what the rows are drawn from, as PyTorch's does. Evaluation
 * (attr.running) takes M and V for m and v. */
node batch_norm(struct program *p, const char *name, node x)
{
    char text[48];
    if (!node_good(p, x))
        return POISON;
    int64_t f = COLS(p, x);
    snprintf(text, sizeof text, "%s.scale", name);
    node gamma = param(p, text, 1, f, INIT_ONE);
    snprintf(text, sizeof text, "%s.shift", name);
    node beta = param(p, text, 1, f, INIT_ZERO);
    snprintf(text, sizeof text, "%s.mean", name);
    node mean = state(p, text, 1, f, INIT_ZERO);
    snprintf(text, sizeof text, "%s.variance", name);
    node variance = state(p, text, 1, f, INIT_ONE);
    return RECORD(p, .op = OP_BATCH_NORM, .rows = ROWS(p, x), .cols = f,
                  .src = {x, gamma, beta, mean, variance}, .sources = 5,
                  .attr = {.running = !p->training}, .update = {mean, variance},
                  .updates = p->training ? 2 : 0);
}

void grad_batch_norm(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    node x = info.src[0];
    if (info.attr.running) {
        program_fault(p, "batch_norm outside training has no gradient");
        return;
    }
    if (grad_wanted(p, x))
        grad_add(p, x,
                 RECORD(p, .op = OP_BATCH_NORM_GRAD, .rows = info.rows, .cols = info.cols,
                        .src = {g, x, info.src[1]}, .sources = 3));
    node xhat = RECORD(p, .op = OP_BATCH_NORM_XHAT, .rows = info.rows, .cols = info.cols,
                       .src = {x}, .sources = 1);
    grad_add(p, info.src[1], col_sum(p, mul(p, g, xhat)));
    grad_add(p, info.src[2], col_sum(p, g));
}
