/* Pairs of rows: cosines and squared differences. */
#include "cuda/rows.cuh"

int64_t scratch_pairs(const struct instr *in)
{
    return in->op == OP_PAIR_COSINE_GRAD ? 2 * in->attr.index->count * (int64_t)sizeof(float) : -1;
}

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

/* cos(x_i, x_j) = ⟨x_i, x_j⟩/(|x_i||x_j|), or with g its weight in the gradient: to_other =
 * g/(|x_i||x_j|), to_self = -g·cos */
static __global__ void __launch_bounds__(THREADS) pair_cosine_kernel(struct pairs a, int shift)
{
    begin();
    const struct row_lane me = row_lane(a.count, shift);
    const float *x = a.x + (int64_t)a.left[me.row] * a.cols;
    const float *y = a.x + (int64_t)a.right[me.row] * a.cols;
    const float dot = lanes_dot(x, y, a.cols, me.lane, me.lanes);
    const float both =
        inverse_length(x, a.cols, me.lane, me.lanes) * inverse_length(y, a.cols, me.lane, me.lanes);
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

/* The contribution of the pairs of one side that a lane's group takes, to its column, and of the
 * row itself. */
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
