/* How the rows of a pattern are assigned to warps. */
#ifndef CUDA_PATTERNS_CUH
#define CUDA_PATTERNS_CUH

#include "cuda/device.cuh"

/* ---- entry by entry ------------------------------------------------------ */

/* A block has WARPS rows. If all are short, each gets a warp; otherwise the block's entries are
 * divided evenly among its warps, regardless of rows, so that a hub does not make seven warps wait
 * for one. */
enum { SHORT = 128 }; /* entries */

/* The entries of this block's rows: those of row first+i are start[i] … start[i+1]-1. */
struct block_rows {
    int64_t first, count, start[WARPS + 1];
    bool shorts;
};

/* Fills one in shared memory; by all threads. */
__device__ inline void block_rows_find(struct block_rows *b, const int64_t *start, int64_t rows)
{
    const int64_t first = (int64_t)blockIdx.x * WARPS, left = rows - first;
    const int t = (int)threadIdx.x;
    if (t == 0) {
        b->first = first;
        b->count = left < WARPS ? left : WARPS;
    }
    const int64_t mine = t <= WARPS ? start[first + (t < left ? t : left)] : 0;
    if (t <= WARPS)
        b->start[t] = mine;
    const int64_t next = __shfl_sync(0xffffffffu, mine, t % WARP + 1);
    b->shorts = true;
    if (__syncthreads_or(t < WARPS && next - mine > SHORT) && t == 0)
        b->shorts = false;
    __syncthreads();
}

/* The part of row i for this warp; from >= to: none. */
struct row_part {
    int64_t from, to;
};

__device__ inline struct row_part part_of(const struct block_rows *b, int i)
{
    const int warp = threadIdx.x / WARP;
    if (b->shorts)
        return {b->start[i], i == warp ? b->start[i + 1] : b->start[i]};
    const int64_t all = b->start[WARPS] - b->start[0], each = (all + WARPS - 1) / WARPS;
    const int64_t left = b->start[0] + warp * each, right = left + each;
    return {left > b->start[i] ? left : b->start[i],
            right < b->start[i + 1] ? right : b->start[i + 1]};
}

/* Calls f(r, from, to). */
template <class F> __device__ inline void each_row(const int64_t *start, int64_t rows, const F &f)
{
    __shared__ struct block_rows b;
    block_rows_find(&b, start, rows);
    for (int i = 0; i < b.count; i++) {
        const struct row_part part = part_of(&b, i);
        if (part.from < part.to)
            f(b.first + i, part.from, part.to);
    }
}

static inline dim3 row_blocks(int64_t rows)
{
    return dim3((unsigned)ceil_div(rows, WARPS));
}

/* ---- sums ---------------------------------------------------------------- */

/*
 * A row of up to 2^shift entries gets one warp. A longer one is divided evenly among several,
 * anywhere on the card: each stores its part, and the last to finish adds the parts in order. So
 * sums do not depend on which one that is.
 *
 * This needs no plan: row r has one additional warp for each multiple of 2^shift among start[r]+1 …
 * start[r+1]. There are `slots` of them before the rows' own warps; the s-th searches for the row
 * of entry s·2^shift - 1. If the pattern has grown and has more multiples, shift is larger.
 */
struct cut {
    int shift; /* at least */
    int64_t slots;
    uint32_t *arrived; /* (turns, slots+1), zero between kernels */
    uint32_t *put;     /* (turns, 2·slots+1, words of a thing, WARP) */
};

/* The work of a warp; pieces 0: none. */
struct share {
    int64_t row, from, to;
    int64_t entries, first; /* of the whole row; start[row] >> shift */
    int piece, pieces;
};

/* The row of that entry; all lanes call it and test 32 places at once. */
__device__ inline int64_t row_of_entry(const int64_t *start, int64_t rows, int64_t entry)
{
    int64_t low = 0, high = rows; /* start[low] <= entry < start[high] */
    while (high - low > 1) {
        const int64_t step = (high - low + WARP - 1) / WARP;
        const int64_t at = low + (threadIdx.x % WARP + 1) * step;
        const unsigned before = __ballot_sync(0xffffffffu, at < high && start[at] <= entry);
        low += __popc(before) * step;
        high = low + step < high ? low + step : high;
    }
    return low;
}

