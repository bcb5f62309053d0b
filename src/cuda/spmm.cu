/* Sparse products, one warp per row. Lanes cover the columns, V floats each; if a row is narrower,
 * groups of lanes take entries in turn and their sums are added at the end. Entries are loaded 32
 * at a time, and up to eight rows of x per group are in flight. */
#include "cuda/spmm.cuh"

/* One lane's part of a warp: its columns and its group. */
struct lane {
    int shift, group, groups; /* 2^shift lanes a group */
    int64_t column;
    bool active; /* its columns exist */
    int64_t head;
};

/* An entry that one lane loads for all. */
struct fetched {
    int32_t col;
    int64_t place; /* of its values, with heads */
    float value;
};

template <bool HEADS>
__device__ inline struct fetched fetch(const struct spmm &a, int64_t at, int64_t to)
{
    struct fetched f = {0, at, 1};
    if (at >= to)
        return f;
    f.col = a.col[at];
    if (a.entry)
        f.place = a.entry[at];
    if (a.val && !HEADS)
        f.value = a.val[f.place];
    return f;
}

/* Adds the entries from … to-1 of this lane's group; next: the first one to load. */
template <int V, bool HEADS>
__device__ inline void add_entries(vec<V> &sum, const struct spmm &a, const struct lane &me,
                                   struct fetched next, int64_t from, int64_t to)
{
    enum { AHEAD = 8 };
    const unsigned all = 0xffffffffu;
    const int lane = threadIdx.x % WARP;
    for (int64_t base = from; base < to; base += WARP) {
        const int count = to - base < WARP ? (int)(to - base) : WARP;
        const struct fetched mine = next;
        next = fetch<HEADS>(a, base + WARP + lane, to);
        for (int first = 0; first < count; first += AHEAD * me.groups) {
            vec<V> x[AHEAD];
            float v[AHEAD];
#pragma unroll
            for (int i = 0; i < AHEAD; i++) {
                const int from_lane = first + i * me.groups + me.group;
                const int64_t row = __shfl_sync(all, mine.col, from_lane);
                float factor = 0;
                if constexpr (HEADS) {
                    const int64_t at = __shfl_sync(all, mine.place, from_lane);
                    if (me.active && from_lane < count)
                        factor = a.val[at * a.heads + me.head];
                } else {
                    factor = __shfl_sync(all, mine.value, from_lane);
                }
                const bool on = me.active && from_lane < count;
                v[i] = on ? factor : 0;
                x[i] = on ? load<V>(a.x + row * a.width + me.column) : vec<V>{};
            }
#pragma unroll
            for (int i = 0; i < AHEAD; i++)
#pragma unroll
                for (int k = 0; k < V; k++)
                    sum.v[k] = fmaf(v[i], x[i].v[k], sum.v[k]);
        }
    }
}

/* The sum over a warp's groups, in all of them. */
template <int V> __device__ inline void add_groups(vec<V> &sum, const struct lane &me)
{
#pragma unroll
    for (int k = 0; k < V; k++)
        sum.v[k] = lanes_sum(sum.v[k], 1 << me.shift, WARP);
}

template <int V>
__device__ inline void finish_row(vec<V> &s, const struct spmm &a, const struct lane &me, int64_t r,
                                  int64_t count)
{
    const int64_t at = r * a.width + me.column;
    const float scale = a.mean && count > 1 ? a.scale / (float)count : a.scale;
    const vec<V> add = a.add ? load<V>(a.add + at) : vec<V>{};
    const vec<V> bias = a.bias ? load<V>(a.bias + me.column) : vec<V>{};
#pragma unroll
    for (int k = 0; k < V; k++) {
        s.v[k] *= scale;
        if (a.add)
            s.v[k] = fmaf(a.add_scale, add.v[k], s.v[k]);
        s.v[k] += bias.v[k];
        s.v[k] = a.relu && !(s.v[k] > 0) ? 0 : s.v[k];
    }
    drop_row<V>(s, a.drop, r, me.column, a.width);
    store<V>(a.y + at, s);
}

template <int V, bool HEADS, class TAIL>
__global__ void __launch_bounds__(THREADS) spmm_kernel(struct spmm a, int shift, TAIL tail)
{
    const int lane = threadIdx.x % WARP;
    const struct share mine = share_of(a.start, a.rows, a.cut);
    struct fetched first = {};
    if (a.own) /* no kernel writes them, so they may be loaded while the previous kernel runs */
        first = fetch<HEADS>(a, mine.from + lane, mine.to);
    begin();
    if (mine.pieces == 0)
        return;
    if (!a.own)
        first = fetch<HEADS>(a, mine.from + lane, mine.to);
    struct lane me;
    me.shift = shift;
    me.group = lane >> shift;
    me.groups = WARP >> shift;
    me.column = ((int64_t)blockIdx.y * WARP + (lane & ((1 << shift) - 1))) * V;
    me.active = me.column < a.width;
    me.head = HEADS ? me.column / (a.width / a.heads) : 0;
    vec<V> sum = {};
    add_entries<V, HEADS>(sum, a, me, first, mine.from, mine.to);
    add_groups<V>(sum, me);
    const bool whole = share_whole(sum, mine, a.cut, blockIdx.y, [](vec<V> s, const vec<V> &t) {
        for (int k = 0; k < V; k++)
            s.v[k] += t.v[k];
        return s;
    });
    if (!whole)
        return;
    if (me.group == 0 && me.active)
        finish_row<V>(sum, a, me, mine.row, mine.entries);
    tail_run(tail, mine.row);
}

/* Columns at a time: a divisor of the product's width, and of a head. */
static int vector_of(int64_t width, int64_t heads)
{
    return vector_for(heads > 1 ? width / heads : width);
}

static int64_t turns_of(int64_t width, int64_t heads)
{
    return ceil_div(width, WARP * vector_of(width, heads));
}

static int64_t heads_of(const struct instr *in)
{
    return in->op == OP_SPMM_VALUES ? in->attr.heads : 1;
}

struct cut spmm_cut(const struct instr *in, int64_t entries, bool changes)
{
    return cut_of(in, slots_for(entries, changes, turns_of(in->cols, heads_of(in))));
}

int64_t spmm_scratch(const struct instr *in, int64_t entries, bool changes)
{
    const int64_t turns = turns_of(in->cols, heads_of(in));
    const int64_t thing = vector_of(in->cols, heads_of(in)) * (int64_t)sizeof(float);
    return in->cols > 0 ? cut_bytes(slots_for(entries, changes, turns), turns, thing) : -1;
}

template <int V> static void launch_width(const struct cuda_context *cx, const struct spmm *a)
{
    dim3 grid = range_blocks(a->rows, a->cut.slots);
    const int shift = shift_for(a->width / V, 5);
    grid.y = (unsigned)turns_of(a->width, a->heads);
    if (a->heads > 1)
        launch(cx, spmm_kernel<V, true, struct no_tail>, grid, THREADS, *a, shift, no_tail{});
    else if (cx->tail)
        launch(cx, spmm_kernel<V, false, struct tail>, grid, THREADS, *a, shift, *cx->tail);
    else
        launch(cx, spmm_kernel<V, false, struct no_tail>, grid, THREADS, *a, shift, no_tail{});
}

void spmm_run(const struct cuda_context *cx, const struct spmm *a)
{
    if (a->rows == 0 || a->width == 0)
        return;
    switch (vector_of(a->width, a->heads)) {
    case 4: launch_width<4>(cx, a); break;
    case 2: launch_width<2>(cx, a); break;
    default: launch_width<1>(cx, a);
    }
}
