/* Attention as one operation, and its gradient: one walk over the entries of each row, or of each
 * column. No weight is stored. The softmax is taken while walking: a lane keeps the largest score
 * it has met and sums relative to it, which are scaled when a larger one comes, and put together in
 * the end (Milakov and Gimelshein 2018).
 *
 * Lanes stand over the columns of whole heads, V floats each; where they are fewer than a warp,
 * groups of them take entries in turn. A head of more columns than a warp holds is walked in turns.
 * Random bits are the costly part: where those of an entry's heads share a word, a lane draws it
 * for one entry and all others ask that lane. */
#include "cuda/patterns.cuh"
#include "cuda/tail.cuh"

enum { AHEAD = 4 }; /* entries under way at once, for each group */

struct attend {
    float *out, *bent, *totals; /* (rows, width), the same, (rows, 2·heads); the last two or NULL */
    const float *left, *right, *z, *g;
    const int64_t *start, *entry;
    const int32_t *col;
    const float *val;
    int64_t rows, width, dim;
    struct cut cut;
    int heads;
    bool gate;
    float slope;
    struct drop drop;
    int pieces, together, shift; /* lanes a head; heads side by side; 2^shift lanes a group */
    bool shared;                 /* an entry's random bits lie in one word */
};

/* Where a lane stands, in turn `turn` of a long head. */
struct stand {
    int group, groups, head, first; /* first: lane of the head's first column */
    int64_t column;
    bool active;
};

template <int V> __device__ static struct stand stand_at(const struct attend &a, int turn)
{
    struct stand me;
    const int lane = threadIdx.x % WARP, at = lane & ((1 << a.shift) - 1);
    const bool split = a.pieces > WARP;
    const int piece = split ? turn * WARP + at : at % a.pieces;
    const int local = split ? 0 : at / a.pieces;
    me.group = lane >> a.shift;
    me.groups = WARP >> a.shift;
    me.head = blockIdx.y * a.together + local;
    me.first = split ? 0 : lane - piece;
    me.active = piece < a.pieces && local < a.together && me.head < a.heads;
    me.head = me.active ? me.head : 0;
    me.column = me.active ? me.head * a.dim + (int64_t)piece * V : 0;
    return me;
}

__device__ static int turns_of(const struct attend &a)
{
    return a.pieces > WARP ? (a.pieces + WARP - 1) / WARP : 1;
}

/* The sum over the lanes of a head, in all of them. */
__device__ static double head_sum(const struct attend &a, const struct stand &me, double x)
{
    if (a.together == 1)
        return lanes_sum(x, 1, 1 << a.shift);
    if ((a.pieces & (a.pieces - 1)) == 0)
        return lanes_sum(x, 1, a.pieces);
    double sum = 0;
    for (int i = 0; i < a.pieces; i++)
        sum += __shfl_sync(0xffffffffu, x, me.first + i);
    return sum;
}

/* The random bits of all heads of the entry stored at that place, lowest first. */
__device__ static uint32_t bits_of(const struct attend &a, int64_t place)
{
    const uint64_t first = (uint64_t)place * (uint64_t)a.heads * a.drop.bits, block = first >> 7;
    const uint4 words =
        philox((uint32_t)block, (uint32_t)(block >> 32), a.drop.stream, a.drop.step);
    return word_of(words, (uint32_t)(first & 127) >> 5) >> (first & 31);
}

/* What is left of a head's weight, 0 or 1/(1-rate); bits: as above, where they are shared. */
__device__ static float factor_of(const struct attend &a, int64_t place, uint32_t bits, int head)
{
    if (a.drop.threshold == 0)
        return 1;
    if (!a.shared)
        return drop_factors<1>(a.drop, (uint64_t)(place * a.heads + head)).v[0];
    const uint32_t number = bits >> (head * a.drop.bits) & ((1u << a.drop.bits) - 1);
    return number >= a.drop.threshold ? a.drop.scale : 0;
}

/* ---- rows ---------------------------------------------------------------- */

/* What a lane knows of a row: sums of exp(score - most), of the same times the slopes, and of both
 * times what was not dropped of z. For gates most is 0 and the scores are not exponentials. */
template <int V> struct attended {
    float most, total, slopes;
    vec<V> out, bent;
};

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

/* The same of the lane that stands `bit` away. */
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

/* Some entries: their scores, what is left of each, and their rows of z. */
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

/* out = Σ/total, and beside it the bent sum, log Σ exp and Σ softmax∘slopes */
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
__global__ void __launch_bounds__(THREADS) attend_kernel(struct attend a, TAIL tail)
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

/* ---- columns ------------------------------------------------------------- */

/* Σ_i w_ij g_i, and Σ_i slope_ij (w_ij ⟨g_i, z_j⟩ - α_ij ⟨g_i, out_i⟩) over this lane's columns. Of
 * a hub whose neighbours have no other the terms cancel, so these are added in double precision. */
