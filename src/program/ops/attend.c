/* The gradient of attention in one pass over each row, which fuse.c makes from its parts. No weight
 * is stored: the backward pass computes it again from the scores of the two ends and the row's log
 * Σ exp, as FlashAttention does (Dao et al. 2022). */
#include "program/internal.h"

/* Out_i = Σ_j w_ij Z_j,  w_ij = drop_ij α_ij,  α_ij = softmax over j of leaky(x_i + y_j):
 *   Z̄_j += Σ_i w_ij G_i
 *   ȳ_j += Σ_i t_ij,  t_ij = slope_ij (w_ij ⟨G_i, Z_j⟩ - α_ij ⟨G_i, Out_i⟩)
 *   x̄_i += Σ_j t_ij = ⟨G_i, Σ_j slope_ij w_ij Z_j⟩ - ⟨G_i, Out_i⟩ Σ_j slope_ij α_ij
 * The two sums of the last line are of the forward pass, beside its result, so that only the
 * columns need another walk. With α_ij = tanh(x_i + y_j)·S_ij the terms of ⟨G_i, Out_i⟩ fall away
 * and slope_ij α_ij is (1 - tanh²)·S_ij. */
void grad_attend(struct program *p, node self, node g)
{
    struct node_info info = p->node[self];
    node x = info.src[0], y = info.src[1], z = info.src[2];
    int64_t heads = info.attr.heads;
    if (g == POISON || !program_transpose_entries(p, info.attr.csr))
        return;
    node sums = program_beside(p, self, 0, info.rows, info.cols);
    node totals = program_beside(p, self, 1, info.rows, 2 * heads);
    node rows = RECORD(p, .op = OP_ATTEND_ROWS, .rows = info.rows, .cols = heads,
                       .src = {g, self, sums, totals, x}, .sources = 5, .attr = info.attr);
    grad_add(p, x, rows);
    if (!grad_wanted(p, y) && !grad_wanted(p, z))
        return;
    info.attr.transposed = true;
    node packed = program_beside(p, rows, 0, info.rows, 3 * heads);
    node columns =
        RECORD(p, .op = OP_ATTEND_COLUMNS, .rows = info.attr.csr->cols, .cols = info.cols,
               .src = {packed, y, z, g}, .sources = 4, .attr = info.attr);
    grad_add(p, z, columns);
    if (grad_wanted(p, y))
        grad_add(p, y, program_beside(p, columns, 0, info.attr.csr->cols, heads));
}