/* This warp's share. It reads only start, which no kernel writes, so it may come before begin(). */
__device__ inline struct share share_of(const int64_t *start, int64_t rows, const struct cut &cut)
{
    struct share s = {};
    const int64_t warp = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP, nnz = start[rows];
    int shift = cut.shift;
    while (nnz >> shift > cut.slots)
        shift++;
    const bool extra = warp < cut.slots;
    if (extra ? warp >= nnz >> shift : warp - cut.slots >= rows)
        return s;
    s.row = extra ? row_of_entry(start, rows, ((warp + 1) << shift) - 1) : warp - cut.slots;
    const int64_t from = start[s.row], to = start[s.row + 1];
    s.entries = to - from;
    s.first = from >> shift;
    s.pieces = s.entries >> shift > 0 ? 1 + (int)((to >> shift) - s.first) : extra ? 0 : 1;
    s.piece = extra ? (int)(warp + 1 - s.first) : 0;
    if (s.pieces == 0)
        return s;
    const unsigned each = ((unsigned)s.entries + s.pieces - 1) / (unsigned)s.pieces;
    s.from = from + (int64_t)s.piece * each;
    s.to = s.from + each < to ? s.from + each : to;
    s.from = s.from < to ? s.from : to;
    return s;
}

/* The 32-bit words of a thing that a lane holds. */
template <class T> union words {
    T thing;
    uint32_t word[sizeof(T) / 4];
    __device__ words()
    {
    }
};

/* Merges the parts of a row: true in the warp that has them all in `thing`, added by merge(a, b) in
 * order. turn: 0, 1, …, if a kernel has several sums of the same rows. */
template <class T, class MERGE>
__device__ inline bool share_whole(T &thing, const struct share &s, const struct cut &cut,
                                   int64_t turn, const MERGE &merge)
{
    enum { WORDS = sizeof(T) / 4, AT_ONCE = 4 };
    const int lane = threadIdx.x % WARP;
    if (s.pieces == 1)
        return true;
    uint32_t *put = cut.put + turn * (2 * cut.slots + 1) * WORDS * WARP + lane;
    const auto place = [&](int piece) {
        return (piece ? cut.slots + s.first + piece : s.first) * WORDS * WARP;
    };
    words<T> mine;
    mine.thing = thing;
    for (int k = 0; k < WORDS; k++)
        put[place(s.piece) + k * WARP] = mine.word[k];
    __threadfence();
    __syncwarp();
    uint32_t *arrived = cut.arrived + turn * (cut.slots + 1) + s.first;
    unsigned before = 0;
    if (lane == 0)
        before = atomicAdd(arrived, 1u);
    if (__shfl_sync(0xffffffffu, before, 0) != (unsigned)s.pieces - 1)
        return false;
    if (lane == 0)
        *arrived = 0;
    __threadfence();
    for (int first = 0; first < s.pieces; first += AT_ONCE) {
        words<T> next[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            for (int k = 0; k < WORDS && first + i < s.pieces; k++)
                next[i].word[k] = __ldcg(&put[place(first + i) + k * WARP]);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (first + i < s.pieces)
                thing = first + i == 0 ? next[i].thing : merge(thing, next[i].thing);
    }
    return true;
}

/* How a pattern with `entries` entries is cut. If it changes, its entries are not known. */
enum { PIECE_SHIFT = 6, SLOTS_MOST = 8192 };

static inline int64_t slots_for(int64_t entries, bool changes, int64_t turns)
{
    const int64_t most = SLOTS_MOST / turns, wanted = entries >> PIECE_SHIFT;
    return changes || wanted > most ? most : wanted;
}

/* Scratch bytes after the counters, for things of that many bytes. */
static inline int64_t cut_bytes(int64_t slots, int64_t turns, int64_t thing)
{
    return turns * (2 * slots + 1) * thing * WARP;
}

static inline struct cut cut_of(const struct instr *in, int64_t slots)
{
    return {PIECE_SHIFT, slots, counters_of(in), (uint32_t *)scratch_of(in)};
}

static inline dim3 range_blocks(int64_t rows, int64_t slots, int threads = THREADS)
{
    return dim3((unsigned)ceil_div(rows + slots, threads / WARP));
}

/* The pattern that an operation walks: its matrix, or the transpose; and the entries' positions in
 * the stored matrix, NULL: in order. */
static inline const struct csr *pattern(const struct instr *in)
{
    return in->attr.transposed ? in->attr.csr->t : in->attr.csr;
}

static inline const int64_t *stored(const struct instr *in)
{
    return in->attr.transposed ? in->attr.csr->t_entry : NULL;
}

#endif
