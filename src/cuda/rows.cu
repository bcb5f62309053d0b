/* Operations on rows: by index, normalisation to length one, nearest points. */
#include "cuda/rows.cuh"
#include "cuda/spmm.cuh"

int64_t scratch_rows(const struct instr *in)
{
    if (in->op == OP_SEGMENT_SUM || in->op == OP_SEGMENT_MEAN)
        return spmm_scratch(in, in->attr.index->count, false);
    return -1;
}

/* ---- gathering and pooling ----------------------------------------------- */

/* Row k is row row[k] of x, divided by the size of its group if start is given. */
struct gather_map {
    float *out;
    const float *x;
    const int32_t *row;
    const int64_t *start;
    int64_t cols;
    template <int V> __device__ void at(int64_t k, int64_t c) const
    {
        const int64_t r = row[k];
        vec<V> s = load<V>(x + r * cols + c);
        if (start) {
            const float share = 1 / (float)(start[r + 1] - start[r]);
            for (int i = 0; i < V; i++)
                s.v[i] *= share;
        }
        store<V>(out + k * cols + c, s);
    }
};

KERNEL(gather)
{
    by_rows(cx, in->rows, in->cols, in->cols % 4 == 0,
            gather_map{in->out, in->src[0], in->attr.index->row, NULL, in->cols});
}

KERNEL(segment_mean_grad)
{
    const struct index *index = in->attr.index;
    by_rows(cx, in->rows, in->cols, in->cols % 4 == 0,
            gather_map{in->out, in->src[0], index->row, index->start, in->cols});
}

/* The lists of positions per target row are a sparse matrix of ones. */
static void pool(const struct instr *in, const struct cuda_context *cx, bool mean)
{
    struct spmm s = {};
    s.y = in->out;
    s.x = in->src[0];
    s.start = in->attr.index->start;
    s.col = in->attr.index->item;
    s.own = true;
    s.rows = in->rows;
    s.width = in->cols;
    s.cut = spmm_cut(in, in->attr.index->count, false);
    s.heads = 1;
    s.scale = 1;
    s.mean = mean;
    spmm_run(cx, in, &s);
}

KERNEL(segment_sum)
{
    pool(in, cx, false);
}

KERNEL(segment_mean)
{
    pool(in, cx, true);
}

/* The largest of a group, 0 of an empty one. */
struct segment_max_map {
    float *out;
    const float *x;
    const int64_t *start;
    const int32_t *item;
    int64_t cols;
    template <int V> __device__ void at(int64_t r, int64_t c) const
    {
        vec<V> best;
        const int64_t from = start[r], to = start[r + 1];
        for (int i = 0; i < V; i++)
            best.v[i] = from < to ? -INFINITY : 0;
        for (int64_t k = from; k < to; k++) {
            const vec<V> s = load<V>(x + (int64_t)item[k] * cols + c);
            for (int i = 0; i < V; i++)
                best.v[i] = s.v[i] > best.v[i] ? s.v[i] : best.v[i];
        }
        store<V>(out + r * cols + c, best);
    }
};

KERNEL(segment_max)
{
    const struct index *index = in->attr.index;
    by_rows(cx, in->rows, in->cols, in->cols % 4 == 0,
            segment_max_map{in->out, in->src[0], index->start, index->item, in->cols});
}

/* g of a group goes to the first row that has its largest value. */
struct segment_max_grad_map {
    float *out;
    const float *g, *x, *y;
    const int64_t *start;
    const int32_t *item;
    int64_t cols;
    template <int V> __device__ void at(int64_t r, int64_t c) const
    {
        for (int i = 0; i < V; i++) {
            bool given = false;
            for (int64_t k = start[r]; k < start[r + 1]; k++) {
                const int64_t at = (int64_t)item[k] * cols + c + i;
                const bool takes = !given && x[at] == y[r * cols + c + i];
                out[at] = takes ? g[r * cols + c + i] : 0;
                given = given || takes;
            }
        }
    }
};

KERNEL(segment_max_grad)
{
    const struct index *index = in->attr.index;
    by_rows(cx, index->targets, in->cols, false,
            segment_max_grad_map{in->out, in->src[0], in->src[1], in->src[2], index->start,
                                 index->item, in->cols});
}

/* ---- rows to length one -------------------------------------------------- */

struct row_items {
    float *out;
    const float *g, *x, *y;
    int64_t rows, cols;
};

static __global__ void __launch_bounds__(THREADS)
    row_normalize_kernel(struct row_items a, int shift)
{
    begin();
    const struct row_lane me = row_lane(a.rows, shift);
    const float *x = a.x + me.row * a.cols;
    const float inverse = inverse_length(x, a.cols, me.lane, me.lanes);
    for (int64_t c = me.lane; me.exists && c < a.cols; c += me.lanes)
        a.out[me.row * a.cols + c] = x[c] * inverse;
}

KERNEL(row_normalize)
{
    const int shift = shift_for(in->cols, 5);
    if (in->rows > 0)
        launch(cx, row_normalize_kernel, lane_blocks(in->rows, shift), THREADS,
               row_items{in->out, NULL, in->src[0], NULL, in->rows, in->cols}, shift);
}

/* (g - y⟨g, y⟩)/|x|; a row shorter than the floor is only scaled */
static __global__ void __launch_bounds__(THREADS)
    row_normalize_grad_kernel(struct row_items a, int shift)
{
    begin();
    const struct row_lane me = row_lane(a.rows, shift);
    const int64_t at = me.row * a.cols;
    const float inverse = inverse_length(a.x + at, a.cols, me.lane, me.lanes);
    const float along = lanes_dot(a.g + at, a.y + at, a.cols, me.lane, me.lanes);
    const bool floored = inverse * NORM_FLOOR >= 1;
    for (int64_t c = me.lane; me.exists && c < a.cols; c += me.lanes)
        a.out[at + c] = inverse * (a.g[at + c] - (floored ? 0 : a.y[at + c] * along));
}

KERNEL(row_normalize_grad)
{
    const int shift = shift_for(in->cols, 5);
    if (in->rows > 0)
        launch(cx, row_normalize_grad_kernel, lane_blocks(in->rows, shift), THREADS,
               row_items{in->out, in->src[0], in->src[1], in->src[2], in->rows, in->cols}, shift);
}

/* ---- the nearest of some points ------------------------------------------ */

/* The row of y with the least ‖x_r - y_k‖², the first of several. */
static __global__ void __launch_bounds__(THREADS)
    nearest_kernel(struct row_items a, int64_t points, int shift)
{
    begin();
    const struct row_lane me = row_lane(a.rows, shift);
    const float *x = a.x + me.row * a.cols;
    float least = 0, best = 0;
    for (int64_t k = 0; k < points; k++) {
        float sum = 0;
        for (int64_t c = me.lane; c < a.cols; c += me.lanes) {
            const float difference = x[c] - a.y[k * a.cols + c];
            sum = fmaf(difference, difference, sum);
        }
        sum = lanes_sum(sum, 1, me.lanes);
        best = k > 0 && sum < least ? (float)k : best;
        least = k == 0 || sum < least ? sum : least;
    }
    if (me.exists && me.lane == 0)
        a.out[me.row] = best;
}

KERNEL(nearest)
{
    const int64_t cols = in->src_cols[0];
    const int shift = shift_for(cols, 5);
    if (in->rows > 0)
        launch(cx, nearest_kernel, lane_blocks(in->rows, shift), THREADS,
               row_items{in->out, NULL, in->src[0], in->src[1], in->rows, cols}, in->src_rows[1],
               shift);
}
