/* Attention as one operation: one walk over the entries of each row. The softmax is computed on the
 * way: a lane keeps the largest score so far and sums relative to it, rescales when a larger one
 * comes, and the lanes' sums are merged at the end (Milakov and Gimelshein 2018). Then the gradient
 * of a row's score. */
#include "cuda/attend.cuh"

/* ---- rows ---------------------------------------------------------------- */

/* A lane's sums for a row: of exp(score - most), of the same times the slopes, and of both times
 * the kept part of z. For gates most is 0 and the scores are not exponentials. */
template <int V> struct attended {
    float most, total, slopes;
    vec<V> out, bent;
};

int64_t scratch_attend(const struct instr *in)
{
    return in->op == OP_ATTEND ? attend_bytes<attended>(in) : -1;
}

template <int V> __device__ static struct attended<V> nothing(const struct attend &a) {
    struct attended<V> s = {
    };
    s.most = a.gate ? 0 : -INFINITY;
    return s;
}

template <int V>
__device__ static void rescale(struct attended<V> &s, float most)
{
    const float factor = s.most == most ? 1 : expf(s.most - most);
    s.most = most;
    s.total *= factor;
    s.slopes *= factor;
    for (int k = 0; k < V; k++) {
        s.out.v[k] *= factor;
        s.bent.v[k] *= factor;
    }
}

template <int V> __device__ static void merge(struct attended<V> &s, struct attended<V> t)
{
    const float most = fmaxf(s.most, t.most);
    rescale<V>(s, most);
    rescale<V>(t, most);
    s.total += t.total;
    s.slopes += t.slopes;
    for (int k = 0; k < V; k++) {
        s.out.v[k] += t.out.v[k];
        s.bent.v[k] += t.bent.v[k];
    }
}

/* The same from the lane that is `bit` away. */
template <int V> __device__ static struct attended<V> across(const struct attended<V> &s, int bit) {
    const unsigned all = 0xffffffffu;
    struct attended<V> t;
    t.most = __shfl_xor_sync(all, s.most, bit);
    t.total = __shfl_xor_sync(all, s.total, bit);
    t.slopes = __shfl_xor_sync(all, s.slopes, bit);
    for (int k = 0; k < V; k++) {
        t.out.v[k] = __shfl_xor_sync(all, s.out.v[k], bit);
        t.bent.v[k] = __shfl_xor_sync(all, s.bent.v[k], bit);
    }
    return t;
}

/* Some entries: their scores, what dropout leaves of each, and their rows of z. */
template <int V>
__device__ static void take(struct attended<V> &s, const struct attend &a, const bool (&on)[AHEAD],
                            const float (&score)[AHEAD], const float (&own)[AHEAD],
                            const float (&left)[AHEAD], const vec<V> (&z)[AHEAD])
{
    float most = s.most;
    for (int i = 0; i < AHEAD && !a.gate; i++)
        most = on[i] ? fmaxf(most, score[i] > 0 ? score[i] : score[i] * a.slope) : most;
    rescale<V>(s, most);
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
        if (!on[i])
            continue;
        const float bend = score[i] > 0 ? 1 : a.slope, gate = a.gate ? tanhf(score[i]) : 0;
        const float whole = a.gate ? own[i] * gate : expf(score[i] * bend - most);
        const float slope = a.gate ? own[i] * (1 - gate * gate) : whole * bend;
        s.total += whole;
        s.slopes += slope;
        for (int k = 0; k < V; k++) {
            s.out.v[k] = fmaf(whole * left[i], z[i].v[k], s.out.v[k]);
            s.bent.v[k] = fmaf(slope * left[i], z[i].v[k], s.bent.v[k]);
        }
    }
}

template <int V>
__device__ static struct attended<V> walk_row(const struct attend &a, const struct stand &me,
                                              int64_t r, int64_t from, int64_t to) {
    struct attended<V> s = nothing<V>(a);
    const int lane = threadIdx.x % WARP;
    const float mine = me.active ? a.left[r * a.heads + me.head] : 0;
    for (int64_t base = from; base < to; base += WARP) {
        const int count = to - base < WARP ? (int)(to - base) : WARP;
        const int32_t col = lane < count ? a.col[base + lane] : 0;
        const uint32_t drawn = a.shared ? bits_of(a, base + lane) : 0;
        for (int first = 0; first < count; first += AHEAD * me.groups) {
            bool on[AHEAD];
            float score[AHEAD], own[AHEAD], left[AHEAD];
            vec<V> z[AHEAD];
#pragma unroll
            for (int i = 0; i < AHEAD; i++) {
                const int at = first + i * me.groups + me.group;
                const int64_t j = __shfl_sync(0xffffffffu, col, at);
                const uint32_t bits = a.shared ? __shfl_sync(0xffffffffu, drawn, at) : 0;
                on[i] = me.active && at < count;
                score[i] = on[i] ? mine + a.right[j * a.heads + me.head] : 0;
                z[i] = on[i] ? load<V>(a.z + j * a.width + me.column) : vec<V>{};
                own[i] = on[i] && a.gate && a.val ? a.val[base + at] : 1;
                left[i] = on[i] ? factor_of(a, base + at, bits, me.head) : 0;
            }
            take<V>(s, a, on, score, own, left, z);
        }
    }
    for (int bit = 1 << a.shift; bit < WARP; bit <<= 1)
        merge<V>(s, across<V>(s, bit));
    return s;
}

