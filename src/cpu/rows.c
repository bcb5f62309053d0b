/* Operations on rows: by index, on pairs, normalisation to length one. */
#include "cpu/kernels.h"

#include <math.h>
#include <string.h>

static const float NORM_FLOOR = 1e-8f; /* rows shorter than this count as this long */

/* The lists of positions per target row, in the form of the sparse kernels. */
static struct sparse inverse_lists(const struct index *index)
{
    return (struct sparse){index->start, index->item, NULL, NULL};
}

size_t scratch_rows(const struct instr *in)
{
    size_t n = (size_t)in->rows;
    switch (in->op) {
    case OP_ROW_NORMALIZE:
    case OP_ROW_NORMALIZE_GRAD: return n * sizeof(float);
    case OP_PAIR_COSINE: return (size_t)in->src_rows[0] * sizeof(float);
    case OP_PAIR_COSINE_GRAD: return (2 * n + 2 * (size_t)in->attr.index->count) * sizeof(float);
    default: return 0;
    }
}

KERNEL(gather)
{
    int64_t from, to;
    (void)step;
    range_rows(in->rows, who, &from, &to);
    simd_best()->gather(in->out, in->src[0], in->attr.index->row, in->cols, from, to);
}

KERNEL(segment_sum)
{
    int64_t from, to;
    struct sparse lists = inverse_lists(in->attr.index);
    (void)step;
    range_entries(lists.start, in->rows, who, &from, &to);
    simd_best()->spmm(in->out, &lists, in->src[0], in->cols, NULL, from, to);
}

KERNEL(segment_mean)
{
    int64_t from, to;
    struct sparse lists = inverse_lists(in->attr.index);
    (void)step;
    range_entries(lists.start, in->rows, who, &from, &to);
    simd_best()->spmm(in->out, &lists, in->src[0], in->cols, NULL, from, to);
    for (int64_t r = from; r < to; r++) {
        int64_t count = lists.start[r + 1] - lists.start[r];
        float *row = in->out + r * in->cols;
        if (count > 1)
            simd_best()->scale(row, 1 / (float)count, row, 0, in->cols);
    }
}

KERNEL(segment_mean_grad)
{
    int64_t from, to;
    const struct index *index = in->attr.index;
    (void)step;
    range_rows(in->rows, who, &from, &to);
    for (int64_t k = from; k < to; k++) {
        int32_t r = index->row[k];
        float share = 1 / (float)(index->start[r + 1] - index->start[r]);
        simd_best()->scale(in->out + k * in->cols, share, in->src[0] + r * in->cols, 0, in->cols);
    }
}

/* An empty segment gives zeros. */
KERNEL(segment_max)
{
    int64_t from, to, f = in->cols;
    const struct index *index = in->attr.index;
    (void)step;
    range_entries(index->start, in->rows, who, &from, &to);
    for (int64_t r = from; r < to; r++) {
        float *best = in->out + r * f;
        for (int64_t c = 0; c < f; c++)
            best[c] = index->start[r] < index->start[r + 1] ? -INFINITY : 0;
        for (int64_t k = index->start[r]; k < index->start[r + 1]; k++) {
            const float *x = in->src[0] + (int64_t)index->item[k] * f;
            for (int64_t c = 0; c < f; c++)
                best[c] = x[c] > best[c] ? x[c] : best[c];
        }
    }
}

KERNEL(segment_max_grad)
{
    int64_t from, to, f = in->cols;
    const struct index *index = in->attr.index;
    const float *g = in->src[0], *x = in->src[1], *y = in->src[2];
    (void)step;
    range_entries(index->start, index->targets, who, &from, &to);
    for (int64_t r = from; r < to; r++)
        for (int64_t c = 0; c < f; c++) {
            bool given = false;
            for (int64_t k = index->start[r]; k < index->start[r + 1]; k++) {
                int64_t at = (int64_t)index->item[k] * f + c;
                bool takes = !given && x[at] == y[r * f + c];
                in->out[at] = takes ? g[r * f + c] : 0;
                given = given || takes;
            }
        }
}

/* ---- rows to length one -------------------------------------------------- */

KERNEL(row_normalize)
{
    int64_t from, to;
    (void)step;
    range_rows(in->rows, who, &from, &to);
    simd_best()->row_norm(NULL, in->scratch, in->src[0], in->cols, NORM_FLOOR, from, to);
    simd_best()->row_scale(in->out, in->scratch, in->src[0], in->cols, from, to);
}

KERNEL(row_normalize_grad)
{
    int64_t from, to;
    (void)step;
    range_rows(in->rows, who, &from, &to);
    simd_best()->row_norm(NULL, in->scratch, in->src[1], in->cols, NORM_FLOOR, from, to);
    simd_best()->row_normalize_grad(in->out, in->src[0], in->src[2], in->scratch, in->cols,
                                    NORM_FLOOR, from, to);
}

/* ---- pairs of rows ------------------------------------------------------- */

