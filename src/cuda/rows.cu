/* Rows by index, pairs of rows, rows to length one. */
#include "cuda/spmm.cuh"

__device__ static const float NORM_FLOOR = 1e-8f; /* rows shorter than this count as this long */

int64_t scratch_rows(const struct instr *in)
{
    if (in->op == OP_PAIR_COSINE_GRAD)
        return 2 * in->attr.index->count * (int64_t)sizeof(float);
    if (in->op == OP_SEGMENT_SUM || in->op == OP_SEGMENT_MEAN)
        return spmm_scratch(in, in->attr.index->count, false);
    return -1;
}

/* ---- gathering and pooling ----------------------------------------------- */

/* Row k is row row[k] of x, divided by the rows that go with it where start is given. */
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
    spmm_run(cx, &s);
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

/* Σ_c x[c] y[c] over the lanes that share a row, in all of them. */
__device__ static float lanes_dot(const float *x, const float *y, int64_t cols, int lane, int lanes)
{
    float sum = 0;
    for (int64_t c = lane; c < cols; c += lanes)
        sum = fmaf(x[c], y[c], sum);
    return lanes_sum(sum, 1, lanes);
}

/* 1/|x|, which is 1/floor at most. */
__device__ static float inverse_length(const float *x, int64_t cols, int lane, int lanes)
{
    return 1 / fmaxf(sqrtf(lanes_dot(x, x, cols, lane, lanes)), NORM_FLOOR);
}

struct row_items {
    float *out;
    const float *g, *x, *y;
    int64_t rows, cols;
};

/* Which row this thread works at; those behind the last work at the last and write nothing. */
struct row_lane {
    int64_t row;
    bool exists;
    int lane, lanes;
};

__device__ static struct row_lane row_lane(int64_t rows, int shift)
{
    const int lanes = 1 << shift;
    const int64_t r = (int64_t)blockIdx.x * (THREADS >> shift) + (threadIdx.x >> shift);
    return {r < rows ? r : rows - 1, r < rows, (int)threadIdx.x & (lanes - 1), lanes};
}

static unsigned lane_blocks(int64_t rows, int shift)
{
    return (unsigned)ceil_div(rows, THREADS >> shift);
}

static __global__ void __launch_bounds__(THREADS) row_normalize_kernel(struct row_items a, int shift)
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

/* (g - y⟨g, y⟩)/|x|; a row shorter than the floor is only scaled by it */
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
            const float apart = x[c] - a.y[k * a.cols + c];
            sum = fmaf(apart, apart, sum);
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

/* ---- pairs of rows ------------------------------------------------------- */

struct pairs {
    float *out;
    const float *g, *x;
    const int32_t *left, *right; /* (count) the two rows */
    int64_t count, rows, cols;
    const int64_t *left_start, *right_start; /* the pairs that name a row on either side */
    const int32_t *left_item, *right_item;
    float *to_other, *to_self; /* (count) */
};

static struct pairs pairs_of(const struct instr *in, int64_t rows)
{
    const struct index *i = in->attr.index, *j = in->attr.other;
    struct pairs a = {};
    a.out = in->out;
    a.left = i->row;
    a.right = j->row;
    a.count = i->count;
    a.rows = rows;
    a.left_start = i->start;
    a.right_start = j->start;
    a.left_item = i->item;
    a.right_item = j->item;
    return a;
}

/* cos(x_i, x_j) = ⟨x_i, x_j⟩/(|x_i||x_j|), or with g what it weighs in the gradient:
 * to_other = g/(|x_i||x_j|), to_self = -g·cos */
static __global__ void __launch_bounds__(THREADS) pair_cosine_kernel(struct pairs a, int shift)
{
    begin();
    const struct row_lane me = row_lane(a.count, shift);
    const float *x = a.x + (int64_t)a.left[me.row] * a.cols;
    const float *y = a.x + (int64_t)a.right[me.row] * a.cols;
    const float dot = lanes_dot(x, y, a.cols, me.lane, me.lanes);
    const float both = inverse_length(x, a.cols, me.lane, me.lanes) *
                       inverse_length(y, a.cols, me.lane, me.lanes);
    if (me.exists && me.lane == 0 && !a.g)
        a.out[me.row] = dot * both;
    if (me.exists && me.lane == 0 && a.g) {
        a.to_other[me.row] = a.g[me.row] * both;
        a.to_self[me.row] = -a.g[me.row] * (dot * both);
    }
}

KERNEL(pair_cosine)
{
    struct pairs a = pairs_of(in, in->src_rows[0]);
    a.x = in->src[0];
    a.cols = in->src_cols[0];
    const int shift = shift_for(a.cols, 5);
    if (a.count > 0)
        launch(cx, pair_cosine_kernel, lane_blocks(a.count, shift), THREADS, a, shift);
}

/* What the pairs of one side that fall to a lane's group give its column, and the row itself. */
struct pulled {
    float other, self;
};

