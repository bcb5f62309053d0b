/* The gradient of attention's columns: one walk over the entries of each column, which computes the
 * weights again. */
#include "cuda/attend.cuh"

/* Σ_i w_ij g_i, and Σ_i slope_ij (w_ij ⟨g_i, z_j⟩ - α_ij ⟨g_i, out_i⟩) over this lane's columns.
 * For a hub whose neighbours have no other neighbour the terms cancel, so they are added in double
 * precision. */
template <int V> struct received {
    vec<V> out;
    double slope;
};

int64_t scratch_attend_columns(const struct instr *in)
{
    return in->op == OP_ATTEND_COLUMNS ? attend_bytes<received>(in) : -1;
}

/* left holds (rows of the matrix, 3·heads): x, log Σ exp, ⟨g, out⟩. */
template <int V>
__device__ static struct received<V> walk_column(const struct attend &a, const struct stand &me,
                                                 int64_t j, int64_t from, int64_t to, int turn) {
    struct received<V> s = {
    };
    const int lane = threadIdx.x % WARP;
    const float mine = me.active ? a.right[j * a.heads + me.head] : 0;
    const vec<V> z = me.active ? load<V>(a.z + j * a.width + me.column) : vec<V>{};
    const bool once = turn == 0 && lane == me.first; /* one lane of a head takes ⟨g, out⟩ */
    for (int64_t base = from; base < to; base += WARP) {
        const int count = to - base < WARP ? (int)(to - base) : WARP;
        const int32_t col = lane < count ? a.col[base + lane] : 0;
        const int64_t place = lane < count ? a.entry[base + lane] : 0;
        const uint32_t drawn = a.shared ? bits_of(a, place) : 0;
        for (int first = 0; first < count; first += AHEAD * me.groups) {
            vec<V> g[AHEAD];
            float score[AHEAD], most[AHEAD], along[AHEAD], own[AHEAD], left[AHEAD];
#pragma unroll
            for (int i = 0; i < AHEAD; i++) {
                const int at = first + i * me.groups + me.group;
                const int64_t row = __shfl_sync(0xffffffffu, col, at);
                const int64_t stored = __shfl_sync(0xffffffffu, place, at);
                const uint32_t bits = a.shared ? __shfl_sync(0xffffffffu, drawn, at) : 0;
                const bool on = me.active && at < count;
                const float *packed = a.left + row * 3 * a.heads + me.head;
                score[i] = on ? packed[0] + mine : 0;
                most[i] = on ? packed[a.heads] : INFINITY; /* its weight is zero */
                along[i] = on ? packed[2 * a.heads] : 0;
                own[i] = !on ? 0 : a.gate && a.val ? a.val[stored] : 1;
                left[i] = on ? factor_of(a, stored, bits, me.head) : 0;
                g[i] = on ? load<V>(a.g + row * a.width + me.column) : vec<V>{};
            }
#pragma unroll
            for (int i = 0; i < AHEAD; i++) {
                const float bend = score[i] > 0 ? 1 : a.slope, gate = a.gate ? tanhf(score[i]) : 0;
                const float whole = a.gate ? own[i] * gate : expf(score[i] * bend - most[i]);
                const float slope = a.gate ? own[i] * (1 - gate * gate) : whole * bend;
                float dot = 0;
                for (int k = 0; k < V; k++) {
                    s.out.v[k] = fmaf(whole * left[i], g[i].v[k], s.out.v[k]);
                    dot = fmaf(g[i].v[k], z.v[k], dot);
                }
                s.slope += (double)slope * ((double)left[i] * dot - (once ? along[i] : 0.0));
            }
        }
    }
    s.slope = lanes_sum(s.slope, 1 << a.shift, WARP);
    for (int k = 0; k < V; k++)
        s.out.v[k] = lanes_sum(s.out.v[k], 1 << a.shift, WARP);
    return s;
}