/* cos(x_i, x_j) = ⟨x_i, x_j⟩ / (|x_i| |x_j|) */
KERNEL(pair_cosine)
{
    int64_t from, to;
    float *inverse = in->scratch; /* (n) 1/|x_r| */
    (void)step;
    range_rows(in->src_rows[0], who, &from, &to);
    simd_best()->row_norm(NULL, inverse, in->src[0], in->src_cols[0], NORM_FLOOR, from, to);
    team_barrier(who);
    team_range(who, in->rows, 16, &from, &to);
    simd_best()->pair_dot(in->out, in->src[0], in->src[0], inverse, inverse, in->attr.index->row,
                          in->attr.other->row, in->src_cols[0], from, to);
}

/* x̄_i += g (x_j/(|x_i||x_j|) - cos·x_i/|x_i|²), and the same with i and j exchanged */
KERNEL(pair_cosine_grad)
{
    int64_t from, to, n = in->rows, m = in->attr.index->count, f = in->cols;
    const float *g = in->src[0], *x = in->src[1];
    const struct index *i = in->attr.index, *j = in->attr.other;
    float *inverse = in->scratch, *squared = inverse + n;   /* (n) 1/|x_r| and its square */
    float *to_other = squared + n, *to_self = to_other + m; /* (m) */
    (void)step;
    range_rows(n, who, &from, &to);
    simd_best()->row_norm(NULL, inverse, x, f, NORM_FLOOR, from, to);
    for (int64_t r = from; r < to; r++)
        squared[r] = inverse[r] * inverse[r];
    team_barrier(who);
    team_range(who, m, 16, &from, &to);
    simd_best()->pair_dot(to_self, x, x, inverse, inverse, i->row, j->row, f, from, to);
    for (int64_t k = from; k < to; k++) {
        to_other[k] = g[k] * inverse[i->row[k]] * inverse[j->row[k]];
        to_self[k] *= -g[k];
    }
    team_barrier(who);
    range_rows(n, who, &from, &to);
    const struct pair_lists sides[] = {{i->start, i->item, i->row, j->row},
                                       {j->start, j->item, j->row, i->row}};
    simd_best()->pair_grad(in->out, x, x, to_other, to_self, squared, sides, 2, f, from, to);
}

static float distance(const float *x, const float *y, int64_t f)
{
    float sum = 0;
    for (int64_t c = 0; c < f; c++)
        sum += (x[c] - y[c]) * (x[c] - y[c]);
    return sum;
}

KERNEL(nearest)
{
    int64_t from, to, f = in->src_cols[0];
    (void)step;
    range_rows(in->rows, who, &from, &to);
    for (int64_t r = from; r < to; r++) {
        const float *x = in->src[0] + r * f;
        float least = distance(x, in->src[1], f);
        in->out[r] = 0;
        for (int64_t k = 1; k < in->src_rows[1]; k++) {
            float other = distance(x, in->src[1] + k * f, f);
            in->out[r] = other < least ? (float)k : in->out[r];
            least = other < least ? other : least;
        }
    }
}

KERNEL(nearest_share)
{
    int64_t from, to;
    const struct csr *s = in->attr.csr;
    (void)step;
    range_entries(s->start, s->rows, who, &from, &to);
    for (int64_t r = from; r < to; r++) {
        float group = (float)(r % in->attr.heads), sum = 0;
        for (int64_t k = s->start[r]; k < s->start[r + 1]; k++) {
            in->out[k] = in->src[0][s->col[k]] == group ? in->src[1][k] : 0;
            sum += in->out[k];
        }
        for (int64_t k = s->start[r]; k < s->start[r + 1] && in->attr.a != 0 && sum > 0; k++)
            in->out[k] /= sum;
    }
}

KERNEL(pair_squared)
{
    int64_t from, to, f = in->cols;
    (void)step;
    range_rows(in->rows, who, &from, &to);
    for (int64_t k = from; k < to; k++)
        simd_best()->square_diff(in->out + k * f, in->src[0] + in->attr.index->row[k] * f,
                                 in->src[0] + in->attr.other->row[k] * f, 0, f);
}

/* Adds 2·g_k∘(x_r - x_other) over the pairs that name row r on one side. */
static void add_differences(const struct instr *in, int64_t r, const struct index *side,
                            const int32_t *other)
{
    int64_t f = in->cols;
    const float *x = in->src[1];
    for (int64_t p = side->start[r]; p < side->start[r + 1]; p++) {
        int64_t k = side->item[p];
        const float *g = in->src[0] + k * f, *z = x + other[k] * f;
        for (int64_t c = 0; c < f; c++)
            in->out[r * f + c] += 2 * g[c] * (x[r * f + c] - z[c]);
    }
}

KERNEL(pair_squared_grad)
{
    int64_t from, to;
    (void)step;
    range_rows(in->rows, who, &from, &to);
    simd_best()->fill(in->out, 0, from * in->cols, to * in->cols);
    for (int64_t r = from; r < to; r++) {
        add_differences(in, r, in->attr.index, in->attr.other->row);
        add_differences(in, r, in->attr.other, in->attr.index->row);
    }
}
