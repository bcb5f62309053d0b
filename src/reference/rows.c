/* Operations on rows: by index, on pairs, normalisation to length one, batch norm. */
#include "reference/kernels.h"

#include <math.h>

/* ---- gathering and pooling ---- */

LOOP(gather)
{
    EACH (k, c)
        OUT(k, c) = SRC(0, in->attr.index->row[k], c);
}

/* Row r: the sum or the mean of the rows k of x with index[k] = r. */
static void pool(const struct instr *in, bool mean)
{
    const struct index *index = in->attr.index;
    EACH (r, c) {
        const int64_t count = index->start[r + 1] - index->start[r];
        double sum = 0;
        EACH_ENTRY (at, index, r)
            sum += X(index->item[at], c);
        OUT(r, c) = (float)(mean && count > 0 ? sum / (double)count : sum);
    }
}

LOOP(segment_sum)
{
    pool(in, false);
}

LOOP(segment_mean)
{
    pool(in, true);
}

/* g_r / (rows in r) with r = index[k] */
LOOP(segment_mean_grad)
{
    const struct index *index = in->attr.index;
    EACH (k, c) {
        int32_t r = index->row[k];
        OUT(k, c) = (float)(X(r, c) / (double)(index->start[r + 1] - index->start[r]));
    }
}

/* The largest of a group, 0 of an empty one. */
LOOP(segment_max)
{
    const struct index *index = in->attr.index;
    EACH (r, c) {
        double most = -INFINITY;
        EACH_ENTRY (at, index, r)
            most = larger(most, X(index->item[at], c));
        OUT(r, c) = (float)(index->start[r] < index->start[r + 1] ? most : 0);
    }
}

/* g of a group goes to the first row that has its largest value; sources g, x, y */
LOOP(segment_max_grad)
{
    const struct index *index = in->attr.index;
    EACH (k, c) {
        int32_t r = index->row[k];
        bool first = SRC(1, k, c) == SRC(2, r, c);
        EACH_ENTRY (at, index, r)
            first = first && (index->item[at] >= k || SRC(1, index->item[at], c) != SRC(2, r, c));
        OUT(k, c) = first ? SRC(0, r, c) : 0;
    }
}

/* ---- rows to length one ---- */

static const double NORM_FLOOR = 1e-8; /* rows shorter than this count as this long */

/* |row r| of source s */
static double length(const struct instr *in, int s, int64_t r)
{
    double sum = 0;
    for (int64_t c = 0; c < in->src_cols[s]; c++)
        sum += (double)SRC(s, r, c) * (double)SRC(s, r, c);
    return sqrt(sum);
}

LOOP(row_normalize)
{
    EACH (r, c)
        OUT(r, c) = (float)(X(r, c) / fmax(length(in, 0, r), NORM_FLOOR));
}

/* (g - y⟨g, y⟩)/|x|; a row shorter than the floor is only scaled. Sources g, x, y */
LOOP(row_normalize_grad)
{
    for (int64_t r = 0; r < in->rows; r++) {
        double size = length(in, 1, r), along = 0;
        for (int64_t c = 0; c < in->cols; c++)
            along += X(r, c) * Z(r, c);
        for (int64_t c = 0; c < in->cols; c++)
            OUT(r, c) = (float)(size > NORM_FLOOR ? (X(r, c) - Z(r, c) * along) / size
                                                  : X(r, c) / NORM_FLOOR);
    }
}

/* ---- pairs of rows: (i, j) = (index[k], other[k]) ---- */

/* ⟨x_i, x_j⟩ / (|x_i||x_j|) of rows of source s */
static double cosine(const struct instr *in, int s, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t c = 0; c < in->src_cols[s]; c++)
        sum += (double)SRC(s, i, c) * (double)SRC(s, j, c);
    return sum / fmax(length(in, s, i), NORM_FLOOR) / fmax(length(in, s, j), NORM_FLOOR);
}

LOOP(pair_cosine)
{
    for (int64_t k = 0; k < in->rows; k++)
        OUT(k, 0) = (float)cosine(in, 0, in->attr.index->row[k], in->attr.other->row[k]);
}

/* The contribution to element (r, c) of the pairs that name row r on one side: g_k
 * (x_j/(|x_i||x_j|) - cos·x_i/|x_i|²) with i = r; sources g, x */
static double cosine_slope(const struct instr *in, int64_t r, int64_t c, const struct index *side,
                           const struct index *other)
{
    double mine = fmax(length(in, 1, r), NORM_FLOOR), sum = 0;
    EACH_ENTRY (at, side, r) {
        int64_t k = side->item[at], j = other->row[k];
        double theirs = fmax(length(in, 1, j), NORM_FLOOR);
        sum +=
            X(k, 0) * (Y(j, c) / (mine * theirs) - cosine(in, 1, r, j) * Y(r, c) / (mine * mine));
    }
    return sum;
}

LOOP(pair_cosine_grad)
{
    const struct index *i = in->attr.index, *j = in->attr.other;
    EACH (r, c)
        OUT(r, c) = (float)(cosine_slope(in, r, c, i, j) + cosine_slope(in, r, c, j, i));
}

