/* Shared by attention (attend.cu) and the gradient of its columns (attend_columns.cu): one walk
 * over the entries of each row, or of each column, without storing a weight. */

/*
 * Lanes cover the columns of whole heads, V floats each; if there are fewer than a warp, groups of
 * lanes take entries in turn. A head with more columns than a warp holds is walked in turns. Random
 * bits are expensive: if those of an entry's heads share a word, one lane draws it for one entry
 * and the others read it from that lane.
 */
#ifndef CUDA_ATTEND_CUH
#define CUDA_ATTEND_CUH

#include "cuda/patterns.cuh"
#include "cuda/tail.cuh"

enum {
    AHEAD = 2, /* entries in flight per group */
    GATES_AHEAD = 4,
    ATTEND_THREADS = 128, /* small blocks: one leaves the card when its longest row is done */
};

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
    bool shared;                 /* an entry's random bits are in one word */
};

/* The position of a lane, in turn `turn` of a long head. */
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

__device__ static inline int turns_of(const struct attend &a)
{
    return a.pieces > WARP ? (a.pieces + WARP - 1) / WARP : 1;
}

/* The sum over the lanes of a head, in all of them. */
__device__ static inline double head_sum(const struct attend &a, const struct stand &me, double x)
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

/* The random bits of all heads of the entry stored there, lowest first. */
__device__ static inline uint32_t bits_of(const struct attend &a, int64_t place)
{
    const uint64_t first = (uint64_t)place * (uint64_t)a.heads * a.drop.bits, block = first >> 7;
    const uint4 words =
        philox((uint32_t)block, (uint32_t)(block >> 32), a.drop.stream, a.drop.step);
    return word_of(words, (uint32_t)(first & 127) >> 5) >> (first & 31);
}

/* What dropout leaves of a head's weight, 0 or 1/(1-rate); bits: as above, if shared. */
__device__ static inline float factor_of(const struct attend &a, int64_t place, uint32_t bits,
                                         int head)
{
    if (a.drop.threshold == 0)
        return 1;
    if (!a.shared)
        return drop_factors<1>(a.drop, (uint64_t)(place * a.heads + head)).v[0];
    const uint32_t number = bits >> (head * a.drop.bits) & ((1u << a.drop.bits) - 1);
    return number >= a.drop.threshold ? a.drop.scale : 0;
}

/* The same of an entry with one head. */
__device__ static inline float gate_factor(const struct attend &a, int64_t place)
{
    return factor_of(a, place, a.shared ? bits_of(a, place) : 0, 0);
}

/* ---- launching ----------------------------------------------------------- */

/* How lanes cover heads with that many columns. */
static inline void arrange(struct attend *a, int v)
{
    a->pieces = (int)(a->dim / v);
    a->together = a->pieces > WARP ? 1 : WARP / a->pieces;
    a->together = a->together < a->heads ? a->together : a->heads;
    a->shift = shift_for((int64_t)a->together * a->pieces, 5);
}

/* Heads that a kernel takes one after the other, in their own blocks; and how rows are cut. Rows of
 * long heads are not cut, because their turns must follow each other in one warp. */
static inline int64_t head_turns(const struct instr *in)
{
    struct attend a = {};
    a.heads = (int)in->attr.heads;
    a.dim = in->cols / in->attr.heads;
    arrange(&a, vector_for(a.dim));
    return ceil_div(a.heads, a.together);
}

static inline int64_t attend_slots(const struct instr *in)
{
    const int64_t d = in->cols / in->attr.heads;
    return d > WARP * vector_for(d)
               ? 0
               : slots_for(in->attr.csr->nnz, in->attr.csr->changes, head_turns(in));
}

/* Scratch for the pieces of long rows: each lane stores a THING<V>. share_whole() copies the whole
 * struct, so the padding counts: vec<4> is aligned to 16 bytes. */
template <template <int> class THING> static int64_t attend_bytes(const struct instr *in)
{
    if (in->cols == 0)
        return -1;
    const int v = vector_for(in->cols / in->attr.heads);
    const size_t thing = v == 4 ? sizeof(THING<4>) : v == 2 ? sizeof(THING<2>) : sizeof(THING<1>);
    return cut_bytes(attend_slots(in), head_turns(in), (int64_t)thing);
}

/* Launches KERNELS::of<V, TAIL>() for the columns of a head and for what follows a row. */
template <class KERNELS, int V, class TAIL>
static void attend_launch(const struct cuda_context *cx, struct attend a, const TAIL &tail)
{
    arrange(&a, V);
    dim3 grid = range_blocks(a.rows, a.cut.slots, ATTEND_THREADS);
    grid.y = (unsigned)ceil_div(a.heads, a.together);
    launch(cx, KERNELS::template of<V, TAIL>(), grid, ATTEND_THREADS, a, tail);
}

template <class KERNELS, class TAIL>
static void attend_with(const struct cuda_context *cx, const struct attend *a, const TAIL &tail)
{
    switch (vector_for(a->dim)) {
    case 4: attend_launch<KERNELS, 4>(cx, *a, tail); break;
    case 2: attend_launch<KERNELS, 2>(cx, *a, tail); break;
    default: attend_launch<KERNELS, 1>(cx, *a, tail);
    }
}

template <class KERNELS>
static void attend_run(const struct cuda_context *cx, const struct attend *a)
{
    if (a->rows == 0 || a->width == 0)
        return;
    if (cx->tail)
        attend_with<KERNELS>(cx, a, *cx->tail);
    else
        attend_with<KERNELS>(cx, a, no_tail{});
}

static inline struct attend attend_of(const struct instr *in, const struct cuda_context *cx)
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

#endif