__device__ static void pull(struct pulled &s, const struct pairs &a, int side, int64_t r, int64_t c,
                            int group, int groups)
{
    enum { AHEAD = 4 };
    const int64_t *start = side ? a.right_start : a.left_start;
    const int32_t *item = side ? a.right_item : a.left_item;
    const int32_t *other = side ? a.left : a.right;
    const int64_t end = start[r + 1];
    for (int64_t first = start[r] + group; first < end; first += AHEAD * groups) {
        float weight[AHEAD], x[AHEAD];
        int32_t k[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            k[i] = first + i * groups < end ? item[first + i * groups] : -1;
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            weight[i] = k[i] >= 0 ? a.to_other[k[i]] : 0;
            s.self += k[i] >= 0 ? a.to_self[k[i]] : 0;
            x[i] = k[i] >= 0 && c < a.cols ? a.x[(int64_t)other[k[i]] * a.cols + c] : 0;
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            s.other = fmaf(weight[i], x[i], s.other);
    }
}

/* x̄_r = Σ over the pairs that name r, on either side, of to_other·x_other + to_self·x_r/|x_r|²
 * A warp a row, 2^shift lanes side by side over the columns, in groups that take pairs in turn. */
static __global__ void __launch_bounds__(THREADS) pair_cosine_grad_kernel(struct pairs a, int shift)
{
    begin();
    const int64_t r = (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP;
    const int lane = threadIdx.x % WARP, lanes = 1 << shift, group = lane >> shift;
    if (r >= a.rows)
        return;
    const float *x = a.x + r * a.cols;
    const float inverse = inverse_length(x, a.cols, lane, WARP);
    for (int64_t first = 0; first < a.cols; first += lanes) {
        const int64_t c = first + (lane & (lanes - 1));
        struct pulled s = {};
        for (int side = 0; side < 2; side++)
            pull(s, a, side, r, c, group, WARP >> shift);
        s.other = lanes_sum(s.other, lanes, WARP);
        s.self = lanes_sum(s.self, lanes, WARP);
        if (group == 0 && c < a.cols)
            a.out[r * a.cols + c] = s.other + inverse * inverse * s.self * x[c];
    }
}

KERNEL(pair_cosine_grad)
{
    struct pairs a = pairs_of(in, in->rows);
    a.g = in->src[0];
    a.x = in->src[1];
    a.cols = in->cols;
    a.to_other = (float *)scratch_of(in);
    a.to_self = a.to_other + a.count;
    const int shift = shift_for(a.cols, 5);
    if (a.count > 0)
        launch(cx, pair_cosine_kernel, lane_blocks(a.count, shift), THREADS, a, shift);
    if (a.rows > 0)
        launch(cx, pair_cosine_grad_kernel, row_blocks(a.rows), THREADS, a, shift);
}

/* (x_i - x_j)² */
struct squared_map {
    float *out;
    const float *x;
    const int32_t *left, *right;
    int64_t cols;
    template <int V> __device__ void at(int64_t k, int64_t c) const
    {
        vec<V> s = load<V>(x + (int64_t)left[k] * cols + c);
        const vec<V> t = load<V>(x + (int64_t)right[k] * cols + c);
        for (int i = 0; i < V; i++)
            s.v[i] = (s.v[i] - t.v[i]) * (s.v[i] - t.v[i]);
        store<V>(out + k * cols + c, s);
    }
};

KERNEL(pair_squared)
{
    by_rows(cx, in->rows, in->cols, in->cols % 4 == 0,
            squared_map{in->out, in->src[0], in->attr.index->row, in->attr.other->row, in->cols});
}

/* Σ over the pairs that name r, on either side, of 2·g_k∘(x_r - x_other) */
struct squared_grad_map {
    struct pairs a;
    template <int V> __device__ void at(int64_t r, int64_t c) const
    {
        const vec<V> mine = load<V>(a.x + r * a.cols + c);
        vec<V> sum = {};
        for (int side = 0; side < 2; side++) {
            const int64_t *start = side ? a.right_start : a.left_start;
            const int32_t *item = side ? a.right_item : a.left_item;
            const int32_t *other = side ? a.left : a.right;
            for (int64_t p = start[r]; p < start[r + 1]; p++) {
                const int64_t k = item[p];
                const vec<V> g = load<V>(a.g + k * a.cols + c);
                const vec<V> z = load<V>(a.x + (int64_t)other[k] * a.cols + c);
                for (int i = 0; i < V; i++)
                    sum.v[i] = fmaf(2 * g.v[i], mine.v[i] - z.v[i], sum.v[i]);
            }
        }
        store<V>(a.out + r * a.cols + c, sum);
    }
};

KERNEL(pair_squared_grad)
{
    struct pairs a = pairs_of(in, in->rows);
    a.g = in->src[0];
    a.x = in->src[1];
    a.cols = in->cols;
    by_rows(cx, in->rows, in->cols, in->cols % 4 == 0, squared_grad_map{a});
}
