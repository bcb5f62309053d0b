/* Attention in one operation, and its gradient: what edge_add, edge_softmax (or tanh and the
 * matrix's values), dropout and spmm_values compute in turn. */
#include "reference/kernels.h"

#include <math.h>

/* One entry (i, j) of head h: its weight, its weight without dropout, and the derivative of the
 * latter by the score with the rest of the row fixed. */
struct weight {
    double dropped, whole, slope;
};

static bool is_gate(const struct instr *in)
{
    return in->attr.function == OP_TANH;
}

/* leaky(sum of the two ends); *slope is its derivative */
static double score_of(const struct instr *in, double sum, double *slope)
{
    *slope = is_gate(in) || sum > 0 ? 1 : (double)in->attr.b;
    return sum * *slope;
}

/* k: the entry's position in the stored matrix; most: the row's log Σ exp of scores. */
static struct weight weigh(const struct instr *in, const struct step *step, int64_t k, int64_t h,
                           double sum, double most)
{
    struct weight w;
    double slope, score = score_of(in, sum, &slope);
    uint64_t element = (uint64_t)(k * in->attr.heads + h);
    double own = is_gate(in) ? weight_of(in->attr.csr, k) : 1;
    w.whole = is_gate(in) ? own * tanh(score) : exp(score - most);
    w.slope = is_gate(in) ? own * (1 - tanh(score) * tanh(score)) : slope * w.whole;
    w.dropped = dropout_factor_of(in, step, element);
    return w;
}

/* log Σ_j exp(leaky(x_i + y_j)); 0 for gates */
static double log_sum(const struct instr *in, int64_t i, int64_t h)
{
    double most = -INFINITY, total = 0, slope;
    if (is_gate(in))
        return 0;
    EACH_ENTRY (k, in->attr.csr, i)
        most = larger(most, score_of(in, X(i, h) + Y(in->attr.csr->col[k], h), &slope));
    EACH_ENTRY (k, in->attr.csr, i)
        total += exp(score_of(in, X(i, h) + Y(in->attr.csr->col[k], h), &slope) - most);
    return total > 0 ? most + log(total) : 0;
}

/* Columns that are added at once, so that an entry is not weighed anew for each of them. */
enum { STRIP = 32 };

static int64_t strip_end(int64_t from, int64_t to)
{
    return from + STRIP < to ? from + STRIP : to;
}

/* Columns [from, to) of Σ_j w_ij z_j; beside them Σ_j slope_ij w_ij z_j. Returns Σ_j slope_ij α_ij.
 */
static double attend_strip(const struct instr *in, const struct step *step, int64_t i, int64_t h,
                           double most, int64_t from, int64_t to)
{
    const struct csr *s = in->attr.csr;
    double sum[STRIP] = {0}, bent[STRIP] = {0}, slopes = 0;
    EACH_ENTRY (k, s, i) {
        struct weight w = weigh(in, step, k, h, X(i, h) + Y(s->col[k], h), most);
        for (int64_t c = from; c < to; c++) {
            sum[c - from] += w.dropped * w.whole * Z(s->col[k], c);
            bent[c - from] += w.dropped * w.slope * Z(s->col[k], c);
        }
        slopes += w.slope;
    }
    for (int64_t c = from; c < to; c++) {
        OUT(i, c) = (float)sum[c - from];
        if (in->update[0])
            in->update[0][i * in->cols + c] = (float)bent[c - from];
    }
    return slopes;
}

/* Σ_j w_ij z_j; beside it Σ_j slope_ij w_ij z_j, and (log Σ exp, Σ_j slope_ij α_ij) */
LOOP(attend)
{
    const int64_t heads = in->attr.heads, d = in->cols / heads;
    for (int64_t i = 0; i < in->rows; i++)
        for (int64_t h = 0; h < heads; h++) {
            const int64_t end = (h + 1) * d;
            const double most = log_sum(in, i, h);
            double slopes = 0;
            for (int64_t c = h * d; c < end; c += STRIP)
                slopes = attend_strip(in, step, i, h, most, c, strip_end(c, end));
            if (in->update[1]) {
                in->update[1][i * 2 * heads + h] = (float)most;
                in->update[1][i * 2 * heads + heads + h] = (float)(is_gate(in) ? 0 : slopes);
            }
        }
}

/* ⟨g_i, bent_i⟩ - ⟨g_i, out_i⟩·slopes_i; beside it x_i, log Σ exp and ⟨g_i, out_i⟩ (0 for gates) */
LOOP(attend_rows)
{
    const int64_t heads = in->attr.heads, d = in->src_cols[0] / heads;
    EACH (i, h) {
        double along = 0, bent = 0;
        for (int64_t c = h * d; c < (h + 1) * d; c++) {
            along += is_gate(in) ? 0 : X(i, c) * Y(i, c);
            bent += X(i, c) * Z(i, c);
        }
        OUT(i, h) = (float)(bent - along * (double)SRC(3, i, heads + h));
        if (in->update[0]) {
            float *packed = in->update[0] + i * 3 * heads + h;
            packed[0] = SRC(4, i, h);
            packed[heads] = SRC(3, i, h);
            packed[2 * heads] = (float)along;
        }
    }
}

/* Columns [from, to) of Σ_i w_ij g_i. */
static void columns_strip(const struct instr *in, const struct step *step, int64_t j, int64_t h,
                          int64_t from, int64_t to)
{
    const struct csr *s = walked(in);
    double sum[STRIP] = {0};
    EACH_ENTRY (k, s, j) {
        const int64_t i = s->col[k];
        struct weight w =
            weigh(in, step, stored(in, k), h, X(i, h) + Y(j, h), X(i, in->attr.heads + h));
        for (int64_t c = from; c < to; c++)
            sum[c - from] += w.dropped * w.whole * (double)SRC(3, i, c);
    }
    for (int64_t c = from; c < to; c++)
        OUT(j, c) = (float)sum[c - from];
}

/* Σ_i w_ij g_i; beside it Σ_i slope_ij (drop_ij ⟨g_i, z_j⟩ - ⟨g_i, out_i⟩) */
LOOP(attend_columns)
{
    const struct csr *s = walked(in);
    const int64_t heads = in->attr.heads, d = in->cols / heads;
    for (int64_t j = 0; j < in->rows; j++)
        for (int64_t h = 0; h < heads; h++) {
            const int64_t end = (h + 1) * d;
            double scores = 0;
            EACH_ENTRY (k, s, j) {
                const int64_t i = s->col[k];
                double along = 0;
                struct weight w =
                    weigh(in, step, stored(in, k), h, X(i, h) + Y(j, h), X(i, heads + h));
                for (int64_t c = h * d; c < end; c++)
                    along += (double)SRC(3, i, c) * Z(j, c);
                scores += w.slope * (w.dropped * along - X(i, 2 * heads + h));
            }
            for (int64_t c = h * d; c < end; c += STRIP)
                columns_strip(in, step, j, h, c, strip_end(c, end));
            if (in->update[0])
                in->update[0][j * heads + h] = (float)scores;
        }
}