/* ‖x_r - y_k‖² */
static double distance(const struct instr *in, int64_t r, int64_t k)
{
    double sum = 0;
    for (int64_t c = 0; c < in->src_cols[0]; c++)
        sum += (X(r, c) - Y(k, c)) * (X(r, c) - Y(k, c));
    return sum;
}

LOOP(nearest)
{
    for (int64_t r = 0; r < in->rows; r++) {
        int64_t best = 0;
        for (int64_t k = 1; k < in->src_rows[1]; k++)
            best = distance(in, r, k) < distance(in, r, best) ? k : best;
        OUT(r, 0) = (float)best;
    }
}

/* The value of entry k of row r before the division. */
static double chosen(const struct instr *in, int64_t r, int64_t k)
{
    return X(in->attr.csr->col[k], 0) == (double)(r % in->attr.heads) ? Y(k, 0) : 0;
}

LOOP(nearest_share)
{
    const struct csr *s = in->attr.csr;
    for (int64_t r = 0; r < s->rows; r++) {
        double sum = 0;
        EACH_ENTRY (k, s, r)
            sum += chosen(in, r, k);
        EACH_ENTRY (k, s, r)
            OUT(k, 0) = (float)(chosen(in, r, k) / (in->attr.a != 0 && sum > 0 ? sum : 1));
    }
}

LOOP(pair_squared)
{
    EACH (k, c) {
        double difference = X(in->attr.index->row[k], c) - X(in->attr.other->row[k], c);
        OUT(k, c) = (float)(difference * difference);
    }
}

/* 2 g_k (x_r - x_other) over the pairs that name row r on one side; sources g, x */
static double squared_slope(const struct instr *in, int64_t r, int64_t c, const struct index *side,
                            const struct index *other)
{
    double sum = 0;
    EACH_ENTRY (at, side, r)
        sum += 2 * X(side->item[at], c) * (Y(r, c) - Y(other->row[side->item[at]], c));
    return sum;
}

LOOP(pair_squared_grad)
{
    const struct index *i = in->attr.index, *j = in->attr.other;
    EACH (r, c)
        OUT(r, c) = (float)(squared_slope(in, r, c, i, j) + squared_slope(in, r, c, j, i));
}

/* ---- batch norm ---- */

static const double VARIANCE_FLOOR = 1e-5, RUNNING_SHARE = 0.1;

/* Mean and (biased) variance of column c of source s. */
struct moments {
    double mean, variance;
};

static struct moments moments_of(const struct instr *in, int s, int64_t c)
{
    struct moments m = {0, 0};
    const int64_t n = in->rows;
    for (int64_t r = 0; r < n; r++)
        m.mean += (double)SRC(s, r, c) / (double)n;
    for (int64_t r = 0; r < n; r++)
        m.variance += pow((double)SRC(s, r, c) - m.mean, 2) / (double)n;
    return m;
}

/* Moves the running statistics a tenth of the way; the variance towards the unbiased one. */
static void update_running(const struct instr *in, int64_t c, struct moments m)
{
    const double n = (double)in->rows, unbiased = n > 1 ? m.variance * n / (n - 1) : m.variance;
    float *mean = &in->update[0][c], *variance = &in->update[1][c];
    *mean = (float)((double)*mean + RUNNING_SHARE * (m.mean - (double)*mean));
    *variance = (float)((double)*variance + RUNNING_SHARE * (unbiased - (double)*variance));
}

/* γ (x - mean)/sqrt(variance + floor) + β; sources x, γ, β, running mean, running variance */
LOOP(batch_norm)
{
    for (int64_t c = 0; c < in->cols; c++) {
        struct moments m = {0, 0};
        if (in->attr.running)
            m = (struct moments){(double)SRC(3, 0, c), (double)SRC(4, 0, c)};
        else
            m = moments_of(in, 0, c);
        for (int64_t r = 0; r < in->rows; r++)
            OUT(r, c) =
                (float)(Y(0, c) * (X(r, c) - m.mean) / sqrt(m.variance + VARIANCE_FLOOR) + Z(0, c));
        if (!in->attr.running)
            update_running(in, c, m);
    }
}

/* x̂ = (x - mean)/sqrt(variance + floor) */
LOOP(batch_norm_xhat)
{
    for (int64_t c = 0; c < in->cols; c++) {
        struct moments m = moments_of(in, 0, c);
        for (int64_t r = 0; r < in->rows; r++)
            OUT(r, c) = (float)((X(r, c) - m.mean) / sqrt(m.variance + VARIANCE_FLOOR));
    }
}

/* γ/σ·(g - mean(g) - x̂·mean(g∘x̂)); sources g, x, γ */
LOOP(batch_norm_grad)
{
    const double n = (double)in->rows;
    for (int64_t c = 0; c < in->cols; c++) {
        struct moments m = moments_of(in, 1, c);
        double sigma = sqrt(m.variance + VARIANCE_FLOOR), mean_g = 0, mean_gx = 0;
        for (int64_t r = 0; r < in->rows; r++) {
            mean_g += X(r, c) / n;
            mean_gx += X(r, c) * (Y(r, c) - m.mean) / sigma / n;
        }
        for (int64_t r = 0; r < in->rows; r++)
            OUT(r, c) = (float)(Z(0, c) / sigma *
                                (X(r, c) - mean_g - (Y(r, c) - m.mean) / sigma * mean_gx));
    }
}
