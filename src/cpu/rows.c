/* Rows by index, pairs of rows, row and batch normalisation. */
#include "cpu/kernels.h"

#include <math.h>
#include <string.h>

static const float NORM_FLOOR = 1e-8f; /* rows shorter than this count as this long */
static const float VARIANCE_FLOOR = 1e-5f;
static const float RUNNING_SHARE = 0.1f;

/* The lists of positions per target row, as the sparse kernels like them. */
static struct sparse inverse_lists(const struct index *index)
{
    return (struct sparse){index->start, index->item, NULL, NULL};
}

size_t scratch_rows(const struct instr *in)
{
    size_t f = (size_t)in->cols, n = (size_t)in->rows;
    size_t blocks = (size_t)block_count(in->rows, COL_BLOCK);
    switch (in->op) {
    case OP_ROW_NORMALIZE:
    case OP_ROW_NORMALIZE_GRAD: return n * sizeof(float);
    case OP_PAIR_COSINE: return (size_t)in->src_rows[0] * sizeof(float);
    case OP_PAIR_COSINE_GRAD: return (2 * n + 2 * (size_t)in->attr.index->count) * sizeof(float);
    case OP_BATCH_NORM:
    case OP_BATCH_NORM_XHAT:
    case OP_BATCH_NORM_GRAD: return (2 * blocks + 6) * f * sizeof(float);
    default: return 0;
    }
}

KERNEL(gather)
{
    int64_t from, to;
    (void)step;
    share_rows(in->rows, who, &from, &to);
    simd_best()->gather(in->out, in->src[0], in->attr.index->row, in->cols, from, to);
}

KERNEL(segment_sum)
{
    int64_t from, to;
    struct sparse lists = inverse_lists(in->attr.index);
    (void)step;
    share_entries(lists.start, in->rows, who, &from, &to);
    simd_best()->spmm(in->out, &lists, in->src[0], in->cols, NULL, from, to);
}

KERNEL(segment_mean)
{
    int64_t from, to;
    struct sparse lists = inverse_lists(in->attr.index);
    (void)step;
    share_entries(lists.start, in->rows, who, &from, &to);
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
    share_rows(in->rows, who, &from, &to);
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
    share_entries(index->start, in->rows, who, &from, &to);
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
    share_entries(index->start, index->targets, who, &from, &to);
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
    share_rows(in->rows, who, &from, &to);
    simd_best()->row_norm(NULL, in->scratch, in->src[0], in->cols, NORM_FLOOR, from, to);
    simd_best()->row_scale(in->out, in->scratch, in->src[0], in->cols, from, to);
}

KERNEL(row_normalize_grad)
{
    int64_t from, to;
    (void)step;
    share_rows(in->rows, who, &from, &to);
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
    share_rows(in->src_rows[0], who, &from, &to);
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
    share_rows(n, who, &from, &to);
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
    share_rows(n, who, &from, &to);
    simd_best()->pair_grad(in->out, x, x, to_other, to_self, squared, i->start, i->item, j->row, f,
                           false, from, to);
    simd_best()->pair_grad(in->out, x, x, to_other, to_self, squared, j->start, j->item, i->row, f,
                           true, from, to);
}

