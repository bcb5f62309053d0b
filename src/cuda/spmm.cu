/* Sparse products, one warp per row. Lanes cover the columns, V adjacent floats each, or T times V
 * of rows that are wider but not made of fours; if a row is narrower, groups of lanes take entries
 * in turn and their sums are added at the end. Entries are loaded 32 at a time, and four or eight
 * rows of x per group are in flight. */
#include "cuda/spmm.cuh"

/* Small blocks: one leaves the card when its longest row is done. */
enum { SPMM_THREADS = 128 };

/* One lane's part of a warp: its columns and its group. */
struct lane {
    int shift, group, groups; /* 2^shift lanes a group */
    int64_t column;           /* the first of its columns; the next V are 32·V further */
    int64_t head;
};

/* What a lane holds of a row. */
template <int V, int T> struct columns {
    vec<V> part[T];
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
template <int V, int T, bool HEADS>
__device__ inline void add_entries(columns<V, T> &sum, const struct spmm &a, const struct lane &me,
                                   struct fetched next, int64_t from, int64_t to)
{
    enum { AHEAD = V == 4 ? 4 : 8 }; /* eight fours would need so many registers that warps wait */
    const unsigned all = 0xffffffffu;
    const int lane = threadIdx.x % WARP;
    for (int64_t base = from; base < to; base += WARP) {
        const int count = to - base < WARP ? (int)(to - base) : WARP;
        const struct fetched mine = next;
        next = fetch<HEADS>(a, base + WARP + lane, to);
        for (int first = 0; first < count; first += AHEAD * me.groups) {
            columns<V, T> x[AHEAD];
            float v[AHEAD];
#pragma unroll
            for (int i = 0; i < AHEAD; i++) {
                const int from_lane = first + i * me.groups + me.group;
                const int32_t row = __shfl_sync(all, mine.col, from_lane);
                float factor = 0;
                if constexpr (HEADS) {
                    const int64_t at = __shfl_sync(all, mine.place, from_lane);
                    if (me.column < a.width && from_lane < count)
                        factor = a.val[at * a.heads + me.head];
                } else {
                    factor = __shfl_sync(all, mine.value, from_lane);
                }
                v[i] = from_lane < count ? factor : 0;
#pragma unroll
                for (int t = 0; t < T; t++) {
                    const int64_t c = me.column + t * WARP * V;
                    x[i].part[t] = c < a.width && from_lane < count
                                       ? load<V>(a.x + (int64_t)row * (int32_t)a.width + c)
                                       : vec<V>{};
                }
            }
#pragma unroll
            for (int i = 0; i < AHEAD; i++)
#pragma unroll
                for (int k = 0; k < V * T; k++) {
                    float &s = sum.part[k / V].v[k % V];
                    s = fmaf(v[i], x[i].part[k / V].v[k % V], s);
                }
        }
    }
}

/* The sum over a warp's groups, in all of them. */
template <int V, int T> __device__ inline void add_groups(columns<V, T> &sum, const struct lane &me)
{
#pragma unroll
    for (int k = 0; k < V * T; k++)
        sum.part[k / V].v[k % V] = lanes_sum(sum.part[k / V].v[k % V], 1 << me.shift, WARP);
}

/* Columns c … c+V-1 of row r, which has `count` entries. */
template <int V>
__device__ inline void finish_row(vec<V> s, const struct spmm &a, int64_t r, int64_t c,
                                  int64_t count)
{
    const int64_t at = r * a.width + c;
    const float scale = a.mean && count > 1 ? a.scale / (float)count : a.scale;
    const vec<V> add = a.add ? load<V>(a.add + at) : vec<V>{};
    const vec<V> bias = a.bias ? load<V>(a.bias + c) : vec<V>{};
#pragma unroll
    for (int k = 0; k < V; k++) {
        s.v[k] *= scale;
        if (a.add)
            s.v[k] = fmaf(a.add_scale, add.v[k], s.v[k]);
        s.v[k] += bias.v[k];
        s.v[k] = a.relu && !(s.v[k] > 0) ? 0 : s.v[k];
    }
    drop_row<V>(s, a.drop, r, c, a.width);
    store<V>(a.y + at, s);
}

template <int V, int T, bool HEADS, class TAIL>
__global__ void __launch_bounds__(SPMM_THREADS) spmm_kernel(struct spmm a, int shift, TAIL tail)
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
    me.column = ((int64_t)blockIdx.y * T << shift) * V + (lane & ((1 << shift) - 1)) * V;
    me.head = HEADS ? me.column / (a.width / a.heads) : 0;
    columns<V, T> sum = {};
    add_entries<V, T, HEADS>(sum, a, me, first, mine.from, mine.to);
    add_groups<V, T>(sum, me);
    const auto merge = [](columns<V, T> s, const columns<V, T> &t) {
        for (int k = 0; k < V * T; k++)
            s.part[k / V].v[k % V] += t.part[k / V].v[k % V];
        return s;
    };
    if (!share_whole(sum, mine, a.cut, blockIdx.y, merge))
        return;
    for (int t = 0; t < T; t++) {
        const int64_t c = me.column + t * WARP * V;
        if (me.group == 0 && c < a.width)
            finish_row<V>(sum.part[t], a, mine.row, c, mine.entries);
    }
    tail_run(tail, mine.row);
}