/* out = Σ/total, and besides it the bent sum, log Σ exp and Σ softmax∘slopes */
template <int V>
__device__ static void write_row(struct attended<V> &s, const struct attend &a,
                                 const struct stand &me, int64_t r, int turn)
{
    if (!me.active || me.group != 0)
        return;
    const float inverse = a.gate ? 1 : s.total > 0 ? 1 / s.total : 0;
    const bool once = turn == 0 && me.column == me.head * a.dim;
    for (int k = 0; k < V; k++) {
        s.out.v[k] *= inverse;
        s.bent.v[k] *= inverse;
    }
    store<V>(a.out + r * a.width + me.column, s.out);
    if (a.bent)
        store<V>(a.bent + r * a.width + me.column, s.bent);
    if (a.totals && once) {
        a.totals[r * 2 * a.heads + me.head] = a.gate || !(s.total > 0) ? 0 : s.most + logf(s.total);
        a.totals[(r * 2 + 1) * a.heads + me.head] = a.gate ? 0 : s.slopes * inverse;
    }
}

template <int V, class TAIL>
__global__ void __launch_bounds__(ATTEND_THREADS) attend_kernel(struct attend a, TAIL tail)
{
    const struct share mine = share_of(a.start, a.rows, a.cut);
    begin();
    for (int turn = 0; turn < turns_of(a) && mine.pieces > 0; turn++) {
        const struct stand me = stand_at<V>(a, turn);
        struct attended<V> s = walk_row<V>(a, me, mine.row, mine.from, mine.to);
        const bool whole = share_whole(s, mine, a.cut, blockIdx.y,
                                       [](struct attended<V> s, const struct attended<V> &t) {
                                           merge<V>(s, t);
                                           return s;
                                       });
        if (!whole)
            continue;
        write_row<V>(s, a, me, mine.row, turn);
        tail_run(tail, mine.row);
    }
}

/* ---- rows, for gates with one head --------------------------------------- */

/* The weight of an entry, tanh(score) with dropout, is computed by one lane for all columns. */
template <int V> struct gated {
    vec<V> out, bent;
};

template <int V>
__device__ static struct gated<V> walk_gates(const struct attend &a, const struct stand &me,
                                             int64_t r, int64_t from, int64_t to) {
    struct gated<V> s = {
    };
    const unsigned all = 0xffffffffu;
    const int lane = threadIdx.x % WARP;
    const float mine = a.left[r];
    for (int64_t base = from; base < to; base += WARP) {
        const int count = to - base < WARP ? (int)(to - base) : WARP;
        const int32_t col = lane < count ? a.col[base + lane] : 0;
        float weight = 0, slope = 0;
        if (lane < count) {
            const float gate = tanhf(mine + a.right[col]), own = a.val ? a.val[base + lane] : 1;
            const float left = gate_factor(a, base + lane);
            weight = own * gate * left;
            slope = own * (1 - gate * gate) * left;
        }
        for (int first = 0; first < count; first += GATES_AHEAD * me.groups) {
            float by[GATES_AHEAD], bend[GATES_AHEAD];
            vec<V> z[GATES_AHEAD];
#pragma unroll
            for (int i = 0; i < GATES_AHEAD; i++) {
                const int at = first + i * me.groups + me.group;
                const int64_t j = __shfl_sync(all, col, at);
                const bool on = me.active && at < count;
                by[i] = __shfl_sync(all, weight, at);
                bend[i] = a.bent ? __shfl_sync(all, slope, at) : 0;
                by[i] = on ? by[i] : 0;
                bend[i] = on ? bend[i] : 0;
                z[i] = on ? load<V>(a.z + j * a.width + me.column) : vec<V>{};
            }
#pragma unroll
            for (int i = 0; i < GATES_AHEAD; i++)
                for (int k = 0; k < V; k++) {
                    s.out.v[k] = fmaf(by[i], z[i].v[k], s.out.v[k]);
                    s.bent.v[k] = fmaf(bend[i], z[i].v[k], s.bent.v[k]);
                }
        }
    }
    for (int k = 0; k < V; k++) {
        s.out.v[k] = lanes_sum(s.out.v[k], 1 << a.shift, WARP);
        s.bent.v[k] = lanes_sum(s.bent.v[k], 1 << a.shift, WARP);
    }
    return s;
}

