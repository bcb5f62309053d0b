/* The two-hop set of a node, found and sampled by one block in its own memory; see hops.cu. */
#ifndef CUDA_HOPS_CUH
#define CUDA_HOPS_CUH

#include "cuda/transport.cuh"

#include <limits.h>

enum { SMALL = 1024, SLOT_BITS = 11, SLOTS = 1 << SLOT_BITS }; /* members; marks in the table */

struct hops {
    float *out;
    const float *x, *cost, *kept, *wanted;
    const int64_t *start;
    const int32_t *col;
    int64_t nodes, width, heads, cap, largest;
    uint64_t seed;
    struct route route;
    char *room, *small_room; /* `each` bytes a block, `small_each` of the first kernel */
    int64_t each, small_each;
    int32_t *left; /* (small_blocks, lefts) how many nodes a block left to the others, then these */
    int64_t small_blocks, lefts;
};

/* ---- the walk ------------------------------------------------------------ */

/* A block's walk. mark: INT_MAX for nodes not met, 0 for the start and its neighbours, else the
 * position in found of the first neighbour that leads there. */
struct walk {
    int *mark;       /* (nodes), or (SLOTS) */
    int32_t *slot;   /* (SLOTS) the node of each mark, or FREE; NULL: mark i is node i's */
    int32_t *found;  /* (nodes + 1), or (SMALL) */
    int32_t *before; /* (nodes + 1), or (SMALL) how many were found before each neighbour's */
};

enum { FREE = -1 };

/* The mark of a node; it takes the first free slot after the one of its hash. TABLE: with slots. */
template <bool TABLE> __device__ static int *mark_of(const struct walk &w, int32_t v)
{
    if constexpr (TABLE) {
        unsigned at = (unsigned)v * 0x9E3779B1u >> (32 - SLOT_BITS);
        for (;; at = (at + 1) % SLOTS) {
            int32_t there = w.slot[at];
            if (there == FREE)
                there = atomicCAS(&w.slot[at], FREE, v);
            if (there == FREE || there == v)
                return w.mark + at;
        }
    } else
        return w.mark + v;
}

/* For each entry of a row, WARP at a time: f(column or -1, lane's turn). Lanes stay together. */
template <class F> __device__ static void each_kept(const struct hops &a, int64_t row, F f)
{
    const int64_t last = a.start[row + 1];
    for (int64_t from = a.start[row]; from < last; from += WARP) {
        const int64_t e = from + threadIdx.x % WARP;
        f(e < last && a.kept[e] != 0 ? a.col[e] : -1);
    }
}

/* Appends new columns in order. */
__device__ static void put(int32_t *found, int64_t &count, int32_t v, bool fresh)
{
    const unsigned all = __ballot_sync(0xffffffffu, fresh);
    if (fresh)
        found[count + __popc(all & ((1u << (threadIdx.x % WARP)) - 1))] = v;
    count += __popc(all);
}

/* At least as many as the walk finds, in all threads. Ends with a barrier. */
__device__ static int64_t walk_most(const struct hops &a, int64_t node)
{
    __shared__ int64_t most;
    if (threadIdx.x < WARP) {
        int64_t sum = 0;
        each_kept(a, node, [&](int32_t v) { sum += v < 0 ? 0 : 1 + a.start[v + 1] - a.start[v]; });
        sum = lanes_sum(sum, 1, WARP);
        if (threadIdx.x == 0)
            most = 1 + sum;
    }
    __syncthreads();
    const int64_t all = most;
    __syncthreads();
    return all;
}

/* The start and its neighbours, by one warp. */
template <bool TABLE>
__device__ static int64_t walk_first(const struct hops &a, const struct walk &w, int64_t node)
{
    int64_t count = 1;
    if (threadIdx.x == 0) {
        w.found[0] = (int32_t)node;
        *mark_of<TABLE>(w, (int32_t)node) = 0;
    }
    __syncwarp();
    each_kept(a, node, [&](int32_t v) {
        int *mark = v < 0 ? nullptr : mark_of<TABLE>(w, v);
        const bool fresh = mark && *mark != 0;
        put(w.found, count, v, fresh);
        if (fresh)
            *mark = 0;
    });
    return count;
}

/* Computes before[j] from how many nodes each neighbour leads to first, by one warp; returns the
 * number found in all. */
__device__ static int64_t walk_offsets(const struct walk &w, int64_t direct)
{
    const int lane = threadIdx.x;
    int64_t total = direct;
    for (int64_t from = 1; from < direct; from += WARP) {
        const int64_t j = from + lane;
        const int mine = j < direct ? w.before[j] : 0;
        int sum = mine;
        for (int bit = 1; bit < WARP; bit <<= 1) {
            const int other = __shfl_sync(0xffffffffu, sum, lane - bit);
            sum += lane >= bit ? other : 0;
        }
        if (j < direct)
            w.before[j] = (int32_t)(total + sum - mine);
        total += __shfl_sync(0xffffffffu, sum, WARP - 1);
    }
    return total;
}