template <int V> struct received {
    vec<V> out;
    double slope;
};

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
                most[i] = on ? packed[a.heads] : INFINITY; /* whose weight is zero */
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

/* z̄_j, and ȳ_j as totals, to which every turn of a long head adds. By all lanes of a warp. */
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

template <int V, class TAIL>
__global__ void __launch_bounds__(THREADS) attend_columns_kernel(struct attend a, TAIL tail)
{
    const struct share mine = share_of(a.start, a.rows, a.cut);
    begin();
    for (int turn = 0; turn < turns_of(a) && mine.pieces > 0; turn++) {
        const struct stand me = stand_at<V>(a, turn);
        struct received<V> s = walk_column<V>(a, me, mine.row, mine.from, mine.to, turn);
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

/* ---- launching ----------------------------------------------------------- */

/* How lanes stand over heads of that many columns. */
static void arrange(struct attend *a, int v)
{
    a->pieces = (int)(a->dim / v);
    a->together = a->pieces > WARP ? 1 : WARP / a->pieces;
    a->together = a->together < a->heads ? a->together : a->heads;
    a->shift = shift_for((int64_t)a->together * a->pieces, 5);
}

/* Heads that a kernel takes one after the other, in blocks of their own; and how rows are cut: those
 * of long heads, whose turns must follow each other in one warp, are not. */
static int64_t head_turns(const struct instr *in)
{
    struct attend a = {};
    a.heads = (int)in->attr.heads;
    a.dim = in->cols / in->attr.heads;
    arrange(&a, vector_for(a.dim));
    return ceil_div(a.heads, a.together);
}

static int64_t attend_slots(const struct instr *in)
{
    const int64_t d = in->cols / in->attr.heads;
    return d > WARP * vector_for(d) ? 0
                                    : slots_for(in->attr.csr->nnz, in->attr.csr->changes,
                                                head_turns(in));
}

int64_t scratch_attend(const struct instr *in)
{
    if ((in->op != OP_ATTEND && in->op != OP_ATTEND_COLUMNS) || in->cols == 0)
        return -1;
    const int64_t v = vector_for(in->cols / in->attr.heads), slots = attend_slots(in);
    const int64_t thing = in->op == OP_ATTEND ? 3 + 2 * v : v + 2 + v % 2;
    return cut_bytes(slots, head_turns(in), thing * (int64_t)sizeof(float));
}

template <int V, class TAIL>
static void launch_attend(const struct cuda_context *cx, struct attend a, bool columns,
                          const TAIL &tail)
{
    arrange(&a, V);
    dim3 grid = share_blocks(a.rows, a.cut.slots);
    grid.y = (unsigned)ceil_div(a.heads, a.together);
    if (columns)
        launch(cx, attend_columns_kernel<V, TAIL>, grid, THREADS, a, tail);
    else
        launch(cx, attend_kernel<V, TAIL>, grid, THREADS, a, tail);
}

template <class TAIL>
static void attend_with(const struct cuda_context *cx, const struct attend *a, bool columns,
                        const TAIL &tail)
{
    switch (vector_for(a->dim)) {
    case 4: launch_attend<4>(cx, *a, columns, tail); break;
    case 2: launch_attend<2>(cx, *a, columns, tail); break;
    default: launch_attend<1>(cx, *a, columns, tail);
    }
}

static void attend_run(const struct cuda_context *cx, const struct attend *a, bool columns)
{
    if (a->rows == 0 || a->width == 0)
        return;
    if (cx->tail)
        attend_with(cx, a, columns, *cx->tail);
    else
        attend_with(cx, a, columns, no_tail{});
}

static struct attend attend_of(const struct instr *in, const struct cuda_context *cx)
{
    struct attend a = {};
    const struct csr *walked = pattern(in);
    a.out = in->out;
    a.start = walked->start;
    a.col = walked->col;
    a.entry = stored(in);
    a.val = in->attr.csr->val;
    a.rows = walked->rows;
    a.cut = cut_of(in, attend_slots(in));
    a.width = in->cols;
    a.heads = (int)in->attr.heads;
    a.dim = in->cols / in->attr.heads;
    a.gate = in->attr.function == OP_TANH;
    a.slope = a.gate ? 1 : in->attr.b;
    a.drop = drop_of(in, cx);
    a.shared = a.drop.threshold > 0 && 32 % (a.heads * a.drop.bits) == 0;
    return a;
}

KERNEL(attend)
{
    struct attend a = attend_of(in, cx);
    a.bent = in->update[0];
    a.totals = in->update[1];
    a.left = in->src[0];
    a.right = in->src[1];
    a.z = in->src[2];
    attend_run(cx, &a, false);
}

KERNEL(attend_columns)
{
    struct attend a = attend_of(in, cx);
    a.totals = in->update[0];
    a.left = in->src[0];
    a.right = in->src[1];
    a.z = in->src[2];
    a.g = in->src[3];
    attend_run(cx, &a, true);
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