/* ---- which lanes have which columns ---------------------------------------- */

struct layout {
    int v, t, shift; /* 2^shift lanes with t times v columns */
    int64_t turns;   /* of the whole kernel, until all columns are done */
};

/* With heads, v divides a head's columns. */
static struct layout layout_of(const struct instr *in)
{
    const bool heads = in->op == OP_SPMM_VALUES && in->attr.heads > 1;
    const int64_t width = in->cols;
    struct layout l = {vector_for(heads ? width / in->attr.heads : width), 1, 0, 0};
    l.shift = shift_for(width / l.v, 5);
    if (l.v < 4 && width > WARP * l.v && !heads)
        l.t = 2;
    l.turns = ceil_div(width, (int64_t)l.v * l.t << l.shift);
    return l;
}

struct cut spmm_cut(const struct instr *in, int64_t entries, bool changes)
{
    return cut_of(in, slots_for(entries, changes, layout_of(in).turns));
}

int64_t spmm_scratch(const struct instr *in, int64_t entries, bool changes)
{
    if (in->cols == 0)
        return -1;
    const struct layout l = layout_of(in);
    return cut_bytes(slots_for(entries, changes, l.turns), l.turns,
                     l.v * l.t * (int64_t)sizeof(float));
}

bool spmm_row_in_warp(const struct instr *in)
{
    return in->cols > 0 && layout_of(in).turns == 1;
}

template <int V, int T>
static void launch_layout(const struct cuda_context *cx, const struct spmm *a, struct layout l)
{
    dim3 grid = range_blocks(a->rows, a->cut.slots, SPMM_THREADS);
    grid.y = (unsigned)l.turns;
    if (T == 1 && a->heads > 1)
        launch(cx, spmm_kernel<V, 1, true, struct no_tail>, grid, SPMM_THREADS, *a, l.shift,
               no_tail{});
    else if (cx->tail)
        launch(cx, spmm_kernel<V, T, false, struct tail>, grid, SPMM_THREADS, *a, l.shift,
               *cx->tail);
    else
        launch(cx, spmm_kernel<V, T, false, struct no_tail>, grid, SPMM_THREADS, *a, l.shift,
               no_tail{});
}

void spmm_run(const struct cuda_context *cx, const struct instr *in, const struct spmm *a)
{
    const struct layout l = layout_of(in);
    if (a->rows == 0 || a->width == 0)
        return;
    switch (l.v * l.t) {
    case 4: l.t == 1 ? launch_layout<4, 1>(cx, a, l) : launch_layout<2, 2>(cx, a, l); break;
    case 2: l.t == 1 ? launch_layout<2, 1>(cx, a, l) : launch_layout<1, 2>(cx, a, l); break;
    default: launch_layout<1, 1>(cx, a, l);
    }
}