static float apart(const float *x, const float *y, int64_t f)
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
    share_rows(in->rows, who, &from, &to);
    for (int64_t r = from; r < to; r++) {
        const float *x = in->src[0] + r * f;
        float least = apart(x, in->src[1], f);
        in->out[r] = 0;
        for (int64_t k = 1; k < in->src_rows[1]; k++) {
            float other = apart(x, in->src[1] + k * f, f);
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
    share_entries(s->start, s->rows, who, &from, &to);
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
    share_rows(in->rows, who, &from, &to);
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
    share_rows(in->rows, who, &from, &to);
    simd_best()->fill(in->out, 0, from * in->cols, to * in->cols);
    for (int64_t r = from; r < to; r++) {
        add_differences(in, r, in->attr.index, in->attr.other->row);
        add_differences(in, r, in->attr.other, in->attr.index->row);
    }
}

/* ---- batch norm ---------------------------------------------------------- */

/* Column means and 1/sqrt(variance + floor) of x (n, f), known to all workers afterwards. */
static void column_statistics(float *mean, float *inverse, float *partial, const float *x,
                              int64_t n, int64_t f, struct worker who)
{
    int64_t from, to, left, right, blocks = block_count(n, COL_BLOCK);
    float share = n > 0 ? 1 / (float)n : 0;
    team_range(who, blocks, 1, &from, &to);
    team_range(who, f, 16, &left, &right);
    simd_best()->col_sum(partial, x, NULL, f, n, from, to);
    team_barrier(who);
    simd_best()->col_combine(mean, partial, blocks, f, share, left, right);
    team_barrier(who);
    simd_best()->col_var(partial, x, mean, f, n, from, to);
    team_barrier(who);
    simd_best()->col_combine(inverse, partial, blocks, f, share, left, right);
    for (int64_t c = left; c < right; c++)
        inverse[c] = 1 / sqrtf(inverse[c] + VARIANCE_FLOOR);
    team_barrier(who);
}

/* The pieces of scratch the three operations use. */
struct batch_scratch {
    float *mean, *inverse, *slope, *slope2, *offset, *partial, *partial2;
};

static struct batch_scratch batch_scratch(const struct instr *in)
{
    float *s = in->scratch;
    int64_t f = in->cols, blocks = block_count(in->rows, COL_BLOCK);
    return (struct batch_scratch){
        s, s + f, s + 2 * f, s + 3 * f, s + 4 * f, s + 6 * f, s + 6 * f + blocks * f};
}

/* Moves the running statistics; the variance they keep is the unbiased one, as in PyTorch. */
static void update_running(const struct instr *in, const struct batch_scratch *s)
{
    float *mean = in->update[0], *variance = in->update[1];
    float unbias = in->rows > 1 ? (float)in->rows / (float)(in->rows - 1) : 1;
    for (int64_t c = 0; c < in->cols; c++) {
        float batch = 1 / (s->inverse[c] * s->inverse[c]) - VARIANCE_FLOOR;
        mean[c] += RUNNING_SHARE * (s->mean[c] - mean[c]);
        variance[c] += RUNNING_SHARE * (batch * unbias - variance[c]);
    }
}

KERNEL(batch_norm)
{
    int64_t from, to, f = in->cols;
    struct batch_scratch s = batch_scratch(in);
    const float *gamma = in->src[1], *beta = in->src[2];
    bool running = in->attr.running;
    (void)step;
    if (!running)
        column_statistics(s.mean, s.inverse, s.partial, in->src[0], in->rows, f, who);
    if (who.id == 0) {
        for (int64_t c = 0; c < f; c++) {
            float mean = running ? in->src[3][c] : s.mean[c];
            s.slope[c] =
                gamma[c] * (running ? 1 / sqrtf(in->src[4][c] + VARIANCE_FLOOR) : s.inverse[c]);
            s.offset[c] = beta[c] - mean * s.slope[c];
        }
        if (!running)
            update_running(in, &s);
    }
    team_barrier(who);
    share_rows(in->rows, who, &from, &to);
    simd_best()->col_affine(in->out, s.slope, in->src[0], NULL, NULL, s.offset, f, from, to);
}

/* x̂ = (x - mean)/sqrt(variance + floor) */
KERNEL(batch_norm_xhat)
{
    int64_t from, to, f = in->cols;
    struct batch_scratch s = batch_scratch(in);
    (void)step;
    column_statistics(s.mean, s.inverse, s.partial, in->src[0], in->rows, f, who);
    if (who.id == 0)
        for (int64_t c = 0; c < f; c++)
            s.offset[c] = -s.mean[c] * s.inverse[c];
    team_barrier(who);
    share_rows(in->rows, who, &from, &to);
    simd_best()->col_affine(in->out, s.inverse, in->src[0], NULL, NULL, s.offset, f, from, to);
}

/* x̄ = γ/σ·(G - mean(G) - x̂·mean(G∘x̂)), written as a·G + b·x + d per column */
KERNEL(batch_norm_grad)
{
    int64_t from, to, left, right, f = in->cols, n = in->rows, blocks = block_count(n, COL_BLOCK);
    struct batch_scratch s = batch_scratch(in);
    const float *g = in->src[0], *x = in->src[1], *gamma = in->src[2];
    float share = n > 0 ? 1 / (float)n : 0, *mean_g = s.slope, *mean_gx = s.slope2;
    (void)step;
    column_statistics(s.mean, s.inverse, s.partial, x, n, f, who);
    team_range(who, blocks, 1, &from, &to);
    team_range(who, f, 16, &left, &right);
    simd_best()->col_sum(s.partial, g, NULL, f, n, from, to);
    simd_best()->col_sum(s.partial2, g, x, f, n, from, to);
    team_barrier(who);
    simd_best()->col_combine(mean_g, s.partial, blocks, f, share, left, right);
    simd_best()->col_combine(mean_gx, s.partial2, blocks, f, share, left, right);
    for (int64_t c = left; c < right; c++) {
        float with_xhat = s.inverse[c] * (mean_gx[c] - s.mean[c] * mean_g[c]);
        float a = gamma[c] * s.inverse[c], b = -a * s.inverse[c] * with_xhat;
        s.offset[c] = -a * mean_g[c] - b * s.mean[c];
        s.slope[c] = a;
        s.slope2[c] = b;
    }
    team_barrier(who);
    share_rows(n, who, &from, &to);
    simd_best()->col_affine(in->out, s.slope, g, s.slope2, x, s.offset, f, from, to);
}