/* The same for gates with one head: one lane computes the weight of an entry for all columns. */
template <int V>
__device__ static struct received<V> walk_gates(const struct attend &a, const struct stand &me,
                                                int64_t j, int64_t from, int64_t to) {
    struct received<V> s = {
    };
    const unsigned all = 0xffffffffu;
    const int lane = threadIdx.x % WARP;
    const float mine = a.right[j];
    const vec<V> z = me.active ? load<V>(a.z + j * a.width + me.column) : vec<V>{};
    for (int64_t base = from; base < to; base += WARP) {
        const int count = to - base < WARP ? (int)(to - base) : WARP;
        const int32_t row = lane < count ? a.col[base + lane] : 0;
        float weight = 0, slope = 0, left = 0;
        if (lane < count) {
            const int64_t place = a.entry[base + lane];
            const float gate = tanhf(a.left[row * 3] + mine), own = a.val ? a.val[place] : 1;
            left = gate_factor(a, place);
            weight = own * gate * left;
            slope = own * (1 - gate * gate);
        }
        for (int first = 0; first < count; first += GATES_AHEAD * me.groups) {
            vec<V> g[GATES_AHEAD];
            float by[GATES_AHEAD], bend[GATES_AHEAD], rest[GATES_AHEAD];
#pragma unroll
            for (int i = 0; i < GATES_AHEAD; i++) {
                const int at = first + i * me.groups + me.group;
                const int64_t from_row = __shfl_sync(all, row, at);
                const bool on = me.active && at < count;
                by[i] = __shfl_sync(all, weight, at);
                bend[i] = __shfl_sync(all, slope, at);
                rest[i] = __shfl_sync(all, left, at);
                by[i] = on ? by[i] : 0;
                bend[i] = on ? bend[i] : 0;
                g[i] = on ? load<V>(a.g + from_row * a.width + me.column) : vec<V>{};
            }
#pragma unroll
            for (int i = 0; i < GATES_AHEAD; i++) {
                float dot = 0;
                for (int k = 0; k < V; k++) {
                    s.out.v[k] = fmaf(by[i], g[i].v[k], s.out.v[k]);
                    dot = fmaf(g[i].v[k], z.v[k], dot);
                }
                s.slope += (double)bend[i] * ((double)rest[i] * dot);
            }
        }
    }
    s.slope = lanes_sum(s.slope, 1 << a.shift, WARP);
    for (int k = 0; k < V; k++)
        s.out.v[k] = lanes_sum(s.out.v[k], 1 << a.shift, WARP);
    return s;
}

/* z̄_j, and ȳ_j as totals, to which every turn of a long head adds. All lanes of a warp call it. */
template <int V>
__device__ static void write_column(const struct attend &a, const struct stand &me, int64_t j,
                                    const struct received<V> &s, int turn)
{
    const bool writes = me.active && me.group == 0;
    if (writes)
        store<V>(a.out + j * a.width + me.column, s.out);
    if (!a.totals)
        return;
    const float slope = (float)head_sum(a, me, me.active ? s.slope : 0);
    float *total = a.totals + j * a.heads + me.head;
    if (writes && (int)threadIdx.x % WARP == me.first)
        *total = turn == 0 ? slope : *total + slope;
}

template <int V, bool GATES, class TAIL>
__global__ void __launch_bounds__(ATTEND_THREADS) attend_columns_kernel(struct attend a, TAIL tail)
{
    const struct share mine = share_of(a.start, a.rows, a.cut);
    begin();
    for (int turn = 0; turn < turns_of(a) && mine.pieces > 0; turn++) {
        const struct stand me = stand_at<V>(a, turn);
        struct received<V> s = GATES ? walk_gates<V>(a, me, mine.row, mine.from, mine.to)
                                     : walk_column<V>(a, me, mine.row, mine.from, mine.to, turn);
        const bool whole = share_whole(s, mine, a.cut, blockIdx.y,
                                       [](struct received<V> s, const struct received<V> &t) {
                                           s.slope += t.slope;
                                           for (int k = 0; k < V; k++)
                                               s.out.v[k] += t.out.v[k];
                                           return s;
                                       });
        if (!whole)
            continue;
        write_column<V>(a, me, mine.row, s, turn);
        tail_run(tail, mine.row);
    }
}

template <bool GATES> struct column_kernels {
    template <int V, class TAIL> static auto of()
    {
        return attend_columns_kernel<V, GATES, TAIL>;
    }
};

KERNEL(attend_columns)
{
    struct attend a = attend_of(in, cx);
    a.totals = in->update[0];
    a.left = in->src[0];
    a.right = in->src[1];
    a.z = in->src[2];
    a.g = in->src[3];
    if (a.gate && a.heads == 1)
        attend_run<struct column_kernels<true>>(cx, &a);
    else
        attend_run<struct column_kernels<false>>(cx, &a);
}