template <int V>
__device__ static void write_gated(const struct gated<V> &s, const struct attend &a,
                                   const struct stand &me, int64_t r, int turn)
{
    if (!me.active || me.group != 0)
        return;
    store<V>(a.out + r * a.width + me.column, s.out);
    if (a.bent)
        store<V>(a.bent + r * a.width + me.column, s.bent);
    if (a.totals && turn == 0 && me.column == 0)
        a.totals[2 * r] = a.totals[2 * r + 1] = 0;
}

template <int V, class TAIL>
__global__ void __launch_bounds__(ATTEND_THREADS) attend_gates_kernel(struct attend a, TAIL tail)
{
    const struct share mine = share_of(a.start, a.rows, a.cut);
    begin();
    for (int turn = 0; turn < turns_of(a) && mine.pieces > 0; turn++) {
        const struct stand me = stand_at<V>(a, turn);
        struct gated<V> s = walk_gates<V>(a, me, mine.row, mine.from, mine.to);
        const bool whole = share_whole(s, mine, a.cut, blockIdx.y,
                                       [](struct gated<V> s, const struct gated<V> &t) {
                                           for (int k = 0; k < V; k++) {
                                               s.out.v[k] += t.out.v[k];
                                               s.bent.v[k] += t.bent.v[k];
                                           }
                                           return s;
                                       });
        if (!whole)
            continue;
        write_gated<V>(s, a, me, mine.row, turn);
        tail_run(tail, mine.row);
    }
}

struct gate_kernels {
    template <int V, class TAIL> static auto of()
    {
        return attend_gates_kernel<V, TAIL>;
    }
};

struct attend_kernels {
    template <int V, class TAIL> static auto of()
    {
        return attend_kernel<V, TAIL>;
    }
};

KERNEL(attend)
{
    struct attend a = attend_of(in, cx);
    a.bent = in->update[0];
    a.totals = in->update[1];
    a.left = in->src[0];
    a.right = in->src[1];
    a.z = in->src[2];
    if (a.gate && a.heads == 1)
        attend_run<struct gate_kernels>(cx, &a);
    else
        attend_run<struct attend_kernels>(cx, &a);
}

/* ---- the gradient of a row's score --------------------------------------- */

struct attend_rows {
    float *out, *packed;
    const float *g, *result, *bent, *totals, *left;
    int64_t items, heads, dim;
    bool gate;
};

/* ⟨g_i, bent_i⟩ - ⟨g_i, out_i⟩·slopes_i, 2^shift lanes for a row and head */
static __global__ void __launch_bounds__(THREADS)
    attend_rows_kernel(struct attend_rows a, int shift)
{
    begin();
    const int lanes = 1 << shift, lane = threadIdx.x & (lanes - 1);
    const int64_t item = (int64_t)blockIdx.x * (THREADS >> shift) + (threadIdx.x >> shift);
    const bool exists = item < a.items;
    float along = 0, bent = 0;
    for (int64_t c = lane; exists && c < a.dim; c += lanes) {
        const float g = a.g[item * a.dim + c];
        along = a.gate ? 0 : fmaf(g, a.result[item * a.dim + c], along);
        bent = fmaf(g, a.bent[item * a.dim + c], bent);
    }
    along = lanes_sum(along, 1, lanes);
    bent = lanes_sum(bent, 1, lanes);
    if (!exists || lane != 0)
        return;
    const int64_t r = item / a.heads, h = item - r * a.heads;
    const float *totals = a.totals + r * 2 * a.heads;
    a.out[item] = bent - along * totals[a.heads + h];
    if (a.packed) {
        float *packed = a.packed + r * 3 * a.heads + h;
        packed[0] = a.left[item];
        packed[a.heads] = totals[h];
        packed[2 * a.heads] = along;
    }
}

KERNEL(attend_rows)
{
    const int64_t heads = in->attr.heads, items = in->rows * heads, d = in->src_cols[0] / heads;
    const int shift = shift_for(d, 5);
    if (items > 0)
        launch(cx, attend_rows_kernel, (unsigned)ceil_div(items, THREADS >> shift), THREADS,
               attend_rows{in->out, in->update[0], in->src[0], in->src[1], in->src[2], in->src[3],
                           in->src[4], items, heads, d, in->attr.function == OP_TANH},
               shift);
}