/* Makes all marks fresh. */
template <bool TABLE> __device__ static void walk_forget(const struct hops &a, const struct walk &w)
{
    for (int64_t i = threadIdx.x; i < (TABLE ? SLOTS : a.nodes); i += SET_THREADS) {
        w.mark[i] = INT_MAX;
        if (TABLE)
            w.slot[i] = FREE;
    }
    __syncthreads();
}

/* Fills found; returns the number to all threads. */
template <bool TABLE>
__device__ static int64_t walk_all(const struct hops &a, const struct walk &w, int64_t node)
{
    __shared__ int64_t shared[2];
    const int warp = threadIdx.x / WARP;
    if (warp == 0) {
        const int64_t count = walk_first<TABLE>(a, w, node);
        if (threadIdx.x == 0)
            shared[0] = count;
    }
    __syncthreads();
    const int64_t direct = shared[0];
    for (int64_t j = 1 + warp; j < direct; j += SET_WARPS)
        each_kept(a, w.found[j], [&](int32_t v) {
            if (v >= 0)
                atomicMin(mark_of<TABLE>(w, v), (int)j);
        });
    __syncthreads();
    for (int64_t j = 1 + warp; j < direct; j += SET_WARPS) {
        int count = 0;
        each_kept(a, w.found[j], [&](int32_t v) {
            const bool first = v >= 0 && *mark_of<TABLE>(w, v) == (int)j;
            count += __popc(__ballot_sync(0xffffffffu, first));
        });
        if (threadIdx.x % WARP == 0)
            w.before[j] = count;
    }
    __syncthreads();
    if (warp == 0) {
        const int64_t total = walk_offsets(w, direct);
        if (threadIdx.x == 0)
            shared[1] = total;
    }
    __syncthreads();
    for (int64_t j = 1 + warp; j < direct; j += SET_WARPS) {
        int64_t at = w.before[j];
        each_kept(a, w.found[j], [&](int32_t v) {
            put(w.found, at, v, v >= 0 && *mark_of<TABLE>(w, v) == (int)j);
        });
    }
    __syncthreads();
    const int64_t count = shared[1];
    if constexpr (TABLE)
        walk_forget<true>(a, w);
    else
        for (int64_t i = threadIdx.x; i < count; i += SET_THREADS)
            w.mark[w.found[i]] = INT_MAX;
    __syncthreads();
    return count;
}

/* ---- samples ------------------------------------------------------------- */

/* src/base/rng.c's generator, by one thread. */
struct draws {
    struct step key; /* seed and stream */
    uint32_t next;   /* words drawn */
    uint4 words;
};

__device__ static uint64_t draw_word(struct draws &d)
{
    if (d.next % 4 == 0)
        d.words = philox(d.next / 4, 0, 0, &d.key);
    return word_of(d.words, d.next++ % 4);
}

/* Whether rng_below() draws again. */
__device__ static bool is_beyond(uint64_t draw, uint64_t bound)
{
    return draw >= UINT64_MAX - bound && draw >= UINT64_MAX - UINT64_MAX % bound;
}

__device__ static uint64_t draw_below(struct draws &d, uint64_t bound)
{
    uint64_t draw;
    do {
        const uint64_t low = draw_word(d);
        draw = draw_word(d) << 32 | low;
    } while (is_beyond(draw, bound));
    return draw % bound;
}

/* A partial shuffle; the start stays. Every thread draws some places, which only the swaps need in
 * order. One draw in 2^50 has to be repeated: then one thread draws them all. */
__device__ static void sample(const struct hops &a, const struct walk &w, int64_t count,
                              int64_t node)
{
    const struct step key = {a.seed, (uint64_t)node};
    int again = 0;
    for (int64_t i = 1 + threadIdx.x; i < a.cap; i += SET_THREADS) {
        const uint32_t word = 2 * (uint32_t)(i - 1);
        const uint4 words = philox(word / 4, 0, 0, &key);
        const uint64_t low = word_of(words, word % 4), bound = (uint64_t)(count - i);
        const uint64_t draw = (uint64_t)word_of(words, word % 4 + 1) << 32 | low;
        again |= is_beyond(draw, bound);
        w.before[i] = (int32_t)(i + (int64_t)(draw % bound));
    }
    again = __syncthreads_or(again);
    if (threadIdx.x == 0) {
        struct draws d = {key, 0, {}};
        for (int64_t i = 1; i < a.cap; i++) {
            const int64_t j =
                again ? i + (int64_t)draw_below(d, (uint64_t)(count - i)) : w.before[i];
            const int32_t swap = w.found[i];
            w.found[i] = w.found[j];
            w.found[j] = swap;
        }
    }
    __syncthreads();
}

#endif
