/* Products with sparse matrices, and values on their entries: one value per entry and head. */
#include "reference/kernels.h"

#include <math.h>

/* ---- products ---- */

/* (S·x)[i, c] with the values of S */
static double product(const struct instr *in, int64_t i, int64_t c)
{
    const struct csr *s = walked(in);
    double sum = 0;
    EACH_ENTRY (k, s, i)
        sum += weight_of(s, k) * X(s->col[k], c);
    return sum;
}

LOOP(spmm)
{
    EACH (i, c)
        OUT(i, c) = (float)product(in, i, c);
}

/* dropout(relu(S·x + b)) */
LOOP(spmm_fused)
{
    EACH (i, c)
        OUT(i, c) = (float)(fmax(product(in, i, c) + Y(0, c), 0) * dropout_factor(in, step, i, c));
}

/* a·S·x + b·y, without y if it is absent */
LOOP(spmm_add)
{
    EACH (i, c) {
        double other = in->src[1] ? (double)in->attr.b * Y(i, c) : 0;
        OUT(i, c) = (float)((double)in->attr.a * product(in, i, c) + other);
    }
}

/* Column c of x and of the result belongs to head c / (columns per head); x is source 1 and values
 * (nnz, heads) source 0. */
LOOP(spmm_values)
{
    const struct csr *s = walked(in);
    const int64_t d = in->cols / in->attr.heads;
    EACH (i, c) {
        double sum = 0;
        EACH_ENTRY (k, s, i)
            sum += X(stored(in, k), c / d) * Y(s->col[k], c);
        OUT(i, c) = (float)sum;
    }
}

/* ⟨x_i, y_j⟩ of head h for the entry (i, j) */
LOOP(sddmm)
{
    const struct csr *s = in->attr.csr;
    const int64_t d = in->src_cols[0] / in->attr.heads;
    for (int64_t i = 0; i < s->rows; i++)
        EACH_ENTRY (k, s, i)
            for (int64_t h = 0; h < in->attr.heads; h++) {
                double sum = 0;
                for (int64_t c = h * d; c < (h + 1) * d; c++)
                    sum += X(i, c) * Y(s->col[k], c);
                OUT(k, h) = (float)sum;
            }
}

/* ---- one vector per head ---- */

/* ⟨x_h, a_h⟩, x (n, heads·d), a (heads, d) */
LOOP(head_dot)
{
    const int64_t d = in->src_cols[1];
    EACH (r, h) {
        double sum = 0;
        for (int64_t c = 0; c < d; c++)
            sum += X(r, h * d + c) * Y(h, c);
        OUT(r, h) = (float)sum;
    }
}

/* g_h·a_h, g (n, heads), a (heads, d) */
LOOP(head_spread)
{
    const int64_t d = in->src_cols[1];
    EACH (r, c)
        OUT(r, c) = (float)(X(r, c / d) * Y(c / d, c % d));
}

/* Σ over rows of g_h·x_h, g (n, heads), x (n, heads·d) */
LOOP(head_outer)
{
    EACH (h, c) {
        double sum = 0;
        for (int64_t r = 0; r < in->src_rows[0]; r++)
            sum += X(r, h) * Y(r, h * in->cols + c);
        OUT(h, c) = (float)sum;
    }
}

/* ---- values on entries ---- */

/* x_i + y_j for the entry (i, j), times a below zero */
LOOP(edge_add)
{
    const struct csr *s = in->attr.csr;
    for (int64_t i = 0; i < s->rows; i++)
        EACH_ENTRY (k, s, i)
            for (int64_t h = 0; h < in->cols; h++) {
                double sum = X(i, h) + Y(s->col[k], h);
                OUT(k, h) = (float)(sum > 0 ? sum : (double)in->attr.a * sum);
            }
}

LOOP(edge_sum)
{
    const struct csr *s = walked(in);
    EACH (i, h) {
        double sum = 0;
        EACH_ENTRY (k, s, i)
            sum += X(stored(in, k), h);
        OUT(i, h) = (float)sum;
    }
}

/* exp(x_k - most) / Σ over the row of the same */
LOOP(edge_softmax)
{
    const struct csr *s = in->attr.csr;
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t h = 0; h < in->cols; h++) {
            double most = -INFINITY, total = 0;
            EACH_ENTRY (k, s, i)
                most = larger(most, X(k, h));
            EACH_ENTRY (k, s, i)
                total += exp(X(k, h) - most);
            EACH_ENTRY (k, s, i)
                OUT(k, h) = (float)(exp(X(k, h) - most) / total);
        }
}

/* y_k·(g_k - Σ over the row of g∘y) */
LOOP(edge_softmax_grad)
{
    const struct csr *s = in->attr.csr;
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t h = 0; h < in->cols; h++) {
            double along = 0;
            EACH_ENTRY (k, s, i)
                along += X(k, h) * Y(k, h);
            EACH_ENTRY (k, s, i)
                OUT(k, h) = (float)(Y(k, h) * (X(k, h) - along));
        }
}

/* ---- DropEdge ---- */

/* The remaining weight of entry k of row i; loops always stay. */
static double left_of(const struct instr *in, const struct step *step, int64_t i, int64_t k)
{
    const struct csr *s = in->attr.csr;
    int64_t j = s->col[k];
    return in->attr.a == 0 || i == j || edge_stays(in, step, i, j) ? weight_of(s, k) : 0;
}

static double degree_left(const struct instr *in, const struct step *step, int64_t i)
{
    double degree = 0;
    EACH_ENTRY (k, in->attr.csr, i)
        degree += left_of(in, step, i, k);
    return degree;
}

/* w_ij / sqrt(d_i d_j) over the remaining A + I, 0 if a degree is 0 */
LOOP(edge_drop)
{
    const struct csr *s = in->attr.csr;
    for (int64_t i = 0; i < s->rows; i++) {
        double mine = degree_left(in, step, i);
        EACH_ENTRY (k, s, i) {
            double left = left_of(in, step, i, k);
            double theirs = left != 0 ? degree_left(in, step, s->col[k]) : 0;
            OUT(k, 0) = (float)(mine > 0 && theirs > 0 ? left / sqrt(mine * theirs) : 0);
        }
    }
}
